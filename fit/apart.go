package fit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/likelihood"
)

// MostBeside is the number of rows up to which columns outside the formula are read for the criticism.
const MostBeside = 20000

// CheckApart refuses, as [ErrMisuse], what the files of a table cannot be summed up apart for, as far as the texts and
// the columns of the table tell. Package shards sums them up.
func (j *Job) CheckApart(schema *credence.Schema) error {
	plan, err := j.parse(schema)
	if err != nil {
		return err
	}
	if e := j.engine.entry; e != nil && e.Name != "exact" && e.Name != "svi" {
		return &Misuse{"engine", fmt.Errorf("%s needs all rows in one place: use --engine exact, whose sums over files are those over all rows, or 'svi(covariance=full)', which asks for sums in rounds, or fit on one machine", e.Name)}
	}
	switch e := j.engine.entry; {
	case e != nil && e.diagonal(j.engine.call):
		return &Misuse{"engine", svi.ErrDiagonal}
	case j.options.Checkpoint != "":
		return &Misuse{"checkpoint", errors.New("parts are what is kept of a job: leave it out")}
	case schema.Sparse > 0 || schema.Label:
		return errors.New("files of libsvm and Vowpal Wabbit number their columns each for itself, and cannot be summed up apart: write CSV or Parquet, or fit on one machine")
	case len(plan.Bars()) > 0:
		return &Misuse{"formula", errors.New("effects of groups, (1 | g), need all rows in one place: write onehot(g), or fit on one machine")}
	case plan.NeedsData():
		return &Misuse{"formula", errors.New("centres, knots and keys that are chosen by the data need all rows in one place: state what they are, write plain columns, or fit on one machine")}
	}
	return nil
}

// Adds says whether sums over all rows are all that a fit of files that lie apart needs: others ask in rounds.
func (j *Job) Adds() bool {
	if e := j.engine.entry; e != nil {
		return e.Name == "exact"
	}
	stated := j.family.Stated()
	_, gaussian := stated.(likelihood.Gaussian)
	return stated == nil || gaussian
}

// Rounds is about how many rounds ask the files behind those that count: one where sums are all, and with engine svi
// about as many as it takes steps, which are more where it integrates over parameters of the family.
func (j *Job) Rounds() int {
	_, gaussian := j.family.Stated().(likelihood.Gaussian)
	_, parameters := j.family.Stated().(likelihood.Parametric)
	switch {
	case j.Adds():
		return 1
	case gaussian:
		return 2
	case parameters && !strings.Contains(j.options.Engine, "hyper=mode"):
		return 13
	}
	return 6
}

// Named names the columns that the formula names, whatever the table: those that a database is asked for.
func (j *Job) Named() ([]string, error) {
	plan, err := formula.Check(j.options.Formula, formula.Options{Target: j.options.Target, Family: j.family, ReadFile: j.options.ReadFile})
	if err != nil {
		return nil, &Misuse{"formula", err}
	}
	if f := &plan.Frame; f.Weight != nil || f.Precision != nil || f.Trials != nil || len(f.Offset) > 0 {
		return nil, &Misuse{"formula", errors.New("weight, offset and precision are not among what a database is asked for: fit on one machine, from rows that it exports")}
	}
	names := plan.Frame.Needs()
	for _, name := range names {
		if strings.HasPrefix(name, "\x00") {
			return nil, &Misuse{"formula", errors.New("name the target and every column: nobody has looked at the table, and a dot stands for nothing")}
		}
	}
	return names, nil
}

// Plain returns the terms of the model as data, where it has such terms alone; see [feature.Set.Plain].
func (p *Prepared) Plain() ([]feature.Plain, error) {
	set, ok := p.model.Features.(*feature.Set)
	if !ok {
		return nil, errors.New("the features of the model are not told as data")
	}
	return set.Plain()
}

// NewCensus returns the census of the job's model, for a table that has the schema, over files of which first is the
// first; see [frame.NewCensus]. Rows are of a source that has the other schema, with its levels.
func (j *Job) NewCensus(schema, source *credence.Schema, first int) (*frame.Census, error) {
	plan, err := j.parse(schema)
	if err != nil {
		return nil, err
	}
	return frame.NewCensus(&plan.Frame, source, first, j.family.Options(j.frame))
}

// PrepareApart is Prepare for a table whose frame is known, which has the schema: data are rows of it, maybe of some of
// its files, or as many of which only some can be read. They are for [Prepared.Apart] and [Prepared.FitSums].
func (j *Job) PrepareApart(schema *credence.Schema, fr *frame.Frame, data credence.Data) (*Prepared, error) {
	p := &Prepared{job: j, frame: fr, data: data}
	var err error
	if p.plan, err = j.parse(schema); err != nil {
		return nil, err
	}
	return p, p.assemble(nil)
}

// Apart returns the engine that fits rows that lie apart, and refuses the model where there is none: exact, which adds
// them up, or svi, which asks them in rounds. Without rows it reads none of them.
func (p *Prepared) Apart(rowless bool) (adds *exact.Engine, asks *svi.Engine, err error) {
	adds, _ = p.engine.(*exact.Engine)
	asks, _ = p.engine.(*svi.Engine)
	switch {
	case adds != nil:
		err = adds.CheckSums()
	case asks != nil:
		err = asks.CheckApart(rowless)
	default:
		err = fmt.Errorf("%s is fitted by %s (%s), which needs all rows in one place: fit on one machine, or state --engine exact with a gaussian family, or 'svi(covariance=full)'", p.formula(), p.entry.Name, p.why)
	}
	if err != nil {
		return nil, nil, err
	}
	if d := p.model.Features.Weights(); p.frame.Rows < d {
		return nil, nil, fmt.Errorf("%d rows have %d weights, and their sums take more memory than they do: fit on one machine", p.frame.Rows, d)
	}
	for _, d := range p.drawn {
		if !d.Stated {
			return nil, nil, fmt.Errorf("%s: how many frequencies it has depends on all rows: state it, as n=400, or fit on one machine", d.Term)
		}
	}
	return adds, asks, nil
}

// Criticised returns the rows of the model that a fit reads beside its sums, in their order: the first ones, those of
// the criticism, and those that the engine begins with.
func (p *Prepared) Criticised() []int {
	rest, _ := problem.Rest(p.model.Features, p.model.Prior)
	places := criticism.Places(p.frame.Rows, rest)
	if asks, ok := p.engine.(*svi.Engine); ok {
		places = append(places, asks.Places(p.frame.Rows)...)
		slices.Sort(places)
		places = slices.Compact(places)
	}
	return places
}

// FitSums is Fit by the sums over all rows, of which data has those that are [Prepared.Criticised]; without sums the
// data are [svi.Apart], or all rows. targets are those of all rows, where the fit looks at them, nil else; beside are
// columns outside the formula, nil where there are none. Without rows there is no criticism.
func (p *Prepared) FitSums(ctx context.Context, sums *exact.Sums, targets *criticism.Targets, beside credence.Source) (*credence.Fitted, error) {
	if _, adds := p.engine.(*exact.Engine); sums == nil && adds {
		return nil, errors.New("there are no sums: add them up by exact.Engine.NewSums")
	}
	p.sums, p.outside = sums, beside
	if targets != nil {
		p.looks = p.lookLike(targets)
	}
	return p.Fit(ctx)
}
