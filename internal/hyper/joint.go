package hyper

import "gonum.org/v1/gonum/mat"

// Joint is the prior of all coordinates of θ, independent but for a common scale: the priors of
// the coordinates that Hung marks have their scale multiplied by exp(θ_Common).
type Joint struct {
	Priors []Prior
	Hung   []bool // nil where there is no common scale
	Common int    // the coordinate of its logarithm
}

// AddTo returns value plus the log density at θ, added coordinate by coordinate. It adds the gradient to
// gradient and the second derivatives to hessian; either may be nil.
func (j *Joint) AddTo(value float64, theta, gradient []float64, hessian *mat.SymDense) float64 {
	for i, prior := range j.Priors {
		hung, u := j.Hung != nil && j.Hung[i], theta[i]
		if hung {
			u -= theta[j.Common]
		}
		v, slope, curvature := prior.At(u)
		value += v
		if gradient != nil {
			gradient[i] += slope
			if hung {
				gradient[j.Common] -= slope
			}
		}
		if hessian == nil {
			continue
		}
		hessian.SetSym(i, i, hessian.At(i, i)+curvature)
		if hung {
			hessian.SetSym(j.Common, j.Common, hessian.At(j.Common, j.Common)+curvature)
			hessian.SetSym(i, j.Common, hessian.At(i, j.Common)-curvature)
		}
	}
	return value
}
