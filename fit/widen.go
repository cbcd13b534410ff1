package fit

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/infer/problem"
)

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
