package ep

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
)

// normal is q, what the sites of rows and of weights come to, for columns whose rows are multiplied
// by the roots of their weights.
type normal struct {
	*candidates.Table
	ws                   *credence.Workspace
	groups               []*group  // whose sites are not apart
	mean, variance       []float64 // of the d weights
	rowMean, rowVariance []float64 // of f; the variances for classes alone
	form
}

// form is one of three ways to the same numbers, of which the third is approximate.
type form interface {
	// update fills q, but for rowMean, from sites of weights and rows. Row precisions are positive.
	update(q *normal, weights, rows []site, classes bool) error
	// integral returns the logarithm of the integral of all sites.
	integral(q *normal) float64
	// trace returns tr X Σ Xᵀ, where all rows have one precision.
	trace(q *normal, precision float64) float64
	// block stores Σ of some columns, or of all, m×m, in dst; a group is there as a whole.
	block(q *normal, columns []int, dst []float64)
}

// fullSide is the largest smaller side of rows and columns for which the covariance is full by itself, and
// fullTextSide that of classes of sparse columns, which take some two hundred sweeps of 2n³ operations.
const (
	fullSide     = 3000
	fullTextSide = 1600
)

// IsFull says whether the covariance is full, as stated or, where nothing is, by the smaller of the numbers of
// rows and of columns.
func IsFull(stated Covariance, small float64) bool {
	return stated == Full || stated == "" && small <= fullSide
}

func newNormal(t *candidates.Table, ws *credence.Workspace, covariance Covariance) *normal {
	n, d := t.Rows, t.Count()
	q := &normal{
		Table: t, ws: ws, mean: make([]float64, d), variance: make([]float64, d),
		rowMean: make([]float64, n), rowVariance: make([]float64, n),
	}
	switch {
	case !IsFull(covariance, float64(min(n, d))):
		q.form = newDiagonal(q)
	case d <= n:
		q.form = newPrimal(ws, n, d)
	default:
		q.form = &dual{
			system: gauss.NewDual(ws, n), outer: make([]float64, n*n), prior: make([]float64, d), start: make([]float64, d),
			roots: make([]float64, n), alpha: make([]float64, n),
		}
	}
	return q
}

func (q *normal) take(weights, rows []site, classes bool) error {
	if err := q.update(q, weights, rows, classes); err != nil {
		return err
	}
	q.Mul(q.ws, q.rowMean, q.mean)
	return nil
}

// dual is the n×n form: K = B⁻¹ + X diag(1/λ) Xᵀ, K⁻¹ as [gauss.Dual] has it.
type dual struct {
	system       *gauss.Dual
	outer        []float64 // X diag(1/λ) Xᵀ, n×n
	roots        []float64 // √β
	prior, start []float64 // 1/λ and h/λ
	alpha        []float64 // K⁻¹(g/β − X h/λ)
	inverse      []float64 // K⁻¹, where classes or sparse columns have a use for it
	told         float64   // tr K⁻¹X diag(1/λ)Xᵀ, the number of weights that the rows tell
	logZ         float64
}

func (s *dual) integral(*normal) float64 { return s.logZ }

func (s *dual) update(q *normal, weights, rows []site, classes bool) error {
	n := q.Rows
	s.logZ = 0
	for j, w := range weights {
		s.prior[j], s.start[j] = 1/w.precision, w.shift/w.precision
		s.logZ += w.logSize()
	}
	for _, g := range q.groups {
		if err := s.begin(q, g, weights); err != nil {
			return err
		}
	}
	q.Outer(q.ws, s.outer, s.prior)
	for _, g := range q.groups {
		q.ws.Pool().Gram(g.Count, q.Rows, s.half(q, g), q.Rows, nil, s.outer, q.Rows) // adds X Λ⁻¹ Xᵀ
	}
	for i, r := range rows {
		s.roots[i] = math.Sqrt(r.precision)
	}
	if err := s.system.Set(s.outer, s.roots); err != nil {
		return fmt.Errorf("ep: %w", err)
	}
	q.Mul(q.ws, q.rowMean, s.start)
	for i, r := range rows {
		target := r.shift / r.precision
		s.alpha[i] = target - q.rowMean[i]
		s.logZ += r.shift * target / 2
	}
	s.logZ -= (s.system.Solve(s.alpha, s.alpha) + s.system.LogDet()) / 2
	q.MulTrans(q.ws, q.mean, s.alpha)
	if classes || q.Sparse() {
		if s.inverse == nil {
			s.inverse = make([]float64, n*n)
		}
		s.system.Inverse(s.inverse)
	}
	q.Quadratics(q.ws, q.variance, s.system, s.inverse)
	s.told = kernel.Dot(s.prior, q.variance)
	for j, v := range s.prior {
		q.mean[j] = s.start[j] + v*q.mean[j]
		q.variance[j] = math.Max(v-v*v*q.variance[j], 1e-12*v)
	}
	for _, g := range q.groups {
		s.end(q, g)
	}
	if classes {
		s.system.RowVariances(q.rowVariance, s.inverse)
		for i, v := range q.rowVariance {
			q.rowVariance[i] = math.Max(v, 1e-12*s.outer[i*n+i])
		}
	}
	return nil
}

func (s *dual) trace(_ *normal, precision float64) float64 { return s.told / precision }

// block is of D − D XᵀK⁻¹X D, D = diag(1/λ).
func (s *dual) block(q *normal, columns []int, dst []float64) {
	n, m := q.Rows, len(columns)
	rows := make([]float64, m*n)
	for i, j := range columns {
		q.Column(rows[i*n:(i+1)*n], j)
		kernel.Scale(s.prior[j], rows[i*n:(i+1)*n])
		dst[i*m+i] = s.prior[j]
	}
	for _, g := range q.groups {
		first := slices.Index(columns, g.First)
		if first < 0 {
			continue
		}
		copy(rows[first*n:], s.columns(q, g))
		for i, v := range s.variance(q, g) {
			dst[(first+i/g.Count)*m+first+i%g.Count] = v
		}
	}
	s.system.Half(rows, m)
	q.ws.Pool().Syrk(m, n, -1, rows, n, 1, dst, m)
	kernel.Symmetrize(m, dst, m)
}

// begin takes a group out of the columns apart: the prior of its weights is N(Λ⁻¹h, Λ⁻¹).
func (s *dual) begin(q *normal, g *group, weights []site) error {
	m, pool := g.Count, q.ws.Pool()
	copy(g.upper, g.precision)
	if _, ok := pool.Cholesky(m, g.upper, m); !ok {
		return fmt.Errorf("ep: the site of columns %d to %d is not positive definite: scale the columns", g.First+1, g.End())
	}
	start := s.start[g.First:g.End()]
	for i := range m {
		w := weights[g.First+i]
		s.logZ += math.Log(2*math.Pi)/2 - math.Log(g.upper[i*m+i]) - w.logSize()
		start[i], s.prior[g.First+i] = w.shift, 0
	}
	pool.TrsmLeft(true, m, 1, g.upper, m, start, 1)
	s.logZ += kernel.Dot(start, start) / 2
	pool.TrsmLeft(false, m, 1, g.upper, m, start, 1)
	return nil
}

// half are the rows of U⁻ᵀXᵀ of a group, UᵀU = Λ.
func (s *dual) half(q *normal, g *group) []float64 {
	n := q.Rows
	rows := make([]float64, g.Count*n)
	for i := range g.Count {
		q.Column(rows[i*n:(i+1)*n], g.First+i)
	}
	q.ws.Pool().TrsmLeft(true, g.Count, n, g.upper, g.Count, rows, n)
	return rows
}

// columns are the rows of Λ⁻¹Xᵀ of a group.
func (s *dual) columns(q *normal, g *group) []float64 {
	rows := s.half(q, g)
	q.ws.Pool().TrsmLeft(false, g.Count, q.Rows, g.upper, g.Count, rows, q.Rows)
	return rows
}

// variance is Λ⁻¹ of a group, m×m.
func (s *dual) variance(q *normal, g *group) []float64 {
	m := g.Count
	out := make([]float64, m*m)
	q.ws.Pool().CholeskyInverse(m, g.upper, m, out, m)
	return out
}

// end takes mean and covariance of a group, Λ⁻¹ − Λ⁻¹XᵀK⁻¹XΛ⁻¹.
func (s *dual) end(q *normal, g *group) {
	n, m, pool := q.Rows, g.Count, q.ws.Pool()
	rows, shift := s.half(q, g), make([]float64, m)
	for i := range m {
		shift[i] = kernel.Dot(rows[i*n:(i+1)*n], s.alpha)
	}
	pool.TrsmLeft(false, m, 1, g.upper, m, shift, 1)
	kernel.Axpy(1, shift, q.mean[g.First:g.End()]) // which was their prior mean
	s.system.Half(rows, m)
	s.told += kernel.Dot(rows, rows)
	pool.TrsmLeft(false, m, n, g.upper, m, rows, n)
	copy(g.covariance, s.variance(q, g))
	pool.Syrk(m, n, -1, rows, n, 1, g.covariance, m)
	kernel.Symmetrize(m, g.covariance, m)
	for i := range m {
		q.variance[g.First+i] = g.covariance[i*m+i]
	}
}

// primal is the d×d form, of the precision XᵀBX + diag λ: S² = 1/λ, and what groups have beside their diagonals is part
// of H.
type primal struct {
	system     gauss.Factor
	products   []float64 // XᵀX, or XᵀBX of classes
	summed     bool      // XᵀX is known
	grouped    []float64 // H with groups
	deviations []float64 // S
	inverse    []float64 // Σ
	natural    []float64 // Xᵀg + h
	shifts     []float64 // g
	logZ       float64
}

func newPrimal(ws *credence.Workspace, n, d int) *primal {
	return &primal{
		system: gauss.Dense{Weights: d, Definite: true}.Factor(ws), products: make([]float64, d*d), inverse: make([]float64, d*d),
		natural: make([]float64, d), deviations: make([]float64, d), shifts: make([]float64, n),
	}
}

func (s *primal) integral(*normal) float64 { return s.logZ }

func (s *primal) update(q *normal, weights, rows []site, classes bool) error {
	d, h, scale := q.Count(), s.products, rows[0].precision
	for i, r := range rows {
		s.shifts[i] = r.shift
	}
	if classes {
		precisions := make([]float64, len(rows))
		for i, r := range rows {
			precisions[i] = r.precision
		}
		q.Products(q.ws, s.products, precisions)
		scale = 1
	} else if !s.summed {
		q.Products(q.ws, s.products, nil)
		s.summed = true
	}
	q.MulTrans(q.ws, s.natural, s.shifts)
	for j, w := range weights {
		s.deviations[j] = 1 / math.Sqrt(w.precision)
		s.natural[j] += w.shift
	}
	if len(q.groups) > 0 {
		s.grouped = append(s.grouped[:0], h...)
		h = s.grouped
		kernel.Scale(scale, h)
		scale = 1
	}
	for _, g := range q.groups {
		for i, v := range g.precision {
			if a, b := g.First+i/g.Count, g.First+i%g.Count; a == b {
				s.deviations[a] = 1 / math.Sqrt(v)
			} else {
				h[a*d+b] += v
			}
		}
	}
	if err := s.system.Set(h, scale, s.deviations); err != nil {
		return fmt.Errorf("ep: %w", err)
	}
	s.system.Solve(q.mean, s.natural)
	s.system.Covariance(s.inverse)
	s.logZ = (kernel.Dot(q.mean, s.natural) + float64(d)*math.Log(2*math.Pi) - s.system.LogDet()) / 2
	for j, v := range s.deviations {
		s.logZ += math.Log(v)
		q.variance[j] = s.inverse[j*d+j]
	}
	for _, g := range q.groups {
		for i := range g.Count {
			copy(g.covariance[i*g.Count+i:(i+1)*g.Count], s.inverse[(g.First+i)*d+g.First+i:])
		}
		kernel.Symmetrize(g.Count, g.covariance, g.Count)
	}
	if classes {
		q.RowQuadratics(q.ws, q.rowVariance, s.system)
	}
	return nil
}

// trace is Σ over XᵀX ⊙ Σ.
func (s *primal) trace(*normal, float64) float64 { return s.system.Trace(s.products, s.inverse) }

func (s *primal) block(q *normal, columns []int, dst []float64) {
	d, m := q.Count(), len(columns)
	for i, j := range columns {
		for k, l := range columns {
			dst[i*m+k] = s.inverse[j*d+l]
		}
	}
}
