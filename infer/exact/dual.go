package exact

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
)

// dual is the n×n form, with rows multiplied by the roots of their weights and
//
//	B = I + ΦΛΦᵀ/σ²     α = B⁻¹y/σ²
//	log p(y) = −½ [N log 2πσ² + log|B| + yᵀα],  N = Σw
//	∂/∂log λ_j = ½ λ_j [(φ_jᵀα)² − φ_jᵀB⁻¹φ_j/σ²]
//	∂/∂Φ = (ααᵀ − B⁻¹/σ²) ΦΛ
//
// (Rasmussen & Williams 2006, eqs. 2.30 and 5.9). Φ stays in memory as the features gave
// it; the roots of the weights are applied to n×n matrices and n-vectors.
type dual struct {
	common
	n       int
	dense   linop.Dense // dense columns of Φ
	sparse  linop.CSR   // sparse columns of Φ
	columns linop.CSR   // the same transposed
	roots   []float64   // √w; nil where there are no weights
	y       []float64   // targets in units, not centred, times √w
	square  []float64
	grams   [][]float64 // ΦΦᵀ of each group, n×n upper; nil when they are formed anew each time
	factor  []float64   // n×n, U with UᵀU = B
	inverse []float64   // n×n, W½B⁻¹W½/σ²
	alpha   []float64   // α √w
	lambda  []float64   // prior variances
	project []float64   // Φᵀα
	slab    []float64   // a block of rows × dense
	part    []float64   // sums of the runs of a block, over dense columns
	last    values
	window  credence.Design
}

func (p *dual) load(ctx context.Context, features credence.Features) error {
	p.features = features
	first := p.factor == nil
	if first {
		p.n = p.rows.count
		n := p.n
		p.factor, p.inverse = make([]float64, n*n), make([]float64, n*n)
		p.alpha, p.y = make([]float64, n), make([]float64, n)
		p.square, p.project = make([]float64, p.d), make([]float64, p.d)
	}
	for k := range p.rows.blocks() {
		b, err := p.rows.block(ctx, k)
		if err != nil {
			return err
		}
		features.Transform(p.ws, &p.phi, b)
		row := k * credence.BlockRows
		if first {
			p.keepTargets(row, b)
			if k == 0 {
				p.dense = linop.NewDense(p.n, p.phi.Dense.Cols)
				p.sparse.Reset(p.phi.Sparse.Cols)
			}
			for i := range p.phi.Sparse.Rows {
				if p.sparse.Cols > 0 {
					p.sparse.AppendRow(p.phi.Sparse.Row(i))
				}
			}
		}
		for i := range b.Rows() {
			copy(p.dense.Row(row+i), p.phi.Dense.Row(i))
		}
	}
	if first {
		if err := p.finishTargets(); err != nil {
			return err
		}
		p.columns = transpose(&p.sparse)
	}
	p.setSquares()
	for j, v := range p.square {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("exact: the squares of feature column %s add up to %v: scale the column, or look for values that are no numbers",
				weightName(features, j), v)
		}
	}
	if !p.tuned && len(p.groups)*p.n <= 4*p.d {
		p.setGrams()
	}
	return nil
}

// keepTargets takes the targets and weights of a block, not yet in units.
func (p *dual) keepTargets(row int, b *credence.Batch) {
	if factor := p.rows.grow(b); factor != 1 {
		p.summary.rescale(factor)
	}
	p.summary.add(p.rows.units, b, p.rows.targets(make([]float64, b.Rows()), b))
	for i := range b.Rows() {
		p.y[row+i] = residualTarget(b, i)
	}
	if b.Weight != nil {
		if p.roots == nil {
			p.roots = make([]float64, p.n)
		}
		for i, w := range b.Weight {
			p.roots[row+i] = math.Sqrt(w)
		}
	}
}

func (p *dual) finishTargets() error {
	if !(p.summary.weight > 0) {
		return fmt.Errorf("exact: the rows' weights add up to %v: at least one must be positive", p.summary.weight)
	}
	for i := range p.y {
		p.y[i] /= p.rows.units.scale
		if p.roots != nil {
			p.y[i] *= p.roots[i]
		}
	}
	return nil
}

// transpose returns the columns of a as rows.
func transpose(a *linop.CSR) linop.CSR {
	t := linop.CSR{Rows: a.Cols, Cols: a.Rows, Start: make([]int, a.Cols+1)}
	if a.Cols == 0 {
		return t
	}
	t.Index, t.Value = make([]int32, a.Entries()), make([]float64, a.Entries())
	for _, j := range a.Index {
		t.Start[j+1]++
	}
	for j := range a.Cols {
		t.Start[j+1] += t.Start[j]
	}
	next := append([]int(nil), t.Start[:a.Cols]...)
	for i := range a.Rows {
		columns, entries := a.Row(i)
		for k, j := range columns {
			t.Index[next[j]] = int32(i)
			t.Value[next[j]] = 1
			if entries != nil {
				t.Value[next[j]] = entries[k]
			}
			next[j]++
		}
	}
	return t
}

func (p *dual) setSquares() {
	clear(p.square)
	for i := range p.n {
		w := 1.0
		if p.roots != nil {
			w = p.roots[i] * p.roots[i]
		}
		for j, v := range p.dense.Row(i) {
			p.square[j] += w * v * v
		}
	}
	for j := range p.columns.Rows {
		rows, entries := p.columns.Row(j)
		for k, i := range rows {
			v := entries[k]
			if p.roots != nil {
				v *= p.roots[i]
			}
			p.square[p.dense.Cols+j] += v * v
		}
	}
}

func (p *dual) squares() []float64 { return p.square }

func (p *dual) totals(dst []float64) {
	clear(dst)
	for i := range p.n {
		w := 1.0
		if p.roots != nil {
			w = p.roots[i] * p.roots[i]
		}
		kernel.Axpy(w, p.dense.Row(i), dst[:p.dense.Cols])
	}
	for j := range p.columns.Rows {
		rows, entries := p.columns.Row(j)
		for k, i := range rows {
			w := 1.0
			if p.roots != nil {
				w = p.roots[i] * p.roots[i]
			}
			dst[p.dense.Cols+j] += w * entries[k]
		}
	}
}

// setGrams forms ΦΦᵀ of every group.
func (p *dual) setGrams() {
	n := p.n
	p.grams = make([][]float64, len(p.groups))
	for k, g := range p.groups {
		m := make([]float64, n*n)
		if end := min(g.First+g.Count, p.dense.Cols); end > g.First {
			p.pool.Syrk(n, end-g.First, 1, p.dense.Data[g.First:], p.dense.Stride, 0, m, n)
		}
		for j := max(g.First, p.dense.Cols); j < g.First+g.Count; j++ {
			p.addPairs(m, j-p.dense.Cols, 1)
		}
		p.grams[k] = m
	}
}

// addPairs adds scale φφᵀ of sparse column j to the upper triangle of m.
func (p *dual) addPairs(m []float64, j int, scale float64) {
	rows, entries := p.columns.Row(j)
	for k, i := range rows {
		v := scale * entries[k]
		row := m[int(i)*p.n : (int(i)+1)*p.n]
		for l := k; l < len(rows); l++ {
			row[rows[l]] += v * entries[l]
		}
	}
}

// fill stores the upper triangle of B.
func (p *dual) fill(at *values) {
	n, m := p.n, p.factor
	clear(m)
	precision := 1 / at.noise
	if p.grams != nil {
		for k, g := range p.grams {
			p.parallel(n, func(from, to int) {
				for i := from; i < to; i++ {
					kernel.Axpy(at.prior[k]*precision, g[i*n+i:(i+1)*n], m[i*n+i:(i+1)*n])
				}
			})
		}
	} else {
		p.fillFromDesign(at, precision)
	}
	p.parallel(n, func(from, to int) {
		for i := from; i < to; i++ {
			if p.roots != nil {
				for j := i; j < n; j++ {
					m[i*n+j] *= p.roots[i] * p.roots[j]
				}
			}
			m[i*n+i]++
		}
	})
}

func (p *dual) fillFromDesign(at *values, precision float64) {
	n, cols := p.n, p.dense.Cols
	p.setVariances(at)
	if cols > 0 {
		p.pool.SyrkWeighted(n, cols, precision, p.dense.Data, p.dense.Stride, p.lambda, 0, p.factor, n)
	}
	for j := range p.columns.Rows {
		p.addPairs(p.factor, j, p.lambda[cols+j]*precision)
	}
}

// setVariances sets the prior variance of every weight.
func (p *dual) setVariances(at *values) {
	if p.lambda == nil {
		p.lambda = make([]float64, p.d)
	}
	for k, g := range p.groups {
		for j := g.First; j < g.First+g.Count; j++ {
			p.lambda[j] = at.prior[k]
		}
	}
}

func (p *dual) slabOf(size int) []float64 {
	if cap(p.slab) < size {
		p.slab = make([]float64, size)
	}
	return p.slab[:size]
}

func (p *dual) evaluate(ctx context.Context, at *values, slope *slopes) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	n := p.n
	p.last = values{noise: at.noise, prior: append(p.last.prior[:0], at.prior...)}
	pivot := p.factorise(n, p.factor, func() { p.fill(at) })
	if p.failed = nil; pivot >= 0 {
		p.failed = fmt.Errorf("exact: covariance matrix of the rows is not positive definite (pivot %d of %d): two rows may be equal; raise the noise variance or hold the prior variance", pivot+1, n)
		return math.NaN(), nil
	}
	copy(p.alpha, p.y)
	p.pool.TrsmLeft(true, n, 1, p.factor, n, p.alpha, 1)
	quadratic := kernel.Dot(p.alpha, p.alpha) / at.noise // yᵀα = ‖U⁻ᵀy‖²/σ²
	evidence := -0.5*(p.summary.weight*math.Log(2*math.Pi*at.noise)+logDeterminant(n, p.factor)+quadratic) -
		p.summary.weight*math.Log(p.rows.units.scale)
	if slope == nil {
		return evidence, nil
	}
	p.pool.TrsmLeft(false, n, 1, p.factor, n, p.alpha, 1)
	kernel.Scale(1/at.noise, p.alpha)
	p.pool.CholeskyInverse(n, p.factor, n, p.inverse, n)
	trace := 0.0
	for i := range n {
		trace += p.inverse[i*n+i]
	}
	slope.noise = (float64(n) - trace + at.noise*kernel.Dot(p.alpha, p.alpha) - p.summary.weight) / 2
	p.scaleInverse(at.noise)
	if p.grams != nil {
		p.slopesFromGrams(at, slope)
		return evidence, nil
	}
	return evidence, p.slopesFromDesign(ctx, at, slope)
}

// scaleInverse turns B⁻¹ and α into W½B⁻¹W½/σ² and W½α.
func (p *dual) scaleInverse(noise float64) {
	n := p.n
	p.parallel(n, func(from, to int) {
		for i := from; i < to; i++ {
			row := p.inverse[i*n : (i+1)*n]
			kernel.Scale(1/noise, row)
			if p.roots != nil {
				for j := range row {
					row[j] *= p.roots[i] * p.roots[j]
				}
			}
		}
	})
	for i, r := range p.roots {
		p.alpha[i] *= r
	}
}

// posterior returns the mean ΛΦᵀα and the factor √σ² U of K.
func (p *dual) posterior() credence.Posterior {
	u, cols := p.rows.units, p.dense.Cols
	q := &posterior.Dual{
		Mean: make([]float64, p.d), PriorVariance: make([]float64, p.d), Scale: u.scale,
		Factor: append([]float64(nil), p.factor...),
	}
	kernel.Scale(math.Sqrt(p.last.noise), q.Factor)
	p.projectTo(q.Mean)
	for j := range p.columns.Rows {
		q.Mean[cols+j], _ = p.columnForms(j)
	}
	for k, g := range p.groups {
		for j := g.First; j < g.First+g.Count; j++ {
			q.PriorVariance[j] = p.last.prior[k]
			q.Mean[j] *= p.last.prior[k] * u.scale
		}
	}
	q.Design.Dense = linop.NewDense(p.n, cols)
	copy(q.Design.Dense.Data, p.dense.Data)
	for i := range p.roots {
		kernel.Scale(p.roots[i], q.Design.Dense.Row(i))
	}
	if p.sparse.Cols > 0 {
		q.Design.Sparse = p.weightedSparse()
	}
	return q
}

// weightedSparse returns the sparse columns with the rows' weights applied.
func (p *dual) weightedSparse() linop.CSR {
	out := linop.CSR{
		Rows: p.sparse.Rows, Cols: p.sparse.Cols,
		Start: append([]int(nil), p.sparse.Start...), Index: append([]int32(nil), p.sparse.Index...),
	}
	if p.sparse.Value != nil {
		out.Value = append([]float64{}, p.sparse.Value...)
	}
	if p.roots == nil {
		return out
	}
	if out.Value == nil {
		out.Value = make([]float64, len(out.Index))
		for k := range out.Value {
			out.Value[k] = 1
		}
	}
	for i, root := range p.roots {
		_, entries := out.Row(i)
		kernel.Scale(root, entries)
	}
	return out
}
