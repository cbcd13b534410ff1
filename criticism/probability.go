package criticism

import (
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/credence-ml/credence/internal/special"
)

// above returns about P(T ≥ t) of a sum: the tail of the gamma distribution, shifted and maybe turned
// round, that has its cumulants.
func (m moment3) above(t float64) float64 {
	if !(m.variance > 0) {
		if t > m.mean {
			return 0
		}
		return 1
	}
	z, skew := (t-m.mean)/math.Sqrt(m.variance), m.third/math.Pow(m.variance, 1.5)
	if math.Abs(skew) < 1e-3 {
		return special.NormalCDF(-z)
	}
	// A gamma variable of this shape a, less a and over √a, has skewness 2/√a.
	root := 2 / math.Abs(skew)
	shape := root * root
	if skew > 0 {
		return mathext.GammaIncRegComp(shape, math.Max(0, shape+root*z))
	}
	return mathext.GammaIncReg(shape, math.Max(0, shape-root*z))
}

// below returns about P(T ≤ t).
func (m moment3) below(t float64) float64 {
	return moment3{-m.mean, m.variance, -m.third}.above(-t)
}

// chiSquareAbove returns P(X ≥ x) of a χ² variable.
func chiSquareAbove(x, df float64) float64 { return mathext.GammaIncRegComp(df/2, math.Max(0, x)/2) }

// studentTail returns P(|T| ≥ t) of a Student-t variable.
func studentTail(t, df float64) float64 { return 2 * special.StudentCDF(-math.Abs(t), df) }
