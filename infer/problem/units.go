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
		Uncentre(u.Means, w)
	}
}

// Deviation is Own for a deviation from other weights.
func (u *Units) Deviation(w []float64) {
	kernel.Scale(u.Scale, w)
	if u.Means != nil {
		Uncentre(u.Means, w)
	}
}

// Variance is Own for the variances of independent weights.
func (u *Units) Variance(v []float64) {
	kernel.Scale(u.Scale*u.Scale, v)
	for j, m := range u.Means {
		v[0] += m * m * v[j]
	}
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
	if u.Means != nil {
		UncentreFactor(u.Means, f)
	}
	kernel.Scale(u.Scale, f)
}

// SetNoise returns the likelihood with a noise variance that is given in these units, and adds the variance to a report. Other
// families than the normal stay as they are.
func (u *Units) SetNoise(l credence.Likelihood, report *credence.Report, variance float64) credence.Likelihood {
	g, ok := l.(likelihood.Gaussian)
	if !ok {
		return l
	}
	g.NoiseVariance = g.NoiseVariance.At(variance * u.Noise * u.Noise)
	report.Hyper = append(report.Hyper, credence.Value{Name: "noise_variance", Value: g.NoiseVariance.Value})
	return g
}
