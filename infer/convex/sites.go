package convex

import (
	"fmt"
	"math"
)

// Potential is g of a site, as a function of x = s²/σ² ≥ 0: convex and decreasing.
type Potential interface {
	// At returns g(x) and its first two derivatives.
	At(x float64) (g, first, second float64)
	// LogConcave says whether log t is concave in s; the bound is then convex.
	LogConcave() bool
}

// Laplace is exp(−Rate·|s|/σ).
type Laplace struct{ Rate float64 }

// At implements [Potential].
func (p Laplace) At(x float64) (g, first, second float64) {
	root := math.Sqrt(math.Max(x, 1e-300))
	return -p.Rate * root, -p.Rate / (2 * root), p.Rate / (4 * root * root * root)
}

// LogConcave implements [Potential].
func (Laplace) LogConcave() bool { return true }

// Logistic is the even part of 1/(1 + exp(−c·Slope·s/σ)) for a class c of ±1, whose odd part is β =
// c·Slope·σ/2.
type Logistic struct{ Slope float64 }

// At implements [Potential].
func (p Logistic) At(x float64) (g, first, second float64) {
	v, c := p.Slope*math.Sqrt(x)/2, p.Slope*p.Slope/8
	e := math.Exp(-2 * v)
	g = -(v + math.Log1p(e))
	tanh := (1 - e) / (1 + e)
	if v < 1e-2 {
		square := v * v
		ratio := 1 - square/3 + 2*square*square/15
		return g, -c * ratio, c * c * (2.0/3 - 8*square/15 + 34*square*square/105)
	}
	return g, -c * tanh / v, c * c * (tanh/v + tanh*tanh - 1) / (v * v)
}

// LogConcave implements [Potential].
func (Logistic) LogConcave() bool { return true }

// StudentT is (1 + Rate·s²/(DF σ²))^{−(DF+1)/2}; it is not log-concave.
type StudentT struct{ Rate, DF float64 }

// At implements [Potential].
func (p StudentT) At(x float64) (g, first, second float64) {
	half, total := (p.DF+1)/2, p.DF+p.Rate*x
	return -half * math.Log1p(p.Rate*x/p.DF), -half * p.Rate / total, half * p.Rate * p.Rate / (total * total)
}

// LogConcave implements [Potential].
func (StudentT) LogConcave() bool { return false }

// Gaussian is exp(−Precision·s²/(2σ²)).
type Gaussian struct{ Precision float64 }

// At implements [Potential].
func (p Gaussian) At(x float64) (g, first, second float64) {
	return -p.Precision * x / 2, -p.Precision / 2, 0
}

// LogConcave implements [Potential].
func (Gaussian) LogConcave() bool { return true }

// ExponentialPower is exp(−Rate·(|s|/σ)^Power) for a power between 0 and 2, log-concave from 1 on.
type ExponentialPower struct{ Rate, Power float64 }

// At implements [Potential].
func (p ExponentialPower) At(x float64) (g, first, second float64) {
	x = math.Max(x, 1e-300)
	half := p.Power / 2
	value := p.Rate * math.Pow(x, half)
	return -value, -half * value / x, -half * (half - 1) * value / (x * x)
}

// LogConcave implements [Potential].
func (p ExponentialPower) LogConcave() bool { return p.Power >= 1 }

// Sech2 is 1/cosh²(Slope·s/σ).
type Sech2 struct{ Slope float64 }

// At implements [Potential]: twice that of a logistic site of twice the slope, but for a constant.
func (p Sech2) At(x float64) (g, first, second float64) {
	g, first, second = Logistic{2 * p.Slope}.At(x)
	return 2 * (g + math.Ln2), 2 * first, 2 * second
}

// LogConcave implements [Potential].
func (Sech2) LogConcave() bool { return true }

// Group is a run of sites with one potential.
type Group struct {
	Count     int
	Potential Potential
	// Shift is β, length Count; nil means 0.
	Shift []float64
	// Copies is how often each site counts, length Count; nil means once.
	Copies []float64
}

// site is what the double loop asks of one at s, for a variance z over σ² and σ².
type site struct {
	value            float64 // h*(s)
	slope, curvature float64 // of h* in s
	precision        float64 // 1/γ
}

// leastCurvature is that of a site which is not log-concave, as a share of its precision.
const leastCurvature = 1e-3

func siteAt(p Potential, s, shift, z, noise float64) site {
	x := s * s / noise
	g, first, second := p.At(z + x)
	out := site{value: -g - shift*s/noise, precision: -2 * first}
	out.slope = (s*out.precision - shift) / noise
	out.curvature = math.Max(out.precision-4*x*second, leastCurvature*out.precision) / noise
	return out
}

// checkGroups returns the number of sites.
func checkGroups(groups []Group) (int, error) {
	total := 0
	for i, g := range groups {
		if g.Potential == nil || g.Count < 0 || g.Shift != nil && len(g.Shift) != g.Count || g.Copies != nil && len(g.Copies) != g.Count {
			return 0, fmt.Errorf("convex: group %d of sites has %d of them, %d shifts and %d copies, and potential %v", i+1, g.Count, len(g.Shift), len(g.Copies), g.Potential)
		}
		total += g.Count
	}
	return total, nil
}
