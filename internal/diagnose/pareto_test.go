package diagnose

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestFitRecoversShape draws from generalised Pareto distributions. With n = 20,000 the standard
// error of the shape is about (1+k)/√n (Zhang & Stephens 2009); five of them and the
// pull to 0.5 by ten values are allowed.
func TestFitRecoversShape(t *testing.T) {
	const n = 20000
	for _, k := range []float64{-0.3, 0, 0.3, 0.7, 1.2} {
		for _, scale := range []float64{0.01, 1, 50} {
			rng := rand.New(rand.NewPCG(5, uint64(100*(k+1))))
			x := make([]float64, n)
			for i := range x {
				x[i] = Quantile(rng.Float64(), k, scale)
			}
			slices.Sort(x)
			got, s := Fit(x)
			allowed := 5*(1+math.Abs(k))/math.Sqrt(n) + 10.0/n
			if !(math.Abs(got-k) <= allowed) {
				t.Errorf("shape %g at scale %g is estimated as %g", k, scale, got)
			}
			if !(math.Abs(s/scale-1) <= 0.1) {
				t.Errorf("scale %g of shape %g is estimated as %g", scale, k, s)
			}
		}
	}
}

// Weights of a normal target of standard deviation s drawn from a standard normal
// are exp(z²(1−1/s²)/2)/s, whose tail has shape 1 − 1/s².
func TestSmoothOfNormals(t *testing.T) {
	const n = 40000
	for _, s := range []float64{1.2, 1.5, 2} {
		rng := rand.New(rand.NewPCG(8, 8))
		logs := make([]float64, n)
		for i := range logs {
			z := rng.NormFloat64()
			logs[i] = z*z*(1-1/(s*s))/2 - math.Log(s)
		}
		before := slices.Clone(logs)
		k := Smooth(logs)
		// The tail has 600 values, so a standard error of (1+k)/√600; the tail's logarithmic
		// correction z^(-1) biases it low by up to 0.1.
		want := 1 - 1/(s*s)
		if !(math.Abs(k-want) <= 5*(1+want)/math.Sqrt(600)+0.1) {
			t.Errorf("target SD %g: shape %g, want about %g", s, k, want)
		}
		for i := range logs {
			for j := i + 1; j < min(n, i+3); j++ {
				if (before[i] < before[j]) && logs[i] > logs[j] {
					t.Fatalf("smoothing changed the order of weights %d and %d", i, j)
				}
			}
		}
		if s == 1.2 { // the weights have a variance: their mean is 1
			if got := LogMean(logs); !(math.Abs(got) <= 0.02) {
				t.Errorf("log mean weight %g, want 0", got)
			}
		}
	}
}

// TestStandardError: shapes found in Pareto weights scatter by the standard error, within a quarter of it: 300
// repeats know a standard deviation to 4 %, and the formula is the leading term for a large tail.
func TestStandardError(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, n := range []int{200, 1000} {
		const repeats = 300
		sum, squares := 0.0, 0.0
		for range repeats {
			logs := make([]float64, n)
			for i := range logs {
				logs[i] = -0.7 * math.Log(rng.Float64())
			}
			k := Smooth(logs)
			sum += k
			squares += k * k
		}
		got := math.Sqrt(squares/repeats - sum*sum/repeats/repeats)
		if want := StandardError(0.7, n); !(math.Abs(got/want-1) <= 0.25) {
			t.Errorf("shapes of %d weights scatter by %.3f, want %.3f", n, got, want)
		}
	}
}

func TestEqualWeights(t *testing.T) {
	logs := make([]float64, 200)
	for i := range logs {
		logs[i] = -7
	}
	if k := Smooth(logs); k != 0 {
		t.Errorf("shape of equal weights is %g", k)
	}
	if got := EffectiveShare(logs); !(math.Abs(got-1) <= 1e-15) {
		t.Errorf("effective share of equal weights is %g", got)
	}
	if got := LogMean(logs); got != -7 {
		t.Errorf("log mean of equal weights is %g", got)
	}
	if k := Smooth(logs[:20]); !math.IsNaN(k) {
		t.Errorf("twenty weights have the shape %g", k)
	}
}

// One of n weights carries all: the effective share is 1/n.
func TestEffectiveShare(t *testing.T) {
	logs := []float64{0, -800, -800, -800}
	if got := EffectiveShare(logs); got != 0.25 {
		t.Errorf("effective share %g, want 0.25", got)
	}
}

// TestShrinkage: the shape of a tail of 30 values is drawn to ½ as by ten more. The shape k before
// that satisfies the likelihood equation k = mean log(1 + kx/scale), which has one solution other
// than 0; so it is found from the scale, which is not drawn anywhere.
func TestShrinkage(t *testing.T) {
	const n = 30
	for _, shape := range []float64{0.3, 0.7, 1.5} {
		x := make([]float64, n)
		for i := range x {
			x[i] = Quantile((float64(i)+0.5)/n, shape, 2)
		}
		got, scale := Fit(x)
		low, high := 0.01, 10.0
		for range 100 {
			k, mean := (low+high)/2, 0.0
			for _, v := range x {
				mean += math.Log1p(k*v/scale) / n
			}
			if mean > k {
				low = k
			} else {
				high = k
			}
		}
		if want := (n*low + 10*0.5) / (n + 10); !(math.Abs(got-want) <= 1e-9) || !(math.Abs(low-shape) <= 0.3) {
			t.Errorf("shape %g: %g before and %g after the shrinkage, want %g", shape, low, got, want)
		}
	}
}
