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
				if !(math.Abs(want-got) <= 1e-5*want) {
					t.Errorf("β %v, μ %v, ρ %v: 1/γ %.9g, by minimisation %.9g", shift, mean, variance, got, want)
				}
			}
		}
	}
}

// linksUnderTest are both with P(y=1) at f, whose logarithm is that of 1 − P at −f.
var linksUnderTest = map[string]struct {
	*link
	at func(f float64) float64
}{"logit": {logit, special.Sigmoid}, "probit": {probit, special.NormalCDF}}

// labelMoments returns the mass, mean and variance of σ(label·f) N(f|mean, variance), by plain sums.
func labelMoments(at func(f float64) float64, label, mean, variance float64) (mass, first, second float64) {
	sd := math.Sqrt(variance)
	mass, first, second = quad.Adaptive(func(f float64) (a, b, c float64) {
		density := at(label*f) * math.Exp(-(f-mean)*(f-mean)/(2*variance)) / math.Sqrt(2*math.Pi*variance)
		return density, density * (f - mean), density * (f - mean) * (f - mean)
	}, []float64{mean - 12*sd, mean, mean + 12*sd}, 1e-13)
	first /= mass
	return mass, mean + first, second/mass - first*first
}

// TestProbitSite: with the site of a label, f has the mean and the variance that it has under the label.
func TestProbitSite(t *testing.T) {
	for _, mean := range []float64{-3, -0.2, 0, 1, 4} {
		for _, variance := range []float64{1e-3, 0.3, 2, 40} {
			for _, label := range []float64{-1, 1} {
				_, first, second := labelMoments(special.NormalCDF, label, mean, variance)
				shift, precision := probit.include(label, mean, variance)
				after := 1 / (1/variance + precision)
				moved := after * (mean/variance + shift)
				if !(math.Abs(after-second) <= 1e-7*second) || !(math.Abs(moved-first) <= 1e-7*math.Sqrt(second)) {
					t.Errorf("μ %v, ρ %v, label %v: moments %.10g, %.10g, want %.10g, %.10g", mean, variance, label, moved, after, first, second)
				}
			}
		}
	}
	for _, z := range []float64{-1e8, -50, 50, 1e8} { // far from the data
		shift, precision := probit.include(1, z, 3)
		if !(precision >= 0 && precision <= 1) || math.IsNaN(shift) || math.IsInf(shift, 0) {
			t.Errorf("mean %v: shift %v, precision %v", z, shift, precision)
		}
	}
}

// TestInformation: S_IG is the expectation, by plain sums, of the divergence between normal distributions.
func TestInformation(t *testing.T) {
	for name, link := range linksUnderTest {
		for _, mean := range []float64{-2, 0, 0.7, 5} {
			for _, variance := range []float64{0.01, 1, 30} {
				want, mass := 0.0, 0.0
				for _, label := range []float64{-1, 1} {
					share, _, _ := labelMoments(link.at, label, mean, variance)
					shift, precision := link.include(label, mean, variance)
					after := 1 / (1/variance + precision)
					moved := after * (mean/variance + shift)
					kl := (math.Log(variance/after) + after/variance - 1 + (moved-mean)*(moved-mean)/variance) / 2
					want += share * kl
					mass += share
				}
				if got := link.information(mean, variance); !(math.Abs(got-want) <= 1e-8*want) || !(math.Abs(mass-1) <= 1e-9) {
					t.Errorf("%s, μ %v, ρ %v: information %.10g, want %.10g", name, mean, variance, got, want)
				}
			}
		}
	}
}

// TestDisagreement: BALD is the entropy of the label less its mean entropy at f.
func TestDisagreement(t *testing.T) {
	entropy := func(p, q float64) (sum float64) {
		for _, v := range []float64{p, q} {
			if v > 0 {
				sum -= v * math.Log(v)
			}
		}
		return sum
	}
	for name, link := range linksUnderTest {
		for _, mean := range []float64{-2, 0, 0.7, 5} {
			for _, variance := range []float64{0.01, 1, 30} {
				p, inner, _ := quad.Adaptive(func(f float64) (a, b, c float64) {
					density := math.Exp(-(f-mean)*(f-mean)/(2*variance)) / math.Sqrt(2*math.Pi*variance)
					return density * link.at(f), density * entropy(link.at(f), link.at(-f)), 0
				}, []float64{mean - 12*math.Sqrt(variance), mean, mean + 12*math.Sqrt(variance)}, 1e-12)
				want := entropy(p, 1-p) - inner
				if got := link.disagreement(mean, variance); !(math.Abs(got-want) <= 1e-8) {
					t.Errorf("%s, μ %v, ρ %v: %.10g, want %.10g", name, mean, variance, got, want)
				}
				if got, want := link.entropy(mean, variance), entropy(p, 1-p); !(math.Abs(got-want) <= 1e-8) {
					t.Errorf("%s, μ %v, ρ %v: entropy %.10g, want %.10g", name, mean, variance, got, want)
				}
			}
		}
		if link.entropy(1e6, 1) != 0 {
			t.Errorf("%s: a label that is certain has the entropy %v", name, link.entropy(1e6, 1))
		}
	}
}

// TestTables: interpolation is within 1e-6 of the functions, absolutely and relative to them, and
// beyond the grid they are themselves.
func TestTables(t *testing.T) {
	for name, table := range map[string]*table{
		"information": logit.informations(), "bald": logit.disagreements(), "minority": logit.minorities(),
		"probit information": probit.informations(), "probit bald": probit.disagreements(), "probit minority": probit.minorities(), "probit entropy": probit.entropies(),
	} {
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
