package effect

import (
	"math"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

// part is a normal distribution, or a Student-t of so many degrees of freedom, and its share of a mixture.
type part struct{ mean, sd, df, share float64 }

// scale is the factor of a standard normal or Student-t variable.
func (p *part) scale() float64 {
	if p.df > 0 {
		return p.sd * math.Sqrt(1-2/p.df)
	}
	return p.sd
}

func (p *part) cdf(x float64) float64 {
	switch z := (x - p.mean) / p.scale(); {
	case !(p.sd > 0) && x >= p.mean:
		return 1
	case !(p.sd > 0):
		return 0
	case p.df > 0:
		return special.StudentCDF(z, p.df)
	default:
		return special.NormalCDF(z)
	}
}

func (p *part) quantile(level float64) float64 {
	if p.df > 0 {
		return p.mean + p.scale()*special.StudentQuantile(level, p.df)
	}
	return p.mean + p.sd*special.NormalQuantile(level)
}

// mixture is the posterior of a quantity.
type mixture []part

func (m mixture) moments() (mean, sd float64) {
	for i := range m {
		mean += m[i].share * m[i].mean
	}
	variance := 0.0
	for i := range m {
		gap := m[i].mean - mean
		variance += m[i].share * (m[i].sd*m[i].sd + gap*gap)
	}
	return mean, math.Sqrt(variance)
}

func (m mixture) cdf(x float64) (sum float64) {
	for i := range m {
		sum += m[i].share * m[i].cdf(x)
	}
	return sum
}

func (m mixture) quantile(level float64) float64 {
	if len(m) == 1 {
		return m[0].quantile(level)
	}
	mean, sd := m.moments()
	if !(sd > 0) {
		return mean
	}
	return quad.Quantile(m.cdf, level, mean, sd, math.Inf(-1), math.Inf(1))
}
