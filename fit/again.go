package fit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
)

// recipe returns the texts that make the model again.
func (p *Prepared) recipe() credence.Recipe {
	o := &p.job.options
	r := credence.Recipe{
		Formula: p.formula(), Family: cmp.Or(p.job.family.String(), fmt.Sprint(p.model.Likelihood)), Prior: p.priorText(), Engine: p.call, Seed: o.Seed,
		DropTarget: o.DropTarget, Positive: o.Positive, Raw: o.Raw, Types: o.Types,
	}
	if p.frame.Missing != frame.Refuse {
		r.Missing = string(p.frame.Missing)
	}
	if p.frame.Unseen != frame.RefuseUnseen || len(p.plan.Bars()) > 0 { // refusing groups is stated
		r.Unseen = string(p.frame.Unseen)
	}
	for _, odds := range o.PriorOdds { // where they are stated is no matter of the model
		if r.PriorOdds == nil {
			r.PriorOdds = map[string]float64{}
		}
		r.PriorOdds[odds.Feature] = odds.Odds
	}
	return r
}

// Again returns the job that fits a model again as its recipe says, to the columns that it was fitted to, of the same
// or another table. Of the options it takes Threads, Memory, ReadFile, Registry, and Progress, which is called between
// fits without a fold. It refuses, as [ErrMisuse], models whose recipe is not known: those of package learn, and files
// of earlier versions, which kept a part of it.
func Again(model *credence.Fitted, options Options) (*Job, error) {
	if model == nil {
		return nil, errors.New("there is no model: fit one, or load one by modelfile.Load")
	}
	r := &model.Recipe
	_, online := model.Frame.(*keyed.Frame)
	_, tabled := model.Frame.(*frame.Frame)
	switch {
	case online:
		return nil, &Misuse{"", errors.New("the model was learned online, and rows are learned once: its progressive log_loss, which stream tells, is of rows before they were learned; or fit one to the table")}
	case !tabled || r.Formula == "" || r.Engine == "":
		return nil, &Misuse{"", errors.New("the model has no recipe, by which it could be fitted again: fit it by package fit")}
	case r.Partial:
		return nil, &Misuse{"", fmt.Errorf("the model is of an earlier version, whose files do not tell --missing, --unseen, --positive, --raw, --types and --prior-odds: fit it again with those that it was made with, beside --formula %s --family %s --prior %s --engine %s --seed %d",
			cell.Shell(r.Formula), cell.Shell(r.Family), cell.Shell(cmp.Or(r.Prior, normal)), cell.Shell(r.Engine), r.Seed)}
	}
	o := Options{
		Formula: r.Formula, Family: r.Family, Prior: r.Prior, Engine: r.Engine, Seed: r.Seed, Missing: frame.Policy(r.Missing), DropTarget: r.DropTarget,
		Unseen: frame.Unseen(r.Unseen), Positive: r.Positive, Raw: r.Raw, Types: r.Types,
		Threads: options.Threads, Memory: options.Memory, ReadFile: options.ReadFile, Registry: options.Registry,
	}
	for _, name := range slices.Sorted(maps.Keys(r.PriorOdds)) {
		o.PriorOdds = append(o.PriorOdds, Odds{Feature: name, Odds: r.PriorOdds[name]})
	}
	j, err := newJob(o, false)
	if err == nil {
		j.like, j.progress = model, options.Progress
	}
	return j, err
}

// liken refuses columns that the model to be fitted again does not have, and draws no more frequencies than it has:
// where its engine was chosen, they may have been fewer than asked for.
func (p *Prepared) liken(model *credence.Fitted) error {
	known := model.Frame.(*frame.Frame).Needs(true)
	for _, name := range p.frame.Needs(true) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("the model was not fitted to column %q, which its formula %s would take: leave the column out of the table", name, model.Recipe.Formula)
		}
	}
	drawn := slices.Clone(p.drawn)
	for k := range drawn {
		for _, had := range model.Report.Frequencies {
			if had.Name == drawn[k].Term {
				drawn[k].Count = min(drawn[k].Count, int(had.Value))
			}
		}
	}
	if slices.Equal(drawn, p.drawn) {
		return nil
	}
	return p.redraw(drawn)
}
