package active

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// validationRows is the number of rows by chance over which the expected reduction of loss is averaged.
const validationRows = 500

// reduction is what the score error_reduction needs beside means and variances: the covariances of the candidates
// of a block with its rows of validation, as they are after every inclusion.
type reduction struct {
	first      int         // row of the block from which on rows are of validation
	covariance linop.Dense // candidates × rows of validation
}

// validation is rows over which a scorer averages, with means and variances of their f.
type validation struct {
	rows           *credence.Batch
	mean, variance []float64
}

// Validate says which rows the score error_reduction looks at: some that stand for those to be predicted.
// Without, the candidates of a block do. Labels are not looked at.
func (s *Scorer) Validate(rows *credence.Batch) error {
	n := rows.Rows()
	v := &validation{rows, make([]float64, n), make([]float64, n)}
	s.validation = v
	return s.Latent(v.mean, v.variance, rows)
}

// validate adds the rows of validation to a block of candidates.
func (b *Picker) validate(candidates *credence.Batch) {
	v := b.scorer.validation
	if v == nil {
		v = &validation{candidates, b.mean, b.variance}
	}
	all, n := new(credence.Batch), candidates.Rows()
	all.Append(candidates, 0, n)
	all.Append(v.rows, 0, len(v.mean))
	b.rows = all
	b.mean, b.variance = append(b.mean, v.mean...), append(b.variance, v.variance...)
	own, ownGaps := b.scorer.designs(candidates)
	designs, gaps := b.scorer.designs(v.rows)
	b.reduction = &reduction{n, linop.NewDense(n, len(v.mean))}
	b.scorer.covariance(&b.reduction.covariance, own, ownGaps, designs, gaps)
}

// include follows the inclusion of a row of these covariances with all rows of the block.
func (r *reduction) include(column []float64, factor float64) {
	for i := range r.first {
		row, scale := r.covariance.Row(i), factor*column[i]
		floats.AddScaled(row, -scale, column[r.first:r.first+len(row)])
	}
}

// reductionOf returns by how much the label of row i is expected to lower the mean entropy of the labels of
// the rows of validation, in nats: their expected log loss (Roy & McCallum 2001).
func (b *Picker) reductionOf(i int) float64 {
	r, s := b.reduction, b.scorer
	mean, variance, sum := b.mean[i], b.variance[i], 0.0
	if !(variance > 0) {
		return 0
	}
	row := r.covariance.Row(i)
	if s.noise > 0 {
		own := variance + s.noise/b.rows.PrecisionOf(i)
		for v, c := range row {
			before := b.variance[r.first+v] + s.noise/b.rows.PrecisionOf(r.first+v)
			sum -= math.Log1p(-c*c/(own*before)) / 2
		}
		return sum / float64(len(row))
	}
	of := s.link.entropies()
	for v := range row {
		sum += of.at(b.mean[r.first+v], b.variance[r.first+v])
	}
	p := s.Probability(mean, variance)
	for _, label := range []float64{1, -1} {
		chance := p
		if label < 0 {
			chance = 1 - p
		}
		shift, precision := s.link.include(label, mean, variance)
		kappa := 1 + variance*precision
		move, factor := (shift-mean*precision)/kappa, precision/kappa
		for v, c := range row {
			at := r.first + v
			sum -= chance * of.at(b.mean[at]+move*c, math.Max(b.variance[at]-factor*c*c, 0))
		}
	}
	return sum / float64(len(row))
}

// sample keeps rows of a stream by chance, each with the same probability (reservoir sampling, Vitter 1985).
type sample struct {
	limit int
	rng   *rand.Rand
	seen  int
	kept  []candidate
	rows  []credence.Batch // one row each
}

func (s *sample) add(c candidate, rows *credence.Batch, i int) {
	s.seen++
	at := len(s.kept)
	if at == s.limit {
		if at = s.rng.IntN(s.seen); at >= s.limit {
			return
		}
	} else {
		s.kept, s.rows = append(s.kept, c), append(s.rows, credence.Batch{})
	}
	s.kept[at], s.rows[at] = c, credence.Batch{}
	s.rows[at].Append(rows, i, 1)
}

// batch returns the rows together.
func (s *sample) batch() *credence.Batch {
	all := new(credence.Batch)
	for k := range s.rows {
		all.Append(&s.rows[k], 0, 1)
	}
	return all
}
