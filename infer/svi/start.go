package svi

import (
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// startRows is the number of evenly spread rows from which scales and starting values
// are taken.
const startRows = 8192

// moments are those of the targets, taken row by row so that nothing cancels.
type moments struct {
	weight, mean, square float64 // square is Σ w (y − mean)²
	low, high            float64
}

func (m *moments) reset() { *m = moments{low: math.Inf(1), high: math.Inf(-1)} }

func (m *moments) add(b *block) {
	for i, y := range b.y {
		w := 1.0
		if b.weight != nil {
			w = b.weight[i]
		}
		m.one(y, w)
	}
}

// one adds a target of weight w.
func (m *moments) one(y, w float64) {
	if w == 0 {
		return
	}
	m.weight += w
	gap := y - m.mean
	m.mean += gap * w / m.weight
	m.square += w * gap * (y - m.mean)
	m.low, m.high = math.Min(m.low, y), math.Max(m.high, y)
}

func (m *moments) variance() float64 {
	if m.weight == 0 {
		return 0
	}
	return m.square / m.weight
}

// start is what a fit begins with.
type start struct {
	point
	references  []reference // of each group
	intercept   int         // the intercept's weight, or -1
	scaleSquare float64     // of the target, on the scale of f
}

// starting looks at rows of t for scales. f has the unit of y in the identity-link
// families; with any other link a unit of f is a unit. Each block is given the
// prior variance at which it alone would explain a variance of one such unit; see reference.
func (e *Engine) starting(ctx context.Context, t *table, groups []group) (*start, error) {
	d := e.model.Features.Weights()
	s := &start{intercept: -1}
	s.Mean = make([]float64, d)
	f := newFamily(e.likelihood)
	columns := make([]columnSums, d)
	for _, g := range groups {
		if g.intercept {
			s.intercept = g.first
		}
	}
	var m moments // of the target less its offset
	m.reset()
	var rows sampleRows
	weight := 0.0
	for k := range t.blocks() {
		b, err := t.at(ctx, k)
		if err != nil {
			return nil, err
		}
		for i := range b.rows {
			w := 1.0
			if b.weight != nil {
				w = b.weight[i]
			}
			o := 0.0
			if b.offset != nil {
				o = b.offset[i]
			}
			m.one(b.y[i]-o, w)
			weight += w
			dense := b.phi.Dense.Cols
			if dense > 0 {
				for j, v := range b.phi.Dense.Row(i) {
					columns[j].add(v, w)
				}
			}
			if b.phi.Sparse.Cols > 0 {
				indices, values := b.phi.Sparse.Row(i)
				for l, c := range indices {
					v := 1.0
					if values != nil {
						v = values[l]
					}
					columns[dense+int(c)].add(v, w)
				}
			}
			rows.add(b, i, o, w)
		}
	}
	latent := 1.0
	s.scaleSquare = 1
	if identityLink(e.likelihood) {
		centre := m.mean
		latent = m.variance()
		if _, heavy := e.likelihood.(likelihood.StudentT); heavy {
			centre, latent = rows.quartiles(latent)
		}
		if latent == 0 {
			latent = centre * centre
		}
		if !(latent > 1e-280) { // nothing but zeros, or no weight
			latent = 1
		}
		s.scaleSquare = latent + centre*centre
	}
	s.family = e.startParameters(f, latent, rows.largest())
	s.Free = s.family.free()
	if s.intercept >= 0 {
		s.Mean[s.intercept] = rows.location(s.family, 100*s.scaleSquare)
	}
	for _, g := range groups {
		v := e.prior.Variance.Value
		r := reference{v, v}
		switch {
		case g.intercept:
			v = 100 * s.scaleSquare
			r = reference{v, v}
		case e.prior.Variance.State != param.Held:
			r = reference{1, 1}
			if fine, all := e.sizes(g, columns, weight, s.intercept >= 0); fine > 0 {
				r = reference{latent / fine, latent / all}
			}
			if v = r.wide; e.prior.Variance.State == param.Guess {
				v = r.bounded(e.prior.Variance.Value)
			}
		}
		s.references, s.Prior = append(s.references, r), append(s.Prior, v)
	}
	return s, nil
}

// noiseFloor is the least learned noise variance, as a share of the target's; of Student's t, whose
// outliers may be any number, the square of its scale as a share of what the quartiles imply.
const noiseFloor = 1e-6

// sizeMargin is how far above the logarithm of the largest count that of a negative binomial's size
// is tried: there its variance is a thousandth above Poisson's, and e^24 is where its distribution
// function has four digits left.
const sizeMargin, farthestSize = 7, 24

// startParameters chooses starts and bounds for parameters whose own depends on the units of y.
func (e *Engine) startParameters(f *family, latent, largest float64) *family {
	if f.parametric == nil {
		return f
	}
	x := f.free()
	for k, i := range f.learned {
		p := f.parametric.Parameters()[i]
		width := 0.0 // log of the parameter if all of the target were noise
		switch e.likelihood.(type) {
		case likelihood.Gaussian:
			width = math.Log(latent)
			f.floor[k] = width + math.Log(noiseFloor)
		case likelihood.StudentT:
			if p.Name != "scale" {
				continue
			}
			width = math.Log(latent) / 2
			f.floor[k] = width + math.Log(noiseFloor)/2
		case likelihood.NegativeBinomial:
			f.ceiling[k] = math.Max(shapeLimit, math.Min(math.Log(largest)+sizeMargin, farthestSize))
			continue
		default:
			continue
		}
		if p.State == param.Learned {
			x[k] = width
		}
	}
	return f.at(x)
}

// sampleRows are rows without their features.
type sampleRows struct{ y, offset, weight, trials []float64 }

func (s *sampleRows) add(b *block, i int, o, w float64) {
	s.y = append(s.y, b.y[i])
	s.weight = append(s.weight, w)
	s.offset = append(s.offset, o)
	if b.trials != nil {
		s.trials = append(s.trials, b.trials[i])
	}
}

// largest is the largest target, or 1.
func (s *sampleRows) largest() float64 {
	high := 1.0
	for i, y := range s.y {
		if s.weight[i] > 0 {
			high = math.Max(high, y)
		}
	}
	return high
}

// quartiles returns the median of y − offset, and the variance of a normal distribution with its
// quartiles; where they are equal, as among many equal targets, it returns the given variance.
func (s *sampleRows) quartiles(otherwise float64) (median, variance float64) {
	gaps := make([]float64, 0, len(s.y))
	for i, y := range s.y {
		if s.weight[i] > 0 {
			gaps = append(gaps, y-s.offset[i])
		}
	}
	n := len(gaps)
	if n == 0 {
		return 0, otherwise
	}
	slices.Sort(gaps)
	spread := (gaps[(3*n)/4] - gaps[n/4]) / (2 * special.NormalQuantile(0.75))
	if spread > 0 {
		otherwise = spread * spread
	}
	return gaps[n/2], otherwise
}

// location returns the c that maximises Σ log p(y|c + offset) under a N(0, variance)
// prior, by Newton steps of at most 1; for identity links the median of y − offset, which no
// outlier moves.
func (s *sampleRows) location(f *family, variance float64) float64 {
	if identityLink(f.Likelihood) {
		median, _ := s.quartiles(0)
		return median
	}
	c := 0.0
	for range 100 {
		slope, bend := -c/variance, 1/variance
		for i, y := range s.y {
			if s.weight[i] == 0 {
				continue
			}
			l := f.Likelihood
			if s.trials != nil {
				if perRow, ok := l.(likelihood.PerRow); ok {
					l = perRow.WithTrials(s.trials[i]).(Likelihood)
				}
			}
			_, first, second := l.Derivatives(y, c+s.offset[i])
			slope += s.weight[i] * first
			bend += s.weight[i] * math.Max(0, -second)
		}
		move := math.Max(-1, math.Min(slope/bend, 1))
		if !finite(move) {
			return c
		}
		c += move
		if math.Abs(move) < 1e-3 {
			break
		}
	}
	return c
}
