package problem

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
)

// Units are those in which an engine computes, and the way back to the target's own. In them a normal target is
//
//	y′ = (y − offset − Centre)/Scale
//
// the precision of a mean row is 1, and the intercept, weight 0, stands at the means of the columns. Classes have
// the units 0 and 1.
type Units struct {
	Centre, Scale float64
	Noise         float64   // of the noise's standard deviation
	Means         []float64 // of the columns, length d, 0 for the intercept; nil without an intercept
	// Jacobian is what the log density of all targets has in their own units beside what it has in these.
	Jacobian float64
}

// Units returns the units of scales for columns that stand about means.
func (h *Held) Units(s *Scales, means []float64) Units {
	u := Units{Scale: 1, Noise: 1}
	if s.Intercept != nil {
		u.Means = means
	}
	if _, normal := h.rows.model.Likelihood.(likelihood.Gaussian); !normal {
		return u
	}
	if s.Intercept != nil {
		u.Centre = s.Intercept.Mean
	}
	u.Scale, u.Noise = math.Sqrt(s.Square), s.Noise
	u.Jacobian = h.Sums.LogPrecision - h.Sums.Weight*math.Log(u.Noise)
	return u
}

// Targets returns y′ of every row, times the roots of the rows, nil for 1.
func (u *Units) Targets(h *Held, roots []float64) []float64 {
	out := make([]float64, len(h.Target))
	for i, y := range h.Target {
		out[i] = (y - h.OffsetOf(i) - u.Centre) / u.Scale
		if roots != nil {
			out[i] *= roots[i]
		}
	}
	return out
}

// Own takes weights to the target's own units and the intercept to zero of the columns, in place.
func (u *Units) Own(w []float64) {
	kernel.Scale(u.Scale, w)
	if u.Means != nil {
		w[0] += u.Centre
	}
	Uncentre(u.Means, w)
}

// Deviation is Own for a deviation from other weights.
func (u *Units) Deviation(w []float64) {
	kernel.Scale(u.Scale, w)
	Uncentre(u.Means, w)
}

// Covariance is Own for a covariance, d×d.
func (u *Units) Covariance(c []float64) {
	kernel.Scale(u.Scale*u.Scale, c)
	if u.Means == nil {
		return
	}
	d := len(u.Means)
	cross := make([]float64, d) // C x̄
	for j := range d {
		cross[j] = kernel.Dot(c[j*d:(j+1)*d], u.Means)
	}
	for j, v := range cross {
		c[j] -= v
		c[j*d] -= v
	}
	c[0] += kernel.Dot(cross, u.Means)
}

// Factor is Own for the upper triangular factor F of a covariance FFᵀ, d×d.
func (u *Units) Factor(f []float64) {
	UncentreFactor(u.Means, f)
	kernel.Scale(u.Scale, f)
}

// SetNoise returns the likelihood with a noise variance that is given in these units, and adds the variance to a
// report. Other families than the normal stay as they are.
func (u *Units) SetNoise(l credence.Likelihood, report *credence.Report, variance float64) credence.Likelihood {
	g, ok := l.(likelihood.Gaussian)
	if !ok {
		return l
	}
	g.NoiseVariance = g.NoiseVariance.At(variance * u.Noise * u.Noise)
	report.Hyper = append(report.Hyper, credence.Value{Name: "noise_variance", Value: g.NoiseVariance.Value})
	return g
}

// InterceptSpread is the prior standard deviation of an intercept in units of that of the target, on
// the scale of f.
const InterceptSpread = 10

// An intercept stands at the weighted means x̄ of the columns: f = b̃ + (φ − x̄)ᵀw with
// b̃ ~ N(m, (InterceptSpread·s)²), so that nothing but b̃ changes when a constant is added to the
// target. In terms of the features as they are, the intercept is b̃ − x̄ᵀw, which is the map
// T = [1, −x̄ᵀ; 0, I]. It is weight 0.

// Centred says whether the columns of a group stand about their means under an intercept: all do
// but features with hyper-parameters, such as random ones, whose columns move.
func (g *Group) Centred() bool { return !g.Intercept && !g.Tuned }

// Means returns the weighted means of the columns of centred groups, and 0 for the others, given the
// sums Σ w φ_j over rows of some weight.
func Means(groups []Group, totals []float64, weight float64) []float64 {
	means := make([]float64, len(totals))
	for _, g := range groups {
		if g.Centred() {
			for j := g.First; j < g.End(); j += g.Step() {
				means[j] = totals[j] / weight
			}
		}
	}
	return means
}

// Uncentre turns the mean of (b̃, w) into that of (b̃ − x̄ᵀw, w); nil means are those of a model without an intercept.
func Uncentre(means, mean []float64) {
	if means != nil {
		mean[0] -= kernel.Dot(means, mean)
	}
}

// UncentreFactor turns a d×d matrix F with FFᵀ the covariance of (b̃, w) into T F, that of
// (b̃ − x̄ᵀw, w), which is upper triangular as F is.
func UncentreFactor(means, factor []float64) {
	d := len(means)
	for j := 1; j < d; j++ {
		if means[j] != 0 {
			kernel.Axpy(-means[j], factor[j*d:(j+1)*d], factor[:d])
		}
	}
}
