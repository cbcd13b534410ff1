package likelihood_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestVectorExpectations: rows integrated together have the expectations of quad.Normal, whichever
// rows they come with: 1e-11 of the size of the terms, ten times what either is good to.
func TestVectorExpectations(t *testing.T) {
	for _, c := range []struct {
		lik interface {
			likelihood.Batch
			likelihood.Differentiable
		}
		targets []float64
	}{
		{likelihood.Bernoulli{Link: likelihood.Probit}, []float64{0, 1}},
		{likelihood.Bernoulli{Link: likelihood.Cloglog}, []float64{0, 1}},
		{likelihood.Poisson{Link: likelihood.Softplus}, []float64{0, 1, 30}},
		{likelihood.Bernoulli{}, []float64{0, 1}},
		{likelihood.NegativeBinomial{Size: param.Hold(2)}, []float64{0, 5, 100}}, {likelihood.NegativeBinomial{Size: param.Hold(900)}, []float64{3, 1000}},
		{likelihood.Binomial{Trials: 7}, []float64{0, 4, 7}}, {likelihood.Binomial{Trials: 300}, []float64{0, 200, 300}},
	} {
		var y, mean, variance []float64
		for m := -9.0; m <= 9; m += 0.9 {
			for _, v := range []float64{0, 1e-9, 0.01, 0.3, 1.5, 4.8, 30} {
				for _, target := range c.targets {
					y, mean, variance = append(y, target), append(mean, m), append(variance, v)
				}
			}
		}
		n := len(y)
		value, slope, bend := make([]float64, n), make([]float64, n), make([]float64, n)
		c.lik.ExpectedLogDensities(value, slope, bend, y, nil, mean, variance)
		for i := range y {
			a, b, d := quad.Normal(func(f float64) (float64, float64, float64) {
				value, first, second := c.lik.Derivatives(y[i], f)
				return value, first, second / 2
			}, mean[i], variance[i])
			for j, gap := range []float64{value[i] - a, slope[i] - b, bend[i] - d} {
				size := 1 + y[i] + math.Abs(a) + math.Abs(b)
				tolerance := 1e-11
				if few, ok := c.lik.(likelihood.NegativeBinomial); ok && y[i]+few.Size.Value <= 20 {
					tolerance = 2e-9 // of the logistic mixture, times the count
				}
				if few, ok := c.lik.(likelihood.Binomial); ok && few.Trials <= 20 {
					tolerance = 2e-9
				}
				if c.lik == (likelihood.Bernoulli{}) || c.lik == (likelihood.Poisson{Link: likelihood.Softplus}) && y[i] == 0 {
					tolerance = 2e-10 // of the logistic mixture
				}
				if !(math.Abs(gap) <= tolerance*size) {
					t.Errorf("%v, y=%g under N(%g, %g): result %d is off by %g", c.lik, y[i], mean[i], variance[i], j, gap)
				}
			}
		}
	}
}

// TestParametricBatch: gradients of many rows are those of each.
func TestParametricBatch(t *testing.T) {
	for _, size := range []float64{0.3, 2, 700} {
		lik := likelihood.NegativeBinomial{Size: param.Hold(size)}
		var y, mean, variance []float64
		for m := -4.0; m <= 7; m += 0.6 {
			for _, v := range []float64{0, 0.02, 1, 9} {
				y, mean, variance = append(y, math.Floor(math.Exp(m+v/3))), append(mean, m), append(variance, v)
			}
		}
		got := make([]float64, len(y))
		lik.ExpectedParameterGradients(got, y, mean, variance)
		want := make([]float64, 1)
		for i := range y {
			lik.ExpectedParameterGradient(want, y[i], mean[i], variance[i])
			if !(math.Abs(got[i]-want[0]) <= 1e-11*(1+math.Abs(want[0])+size+y[i])) {
				t.Errorf("size %g, y=%g under N(%g, %g): %v, alone %v", size, y[i], mean[i], variance[i], got[i], want[0])
			}
		}
	}
}

// TestLogDensities: many f at once have the density of each: 1e-14 of the terms, y and the mean.
func TestLogDensities(t *testing.T) {
	var f []float64
	for v := -40.0; v <= 12; v += 0.37 {
		f = append(f, v)
	}
	for _, c := range []struct {
		lik     likelihood.Family
		targets []float64
	}{
		{likelihood.Bernoulli{}, []float64{0, 1}}, {likelihood.Bernoulli{Link: likelihood.Probit}, []float64{0, 1}},
		{likelihood.Poisson{}, []float64{0, 1, 17, 3000}}, {likelihood.Poisson{Link: likelihood.Softplus}, []float64{0, 4}},
		{likelihood.NegativeBinomial{Size: param.Hold(2)}, []float64{0, 9}},
	} {
		for _, y := range c.targets {
			got := append([]float64{}, f...)
			likelihood.LogDensities(c.lik, got, y, got)
			for i, v := range got {
				want := c.lik.LogDensity(y, f[i])
				size := 1 + math.Abs(want) + y*(1+math.Abs(f[i]))
				if !(math.Abs(v-want) <= 1e-14*size) {
					t.Errorf("%s: log p(%g|%g) is %v, want %v", fmt.Sprint(c.lik), y, f[i], v, want)
				}
			}
		}
	}
}

// TestParametricCurvature: second derivatives in closed form are the differences of the gradient, summed over rows with
// their weights.
func TestParametricCurvature(t *testing.T) {
	for _, cutpoints := range [][]float64{{0.3}, {-1, 0.5}, {-2, -1.99, 0, 4}, {-3, -1, 0, 0.4, 1, 40}} {
		lik := likelihood.Ordinal{Cutpoints: param.List{Values: cutpoints}}
		p := len(cutpoints)
		var y, mean, variance, weight []float64
		for k := range p + 1 {
			for _, m := range []float64{-2, 0.4, 3} {
				for _, v := range []float64{0, 0.5, 9} {
					y, mean, variance = append(y, float64(k)), append(mean, m), append(variance, v)
					weight = append(weight, float64(len(y)%3)*0.7)
				}
			}
		}
		n := len(y)
		cross, bend := make([]float64, p*n), make([]float64, p*p)
		for j := range bend {
			bend[j] = 1 // is added to
		}
		want := slices.Clone(bend)
		lik.ExpectedParameterCurvatures(cross, bend, y, mean, variance, weight)

		const step = 1e-5
		gradient := func(sign, shift float64, j, i int) []float64 { // with parameter j moved, or none
			at := lik
			if j >= 0 {
				values := make([]float64, p)
				for k, parameter := range lik.Parameters() {
					values[k] = parameter.Value
				}
				if j == 0 {
					values[0] += sign * step
				} else {
					values[j] *= math.Exp(sign * step)
				}
				at = lik.WithParameters(values).(likelihood.Ordinal)
			}
			g := make([]float64, p)
			at.ExpectedParameterGradient(g, y[i], mean[i]+shift, variance[i])
			return g
		}
		for i := range y {
			low, high := gradient(0, -step, -1, i), gradient(0, step, -1, i)
			for k := range p {
				if d := (high[k] - low[k]) / (2 * step); !(math.Abs(cross[k*n+i]-d) <= 1e-6*(1+math.Abs(d))) {
					t.Errorf("%v, y=%v under N(%v, %v): in the mean and parameter %d %v, by differences %v", lik, y[i], mean[i], variance[i], k, cross[k*n+i], d)
				}
			}
			for j := range p {
				low, high := gradient(-1, 0, j, i), gradient(1, 0, j, i)
				for k := range p {
					want[j*p+k] += weight[i] * (high[k] - low[k]) / (2 * step)
				}
			}
		}
		for j := range want {
			if !(math.Abs(bend[j]-want[j]) <= 1e-5*(1+math.Abs(want[j]))) {
				t.Errorf("%v: parameters %d and %d bend %v, by differences %v", lik, j/p, j%p, bend[j], want[j])
			}
		}
		plain, ones := make([]float64, p*p), make([]float64, p*p)
		for i := range weight {
			weight[i] = 1
		}
		lik.ExpectedParameterCurvatures(cross, plain, y, mean, variance, nil)
		lik.ExpectedParameterCurvatures(cross, ones, y, mean, variance, weight)
		lik.ExpectedParameterCurvatures(cross, nil, y, mean, variance, weight)
		if !slices.Equal(plain, ones) {
			t.Errorf("%v: without weights %v, with 1s %v", lik, plain, ones)
		}
	}
}
