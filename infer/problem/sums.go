package problem

import (
	"cmp"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
)

// Sums are those over the rows of a fit from which priors are scaled. An engine that has them from elsewhere, such as
// ΦᵀWΦ, may fill them itself.
type Sums struct {
	Weight       float64   // Σw
	Square       float64   // Σwp, p the precision of a row
	LogPrecision float64   // ½ Σw log p
	Totals       []float64 // Σwp φ of every column, length d
	Squares      []float64 // Σwp φ², at the values that learned hyper-parameters of the features start from
	Target       Moments   // of the targets, by w
	Residual     Moments   // of the targets less their offsets, by wp
	// Latent says where f lies and how far it goes, for a family of which the link does not say so; nil for others.
	Latent *Latent

	success  float64 // Σw y
	trials   float64 // Σw times the trials of a row
	offset   float64 // Σw offset
	top      float64 // the largest offset
	exposure float64 // Σw e^(offset − top)
}

// Latent is about where f lies, and the square of the size that it has.
type Latent struct{ Location, Square float64 }

// Add adds the rows of a batch, without their columns.
func (s *Sums) Add(l credence.Likelihood, b *credence.Batch) {
	if s.Weight == 0 {
		s.top = math.Inf(-1)
	}
	each := 1.0
	if _, kind := likelihood.Describe(l); kind == likelihood.Successes {
		_, each, _ = likelihood.Support(l)
	}
	for i, y := range b.Target {
		w, o := b.WeightOf(i), b.OffsetOf(i)
		if w == 0 {
			continue
		}
		p, trials := b.PrecisionOf(i), each
		if p != 1 {
			s.LogPrecision += w * math.Log(p) / 2
		}
		if b.Trials != nil {
			trials = b.Trials[i]
		}
		s.Weight += w
		s.Square += w * p
		s.success += w * y
		s.trials += w * trials
		s.offset += w * o
		switch {
		case o == s.top:
			s.exposure += w
		case o > s.top:
			s.exposure, s.top = w+s.exposure*math.Exp(s.top-o), o
		default:
			s.exposure += w * math.Exp(o-s.top)
		}
		s.Target.Add(y, w)
		s.Residual.Add(y-o, w*p)
	}
}

// Merge adds the sums over other rows, but for those of columns.
func (s *Sums) Merge(other *Sums) {
	if other.Weight == 0 {
		return
	}
	if s.Weight == 0 {
		s.top = math.Inf(-1)
	}
	top := math.Max(s.top, other.top)
	s.exposure, s.top = s.exposure*math.Exp(s.top-top)+other.exposure*math.Exp(other.top-top), top
	s.Weight, s.Square, s.LogPrecision = s.Weight+other.Weight, s.Square+other.Square, s.LogPrecision+other.LogPrecision
	s.success, s.trials, s.offset = s.success+other.success, s.trials+other.trials, s.offset+other.offset
	s.Target.Merge(other.Target)
	s.Residual.Merge(other.Residual)
}

// SumNumbers is how many numbers [Sums.Numbers] are.
const SumNumbers = 8 + 2*MomentNumbers

// Numbers are the sums, but for those of columns, as [Sums.Take] takes them.
func (s *Sums) Numbers() []float64 {
	list := []float64{s.Weight, s.Square, s.LogPrecision, s.success, s.trials, s.offset, s.top, s.exposure}
	return append(append(list, s.Target.Numbers()...), s.Residual.Numbers()...)
}

// Take sets the sums to numbers.
func (s *Sums) Take(x []float64) {
	s.Weight, s.Square, s.LogPrecision, s.success, s.trials, s.offset, s.top, s.exposure = x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]
	s.Target.Take(x[8:])
	s.Residual.Take(x[8+MomentNumbers:])
}

// MeanOffset is the weighted mean of the offsets.
func (s *Sums) MeanOffset() float64 { return s.offset / cmp.Or(s.Weight, 1) }

// Check refuses weights that add up to nothing, and columns whose squares no number holds; engine stands before errors.
func (s *Sums) Check(engine string, features credence.Features) error {
	if !(s.Weight > 0) {
		return fmt.Errorf("%s: the rows' weights add up to %v: at least one must be positive", engine, s.Weight)
	}
	for j, v := range s.Squares {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s: the squares of feature column %s add up to %v: scale the column, or look for values that are no numbers", engine, WeightName(features, j), v)
		}
	}
	return nil
}

// Precision returns the mean precision of the rows, 1 without weight.
func (s *Sums) Precision() float64 {
	if !(s.Weight > 0) {
		return 1
	}
	return s.Square / s.Weight
}

// Location is the f at which the mean of the family is the weighted mean of the targets, offsets
// included; counts and classes are pulled half a count from a boundary. ok is false where the
// family's link is not known.
func (s *Sums) Location(l credence.Likelihood) (f float64, ok bool) {
	link, kind := likelihood.Describe(l)
	half := 0.5
	if kind == likelihood.Measurements {
		half = 0
	}
	share := (s.success + half) / (s.trials + 2*half)
	offset := s.offset / s.Weight
	switch link {
	case likelihood.Identity:
		return s.Residual.Mean, true
	case likelihood.Log:
		return math.Log((s.success+half)/s.exposure) - s.top, true
	case likelihood.Softplus:
		mean := (s.success + half) / s.Weight
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

// Scales are what priors are in units of.
type Scales struct {
	Square    float64    // s², s the size of f: that of the family, or of the targets where f has their unit
	C         []float64  // of every group; a prior standard deviation is in units of s/c
	Intercept *Intercept // nil without one
	Noise     float64    // the prior scale of the noise's standard deviation, s √(Σwp/Σw)
}

// Intercept is where the intercept stands: at the weighted means x̄ of the columns, where f is
//
//	b̃ = b + x̄ᵀw ~ N(Mean, Variance).
//
// Its prior then says the same about y whatever the origin of the columns is. Columns of features that have
// hyper-parameters count as 0 in x̄: they move.
type Intercept struct {
	Mean, Variance float64
	Columns        []float64 // x̄, length d; 0 for the intercept, which is weight 0
	// Fixed says that b̃ is 0, since cutpoints say where the grades are at the means of the columns.
	Fixed bool
}

// fixedVariance is the prior variance of an intercept beside which cutpoints say the same.
const fixedVariance = 1e-12

// Scales returns what the priors of a model are in units of.
func (s *Sums) Scales(m credence.Model, groups []Group) *Scales {
	centred := len(groups) > 0 && groups[0].Intercept
	scale := likelihood.LatentScale(m.Likelihood)
	out := &Scales{Square: scale * scale}
	if scale == 0 {
		out.Square = s.Residual.Square(centred)
	}
	location, _ := s.Location(m.Likelihood)
	if s.Latent != nil {
		location, out.Square = s.Latent.Location, s.Latent.Square
	}
	if !(out.Square > 0) {
		out.Square = 1
	}
	if math.IsNaN(location) || math.IsInf(location, 0) {
		location = 0
	}
	var means []float64
	weight := cmp.Or(s.Square, 1)
	if centred {
		means = Means(groups, s.Totals, weight)
		out.Intercept = &Intercept{Mean: location, Variance: InterceptSpread * InterceptSpread * out.Square, Columns: means}
		if _, kind := likelihood.Describe(m.Likelihood); kind == likelihood.Grades {
			out.Intercept.Mean, out.Intercept.Variance, out.Intercept.Fixed = 0, fixedVariance, true
		}
	}
	out.C = Spreads(groups, s.Squares, means, weight)
	out.Noise = math.Sqrt(out.Square) * math.Sqrt(s.Precision())
	return out
}

// Moments are those of targets, taken row by row so that nothing cancels. The zero value has none.
type Moments struct {
	Weight, Mean float64
	Low, High    float64
	square       float64 // Σ w (y − mean)²
}

// AddTargets adds the targets of a batch, by their weights.
func (m *Moments) AddTargets(b *credence.Batch) {
	for i, y := range b.Target {
		m.Add(y, b.WeightOf(i))
	}
}

// Add adds a target of weight w.
func (m *Moments) Add(y, w float64) {
	if w == 0 {
		return
	}
	if m.Weight == 0 {
		m.Low, m.High = y, y
	}
	m.Weight += w
	gap := y - m.Mean
	m.Mean += gap * w / m.Weight
	m.square += w * gap * (y - m.Mean)
	m.Low, m.High = math.Min(m.Low, y), math.Max(m.High, y)
}

// MomentNumbers is how many numbers [Moments.Numbers] are.
const MomentNumbers = 5

// Numbers are the moments as [Moments.Take] takes them.
func (m *Moments) Numbers() []float64 { return []float64{m.Weight, m.Mean, m.Low, m.High, m.square} }

// Take sets the moments to numbers.
func (m *Moments) Take(x []float64) { *m = Moments{x[0], x[1], x[2], x[3], x[4]} }

// Merge adds the targets of other moments.
func (m *Moments) Merge(other Moments) {
	switch {
	case other.Weight == 0:
		return
	case m.Weight == 0:
		*m = other
		return
	}
	total, gap := m.Weight+other.Weight, other.Mean-m.Mean
	m.square += other.square + gap*gap*m.Weight*(other.Weight/total)
	m.Mean += gap * (other.Weight / total)
	m.Weight, m.Low, m.High = total, math.Min(m.Low, other.Low), math.Max(m.High, other.High)
}

// Variance returns the weighted variance, 0 without weight.
func (m *Moments) Variance() float64 {
	if m.Weight == 0 {
		return 0
	}
	return m.square / m.Weight
}

// Square returns the weighted mean square about the mean, or about 0.
func (m *Moments) Square(centred bool) float64 {
	if centred {
		return m.Variance()
	}
	return m.Variance() + m.Mean*m.Mean
}

// Constant says whether there is a target and every one is the same.
func (m *Moments) Constant() bool { return m.Weight > 0 && m.Low == m.High }
