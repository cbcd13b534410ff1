package problem

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/likelihood"
)

// parameterStep is the change of a likelihood parameter over which its second derivatives are taken
// as differences: they only shape steps, and are good to this much.
const parameterStep = 1e-4

// Terms are, for the rows of a block, the mean and variance of f and what the likelihood expects of
// them, weights included.
type Terms struct {
	Mean, Variance          []float64
	Value, DMean, DVariance []float64
	// Slope holds the gradients in the P learned parameters, rows×P, and Cross the change of DMean with each, P×rows.
	Slope, Cross []float64
	moved        []float64 // rows×P, the gradients a step on, and then how they change
	// Third is the slope of Value in the mean through the second derivative, ½ variance·ℓ‴, of an
	// expansion.
	Third []float64
	Spare []float64 // 2×rows
}

// Resize makes room for a block of rows and so many learned parameters.
func (t *Terms) Resize(rows, parameters int) {
	for _, s := range []*[]float64{&t.Mean, &t.Variance, &t.Value, &t.DMean, &t.DVariance} {
		*s = order.Resized(*s, rows)
	}
	t.Slope = order.Resized(t.Slope, rows*parameters)
	t.moved = order.Resized(t.moved, rows*parameters)
	t.Cross = order.Resized(t.Cross, rows*parameters)
	t.Third = order.Resized(t.Third, rows)
	t.Spare = order.Resized(t.Spare, 2*rows)
}

// WithinReach says whether every row of b with a weight has a finite mean, and a variance at which the likelihood's
// expectations make sense.
func (t *Terms) WithinReach(b *Block, l Likelihood) bool {
	limit := float64(likelihood.LatentVarianceLimit)
	if additive, ok := l.(likelihood.Additive); ok {
		limit = additive.LatentVarianceLimit()
	}
	for i, v := range t.Variance {
		if (!(v >= 0 && v <= limit) || !Finite(t.Mean[i])) && b.WeightOf(i) > 0 {
			return false
		}
	}
	return true
}

// Expect fills in Value, DMean, DVariance and Slope from Mean and Variance, and with curvature also Cross; of an
// expansion Third and Cross, and without it no Slope. How the slopes change with each learned parameter is added to
// bend, P×P, over the rows, where it is not nil and there is no expansion.
func (t *Terms) Expect(ws *credence.Workspace, b *Block, f *Family, curvature bool, bend []float64) {
	p, n := f.Count(), b.Rows()
	ws.InRuns(n, func(from, to int) {
		f.expect(t.Value[from:to], t.DMean[from:to], t.DVariance[from:to], from, to, b, t)
		if p > 0 {
			f.slopes(t.Slope, from, to, b, t)
		}
		if f.Expanded && curvature {
			f.third(from, to, b, t)
		}
	})
	closed, ok := f.Likelihood.(likelihood.ParametricCurvature)
	switch {
	case !curvature:
	case ok && !f.Expanded && p == len(f.values) && b.Trials == nil && b.Precision == nil:
		closed.ExpectedParameterCurvatures(t.Cross, bend, b.Target, t.Mean, t.Variance, b.Weight)
	default:
		x := f.Free()
		for k := range p {
			x[k] += parameterStep
			t.shift(ws, b, f, f.At(x), k, bend)
			x[k] -= parameterStep
		}
	}
	if b.Weight == nil {
		return
	}
	ws.InRuns(n, func(from, to int) {
		for i := from; i < to; i++ {
			weigh(b.Weight[i], t.Value[i:i+1], t.DMean[i:i+1], t.DVariance[i:i+1], t.Third[i:i+1], t.Slope[i*p:(i+1)*p])
			for k := 0; curvature && k < p; k++ {
				weigh(b.Weight[i], t.Cross[k*n+i:k*n+i+1])
			}
		}
	})
}

// shift stores what changes with learned parameter k, of which other is the family a step on: one parameter at a time,
// since each has a slope in every other for each row.
func (t *Terms) shift(ws *credence.Workspace, b *Block, f, other *Family, k int, bend []float64) {
	p, n := f.Count(), b.Rows()
	ws.InRuns(n, func(from, to int) {
		cross := t.Cross[k*n+from : k*n+to]
		spare := t.Spare[2*from : 2*to]
		run := to - from
		other.expect(spare[:run], cross, spare[run:], from, to, b, t)
		for i := range cross {
			cross[i] = (cross[i] - t.DMean[from+i]) / parameterStep
		}
		if f.Expanded { // the second derivative has a slope in the parameter, too
			for i := from; i < to; i++ {
				t.Slope[i*p+k] += t.Variance[i] * (spare[run+i-from] - t.DVariance[i]) / parameterStep
			}
			return
		}
		if bend == nil {
			return
		}
		other.slopes(t.moved, from, to, b, t)
		for i := from; i < to; i++ {
			row := t.moved[i*p : (i+1)*p]
			for l := range row {
				row[l] = (row[l] - t.Slope[i*p+l]) / parameterStep
			}
			if b.Weight != nil {
				weigh(b.Weight[i], row)
			}
		}
	})
	if bend == nil || f.Expanded {
		return
	}
	sums := bend[k*p : (k+1)*p]
	for i := range n {
		for l, v := range t.moved[i*p : (i+1)*p] {
			sums[l] += v
		}
	}
}

// weigh multiplies values by the weight of their row. They are 0 for a row without weight whatever
// they were: a row that is left out may lie where its density overflows, and 0·Inf is not a number.
func weigh(w float64, values ...[]float64) {
	for _, run := range values {
		for i := range run {
			if w == 0 {
				run[i] = 0
			} else {
				run[i] *= w
			}
		}
	}
}

// expect stores E log p of some rows with its derivatives.
func (f *Family) expect(value, dMean, dVariance []float64, from, to int, b *Block, t *Terms) {
	if f.Expanded {
		for i := from; i < to; i++ {
			v, first, second := b.LikelihoodOf(f.Likelihood, i).Derivatives(b.Target[i], t.Mean[i])
			value[i-from], dMean[i-from], dVariance[i-from] = v+second*t.Variance[i]/2, first, second/2
		}
		return
	}
	if b.Precision == nil {
		f.ExpectedLogDensities(value, dMean, dVariance, b.Target[from:to], part(b.Trials, from, to), t.Mean[from:to], t.Variance[from:to])
		return
	}
	for i := from; i < to; i++ {
		k := i - from
		b.LikelihoodOf(f.Likelihood, i).ExpectedLogDensities(value[k:k+1], dMean[k:k+1], dVariance[k:k+1],
			b.Target[i:i+1], part(b.Trials, i, i+1), t.Mean[i:i+1], t.Variance[i:i+1])
	}
}

// thirdStep is the half width of the differences of second derivatives.
const thirdStep = 1e-4

// third stores Third for some rows.
func (f *Family) third(from, to int, b *Block, t *Terms) {
	for i := from; i < to; i++ {
		l := b.LikelihoodOf(f.Likelihood, i)
		_, _, above := l.Derivatives(b.Target[i], t.Mean[i]+thirdStep)
		_, _, below := l.Derivatives(b.Target[i], t.Mean[i]-thirdStep)
		t.Third[i] = t.Variance[i] / 2 * (above - below) / (2 * thirdStep)
	}
}

// slopes stores the gradients of E log p in the learned parameters for some rows in dst, rows×P.
func (f *Family) slopes(dst []float64, from, to int, b *Block, t *Terms) {
	p, count := f.Count(), len(f.values)
	factors := make([]float64, p)
	for k := range factors {
		factors[k] = f.LogFactor(k)
	}
	if batch, ok := f.Likelihood.(likelihood.ParametricBatch); ok && !f.Expanded && b.Trials == nil && b.Precision == nil {
		all := dst[from*p : to*p]
		if p < count {
			all = make([]float64, (to-from)*count)
		}
		batch.ExpectedParameterGradients(all, b.Target[from:to], t.Mean[from:to], t.Variance[from:to])
		for i := range to - from {
			for k, place := range f.learned { // in ascending order
				dst[(from+i)*p+k] = all[i*count+place] * factors[k]
			}
		}
		return
	}
	all := make([]float64, count)
	parametric := f.parametric
	for i := from; i < to; i++ {
		if b.Trials != nil || b.Precision != nil {
			parametric = b.LikelihoodOf(f.Likelihood, i).(likelihood.Parametric)
		}
		variance := t.Variance[i]
		if f.Expanded {
			variance = 0
		}
		parametric.ExpectedParameterGradient(all, b.Target[i], t.Mean[i], variance)
		for k, place := range f.learned {
			dst[i*p+k] = all[place] * factors[k]
		}
	}
}

// part returns rows [from, to) of a slice that may be nil.
func part(x []float64, from, to int) []float64 {
	if x == nil {
		return nil
	}
	return x[from:to]
}

// Separated says whether every row of a block is all successes where f > 0 and all failures where
// f < 0. Rows without weight say nothing.
func (b *Block) Separated(l Likelihood, latent []float64) bool {
	separable, ok := l.(likelihood.Separable)
	if !ok {
		return false
	}
	for i, f := range latent {
		if b.WeightOf(i) == 0 {
			continue
		}
		trials := 0.0
		if b.Trials != nil {
			trials = b.Trials[i]
		}
		successes, failures := separable.Certain(b.Target[i], trials)
		if !(f > 0 && successes || f < 0 && failures) {
			return false
		}
	}
	return true
}
