package ep

import (
	"context"
	"math"

	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// diagonal is the form for many rows and many columns. Means are those of the other forms, by
// conjugate gradients; variances are those of belief propagation between rows and weights (MATH.md §3 in
// its batch form), which takes the weights of a row to be independent but for what the row says of
// them:
//
//	s_i = Σ_j o_ij      1/v_j = λ_j + Σ_i x_ij² β_i/(1 + β_i(s_i − o_ij))
//
// Here s_i is the variance of row i's f without the row's own site, and o_ij is x_ij² times the
// variance of weight j without that row. They are exact where rows and columns make a tree, and good
// where columns are nearly uncorrelated; a pass takes O(nnz). Entries that a sparse column does not
// store, which centring takes from 0, have o_ij = x_ij²v_j.
type diagonal struct {
	matrix             *candidates.Precision // XᵀBX + diag λ
	near               linop.Diagonal        // the inverse of its diagonal
	natural, shifts    []float64             // Xᵀg + h, and g
	precisions, lambda []float64             // β and λ
	outside, weights   []float64             // s, and w = β/(1 + βs)
	variance           []float64
	own                []float64 // o of all stored entries, column by column
	first              []int     // where a column's begin, length d+1
	started            bool
}

const (
	// variancePasses and varianceTolerance end the passes over all variances: sites move by parts of
	// their way, and the next sweep goes on from here.
	variancePasses    = 20
	varianceTolerance = 1e-4
	meanTolerance     = 1e-7 // of the solves for means, in posterior standard deviations of all directions
	blockTolerance    = 1e-4 // and for covariances
	meanSteps         = 300
)

func newDiagonal(q *normal) *diagonal {
	n, d := q.Rows, q.Count()
	s := &diagonal{
		near:    make(linop.Diagonal, d),
		natural: make([]float64, d), shifts: make([]float64, n), precisions: make([]float64, n), lambda: make([]float64, d),
		outside: make([]float64, n), weights: make([]float64, n), variance: make([]float64, d),
		first: make([]int, d+1),
	}
	for j := range d {
		s.first[j+1] = s.first[j] + q.Stored(j)
	}
	s.own = make([]float64, s.first[d])
	s.matrix = &candidates.Precision{Table: q.Table, WS: q.ws, ByRow: s.precisions, Prior: s.lambda}
	return s
}

func (s *diagonal) update(q *normal, weights, rows []site, _ bool) error {
	for i, r := range rows {
		s.precisions[i], s.shifts[i] = r.precision, r.shift
	}
	q.MulTrans(q.ws, s.natural, s.shifts)
	for j, w := range weights {
		s.lambda[j] = w.precision
		s.natural[j] += w.shift
	}
	q.Squares(s.near, s.precisions)
	for j, l := range s.lambda {
		s.near[j] = 1 / (s.near[j] + l)
	}
	s.solve(q.mean, s.natural, meanTolerance)
	if !s.started {
		s.started = true
		for j, l := range s.lambda {
			q.variance[j] = 1 / l
			s.entries(q, j, func(_ int, x float64, own *float64) { *own = x * x / l })
		}
	}
	for range variancePasses {
		if s.pass(q) < varianceTolerance {
			break
		}
	}
	s.rows(q)
	for i, v := range s.outside {
		q.rowVariance[i] = v / (1 + s.precisions[i]*v)
	}
	return nil
}

// solve takes x from where it is to (XᵀBX + diag λ)⁻¹b.
func (s *diagonal) solve(x, b []float64, tolerance float64) {
	if _, err := linop.Conjugate(context.Background(), s.matrix, s.near, linop.Column(x), linop.Column(b), tolerance, meanSteps); err != nil {
		panic("ep: " + err.Error()) // of a context that is never done
	}
}

// entries goes through the stored entries of a column.
func (s *diagonal) entries(q *normal, j int, do func(i int, x float64, own *float64)) {
	k := s.first[j]
	q.Entries(j, func(i int, x float64) {
		do(i, x, &s.own[k])
		k++
	})
}

// pass takes all variances from those of the pass before, and returns the largest change of a
// logarithm.
func (s *diagonal) pass(q *normal) (changed float64) {
	s.rows(q)
	q.Squares(s.variance, s.weights)
	q.ws.Each(len(s.lambda), func(j int) {
		precision := s.lambda[j] + s.variance[j]
		s.entries(q, j, func(i int, x float64, own *float64) {
			w := s.weights[i]
			precision += x * x * (w/(1-w**own) - w)
		})
		precision = math.Max(precision, s.lambda[j])
		s.variance[j] = 1 / precision
		s.entries(q, j, func(i int, x float64, own *float64) {
			w := s.weights[i]
			*own = x * x / math.Max(precision-x*x*w/(1-w**own), s.lambda[j])
		})
	})
	for j, v := range s.variance {
		changed = math.Max(changed, math.Abs(math.Log(v/q.variance[j])))
	}
	copy(q.variance, s.variance)
	return changed
}

// rows takes s and w.
func (s *diagonal) rows(q *normal) {
	q.RowSquares(s.outside, q.variance)
	for j, v := range q.variance {
		s.entries(q, j, func(i int, x float64, own *float64) { s.outside[i] += *own - x*x*v })
	}
	for i, b := range s.precisions {
		s.outside[i] = math.Max(0, s.outside[i])
		s.weights[i] = b / (1 + b*s.outside[i])
	}
}

// integral goes by Bethe's formula, as variances do.
func (s *diagonal) integral(q *normal) float64 {
	sum := kernel.Dot(s.natural, q.mean) / 2
	for i, b := range s.precisions {
		sum -= math.Log1p(b*s.outside[i]) / 2
	}
	q.Squares(s.variance, s.weights)
	for j, v := range q.variance {
		sum += math.Log(2*math.Pi*v)/2 + v*s.variance[j]/2
		s.entries(q, j, func(i int, x float64, own *float64) {
			w := s.weights[i]
			sum += (math.Log1p(*own*w/(1-w**own)) - x*x*v*w) / 2
		})
	}
	return sum
}

// trace adds up the rows' variances.
func (s *diagonal) trace(q *normal, precision float64) float64 {
	sum := 0.0
	for _, v := range s.outside {
		sum += v / (1 + precision*v)
	}
	return sum
}

// block solves for each of several columns: means know of the covariances that variances leave out.
func (s *diagonal) block(q *normal, columns []int, dst []float64) {
	m, d := len(columns), len(s.lambda)
	if m == 1 {
		dst[0] = q.variance[columns[0]]
		return
	}
	unit, solved := make([]float64, d), make([]float64, d)
	for a, j := range columns {
		clear(unit)
		clear(solved)
		unit[j] = 1
		s.solve(solved, unit, blockTolerance)
		for b, l := range columns {
			dst[a*m+b] = solved[l]
		}
	}
	kernel.Symmetrize(m, dst, m)
}
