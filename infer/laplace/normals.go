package laplace

import (
	"math"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
)

// normals is the prior of a candidate, π N(0, r₁) + (1−π) N(0, r₀), r₀ < r₁.
type normals struct {
	logOdds     float64 // logit π
	slab, spike float64 // r₁ and r₀
}

// odds is the logarithm of the odds of the slab given w.
func (p normals) odds(w float64) float64 {
	return p.logOdds + math.Log(p.spike/p.slab)/2 + w*w/2*(1/p.spike-1/p.slab)
}

// constant is −log of the slab's part of p(0).
func (p normals) constant() float64 {
	return math.Log(2*math.Pi*p.slab)/2 - special.LogSigmoid(p.logOdds)
}

// rate is the curvature of the parabola in w that touches −log p(w) where the spike has that probability.
func (p normals) rate(spike float64) float64 { return (1-spike)/p.slab + spike/p.spike }

// given returns −log p(w) less the constant, its slope and its curvature, which is negative where w is about as likely
// from either normal, for the probability of the spike given w and for lost = log(1 + e^−odds): log p = log π_slab
// N(w|0, r₁) + lost.
func (p normals) given(w, spike, lost float64) (value, slope, curvature float64) {
	rate, gap := p.rate(spike), 1/p.spike-1/p.slab
	return w*w/(2*p.slab) - lost, w * rate, rate - w*w*spike*(1-spike)*gap*gap
}

// Sums over a normal: its half-width, and the step at which the trapezium rule is exact to 1e-9. risen is the step, in
// widths of the rise of ρ, at which it is exact to 1e-6 of that (its error is e^(−2π²/risen)). sharp is how many times
// wider than the step of ρ a normal is when that step is next to a jump, and faded how many of its widths beyond the
// edge it ends.
const (
	tail    = 7.0
	spacing = 0.9
	risen   = 1.5
	sharp   = 1e3
	faded   = 40
	nodes   = 64 // that are summed at once
)

// inclusion is the probability of the slab under w ~ N(mean, variance), by the trapezium rule at steps
// of about the width over which ρ rises about ±edge.
func (p normals) inclusion(mean, variance float64) float64 {
	sd, half := math.Sqrt(variance), 1/p.spike-1/p.slab
	edge := math.Sqrt(math.Max(0, -2*p.odds(0)/half))
	width := 1 / math.Max(edge*half, math.Sqrt(half))
	if sd > sharp*width {
		edge = p.reach(edge, width)
		return special.NormalCDF((-edge-mean)/sd) + special.NormalCDF((mean-edge)/sd)
	}
	h := math.Min(spacing*sd, risen*width)
	if !(mean+h > mean) && !(mean-h < mean) {
		return special.Sigmoid(p.odds(mean))
	}
	sum, mass := 0.0, 0.0
	var density, rho [nodes]float64
	base, count := p.odds(0), math.Ceil(tail*sd/h)
	for first := -count; first <= count; first += nodes {
		some := min(nodes, int(count-first)+1)
		for k := range some {
			x := (first + float64(k)) * h
			density[k], rho[k] = -x*x/(2*variance), base+(mean+x)*(mean+x)/2*half
		}
		kernel.Exp(density[:some], density[:some])
		kernel.Logistic(rho[:some], rho[:some])
		for k := range some {
			sum += density[k] * rho[k]
			mass += density[k]
		}
	}
	return sum / mass
}

// reach is ∫ (1 − ρ) over w > 0: where a jump of ρ would have to be.
func (p normals) reach(edge, width float64) float64 {
	sum := special.Sigmoid(-p.odds(0)) / 2
	for w := width; w < edge+faded*width; w += width {
		sum += special.Sigmoid(-p.odds(w))
	}
	return sum * width
}

// joint is −log max(π N(w|0, r₁), (1−π) N(w|0, r₀)) less the constant, and says whether the slab is the larger.
func (p normals) joint(w float64) (value float64, slab bool) {
	odds := p.odds(w)
	return w*w/(2*p.slab) + math.Min(0, odds), odds >= 0
}

// proximal minimises (w−u)²/(2·step) + joint(w) over w; with a normal of variance r the least is u²/2(step+r).
func (p normals) proximal(u, step float64) float64 {
	if p.odds(0)+u*u/2*(1/(step+p.spike)-1/(step+p.slab)) >= 0 {
		return u / (1 + step/p.slab)
	}
	return u / (1 + step/p.spike)
}
