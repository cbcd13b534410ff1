package svi

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// stretched is one column times a factor θ, which is a hyper-parameter.
type stretched struct{ factor, lower, upper float64 }

func (f stretched) Weights() int { return 1 }

func (f stretched) Blocks() []credence.Block { return []credence.Block{{Name: "stretched", Count: 1}} }

func (f stretched) Transform(_ *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	phi.Dense.Reshape(rows.Rows(), 1)
	phi.Sparse.Reset(0)
	for i := range rows.Rows() {
		phi.Dense.Row(i)[0] = f.factor * rows.X.Row(i)[0]
		phi.Sparse.AppendRow(nil, nil)
	}
}

func (f stretched) Hyper() []credence.Hyper {
	return []credence.Hyper{{Name: "factor", Value: f.factor, Start: 1, Lower: f.lower, Upper: f.upper}}
}

func (f stretched) WithHyper(values []float64) credence.Features {
	f.factor = values[0]
	return f
}

func (f stretched) Pullback(_ *credence.Workspace, grad []float64, _ *credence.Batch, phi *credence.Design, dPhi []float64) {
	for i, v := range dPhi {
		grad[0] += v * phi.Dense.Row(i)[0]
	}
}

// TestHyperBounds: hyper-parameters stay within their bounds on every path, and a bound of 0 is
// none. The rows want a factor of 20, or of 1/20, times a weight of variance 1.
func TestHyperBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	data := &memory{x: linop.NewDense(400, 1), y: make([]float64, 400)}
	for _, slope := range []float64{20, 0.05} {
		for i := range data.y {
			data.x.Row(i)[0] = rng.NormFloat64()
			data.y[i] = slope*data.x.Row(i)[0] + 0.01*rng.NormFloat64()
		}
		for _, cfg := range []Config{{Covariance: Full}, {Components: 2}, {Batch: 50}, {Batch: 50, Components: 2, Estimator: Sample}} {
			for _, bounded := range []bool{true, false} {
				features := stretched{factor: 1}
				if bounded {
					features.lower, features.upper = 0.5, 2
				}
				model := credence.Model{Features: features, Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(1)}, Prior: held(1)}
				got := fitted(t, model, cfg, data).Members[0].Model.Features.(stretched).factor
				name := fmt.Sprintf("slope %g, %+v: factor %.17g", slope, cfg, got)
				switch {
				case bounded && !(got >= 0.5*(1-1e-15) && got <= 2*(1+1e-15)):
					t.Errorf("%s is out of bounds", name)
				case !bounded && got > 0.5 && got < 2:
					t.Errorf("%s is bounded", name)
				}
			}
		}
	}
}

// TestLargeNoise: a noise variance of 1e24 is found as one of 1 is, in a target of that unit or by rows of such
// precisions.
func TestLargeNoise(t *testing.T) {
	model := credence.Model{Features: plain{p: 2, intercept: true}, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}
	for _, cfg := range []Config{{Covariance: Full}, {}} {
		data := draw(t, likelihood.Gaussian{}, 60, 2, 6)
		want := fitted(t, model, cfg, data).Report.Hyper[0].Value
		precise := *data
		precise.precision = slices.Repeat([]float64{1e24}, 60)
		closeTo(t, "the noise variance of precise rows", fitted(t, model, cfg, &precise).Report.Hyper[0].Value/1e24, want, 1e-6)
		kernel.Scale(1e12, data.y)
		closeTo(t, "the noise variance of a large target", fitted(t, model, cfg, data).Report.Hyper[0].Value/1e24, want, 1e-6)
	}
}
