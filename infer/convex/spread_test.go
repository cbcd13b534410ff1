package convex_test

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestSpread: what is told of the standard deviation of a weight is what the posterior on a grid says where rows are
// many, and elsewhere at least half of what is lacking: the Gaussian that Q is compared with has neither skew nor
// tails.
func TestSpread(t *testing.T) {
	density := func(p credence.Prior) func(w float64) float64 {
		switch p := p.(type) {
		case prior.Laplace:
			return func(w float64) float64 { return -math.Abs(w) / p.Scale.Value }
		case prior.StudentT:
			return func(w float64) float64 {
				return -(p.DF + 1) / 2 * math.Log1p(w*w/(p.DF*p.Scale.Value*p.Scale.Value))
			}
		}
		return func(w float64) float64 { return -w * w / (2 * p.(prior.Normal).Variance.Value) }
	}
	for _, c := range []struct {
		family credence.Likelihood
		prior  credence.Prior
		n      int
	}{
		{likelihood.Bernoulli{}, prior.Normal{Variance: param.Hold(4)}, 12},
		{likelihood.Bernoulli{}, prior.Normal{Variance: param.Hold(4)}, 400},
		{likelihood.Bernoulli{}, prior.Laplace{Scale: param.Hold(0.5)}, 12},
		{likelihood.Gaussian{NoiseVariance: param.Hold(1)}, prior.Laplace{Scale: param.Hold(0.3)}, 4},
		{likelihood.Gaussian{NoiseVariance: param.Hold(1)}, prior.StudentT{DF: 4, Scale: param.Hold(0.5)}, 4},
		{likelihood.Gaussian{NoiseVariance: param.Hold(1)}, prior.Normal{Variance: param.Hold(1)}, 4},
	} {
		rows := &credence.Batch{X: linop.NewDense(c.n, 1)}
		_, classes := c.family.(likelihood.Bernoulli)
		for i := range c.n {
			x := 1.2 * math.Sin(float64(i*i+1))
			rows.X.Row(i)[0] = x
			y := x + 2*math.Cos(float64(7*i))
			if classes {
				y = math.Max(0, math.Copysign(1, y))
			}
			rows.Target = append(rows.Target, y)
		}
		total, mean, square, log := 0.0, 0.0, 0.0, density(c.prior)
		for w := -20.0; w <= 20; w += 1e-3 {
			value := log(w)
			for i, y := range rows.Target {
				f := w * rows.X.Row(i)[0]
				if classes {
					value += (y - 1) * f
					value -= math.Log1p(math.Exp(-f))
				} else {
					value -= (y - f) * (y - f) / 2
				}
			}
			p := math.Exp(value)
			total += p
			mean += p * w
			square += p * w * w
		}
		mean /= total
		truth := math.Sqrt(square/total - mean*mean)
		for _, way := range []convex.Variances{convex.Exact, convex.Sampled} {
			fitted := fitOf(t, must.Value(convex.New(credence.Model{Features: conform.Columns{Dense: 1}, Likelihood: c.family, Prior: c.prior}, convex.Config{Variances: way, K: 3000}))(t), rows)
			_, variance := marginals(fitted)
			want, r := math.Sqrt(variance[0])/truth, fitted.Report
			if want > 1-1e-6 {
				if r.SDRatio != nil {
					t.Errorf("%v, %v: %v told of Q that is the posterior", c.family, c.prior, *r.SDRatio)
				}
				continue
			}
			chance := 0.0
			if way == convex.Sampled {
				chance = 0.05 // of 16 draws
			}
			if r.SDRatio == nil {
				t.Errorf("%v, %v, %d rows, %s: nothing is told of %.3f of the standard deviation", c.family, c.prior, c.n, way, want)
				continue
			}
			least, most := want-0.01, want+0.5*(1-want)
			if c.n >= 400 {
				most = want + 0.01
			}
			if *r.SDRatio < least-chance || *r.SDRatio > most+chance {
				t.Errorf("%v, %v, %d rows, %s: %.3f of the standard deviation is told, and it is %.3f", c.family, c.prior, c.n, way, *r.SDRatio, want)
			}
			if warned := len(r.Warnings) > 0 && strings.Contains(r.Warnings[0], "narrower"); way == convex.Exact && warned != (*r.SDRatio < 0.9) {
				t.Errorf("%v, %v: %.3f, and %q", c.family, c.prior, *r.SDRatio, r.Warnings)
			}
		}
	}
}
