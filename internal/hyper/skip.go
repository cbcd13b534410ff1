package hyper

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// Integration is skipped where it changes next to nothing: where no weight's variance grows by more
// than skipShare of itself, and no standard deviation moves by more than skipSlope of itself over a
// standard deviation of θ. The share alone is not enough: for a block of one weight it is small where
// the mean is off by a twentieth of a standard deviation.
const (
	skipShare = 0.01
	skipSlope = 0.03
)

// Slopes are derivatives of the moments of the d weights, or of the first d moments, in the p coordinates of θ, p×d row-major.
type Slopes struct {
	Mean     []float64 // ∂m_j/∂θ_k
	Variance []float64 // ∂V_jj/∂θ_k
}

// Skip reports whether the integration may be left out, and the two figures it goes by: share =
// max_j (JΣJᵀ)_jj/V_jj with J = ∂m/∂θ and Σ = H⁻¹, slope = max_j ‖½ Σ^½ ∂log V_jj/∂θ‖.
func (a *Axes) Skip(variance []float64, s Slopes) (skip bool, share, slope float64) {
	p := a.Count()
	if p == 0 {
		return true, 0, 0
	}
	d := len(s.Variance) / p
	mean, spread := make([]float64, p), make([]float64, p)
	for j, v := range variance[:d] {
		if !(v > 0) {
			continue
		}
		for k := range p {
			mean[k], spread[k] = s.Mean[k*d+j], s.Variance[k*d+j]/(2*v)
		}
		share = math.Max(share, quadratic(a.covariance, mean)/v)
		slope = math.Max(slope, math.Sqrt(math.Max(0, quadratic(a.covariance, spread))))
	}
	return share < skipShare && slope < skipSlope, share, slope
}

func quadratic(a *mat.SymDense, x []float64) float64 {
	v := mat.NewVecDense(len(x), x)
	return mat.Inner(v, a, v)
}
