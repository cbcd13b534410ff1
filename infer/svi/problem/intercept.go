package problem

import (
	"math"

	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
)

// Intercept is where the intercept stands: at the weighted means x̄ of the columns, where f is
//
//	b̃ = b0 + x̄ᵀw ~ N(Mean, Variance).
//
// Its prior then says the same about y whatever the origin of the columns is. Columns of features
// that have hyper-parameters (random features, radial and sigmoid functions) count as 0 in x̄: they
// move, and their size is known. In the centred coordinates (b̃ − Mean, w) the prior is diagonal.
type Intercept struct {
	Mean, Variance float64
	Columns        []float64 // x̄, d; 0 for the intercept, which is weight 0
	// Fixed says that b̃ is 0, since cutpoints say where the grades are at the means of the columns.
	Fixed bool
}

// fixedVariance is the prior variance of an intercept beside which cutpoints say the same.
const fixedVariance = 1e-12

// Centre stores the centred coordinates of weights in dst, which may be w. p may be nil.
func (p *Intercept) Centre(dst, w []float64) {
	copy(dst, w)
	if p != nil {
		dst[0] += kernel.Dot(p.Columns, w) - p.Mean
	}
}

// Weights stores the weights of centred coordinates in dst, which may be c.
func (p *Intercept) Weights(dst, c []float64) {
	copy(dst, c)
	if p != nil {
		dst[0] += p.Mean - kernel.Dot(p.Columns, c)
	}
}

// AddExpected returns −E (b̃ − Mean)²/2·Variance under independent weights of the given means and
// variances, and adds share times its gradients in them.
func (p *Intercept) AddExpected(dMean, dVariance, mean, variance []float64, share float64) float64 {
	gap := mean[0] + kernel.Dot(p.Columns, mean) - p.Mean
	square := gap*gap + variance[0]
	dMean[0] -= share * gap / p.Variance
	dVariance[0] -= share / (2 * p.Variance)
	for j, x := range p.Columns {
		square += x * x * variance[j]
		dMean[j] -= share * gap * x / p.Variance
		dVariance[j] -= share * x * x / (2 * p.Variance)
	}
	return -square / (2 * p.Variance)
}

// CentreSlope takes a gradient in the weights, in place, to one in the centred coordinates.
func (p *Intercept) CentreSlope(g []float64) {
	if p != nil {
		kernel.Axpy(-g[0], p.Columns, g)
	}
}

// CentreCurvature does the same to the upper triangle of a d×d matrix of second derivatives.
func (p *Intercept) CentreCurvature(h []float64) {
	if p != nil {
		base.CentreGram(h, p.Columns)
	}
}

// WeightFactor takes the upper triangular factor of a covariance of centred coordinates, in place, to
// that of the weights, and returns what takes it back.
func (p *Intercept) WeightFactor(f []float64) (back func()) {
	if p == nil || f == nil {
		return func() {}
	}
	was := append([]float64{}, f[:len(p.Columns)]...)
	base.UncentreFactor(p.Columns, f)
	return func() { copy(f, was) }
}

// moments are sums over all rows from which priors are scaled: of the columns, and of the targets as
// the family's link takes them to f.
type moments struct {
	columns  []columnSums
	weight   float64
	precise  float64      // Σ w times the precision of a row, by which columns and residuals count
	success  float64      // Σ w y
	trials   float64      // Σ w, times the trials of a row
	offset   float64      // Σ w offset
	top      float64      // the largest offset
	exposure float64      // Σ w e^(offset − top)
	residual base.Moments // of the target less its offset
}

func (m *moments) add(l Likelihood, b *Block) {
	if m.weight == 0 {
		m.top = math.Inf(-1)
	}
	each := 1.0
	if _, kind := likelihood.Describe(l); kind == likelihood.Successes {
		if supported, ok := l.(likelihood.Supported); ok {
			_, each = supported.Support()
		}
	}
	for i, y := range b.Target {
		w, o := b.WeightOf(i), b.OffsetOf(i)
		precise := w * b.PrecisionOf(i)
		b.Phi.Each(i, func(j int, v float64) { m.columns[j].add(v, precise) })
		if w == 0 {
			continue
		}
		trials := each
		if b.Trials != nil {
			trials = b.Trials[i]
		}
		m.weight += w
		m.precise += precise
		m.success += w * y
		m.trials += w * trials
		m.offset += w * o
		switch {
		case o == m.top:
			m.exposure += w
		case o > m.top:
			m.exposure, m.top = w+m.exposure*math.Exp(m.top-o), o
		default:
			m.exposure += w * math.Exp(o-m.top)
		}
		m.residual.Add(y-o, precise)
	}
}

// precision is the mean precision of the rows.
func (m *moments) precision() float64 {
	if !(m.weight > 0) {
		return 1
	}
	return m.precise / m.weight
}

// location is the f at which the mean of the family is the weighted mean of the targets, offsets
// included; counts and classes are pulled half a count from a boundary. ok is false where the
// family's link is not known.
func (m *moments) location(l Likelihood) (f float64, ok bool) {
	link, kind := likelihood.Describe(l)
	half := 0.5
	if kind == likelihood.Measurements {
		half = 0
	}
	share := (m.success + half) / (m.trials + 2*half)
	offset := m.offset / m.weight
	switch link {
	case likelihood.Identity:
		return m.residual.Mean, true
	case likelihood.Log:
		return math.Log((m.success+half)/m.exposure) - m.top, true
	case likelihood.Softplus:
		mean := (m.success + half) / m.weight
		return mean + special.Log1mExp(-mean) - offset, true
	case likelihood.Logit:
		return special.Logit(share) - offset, true
	case likelihood.Probit:
		return special.NormalQuantile(share) - offset, true
	case likelihood.Cloglog:
		return math.Log(-math.Log1p(-share)) - offset, true
	}
	return 0, false
}

// scale is s of the family, its own or the spread of the targets, about their location where there is
// an intercept to take it up and else about 0.
func (m *moments) scale(l Likelihood, s *sample, intercept bool) (centre, scale float64) {
	scale = likelihood.LatentScale(l)
	centre, ok := m.location(l)
	switch {
	case !ok:
		centre = s.location(l, base.InterceptSpread*base.InterceptSpread*scale*scale)
	case heavyTailed(l):
		centre, scale = s.median(math.Sqrt(m.residual.Square(intercept)), intercept)
	case scale == 0:
		scale = math.Sqrt(m.residual.Square(intercept))
	}
	if !(scale > 0) {
		scale = 1
	}
	if !Finite(centre) {
		centre = 0
	}
	return centre, scale
}
