package score

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
)

// TestLeaveGaussianIsItsIntegral compares the closed form with E p(y|f,s)^(1−w) / E p(y|f,s)^(−w) over the
// posterior of f | s ~ N(m, sh) and of the noise variance s, an inverse gamma of ν degrees of freedom, by
// sums over a fine grid of both.
func TestLeaveGaussianIsItsIntegral(t *testing.T) {
	for _, c := range []struct{ df, mean, noise, leverage, weight, y float64 }{
		{12, 0.3, 2, 0.2, 1, 1.5}, {30, -1, 0.5, 0.05, 1, -2.4}, {25, 0, 1, 0.3, 2, 0.8}, {40, 2, 3, 0.5, 3, 2.1},
	} {
		scale := c.noise * (1 - 2/c.df) // ν scale / s is chi-square
		h := c.leverage / c.weight
		var with, without, all float64
		const step = 0.02
		for u := -6.0; u < 6; u += step { // log s less log scale
			s := scale * math.Exp(u)
			density := -c.df/2*u - c.df/2*math.Exp(-u)
			for z := -12.0; z < 12; z += step {
				f := c.mean + z*math.Sqrt(s*h)
				logs := likelihood.Gaussian{NoiseVariance: param.Hold(s)}.LogDensity(c.y, f)
				with += math.Exp(density - z*z/2 + (1-c.weight)*logs)
				without += math.Exp(density - z*z/2 - c.weight*logs)
				all += math.Exp(density - z*z/2)
			}
		}
		g := likelihood.Gaussian{NoiseVariance: param.Hold(c.noise), PredictiveDF: c.df}
		left, mean, variance, removed := leaveGaussian(g, c.y, c.weight, c.mean, c.noise*h)
		got, _, _ := left.TiltedMoments(c.y, mean, variance)
		if want := math.Log(with / without); !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("%+v: %v, want %v", c, got, want)
		}
		if want := math.Log(without / all); !(math.Abs(removed-want) <= 1e-6) {
			t.Errorf("%+v: the mean of p^−w has the logarithm %v, want %v", c, removed, want)
		}
	}
}

// TestLeaveWeightOfMembers: without its w copies of a row members that know f have the shares P(k)/p_k(y)^w, so that
// its density is Σ P(k) p_k^(1−w) / Σ P(k) p_k^(−w). A row of weight 0 leaves the shares as they are.
func TestLeaveWeightOfMembers(t *testing.T) {
	for _, family := range []likelihood.Family{likelihood.Gaussian{NoiseVariance: param.Hold(1)}, likelihood.Poisson{}} {
		for _, weight := range []float64{0, 1, 3} {
			fitted := &credence.Fitted{Frame: &frame.Frame{}, Report: credence.Report{Rows: 1}}
			var with, without float64
			for _, f := range []float64{0, 1} {
				fitted.Members = append(fitted.Members, credence.Member{Weight: 0.5, Posterior: &posterior.Diagonal{Mean: []float64{f}, Variance: []float64{1e-12}},
					Model: credence.Model{Likelihood: family, Features: constant{}}})
				p := math.Exp(family.LogDensity(0, f))
				with, without = with+math.Pow(p, 1-weight)/2, without+math.Pow(p, -weight)/2
			}
			s, err := New(fitted, Options{})
			if err != nil {
				t.Fatal(err)
			}
			rows := s.NewRows()
			rows.batch.X.Reshape(1, 0)
			rows.batch.Target, rows.batch.Weight = []float64{0}, []float64{weight}
			if err := rows.score(); err != nil {
				t.Fatal(err)
			}
			l := NewLeaver(fitted)
			if err := l.Add(rows); err != nil {
				t.Fatal(err)
			}
			if got, want := l.LogDensity(0), math.Log(with/without); !(math.Abs(got-want) <= 1e-6) {
				t.Errorf("%T, weight %v: %v, want %v", family, weight, got, want)
			}
		}
	}
}

// TestLearnedParameters: a parameter is learned unless it is stated, wherever its search began.
func TestLearnedParameters(t *testing.T) {
	for want, l := range map[int]credence.Likelihood{
		0: likelihood.Gaussian{NoiseVariance: param.Hold(2)},
		1: likelihood.StudentT{DegreesOfFreedom: param.Hold(4), Scale: param.From(1)},
		2: likelihood.StudentT{Scale: param.From(1)},
	} {
		if got := learnedParameters(l); got != want {
			t.Errorf("%v has %d, want %d", l, got, want)
		}
	}
}
