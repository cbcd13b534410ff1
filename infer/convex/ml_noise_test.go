package convex_test

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestMaximumLikelihoodNoise: with normal rows and a normal prior the bound is the evidence, so that under hyper=ml
// noise and bound are those of exact. Before the fix the noise is the mode under the half-Cauchy prior.
func TestMaximumLikelihoodNoise(t *testing.T) {
	rows := conform.Memory{All: conform.Regression(likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, 12, 2, 3)}
	model := credence.Model{Features: conform.Columns{Dense: 2, Intercept: true}, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{Variance: param.Hold(1)}}
	want := must.Value(must.Value(exact.New(model, exact.Config{Hyper: param.MaximumLikelihood}))(t).Fit(context.Background(), rows))(t)
	got := must.Value(must.Value(convex.New(model, convex.Config{Hyper: param.MaximumLikelihood, Steps: 1000}))(t).Fit(context.Background(), rows))(t)
	a, b := want.Report.Hyper.Of("noise_variance", 0), got.Report.Hyper.Of("noise_variance", 0)
	if !(math.Abs(b/a-1) <= 2e-3) || !(math.Abs(*want.Report.Evidence-*got.Report.EvidenceBound) <= 1e-3) {
		t.Errorf("noise variance %.6f and bound %.5f by convex(hyper=ml), %.6f and %.5f by exact(hyper=ml)", b, *got.Report.EvidenceBound, a, *want.Report.Evidence)
	}
}
