package fit

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
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
