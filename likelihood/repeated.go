package likelihood

import (
	"math"

	"github.com/credence-ml/credence/internal/kernel"
)

// Repeated is the ability to give the density of one y at many f by vector kernels,
// where draws from a posterior are judged.
type Repeated interface {
	// LogDensitiesAt stores log p(y|f[i]) in dst[i], which may be f: the values of
	// LogDensity, to rounding of their largest term. y must lie in the support.
	LogDensitiesAt(dst []float64, y float64, f []float64)
}

// LogDensities stores log p(y|f[i]) of any family in dst, which may be f.
func LogDensities(l Family, dst []float64, y float64, f []float64) {
	if r, ok := l.(Repeated); ok {
		r.LogDensitiesAt(dst, y, f)
	} else {
		eachLogDensity(l, dst, y, f)
	}
}

func eachLogDensity[L Family](l L, dst []float64, y float64, f []float64) {
	for i, v := range f {
		dst[i] = l.LogDensity(y, v)
	}
}

// LogDensitiesAt implements [Repeated].
func (l Bernoulli) LogDensitiesAt(dst []float64, y float64, f []float64) {
	if l.Link == Probit || l.Link == Cloglog {
		eachLogDensity(l, dst, y, f)
		return
	}
	for i, v := range f {
		if y != 0 {
			v = -v
		}
		dst[i] = v
	}
	kernel.Log1pExp(dst, dst)
	kernel.Scale(-1, dst)
}

// LogDensitiesAt implements [Repeated].
func (l Poisson) LogDensitiesAt(dst []float64, y float64, f []float64) {
	if l.Link == Softplus {
		eachLogDensity(l, dst, y, f)
		return
	}
	peak, logY := 0.0, 0.0
	if y > 0 {
		peak, logY = poissonAtMode(y)+y, math.Log(y)
	}
	var mu [rowsAtOnce]float64
	for from := 0; from < len(f); from += rowsAtOnce {
		n := min(rowsAtOnce, len(f)-from)
		kernel.Exp(mu[:n], f[from:from+n])
		for i, v := range mu[:n] {
			dst[from+i] = peak + y*(f[from+i]-logY) - v
		}
	}
}
