package svi

import (
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestEqualPrecisions: a precision of 3 in every row is a third of the dispersion, in every algorithm,
// its draws and its diagnostics included: to the rounding of the parameter.
func TestEqualPrecisions(t *testing.T) {
	const n, d, precision = 200, 3, 3.0
	for name, pair := range map[string][2]credence.Likelihood{
		"gaussian": {likelihood.Gaussian{NoiseVariance: param.Hold(0.6)}, likelihood.Gaussian{NoiseVariance: param.Hold(0.6 / precision)}},
		"gamma":    {likelihood.Gamma{Shape: param.Hold(1.5)}, likelihood.Gamma{Shape: param.Hold(1.5 * precision)}},
	} {
		data := draw(t, pair[1], n, d, 12)
		with := *data
		for range n {
			with.precision = append(with.precision, precision)
		}
		for label, c := range map[string]Config{
			"full": {Covariance: Full}, "diagonal": {Covariance: Diagonal}, "mixture": {Components: 2},
			"sampled": {Covariance: Diagonal, Estimator: Sample},
		} {
			got := fitted(t, credence.Model{Features: plain{p: d}, Likelihood: pair[0], Prior: held(1.5)}, c, &with)
			want := fitted(t, credence.Model{Features: plain{p: d}, Likelihood: pair[1], Prior: held(1.5)}, c, data)
			closeTo(t, name+", "+label+": bound", *got.Report.ELBO, *want.Report.ELBO, 1e-8)
			closeTo(t, name+", "+label+": gap", *got.Report.EvidenceGap, *want.Report.EvidenceGap, 1e-8)
			m, v, mWant, vWant := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
			got.Members[0].Posterior.Marginals(m, v)
			want.Members[0].Posterior.Marginals(mWant, vWant)
			for j := range d {
				closeTo(t, name+", "+label+": mean", m[j], mWant[j], 1e-9)
				closeTo(t, name+", "+label+": variance", v[j], vWant[j], 1e-9)
			}
		}
	}
}
