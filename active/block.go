package active

import (
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Picker picks rows one after the other. Means and variances of f in all of its rows follow every inclusion.
type Picker struct {
	scorer         *Scorer
	rows           *credence.Batch
	mean, variance []float64
	place          []int     // in the pool, for random scores and ties
	cost           []float64 // nil means 1
	picked         []bool

	designs []credence.Design
	gaps    [][]float64
	columns map[int][]float64 // Cov(f, f_i) before any inclusion
	steps   []inclusion

	scores    []float64  // given what was included; nil where they are to be found anew
	reduction *reduction // nil for other scores than error_reduction
}

// inclusion is a row that was included: Cov(f, f_i) at the time, over γ + ρ_i.
type inclusion struct {
	column []float64
	factor float64
}

// columnsAtOnce is the number of rows whose covariances with all others are computed together: those
// of the highest scores.
const columnsAtOnce = 32

// NewPicker returns a picker of candidates: their means and variances of f, and their places in the pool.
func (s *Scorer) NewPicker(rows *credence.Batch, mean, variance []float64, place []int) *Picker {
	b := &Picker{
		scorer: s, rows: rows, mean: slices.Clone(mean), variance: slices.Clone(variance), place: place,
		picked: make([]bool, len(mean)), columns: map[int][]float64{},
	}
	if s.score == ErrorReduction {
		b.validate(rows)
	}
	b.designs, b.gaps = s.designs(b.rows)
	return b
}

// Latent returns mean and variance of f in row i, given what was included.
func (b *Picker) Latent(i int) (mean, variance float64) { return b.mean[i], b.variance[i] }

// Score returns that of row i given what was included, over its cost.
func (b *Picker) Score(i int) float64 {
	if b.scores == nil {
		b.scores = make([]float64, len(b.picked))
		b.scorer.ws.Each(len(b.scores), func(k int) {
			b.scores[k] = b.score(k)
		})
	}
	return b.scores[i]
}

func (b *Picker) score(i int) float64 {
	var value float64
	if b.reduction != nil {
		value = b.reductionOf(i)
	} else {
		value = b.scorer.scoreOf(b.rows, i, b.place[i], b.mean[i], b.variance[i])
	}
	if b.cost != nil {
		value /= b.cost[i]
	}
	return value
}

// ranked returns the rows not yet picked, the best first; equal scores go by the place in the pool.
func (b *Picker) ranked(most int) []int {
	var order []int
	for i, picked := range b.picked {
		if !picked {
			order = append(order, i)
		}
	}
	better := func(i, k int) int { return first(b.Score(i), b.Score(k), b.place[i], b.place[k]) }
	if most == 1 && len(order) > 0 {
		return []int{slices.MinFunc(order, better)}
	}
	slices.SortFunc(order, better)
	return order[:min(most, len(order))]
}

// Next returns the best row that was not picked yet, −1 where there is none, and marks it as picked.
func (b *Picker) Next() int {
	best := b.ranked(1)
	if len(best) == 0 {
		return -1
	}
	b.picked[best[0]] = true
	return best[0]
}

// Include adds row i to what is known, with its label (of two classes 0 or 1), or with NaN as a row
// whose label is not known yet.
func (b *Picker) Include(i int, label float64) {
	mean, variance := b.mean[i], b.variance[i]
	if !(variance > 0) {
		return
	}
	shift, precision := b.scorer.site(label, mean, variance)
	if b.scorer.noise > 0 {
		of := b.rows.PrecisionOf(i)
		shift, precision = of*shift, of*precision
	}
	column := slices.Clone(b.column(i))
	for _, step := range b.steps {
		kernel.Axpy(-step.factor*step.column[i], step.column, column)
	}
	column[i] = variance // with what unseen categories add
	kappa := 1 + variance*precision
	factor := precision / kappa
	for k, w := range column {
		b.mean[k] += (shift - mean*precision) / kappa * w
		b.variance[k] = math.Max(0, b.variance[k]-factor*w*w)
	}
	b.steps = append(b.steps, inclusion{column, factor})
	if b.scores = nil; b.reduction != nil {
		b.reduction.include(column, factor)
	}
}

// column returns Cov(f, f_i) before any inclusion, computed along with those of the rows that are likely next.
func (b *Picker) column(i int) []float64 {
	if known := b.columns[i]; known != nil {
		return known
	}
	chosen := []int{i}
	for _, k := range b.ranked(columnsAtOnce) {
		if b.columns[k] == nil && k != i {
			chosen = append(chosen, k)
		}
	}
	var part credence.Batch
	for _, k := range chosen {
		part.Append(b.rows, k, 1)
	}
	designs, gaps := b.scorer.designs(&part)
	covariance := linop.NewDense(len(b.mean), len(chosen))
	b.scorer.covariance(&covariance, b.designs, b.gaps, designs, gaps)
	for c, k := range chosen {
		column := make([]float64, len(b.mean))
		for r := range column {
			column[r] = covariance.Row(r)[c]
		}
		b.columns[k] = column
	}
	return b.columns[i]
}
