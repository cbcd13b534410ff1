package fit

import (
	"cmp"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
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
