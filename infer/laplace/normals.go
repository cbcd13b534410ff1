package laplace

import (
	"math"

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

// at returns −log p(w), its slope and its curvature, which is negative where w is about as likely from
// either normal.
func (p normals) at(w float64) (value, slope, curvature float64) {
	odds, in, out := p.odds(w), 1/p.slab, 1/p.spike
	rho := special.Sigmoid(odds)
	// log p = log π_slab N(w|0, r₁) + log(1 + e^{−odds})
	value = -special.LogSigmoid(p.logOdds) + (math.Log(2*math.Pi*p.slab)+w*w*in)/2 - special.Softplus(-odds)
	rate := rho*in + (1-rho)*out
	return value, w * rate, rate - w*w*rho*(1-rho)*(out-in)*(out-in)
}

// Sums over a normal: its half-width, and the step at which the trapezium rule is exact to 1e-9. sharp
// is how many times wider than the step of ρ a normal is when that step is next to a jump, and faded
// how many of its widths beyond the edge it ends.
const (
	tail    = 7.0
	spacing = 0.9
	sharp   = 1e3
	faded   = 40
)

// inclusion is the probability of the slab under w ~ N(mean, variance), by the trapezium rule at steps
// below the width over which ρ rises about ±edge.
func (p normals) inclusion(mean, variance float64) float64 {
	sd, half := math.Sqrt(variance), 1/p.spike-1/p.slab
	edge := math.Sqrt(math.Max(0, -2*p.odds(0)/half))
	width := 1 / math.Max(edge*half, math.Sqrt(half))
	if sd > sharp*width {
		edge = p.reach(edge, width)
		return special.NormalCDF((-edge-mean)/sd) + special.NormalCDF((mean-edge)/sd)
	}
	h := math.Min(spacing*sd, width)
	if !(mean+h > mean) && !(mean-h < mean) {
		return special.Sigmoid(p.odds(mean))
	}
	count := math.Ceil(tail * sd / h)
	sum, mass := 0.0, 0.0
	for k := -count; k <= count; k++ {
		density := math.Exp(-k * k * h * h / (2 * variance))
		sum += density * special.Sigmoid(p.odds(mean+k*h))
		mass += density
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

// joint is the prior of a candidate with spike or slab chosen: −log max(π N(w|0, r₁), (1−π) N(w|0, r₀)).
func (p normals) joint(w float64) (value float64, slab bool) {
	in := -special.LogSigmoid(p.logOdds) + (math.Log(2*math.Pi*p.slab)+w*w/p.slab)/2
	out := -special.LogSigmoid(-p.logOdds) + (math.Log(2*math.Pi*p.spike)+w*w/p.spike)/2
	return math.Min(in, out), in <= out
}

// proximal minimises (w−u)²/(2·step) + joint(w) over w.
func (p normals) proximal(u, step float64) float64 {
	in, out := u/(1+step/p.slab), u/(1+step/p.spike)
	cost := func(w float64) float64 { v, _ := p.joint(w); return (w-u)*(w-u)/(2*step) + v }
	if cost(in) <= cost(out) {
		return in
	}
	return out
}
