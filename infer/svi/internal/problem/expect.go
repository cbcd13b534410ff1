package problem

import (
	"github.com/credence-ml/credence"
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
	// Slope holds the gradients in the P learned parameters, rows×P, and Bend their change with each
	// parameter, P×rows×P; Cross the change of DMean, P×rows.
	Slope, Bend, Cross []float64
	// Third is the slope of Value in the mean through the second derivative, ½ variance·ℓ‴, of an
	// expansion.
	Third []float64
	Spare []float64 // 2×rows
}

// Resize makes room for a block of rows and so many learned parameters.
func (t *Terms) Resize(rows, parameters int) {
	for _, s := range []*[]float64{&t.Mean, &t.Variance, &t.Value, &t.DMean, &t.DVariance} {
		*s = Grow(*s, rows)
	}
	t.Slope = Grow(t.Slope, rows*parameters)
	t.Bend = Grow(t.Bend, rows*parameters*parameters)
	t.Cross = Grow(t.Cross, rows*parameters)
	t.Third = Grow(t.Third, rows)
	t.Spare = Grow(t.Spare, 2*rows)
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

// Expect fills in Value, DMean, DVariance and Slope from Mean and Variance, and with curvature also
// Bend and Cross; of an expansion Third and Cross, and without it no Slope.
func (t *Terms) Expect(ws *credence.Workspace, b *Block, f *Family, curvature bool) {
	p, n := f.Count(), b.Rows()
	var shifted []*Family
	if curvature {
		x := f.Free()
		for k := range p {
			x[k] += parameterStep
			shifted = append(shifted, f.At(x))
			x[k] -= parameterStep
		}
	}
	ws.InRuns(n, func(from, to int) {
		f.expect(t.Value[from:to], t.DMean[from:to], t.DVariance[from:to], from, to, b, t)
		if p > 0 {
			f.slopes(t.Slope, from, to, b, t)
		}
		for k, other := range shifted {
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
				continue
			}
			bend := t.Bend[k*n*p : (k+1)*n*p]
			other.slopes(bend, from, to, b, t)
			for i := from * p; i < to*p; i++ {
				bend[i] = (bend[i] - t.Slope[i]) / parameterStep
			}
		}
		if f.Expanded && curvature {
			f.third(from, to, b, t)
		}
		if b.Weight == nil {
			return
		}
		for i := from; i < to; i++ {
			w := b.Weight[i]
			weigh(w, t.Value[i:i+1], t.DMean[i:i+1], t.DVariance[i:i+1], t.Third[i:i+1], t.Slope[i*p:(i+1)*p])
			for k := range shifted {
				weigh(w, t.Cross[k*n+i:k*n+i+1], t.Bend[(k*n+i)*p:(k*n+i+1)*p])
			}
		}
	})
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
