package active

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// bound is φ_i(γ) of one site: h(γ) + log κ − (μ+βρ)²/(ρκ), h by maximisation over a fine grid.
func bound(shift, mean, variance, gamma float64) float64 {
	kappa := 1 + variance/gamma
	// h(γ) = max_x −x/γ − 2g(x); the maximum by golden section over log x.
	low, high := math.Log(1e-12), math.Log(1e9)
	dual := func(t float64) float64 {
		x := math.Exp(t)
		return -x/gamma + 2*math.Log(2*math.Cosh(math.Sqrt(x)/2))
	}
	for range 200 {
		a, b := low+(high-low)*0.382, low+(high-low)*0.618
		if va, vb := dual(a), dual(b); !(va >= vb) || math.IsInf(va, 0) && math.IsInf(vb, 0) {
			low = a
			if math.IsNaN(va) || math.IsInf(vb, 0) || math.IsNaN(vb) {
				low, high = low-(a-low), b
			}
		} else {
			high = b
		}
	}
	moved := mean + shift*variance
	return dual((low+high)/2) + math.Log(kappa) - moved*moved/(variance*kappa)
}

// TestIncludedPrecision: the width is that of the lowest bound, by direct minimisation over log γ.
func TestIncludedPrecision(t *testing.T) {
	for _, mean := range []float64{-3, -0.2, 0, 1, 4} {
		for _, variance := range []float64{1e-3, 0.3, 2, 40} {
			for _, shift := range []float64{-0.5, 0.5} {
				low, high := math.Log(4.0+1e-9), math.Log(400.0)
				for range 90 {
					a, b := low+(high-low)*0.382, low+(high-low)*0.618
					if bound(shift, mean, variance, math.Exp(a)) < bound(shift, mean, variance, math.Exp(b)) {
						high = b
					} else {
						low = a
					}
				}
				want, got := math.Exp(-(low+high)/2), includedPrecision(shift, mean, variance)
				if math.Abs(want-got) > 1e-5*want {
					t.Errorf("β %v, μ %v, ρ %v: 1/γ %.9g, by minimisation %.9g", shift, mean, variance, got, want)
				}
			}
		}
	}
}

// TestInformation: S_IG is the expectation, by plain sums, of the divergence between normal distributions.
func TestInformation(t *testing.T) {
	for _, mean := range []float64{-2, 0, 0.7, 5} {
		for _, variance := range []float64{0.01, 1, 30} {
			want, mass := 0.0, 0.0
			for _, label := range []float64{-1, 1} {
				share, _, _ := quad.Adaptive(func(f float64) (a, b, c float64) {
					return special.Sigmoid(label*f) * math.Exp(-(f-mean)*(f-mean)/(2*variance)) / math.Sqrt(2*math.Pi*variance), 0, 0
				}, []float64{mean - 12*math.Sqrt(variance), mean, mean + 12*math.Sqrt(variance)}, 1e-12)
				precision := includedPrecision(label/2, mean, variance)
				after := 1 / (1/variance + precision)
				moved := after * (mean/variance + label/2)
				kl := (math.Log(variance/after) + after/variance - 1 + (moved-mean)*(moved-mean)/variance) / 2
				want += share * kl
				mass += share
			}
			if got := information(mean, variance); math.Abs(got-want) > 1e-8*want || math.Abs(mass-1) > 1e-9 {
				t.Errorf("μ %v, ρ %v: information %.10g, want %.10g", mean, variance, got, want)
			}
		}
	}
}

// TestDisagreement: BALD is the entropy of the label less its mean entropy at f.
func TestDisagreement(t *testing.T) {
	entropy := func(p float64) float64 {
		if p == 0 || p == 1 {
			return 0
		}
		return -p*math.Log(p) - (1-p)*math.Log1p(-p)
	}
	for _, mean := range []float64{-2, 0, 0.7, 5} {
		for _, variance := range []float64{0.01, 1, 30} {
			p, inner, _ := quad.Adaptive(func(f float64) (a, b, c float64) {
				density := math.Exp(-(f-mean)*(f-mean)/(2*variance)) / math.Sqrt(2*math.Pi*variance)
				return density * special.Sigmoid(f), density * entropy(special.Sigmoid(f)), 0
			}, []float64{mean - 12*math.Sqrt(variance), mean, mean + 12*math.Sqrt(variance)}, 1e-12)
			want := entropy(p) - inner
			if got := disagreement(mean, variance); math.Abs(got-want) > 1e-8 {
				t.Errorf("μ %v, ρ %v: %.10g, want %.10g", mean, variance, got, want)
			}
		}
	}
}

// TestTables: interpolation is within 1e-6 of the functions, absolutely and relative to them, and
// beyond the grid they are themselves.
func TestTables(t *testing.T) {
	for name, table := range map[string]*table{"information": informationTable(), "bald": disagreementTable(), "minority": minorityTable()} {
		worst := 0.0
		for mean := 0.013; mean < 40; mean = mean*1.37 + 0.01 {
			for variance := 3e-7; variance < 2e4; variance *= 1.83 {
				want := table.of(mean, variance)
				got := table.at(-mean, variance)
				relative := math.Abs(got-want) / want
				if mean > 6*math.Sqrt(4+variance) || want < 1e-9 {
					relative = math.Abs(got - want)
				}
				if worst = math.Max(worst, relative); relative > 1e-6 {
					t.Fatalf("%s at mean %v, variance %v: %v, want %v", name, mean, variance, got, want)
				}
			}
		}
		t.Logf("%s: largest relative error %.2g", name, worst)
	}
}
