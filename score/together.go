package score

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/metric"
)

// covarianceDraws are the draws of covariances of columns: ends of 90 % intervals have a Monte Carlo error of a
// fiftieth of a standard deviation.
const covarianceDraws = 10_000

// together tells the standard deviations and correlations of effects of the data's own columns, of a term of several.
// Columns that are centred in the fit turn its covariance Σ into AΣAᵀ, which is drawn from the joint law of standard
// deviations and correlations.
func (g *Group) together(r *credence.Report, c ability.Covariance, tail float64) {
	k := len(c.Columns)
	var names []string
	for _, column := range c.Columns {
		names = append(names, "prior_variance."+g.Term+"."+column)
	}
	correlations := make([]float64, 0, special.Pairs(k))
	for row := range k {
		for column := range row {
			names = append(names, "correlation."+g.Term+"."+c.Columns[column]+"."+c.Columns[row])
			correlations = append(correlations, r.Hyper.Of(names[len(names)-1], math.NaN()))
		}
	}
	odds, err := special.Odds(k, correlations)
	if err != nil { // a file that no engine wrote
		return
	}
	laws := newCopula(r, names)
	for i := range names { // about which the laws stand that are normal or held
		if i < k {
			laws.centre[i] = r.Hyper.Of(names[i], math.NaN())
		} else {
			laws.centre[i], laws.spread[i] = odds[i-k], 2*laws.spread[i] // log odds are twice the coordinate
		}
	}
	own, units := slices.Clone(c.Own), make([]float64, k) // powers of 2, so that no square is beyond numbers
	for i := range k {
		row := own[i*k : (i+1)*k]
		_, exponent := math.Frexp(max(slices.Max(row), -slices.Min(row)))
		units[i] = math.Ldexp(1, exponent)
		for j := range row {
			row[j] = math.Ldexp(row[j], -exponent)
		}
	}
	all := laws.covariances(own, k)
	known := !slices.ContainsFunc(g.SD, func(d Deviation) bool { return !d.Lower.Defined() })
	tell := func(name string, i, j int) Deviation {
		d := summary(all[special.Pairs(i)+i+j], tail)
		if d.Name = name; !known {
			d.Lower, d.Upper = metric.Score(math.NaN()), metric.Score(math.NaN())
		}
		return d
	}
	for i := range k {
		for j, v := range c.Own[i*k : (i+1)*k] {
			if j != i && v != 0 { // or its own law is known without draws
				d, unit := tell(c.Columns[i], i, i), metric.Score(units[i])
				g.SD[i] = Deviation{d.Name, d.Mean * units[i], d.Lower * unit, d.Upper * unit}
				break
			}
		}
		for j := range i {
			g.Correlations = append(g.Correlations, tell(c.Columns[j]+", "+c.Columns[i], i, j))
		}
	}
}

// summary is the mean of draws, with their quantiles of a tail at either side.
func summary(draws []float64, tail float64) Deviation {
	slices.Sort(draws)
	mean, n := 0.0, float64(len(draws))
	for _, v := range draws {
		mean += v / n
	}
	return Deviation{Mean: mean, Lower: metric.Score(special.Quantile(draws, tail)), Upper: metric.Score(special.Quantile(draws, 1-tail))}
}

// copula draws positive hyper-parameters with the correlations of a [credence.JointLaw], each by its own law: that of a
// curve, or else one whose logarithm is normal about the centre.
type copula struct {
	curves         []*curve
	centre, spread []float64
	root           []float64 // of the correlations
	z              []float64
}

func newCopula(r *credence.Report, names []string) *copula {
	n := len(names)
	c := &copula{curves: make([]*curve, n), centre: make([]float64, n), spread: make([]float64, n), root: make([]float64, n*n), z: make([]float64, n)}
	correlations, laws := make([]float64, special.Pairs(n)), slices.Clone(r.HyperLaws)
	if joint := r.HyperJoint; joint != nil {
		laws = append(laws, joint.Odds...)
		for i := range n {
			row := slices.Index(joint.Names, names[i])
			for j := range i {
				column := slices.Index(joint.Names, names[j])
				if row < 0 || column < 0 {
					continue
				}
				if at := special.Pairs(max(row, column)) + min(row, column); at < len(joint.Correlations) {
					correlations[special.Pairs(i)+j] = joint.Correlations[at]
				}
			}
		}
	}
	for i, name := range names {
		c.spread[i] = r.HyperSD.Of(name, c.spread[i])
		if k := slices.IndexFunc(laws, func(l credence.Law) bool { return l.Name == name }); k >= 0 {
			c.curves[i] = curveOf(laws[k])
		}
	}
	odds, err := special.Odds(n, correlations)
	if err != nil { // singular, to rounding: taken for independent
		odds, _ = special.Odds(n, make([]float64, len(correlations)))
	}
	special.CorrelationRoot(c.root, n, odds)
	return c
}

// draw stores a value of each.
func (c *copula) draw(rng *rand.Rand, dst []float64) {
	n := len(dst)
	for i := range n {
		c.z[i] = rng.NormFloat64()
	}
	for i := range n {
		z := 0.0
		for j, v := range c.root[i*n : i*n+i+1] {
			z += v * c.z[j]
		}
		if of := c.curves[i]; of != nil {
			root := of.quantile(special.NormalCDF(z))
			dst[i] = root * root
		} else {
			dst[i] = c.centre[i] * math.Exp(c.spread[i]*z)
		}
	}
}

// covariances draws AΣAᵀ of k columns, k variances and the odds of partial correlations being drawn: by the rows of the
// lower triangle with its diagonal the standard deviations, there, and the correlations.
func (c *copula) covariances(a []float64, k int) [][]float64 {
	rng, values := credence.Rand(0, credence.CovarianceDraws, uint64(k)), make([]float64, len(c.z))
	all := make([][]float64, k+special.Pairs(k))
	root, b := make([]float64, k*k), make([]float64, k*k) // b is a root of AΣAᵀ
	for range covarianceDraws {
		c.draw(rng, values)
		special.CorrelationRoot(root, k, values[k:])
		for i := range k {
			for j := range k {
				b[i*k+j] = 0
				for of := j; of < k; of++ {
					b[i*k+j] += a[i*k+of] * math.Sqrt(values[of]) * root[of*k+j]
				}
			}
		}
		product := func(i, j int) (sum float64) {
			for at := range k {
				sum += b[i*k+at] * b[j*k+at]
			}
			return sum
		}
		at := 0
		for i := range k {
			for j := range i + 1 {
				v := math.Sqrt(product(i, i))
				if j < i {
					v = product(i, j) / (v * math.Sqrt(product(j, j)))
				}
				all[at] = append(all[at], v)
				at++
			}
		}
	}
	return all
}
