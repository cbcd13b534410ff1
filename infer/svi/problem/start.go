package problem

import (
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// StartRows is the number of evenly spread rows from which scales and starting values are taken.
const StartRows = 8192

// Start is what a fit begins with.
type Start struct {
	Mean        []float64   // of the weights
	Prior       []float64   // prior variance of each group
	Family      *Family     // with its starting parameters and their bounds
	References  []Reference // of each group
	scaleSquare float64     // of the target, on the scale of f
}

// interceptSpread is the prior variance of an intercept in units of the square of the target's scale.
const interceptSpread = 100

// Start looks at rows for scales. f has the unit of y in additive families; with any other link a
// unit of f is 1. Each group is given the prior variance at which it alone would explain a variance
// of one such unit; see [Reference].
func (p *Problem) Start(ctx context.Context, rows *Rows) (*Start, error) {
	var sample sample
	columns := make([]columnSums, p.Dims)
	err := rows.Each(ctx, func(b *Block) {
		for i := range b.Rows() {
			w := sample.add(b, i)
			b.Phi.Each(i, func(j int, v float64) { columns[j].add(v, w) })
		}
	})
	if err != nil {
		return nil, err
	}
	latent := 1.0
	s := &Start{Mean: make([]float64, p.Dims), scaleSquare: 1}
	if _, additive := p.Likelihood.(likelihood.Additive); additive {
		latent, s.scaleSquare = sample.scale(heavyTailed(p.Likelihood))
	}
	s.Family = startParameters(p.Likelihood, latent, sample.largest())
	centred := false
	for _, g := range p.Groups {
		if g.Intercept {
			centred = true
			s.Mean[g.First] = sample.location(s.Family, interceptSpread*s.scaleSquare)
		}
	}
	for i := range p.Groups {
		reference, v := p.reference(i, s, latent, columns, sample.total, centred)
		s.References, s.Prior = append(s.References, reference), append(s.Prior, v)
	}
	return s, nil
}

// startParameters chooses starts and bounds for parameters whose own depend on the unit of y.
func startParameters(l Likelihood, latent, largest float64) *Family {
	f := NewFamily(l)
	if f.parametric == nil {
		return f
	}
	x := f.Free()
	for k, i := range f.learned {
		parameter := f.parametric.Parameters()[i]
		if c, ok := l.(likelihood.Ceiling); ok {
			f.Ceiling[k] = math.Max(shapeLimit, c.LogCeiling(largest))
		}
		power := unitPower(l, parameter.Name)
		if power == 0 {
			continue
		}
		width := math.Log(latent) * power / 2 // log of the parameter if all of the target were noise
		f.Floor[k] = width + math.Log(likelihood.NoiseFloor)*power/2
		if parameter.State == param.Learned {
			x[k] = width
		}
	}
	return f.At(x)
}

// sample is rows without their features.
type sample struct {
	y, offset, weight []float64
	own               credence.Batch // trials and precisions
	total             float64        // of the weights
	residual          Moments        // of the target less its offset
}

// add adds row i of a block and returns its weight.
func (s *sample) add(b *Block, i int) float64 {
	y, o, w := b.Target[i], b.OffsetOf(i), b.WeightOf(i)
	s.y, s.offset, s.weight = append(s.y, y), append(s.offset, o), append(s.weight, w)
	if b.Trials != nil {
		s.own.Trials = append(s.own.Trials, b.Trials[i])
	}
	if b.Precision != nil {
		s.own.Precision = append(s.own.Precision, b.Precision[i])
	}
	s.total += w
	s.residual.add(y-o, w)
	return w
}

// largest is the largest target, or 1.
func (s *sample) largest() float64 {
	high := 1.0
	for i, y := range s.y {
		if s.weight[i] > 0 {
			high = math.Max(high, y)
		}
	}
	return high
}

// scale returns the variance of the target less its offset, and its mean square.
func (s *sample) scale(heavyTailed bool) (variance, square float64) {
	centre, variance := s.residual.Mean, s.residual.Variance()
	if heavyTailed {
		centre, variance = s.quartiles(variance)
	}
	if variance == 0 {
		variance = centre * centre
	}
	if !(variance > 1e-280) { // nothing but zeros, or no weight
		variance = 1
	}
	return variance, variance + centre*centre
}

// quartiles returns the median of y − offset, and the variance of a normal distribution with its
// quartiles; where they are equal, as among many equal targets, it returns the given variance.
func (s *sample) quartiles(otherwise float64) (median, variance float64) {
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
	if sd := (gaps[(3*n)/4] - gaps[n/4]) / (2 * special.NormalQuantile(0.75)); sd > 0 {
		otherwise = sd * sd
	}
	return gaps[n/2], otherwise
}

// location returns the c that maximises Σ log p(y|c + offset) under a N(0, variance) prior, by
// Newton steps of at most 1; for additive families the median of y − offset, which no outlier moves.
func (s *sample) location(f *Family, variance float64) float64 {
	if _, additive := f.Likelihood.(likelihood.Additive); additive {
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
			_, first, second := s.own.LikelihoodOf(f.Likelihood, i).(Likelihood).Derivatives(y, c+s.offset[i])
			slope += s.weight[i] * first
			bend += s.weight[i] * math.Max(0, -second)
		}
		move := math.Max(-1, math.Min(slope/bend, 1))
		if !Finite(move) {
			return c
		}
		c += move
		if math.Abs(move) < 1e-3 {
			break
		}
	}
	return c
}

// reference returns the reference of group k and the prior variance that it begins with.
func (p *Problem) reference(k int, s *Start, latent float64, columns []columnSums, weight float64, centred bool) (r Reference, v float64) {
	g, stated := p.Groups[k], p.Prior.Variance
	switch {
	case g.Intercept:
		v = interceptSpread * s.scaleSquare
		return Reference{v, v}, v
	case stated.State == param.Held:
		return Reference{stated.Value, stated.Value}, stated.Value
	}
	r = Reference{1, 1}
	if fine, all := p.sizes(g, columns[g.First:g.End()], weight, centred); fine > 0 {
		r = Reference{latent / fine, latent / all}
	}
	if stated.State == param.Guess {
		return r, r.Bounded(stated.Value)
	}
	return r, r.Wide
}
