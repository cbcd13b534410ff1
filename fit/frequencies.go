package fit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/spec"
)

// leastFrequencies is the number below which a term of random features is not worth the full covariance that it would
// have.
const leastFrequencies = 10

// diagonal says whether the engine takes weights for independent under a call.
func (e *Engine) diagonal(call spec.Call) bool {
	return e.Name == "svi" && !isFull(call)
}

// takeFewer draws fewer frequencies, so that the weights together are few enough for a full covariance: a curve of
// which the weights are taken for independent is a wrong one. Numbers that were left out give way before those stated,
// and the largest first. It says whether the model has changed.
func (p *Prepared) takeFewer() bool {
	drawn, total := slices.Clone(p.drawn), 0
	for _, d := range drawn {
		total += d.Count
	}
	budget := total - (p.model.Features.Weights()-problem.FullWeights+1)/2 // two weights each
	for _, stated := range []bool{false, true} {
		under := func(bound int) (sum int) {
			for _, d := range drawn {
				if d.Stated == stated {
					d.Count = min(d.Count, bound)
				}
				sum += d.Count
			}
			return sum
		}
		bound := max(leastFrequencies, sort.Search(total, func(bound int) bool { return under(bound+1) > budget }))
		for k := range drawn {
			if d := &drawn[k]; d.Stated == stated {
				d.Count = min(d.Count, bound)
			}
		}
	}
	var said []string
	sum := 0
	for k, d := range drawn {
		if sum += d.Count; d.Count < p.drawn[k].Count {
			said = append(said, fmt.Sprintf("%s %d frequencies are drawn in place of %d", d.Term, d.Count, p.drawn[k].Count))
		}
	}
	if len(said) == 0 || sum > budget || p.redraw(drawn) != nil {
		return false
	}
	p.fewer = fmt.Sprintf("of %s: above %d weights they would be taken for independent, which makes curves wrong; state a smaller n= where a term may do with less",
		strings.Join(said, ", of "), problem.FullWeights)
	return true
}

// redraw gives the model features with other numbers of frequencies.
func (p *Prepared) redraw(drawn []formula.Frequencies) error {
	changed, err := p.plan.Draw(p.model.Features.(*feature.Set), drawn, p.job.options.Seed)
	if err == nil {
		p.model.Features, p.drawn = changed, drawn
	}
	return err
}

// widen fits once more where terms of Hilbert-space processes have too few functions, or too narrow a box, for the
// lengthscales that were learned, and warns of what a term lacks afterwards. A fit that fails on the way leaves the one
// before, and what that one lacks is said.
func (p *Prepared) widen(ctx context.Context, fitted *credence.Fitted) (*credence.Fitted, error) {
	features, ok := fitted.Members[0].Model.Features.(*feature.Set)
	if !ok {
		return fitted, nil
	}
	signal := func(block string) float64 {
		variance, noise := fitted.Report.Hyper.Of("prior_variance."+block, 0), fitted.Report.Hyper.Of("noise_variance", 0)
		if !(noise > 0) {
			return 0
		}
		return float64(p.data.Rows()) * variance / noise
	}
	wider, short := features.Widened(signal)
	if wider != nil {
		again, err := p.with(ctx, wider, func(*credence.Fitted) bool { return true })
		if err != nil {
			return nil, err
		}
		if again != nil {
			fitted = again
			_, short = again.Members[0].Model.Features.(*feature.Set).Widened(signal)
		}
	}
	for _, lacks := range short {
		fitted.Report.Warnings = append(fitted.Report.Warnings, lacks+": what is bent more sharply, or at the ends of the data, is told wrongly; state them, or write rbf(…)")
	}
	return fitted, nil
}

// unlearned says which hyper-parameters of features an engine that learns none has left where they begin.
func (p *Prepared) unlearned(fitted *credence.Fitted) string {
	tunable, learned := problem.LearnedHypers(p.model.Features)
	for _, h := range learned {
		if at := tunable.Hyper()[h]; math.IsNaN(fitted.Report.Hyper.Of(at.Name, math.NaN())) {
			return fmt.Sprintf("engine %s learns no hyper-parameters of features, and %s stays where it begins, at %.3g: state what is known of it, as in rbf(x, lengthscale=0.5), or use --prior normal, under which it is learned", p.entry.Name, at.Name, at.Value)
		}
	}
	return ""
}
