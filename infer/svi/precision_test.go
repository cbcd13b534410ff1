package svi

import (
	"cmp"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
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

// TestPrecisionUnit: precisions in another unit are another unit of the dispersion and change nothing
// else, everything learned under its priors: to the tolerance of the climb.
func TestPrecisionUnit(t *testing.T) {
	const n, d, factor = 120, 3, 30.0
	for name, c := range map[string]struct {
		l     credence.Likelihood
		power float64 // of the factor in the first parameter that has a unit
	}{
		"noise_variance": {likelihood.Gaussian{}, 1}, "shape": {likelihood.Gamma{}, -1}, "scale": {likelihood.StudentT{DegreesOfFreedom: param.Hold(5)}, 0.5},
	} {
		data := draw(t, c.l, n, d, 31)
		for i := range n {
			data.precision = append(data.precision, 0.4+float64(i%4))
		}
		for covariance, treatment := range map[Covariance]hyper.Treatment{Full: hyper.Integrate, Diagonal: hyper.Mode} {
			model := credence.Model{Features: plain{p: d, intercept: true}, Likelihood: c.l, Prior: prior.Normal{}}
			config := Config{Covariance: covariance, Tolerance: 1e-9, Diagnostics: -1, Hyper: treatment}
			want := fitted(t, model, config, data)
			moved := *data
			moved.precision = nil
			for _, p := range data.precision {
				moved.precision = append(moved.precision, factor*p)
			}
			got := fitted(t, model, config, &moved)
			closeTo(t, name+": bound", *cmp.Or(got.Report.ELBO, got.Report.ELBOMode), *cmp.Or(want.Report.ELBO, want.Report.ELBOMode), 1e-5)
			for k, v := range got.Report.Hyper {
				shift := 0.0
				if v.Name == name {
					shift = c.power * math.Log(factor)
				}
				closeTo(t, name+", "+string(covariance)+": "+v.Name, math.Log(v.Value), math.Log(want.Report.Hyper[k].Value)+shift, 1e-3)
			}
		}
	}
}
