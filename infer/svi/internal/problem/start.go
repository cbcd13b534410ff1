package problem

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// StartRows is the number of evenly spread rows from which scales and starting values are taken.
const StartRows = 8192

// Start is what a fit begins with.
type Start struct {
	Mean   []float64 // of the weights
	Scale  float64   // s of the family: hyper-priors and the intercept's prior are in units of it
	Sizes  []float64 // c of each group: the root of the mean over rows of the square of its columns
	Zero   []int     // columns that are zero in every row
	Prior  []float64 // prior variance of each group
	Family *Family   // with its starting parameters and their bounds
}

// Start looks at rows for scales: at all of them for means, and at some where they have to be kept. f
// has the unit of y in additive families; with any other link a unit of f is 1. Each group is given
// the prior variance at which it alone would explain a variance of one such unit; see [Reference].
func (p *Problem) Start(ctx context.Context, some, all *Rows) (*Start, error) {
	var sample sample
	lacking := p.Asker != nil && p.Asker.Lacking()
	if !lacking {
		if err := some.Each(ctx, sample.add); err != nil {
			return nil, err
		}
	}
	sums, columns, err := p.sizesOf(ctx, all)
	if err != nil {
		return nil, err
	}
	largest, offset := sample.largest(), sample.meanOffset()
	if lacking {
		sample.residual, largest, offset = sums.Residual, math.Max(1, sums.Target.High), sums.MeanOffset()
	}
	for j, c := range columns {
		sums.Squares, sums.Totals = append(sums.Squares, c.square), append(sums.Totals, c.total)
		if p.began != nil {
			sums.Squares[j] = p.began[j] * sums.Square
		}
	}
	p.locate(&sums, &sample)
	scales := sums.Scales(credence.Model{Likelihood: p.Likelihood}, p.Groups)
	s := &Start{Mean: make([]float64, p.Dims), Scale: math.Sqrt(scales.Square), Sizes: scales.C}
	if p.Intercept = (*Intercept)(scales.Intercept); p.Intercept != nil && p.Pattern != nil {
		clear(p.Intercept.Columns[p.Pattern.Dense:]) // columns of levels are not centred
	}
	latent := 1.0
	if _, additive := p.Likelihood.(likelihood.Additive); additive {
		latent = sample.scale(heavyTailed(p.Likelihood))
	}
	s.Family = startParameters(p.Likelihood, latent, largest, sums.Precision()).about(offset)
	s.Prior, p.References = make([]float64, len(p.Groups)), make([]Reference, len(p.Groups), len(p.Groups)+len(p.Odds))
	for k := range p.Groups {
		p.References[k], s.Prior[k] = p.reference(k, latent, columns, sums.Square)
	}
	s.Prior = append(s.Prior, p.Odds...)
	for range p.Odds {
		p.References = append(p.References, oddsReference)
	}
	p.Priors = nil
	if p.Hyper != param.MaximumLikelihood {
		p.Priors = p.newPriors(s)
	}
	for j, c := range columns {
		if c.square == 0 {
			s.Zero = append(s.Zero, j)
		}
	}
	return s, nil
}

// sizesOf adds up all rows for their sizes and those of columns.
func (p *Problem) sizesOf(ctx context.Context, all *Rows) (sums base.Sums, columns []columnSums, err error) {
	columns = make([]columnSums, p.Dims)
	if p.Asker != nil {
		err = p.askSizes(&sums, columns)
		return sums, columns, err
	}
	var weights []float64
	err = all.Each(ctx, func(b *Block) {
		sums.Add(p.Likelihood, b.Batch)
		weights = order.Resized(weights, b.Rows())
		for i := range weights {
			weights[i] = b.WeightOf(i) * b.PrecisionOf(i)
		}
		dense := b.Phi.Dense.Cols
		p.Workspace.Pool().Run((dense+columnsATask-1)/columnsATask, func(task, _ int) {
			from, to := task*columnsATask, min(dense, (task+1)*columnsATask)
			for i, w := range weights {
				for j, v := range b.Phi.Dense.Row(i)[from:to] {
					columns[from+j].add(v, w)
				}
			}
		})
		for i, w := range weights {
			for j, v := range b.Phi.Sparse.Each(i) {
				columns[dense+j].add(v, w)
			}
		}
	})
	return sums, columns, err
}

// columnsATask is how many dense columns a worker adds up at a time.
const columnsATask = 8

// locate says where f lies where the likelihood's link does not, or single targets may lie anywhere.
func (p *Problem) locate(sums *base.Sums, s *sample) {
	scale, centred := likelihood.LatentScale(p.Likelihood), len(p.Groups) > 0 && p.Groups[0].Intercept
	if _, ok := sums.Location(p.Likelihood); !ok {
		sums.Latent = &base.Latent{Location: s.location(p.Likelihood, base.InterceptSpread*base.InterceptSpread*scale*scale), Square: scale * scale}
	} else if heavyTailed(p.Likelihood) {
		location, deviation := s.median(math.Sqrt(sums.Residual.Square(centred)), centred)
		sums.Latent = &base.Latent{Location: location, Square: deviation * deviation}
	}
}

// NeedsRows says whether a fit starts from order statistics of the targets, or from a search over them.
func NeedsRows(l Likelihood) bool {
	_, located := new(base.Sums).Location(l)
	return !located || heavyTailed(l)
}

// startParameters chooses starts and bounds for parameters whose own depend on the unit of y.
func startParameters(l Likelihood, latent, largest, precision float64) *Family {
	f := NewFamily(l)
	f.precision = precision
	if f.parametric == nil {
		return f
	}
	x := f.Free()
	for k, i := range f.learned {
		parameter := f.parametric.Parameters()[i]
		if c, ok := l.(likelihood.Ceiling); ok {
			f.Ceiling[k] = math.Max(shapeLimit, c.LogCeiling(largest))
		}
		if unitPower(l, parameter.Name) == 0 {
			if parameter.Name == shape && parameter.State == param.Learned {
				x[k] -= math.Log(precision)
			}
			continue
		}
		width := math.Log(latent*precision) / 2 // if all of the target were noise
		f.Floor[k] = width + math.Log(likelihood.NoiseFloor)/2
		f.Ceiling[k] = math.Max(f.Ceiling[k], 2*width-f.Floor[k]) // in any unit of the target
		if parameter.State == param.Learned {
			x[k] = width
		}
	}
	return f.At(x)
}

// about returns the family with the cutpoints, where they are learned, told from an offset that all rows share.
func (f *Family) about(offset float64) *Family {
	if _, kind := likelihood.Describe(f.Likelihood); kind != likelihood.Grades || f.Count() == 0 || offset == 0 {
		return f
	}
	x := f.Free()
	x[0] += offset
	moved := f.At(x)
	moved.offset = offset
	return moved
}

// sample is rows without their features.
type sample struct {
	y, offset, weight []float64
	own               credence.Batch // trials and precisions
	residual          base.Moments   // of the target less its offset
}

// add adds the rows of a block.
func (s *sample) add(b *Block) {
	s.own.Trials, s.own.Precision = append(s.own.Trials, b.Trials...), append(s.own.Precision, b.Precision...)
	for i, y := range b.Target {
		o, w := b.OffsetOf(i), b.WeightOf(i)
		s.y, s.offset, s.weight = append(s.y, y), append(s.offset, o), append(s.weight, w)
		s.residual.Add(y-o, w*b.PrecisionOf(i))
	}
}

// meanOffset is the mean of the offsets, told from the first of them, so that it is that of every row where they are
// equal.
func (s *sample) meanOffset() float64 {
	sum, total := 0.0, 0.0
	for i, w := range s.weight {
		sum, total = sum+w*(s.offset[i]-s.offset[0]), total+w
	}
	if total == 0 {
		return 0
	}
	return s.offset[0] + sum/total
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

// scale returns the variance of the target less its offset.
func (s *sample) scale(heavyTailed bool) (variance float64) {
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
	return variance
}

// madNormal makes the median absolute deviation of a normal distribution its standard deviation.
const madNormal = 1.4826

// median returns the weighted median of y − offset, and the standard deviation of a normal
// distribution with their weighted median absolute deviation; where that is 0, as among many equal
// targets, it returns the given one. Where they are not centred the deviation is about 0.
func (s *sample) median(otherwise float64, centred bool) (median, deviation float64) {
	gaps := make([]float64, len(s.y))
	for i, y := range s.y {
		gaps[i] = y - s.offset[i]
	}
	median = weightedMedian(gaps, s.weight)
	if !centred {
		median = 0
	}
	for i, gap := range gaps {
		gaps[i] = math.Abs(gap - median)
	}
	if deviation = madNormal * weightedMedian(gaps, s.weight); deviation > 0 {
		return median, deviation
	}
	return median, otherwise
}

// weightedMedian returns the value with half of the weight on either side, between two values where
// it is exactly half; 0 without weight.
func weightedMedian(values, weights []float64) float64 {
	var order []int
	total := 0.0
	for i, w := range weights {
		if w > 0 {
			order = append(order, i)
			total += w
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	below := 0.0
	for k, i := range order {
		below += weights[i]
		switch {
		case below > total/2:
			return values[i]
		case below == total/2 && k+1 < len(order):
			return (values[i] + values[order[k+1]]) / 2
		}
	}
	return 0
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
// Newton steps of at most 1.
func (s *sample) location(family Likelihood, variance float64) float64 {
	c := 0.0
	for range 100 {
		slope, bend := -c/variance, 1/variance
		for i, y := range s.y {
			if s.weight[i] == 0 {
				continue
			}
			_, first, second := s.own.LikelihoodOf(family, i).(Likelihood).Derivatives(y, c+s.offset[i])
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
func (p *Problem) reference(k int, latent float64, columns []columnSums, weight float64) (r Reference, v float64) {
	g := p.Groups[k]
	stated := g.Stated
	switch {
	case g.Intercept:
		v = p.Intercept.Variance
		return Reference{v, v}, v
	case stated.State == param.Held:
		return Reference{stated.Value, stated.Value}, stated.Value
	}
	r = Reference{1, 1}
	own := columns[g.First:g.End()]
	if g.Step() > 1 {
		own = nil
		for j := g.First; j < g.End(); j += g.Step() {
			own = append(own, columns[j])
		}
	}
	if fine, all := p.sizes(g, own, weight); fine > 0 {
		r = Reference{latent / fine, latent / all}
	}
	if stated.State == param.Guess {
		return r, r.Bounded(stated.Value)
	}
	return r, r.Wide
}
