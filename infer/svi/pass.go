package svi

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
)

// shift is the change of a likelihood parameter over which its second derivatives
// are taken as differences: they only shape steps, and are good to this much.
const shift = 1e-4

// rowsPerTask is how many rows a worker takes at a time. Tasks do not depend on
// the number of threads.
const rowsPerTask = 64

// rowTerms are, for the rows of a block, f's mean and variance and what the
// likelihood expects of them, weights included.
type rowTerms struct {
	mean, variance          []float64
	value, dMean, dVariance []float64
	// slope holds the gradients in the P learned parameters, rows×P, and bend their
	// change with each parameter, rows×P×P; cross the change of dMean, P×rows.
	slope, bend, cross []float64
	spare              []float64
}

func (t *rowTerms) resize(rows, parameters int) {
	for _, s := range []*[]float64{&t.mean, &t.variance, &t.value, &t.dMean, &t.dVariance} {
		*s = grow(*s, rows)
	}
	t.slope = grow(t.slope, rows*parameters)
	t.bend = grow(t.bend, rows*parameters*parameters)
	t.cross = grow(t.cross, rows*parameters)
	t.spare = grow(t.spare, 2*rows)
}

// farthestVariance is the greatest variance of f, in units of the likelihood's own
// width, at which expectations are taken: no model has more, and an optimiser that asks
// has gone astray.
const farthestVariance = 1e6

// bearable says whether expectations at these means and variances are worth taking.
func (t *rowTerms) bearable(l credence.Likelihood) bool {
	limit := farthestVariance
	switch l := l.(type) {
	case likelihood.Gaussian: // in closed form
		limit = math.MaxFloat64
	case likelihood.StudentT:
		if l.Scale.Value > 0 {
			limit *= l.Scale.Value * l.Scale.Value
		}
	}
	for i, v := range t.variance {
		if !(v >= 0 && v <= limit) || !(math.Abs(t.mean[i]) <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

func grow(x []float64, n int) []float64 {
	if cap(x) < n {
		return make([]float64, n)
	}
	return x[:n]
}

// expect fills in value, dMean and dVariance from mean and variance, and with
// curvature also what concerns the learned parameters.
func (t *rowTerms) expect(pool *kernel.Pool, b *block, f *family, curvature bool) {
	p := f.count()
	var shifted []*family
	if curvature {
		x := f.free()
		for k := range p {
			x[k] += shift
			shifted = append(shifted, f.at(x))
			x[k] -= shift
		}
	}
	inTasks(pool, b.rows, func(from, to int) {
		trials := part(b.trials, from, to)
		f.ExpectedLogDensities(t.value[from:to], t.dMean[from:to], t.dVariance[from:to],
			b.y[from:to], trials, t.mean[from:to], t.variance[from:to])
		if p > 0 {
			f.slopes(t.slope, from, to, b, t)
		}
		for k, other := range shifted {
			cross := t.cross[k*b.rows+from : k*b.rows+to]
			spare := t.spare[2*from : 2*to]
			n := to - from
			other.ExpectedLogDensities(spare[:n], cross, spare[n:], b.y[from:to], trials, t.mean[from:to], t.variance[from:to])
			for i := range cross {
				cross[i] = (cross[i] - t.dMean[from+i]) / shift
			}
			bend := t.bend[k*b.rows*p : (k+1)*b.rows*p]
			other.slopes(bend, from, to, b, t)
			for i := from * p; i < to*p; i++ {
				bend[i] = (bend[i] - t.slope[i]) / shift
			}
		}
		if b.weight == nil {
			return
		}
		for i := from; i < to; i++ {
			w := b.weight[i]
			t.value[i] = weighted(w, t.value[i])
			t.dMean[i] = weighted(w, t.dMean[i])
			t.dVariance[i] = weighted(w, t.dVariance[i])
			for k := range p {
				t.slope[i*p+k] = weighted(w, t.slope[i*p+k])
				for l := range shifted {
					bend := &t.bend[(l*b.rows+i)*p+k]
					*bend = weighted(w, *bend)
				}
			}
			for k := range shifted {
				t.cross[k*b.rows+i] = weighted(w, t.cross[k*b.rows+i])
			}
		}
	})
}

// weighted is wv, and 0 for a row without weight whatever v is: a row that is left out may lie
// where its density overflows, and 0·Inf is not a number.
func weighted(w, v float64) float64 {
	if w == 0 {
		return 0
	}
	return w * v
}

// slopes stores the gradients of E log p in the learned parameters for some rows in
// dst, rows×P.
func (f *family) slopes(dst []float64, from, to int, b *block, t *rowTerms) {
	p := f.count()
	if batch, ok := f.Likelihood.(likelihood.ParametricBatch); ok && p == 1 && len(f.values) == 1 && b.trials == nil {
		batch.ExpectedParameterGradients(dst[from:to], b.y[from:to], t.mean[from:to], t.variance[from:to])
		return
	}
	all := make([]float64, len(f.values))
	parametric := f.parametric
	for i := from; i < to; i++ {
		if b.trials != nil {
			if perRow, ok := f.Likelihood.(likelihood.PerRow); ok {
				parametric, ok = perRow.WithTrials(b.trials[i]).(likelihood.Parametric)
				if !ok {
					continue
				}
			}
		}
		parametric.ExpectedParameterGradient(all, b.y[i], t.mean[i], t.variance[i])
		for k, place := range f.learned {
			dst[i*p+k] = all[place]
		}
	}
}

func part(x []float64, from, to int) []float64 {
	if x == nil {
		return nil
	}
	return x[from:to]
}

// inTasks calls do for runs of rows [from, to) of n, whose bounds do not depend on
// the threads.
func inTasks(pool *kernel.Pool, n int, do func(from, to int)) {
	pool.Run((n+rowsPerTask-1)/rowsPerTask, func(i, _ int) {
		do(i*rowsPerTask, min(n, (i+1)*rowsPerTask))
	})
}

// statistics are the sums over rows at one q = N(m, V), that a variational Newton step
// needs: with e the expected log density of a row,
//
//	value = Σ e      gradient = Φᵀ ∂e/∂mean      curvature = −2 Φᵀ diag(∂e/∂variance) Φ
//
// and the same for the learned parameters of the likelihood.
type statistics struct {
	value     float64
	trace     float64   // Σ βv = tr HV
	gradient  []float64 // d
	curvature []float64 // d×d, upper triangle
	slope     []float64 // P
	bend      []float64 // P×P
	cross     []float64 // P×d, Φᵀ ∂²e/∂mean∂parameter
	correct   bool      // the classes of a two-valued target are separated
	// b and beta, one for each row, are the normal likelihood that stands for it (see
	// tuner); nil where nobody wants them.
	b, beta []float64
}

func newStatistics(d, parameters int) *statistics {
	return &statistics{
		gradient: make([]float64, d), curvature: make([]float64, d*d),
		slope: make([]float64, parameters), bend: make([]float64, parameters*parameters),
		cross: make([]float64, parameters*d),
	}
}

// keepSites asks for the sites of so many rows.
func (s *statistics) keepSites(rows int) *statistics {
	s.b, s.beta = make([]float64, rows), make([]float64, rows)
	return s
}

func (s *statistics) reset() {
	s.value, s.trace, s.correct = 0, 0, true
	for _, x := range [][]float64{s.gradient, s.curvature, s.slope, s.bend, s.cross} {
		clear(x)
	}
}

// pass adds up the statistics of all rows at N(m, FFᵀ); a nil factor means no
// variance. Memory beyond the statistics is that of a few blocks.
func (r *newton) pass(ctx context.Context, t *table, s *statistics, m, factor []float64, f *family) error {
	d, p := r.d, f.count()
	if g, ok := f.Likelihood.(likelihood.Gaussian); ok && d <= t.count {
		return r.passSufficient(ctx, t, s, m, factor, g, p)
	}
	s.reset()
	r.targets.reset()
	pool := r.ws.Pool()
	terms := &r.terms
	first := 0
	for k := range t.blocks() {
		b, err := t.at(ctx, k)
		if err != nil {
			return err
		}
		r.targets.add(b)
		terms.resize(b.rows, p)
		latentMeans(pool, terms.mean, b, m)
		r.variances(terms.variance, b, factor)
		if !terms.bearable(f.Likelihood) {
			s.value = math.NaN()
			return nil
		}
		terms.expect(pool, b, f, p > 0)
		for _, v := range terms.value {
			s.value += v
		}
		s.correct = s.correct && b.separated(f.Likelihood, terms.mean)
		addTrans(pool, s.gradient, b.phi, terms.dMean)
		for i := range b.rows {
			for j := range p {
				s.slope[j] += terms.slope[i*p+j]
			}
		}
		for j := range p {
			addTrans(pool, s.cross[j*d:(j+1)*d], b.phi, terms.cross[j*b.rows:(j+1)*b.rows])
			for i := range b.rows {
				for l := range p {
					s.bend[j*p+l] += terms.bend[(j*b.rows+i)*p+l]
				}
			}
		}
		for i, v := range terms.dVariance {
			terms.dVariance[i] = -2 * v
			s.trace -= 2 * v * terms.variance[i]
			if r.clamp && v > 0 {
				terms.dVariance[i] = 0
			}
		}
		if s.beta != nil {
			for i, beta := range terms.dVariance {
				u := terms.mean[i]
				if b.offset != nil {
					u -= b.offset[i]
				}
				s.beta[first+i], s.b[first+i] = beta, terms.dMean[i]+beta*u
			}
		}
		first += b.rows
		r.addCurvature(s.curvature, b.phi, terms.dVariance)
	}
	liftCross(s.curvature, d, r.denseCols)
	return nil
}

// panelWidth is the number of columns of the factor in one product: some panels even of a small
// factor, for a triangle's zeros to be left out, and not many of a large one, for each reads the
// features again.
func panelWidth(d int) int { return max(64, min(d/4/64*64, 256)) }

// variances stores φᵀFFᵀφ for the rows of a block.
func (r *newton) variances(dst []float64, b *block, factor []float64) {
	clear(dst)
	phi := b.phi
	d, dense := r.d, phi.Dense.Cols
	r.denseCols = dense
	if factor == nil {
		return
	}
	pool := r.ws.Pool()
	width := min(panelWidth(d), d)
	r.product = grow(r.product, b.rows*width)
	for left := 0; left < d; left += width {
		cols := min(width, d-left)
		// F is upper triangular: rows below left+cols are zero in these columns.
		depth := min(dense, left+cols)
		product := r.product[:b.rows*cols]
		if depth > 0 {
			pool.Gemm(false, false, b.rows, cols, depth, 1, phi.Dense.Data, phi.Dense.Stride, factor[left:], d, 0, product, cols)
		} else {
			clear(product)
		}
		inTasks(pool, b.rows, func(from, to int) {
			for i := from; i < to; i++ {
				row := product[i*cols : (i+1)*cols]
				if phi.Sparse.Cols > 0 {
					addSparseRow(row, phi, i, factor, d, left)
				}
				dst[i] += kernel.Dot(row, row)
			}
		})
	}
}

// addSparseRow adds the sparse columns' part of φᵢᵀ F[:, left:left+len(row)].
func addSparseRow(row []float64, phi *credence.Design, i int, factor []float64, d, left int) {
	columns, values := phi.Sparse.Row(i)
	for k, j := range columns {
		weight := phi.Dense.Cols + int(j)
		if weight >= left+len(row) {
			return // columns increase, and F is zero from here on
		}
		v := 1.0
		if values != nil {
			v = values[k]
		}
		kernel.Axpy(v, factor[weight*d+left:weight*d+left+len(row)], row)
	}
}

// addCurvature adds Φᵀ diag(w) Φ to the upper triangle of h. Products of a sparse with the
// dense columns go to the sparse column's row, where they are contiguous;
// liftCross moves them.
func (r *newton) addCurvature(h []float64, phi *credence.Design, w []float64) {
	d, dense := r.d, phi.Dense.Cols
	pool := r.ws.Pool()
	pool.Gram(phi.Dense.Rows, dense, phi.Dense.Data, max(1, phi.Dense.Stride), w, h, max(1, d))
	if phi.Sparse.Cols == 0 {
		return
	}
	// Every task goes through all rows for its share of the columns, so that no two
	// write to the same row of h, and sums keep the order of the rows.
	const tasks = 8
	pool.Run(tasks, func(task, _ int) {
		for i := range w {
			columns, values := phi.Sparse.Row(i)
			for k, c := range columns {
				if int(c)%tasks != task {
					continue
				}
				v := w[i]
				if values != nil {
					v *= values[k]
				}
				row := h[(dense+int(c))*d : (dense+int(c)+1)*d]
				if dense > 0 {
					kernel.Axpy(v, phi.Dense.Row(i), row[:dense])
				}
				for l := k; l < len(columns); l++ {
					u := v
					if values != nil {
						u *= values[l]
					}
					row[dense+int(columns[l])] += u
				}
			}
		}
	})
}

// liftCross moves the products of sparse with dense columns to the upper triangle.
func liftCross(h []float64, d, dense int) {
	for j := dense; j < d; j++ {
		for i := range dense {
			h[i*d+j] = h[j*d+i]
		}
	}
}

// finite says whether every number is one.
func finite(x ...float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
