package newton

import (
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/kernel"
)

// stepParameters moves the learned likelihood parameters, and changes delta, which
// is V·residual, to go with them:
//
//	[ V⁻¹  −C ] [δm]   [residual]
//	[ −Cᵀ   B ] [δγ] = [ slope  ],   B = −bend.
//
// It returns the first-order gain.
func (n *Newton) stepParameters(to, at *Point, s *Statistics, residual, delta []float64, rho float64, safeguarded bool) float64 {
	p, d := len(at.Free), n.Dims
	to.Free = append(to.Free[:0], at.Free...)
	if p == 0 || n.fixed {
		to.Family = at.Family
		return 0
	}
	covaried := make([]float64, p*d) // V Cᵀ, row by row
	matrix := make([]float64, p*p)
	right := make([]float64, p)
	for k := range p {
		n.solve(covaried[k*d:(k+1)*d], s.Cross[k*d:(k+1)*d])
	}
	slope, bend := slices.Clone(s.Slope), slices.Clone(s.Bend)
	n.Priors.AddFree(at.Free, slope, bend)
	coupled := !safeguarded
	for {
		for k := range p {
			right[k] = slope[k]
			if coupled {
				right[k] += kernel.Dot(covaried[k*d:(k+1)*d], residual)
			}
			for l := range p {
				matrix[k*p+l] = -(bend[k*p+l] + bend[l*p+k]) / 2
				if coupled {
					matrix[k*p+l] -= kernel.Dot(s.Cross[k*d:(k+1)*d], covaried[l*d:(l+1)*d])
				}
			}
		}
		if solvePositive(p, matrix, right, slope, coupled) {
			break
		}
		coupled = false
	}
	largest := 0.0
	for _, v := range right {
		largest = math.Max(largest, math.Abs(v))
	}
	// A change by a factor e is as much as one quadratic model can be trusted with.
	shrink := rho * math.Min(1, 1/math.Max(largest, 1e-300))
	gain := 0.0
	for k := range p {
		change := shrink * right[k]
		gain += math.Abs(change * slope[k])
		to.Free[k] = math.Max(at.Family.Floor[k], math.Min(to.Free[k]+change, at.Family.Ceiling[k]))
		if coupled {
			kernel.Axpy(change, covaried[k*d:(k+1)*d], delta)
		}
	}
	to.Family = at.Family.At(to.Free)
	return gain
}

// solvePositive solves the p×p system in place. If the matrix is not positive definite it
// reports false when that may be because of the coupling, and otherwise stores a step
// along the slope.
func solvePositive(p int, a, x, slope []float64, coupled bool) bool {
	u := append([]float64{}, a...)
	for k := range p {
		for l := range k {
			f := u[l*p+k] / u[l*p+l]
			for c := k; c < p; c++ {
				u[k*p+c] -= f * u[l*p+c]
			}
			x[k] -= f * x[l]
		}
		if !(u[k*p+k] > 1e-12*math.Abs(a[k*p+k])) {
			if coupled {
				return false
			}
			for i := range p {
				x[i] = slope[i] / math.Max(math.Abs(a[i*p+i]), math.Abs(slope[i])+1e-300)
			}
			return true
		}
	}
	for k := p - 1; k >= 0; k-- {
		for c := k + 1; c < p; c++ {
			x[k] -= u[k*p+c] * x[c]
		}
		x[k] /= u[k*p+k]
	}
	return true
}
