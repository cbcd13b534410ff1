package credence

import (
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Design is Φ for the rows of a batch: the first columns are dense, the others
// sparse. Weight j belongs to dense column j, or to sparse column j less the
// number of dense ones.
//
// Its products are all that engines and posteriors ask of Φ. Those with a workspace run on its
// threads, and give the same bytes at any number of them.
type Design struct {
	Dense  linop.Dense
	Sparse linop.CSR
}

var _ linop.Blocked = (*Design)(nil)

// Dims returns the number of rows and of weights.
func (d *Design) Dims() (rows, cols int) { return d.Dense.Rows, d.Dense.Cols + d.Sparse.Cols }

// Window returns rows [first, first+count), sharing memory with d.
func (d *Design) Window(first, count int) Design {
	return Design{Dense: d.Dense.Window(first, count), Sparse: d.Sparse.Window(first, count)}
}

// Bytes returns the memory that the design takes.
func (d *Design) Bytes() int {
	return 8*(d.Dense.Rows*d.Dense.Cols+len(d.Sparse.Start)+len(d.Sparse.Value)) + 4*len(d.Sparse.Index)
}

// MulVec stores Φ w in dst, by the plain loop.
func (d *Design) MulVec(dst, w []float64) {
	dense := d.Dense.Cols
	d.Dense.MulVec(dst, w[:dense])
	if d.Sparse.Cols == 0 {
		return
	}
	for i := range dst {
		dst[i] += d.Sparse.AddRowDot(0, i, w[dense:])
	}
}

// MulVecTrans stores Φᵀ u in dst, by the plain loop.
func (d *Design) MulVecTrans(dst, u []float64) {
	d.Dense.MulVecTrans(dst[:d.Dense.Cols], u)
	if d.Sparse.Cols > 0 {
		d.Sparse.MulVecTrans(dst[d.Dense.Cols:], u)
	}
}

// MulBlock stores Φ W in dst, for the columns of W, by the plain loop.
func (d *Design) MulBlock(dst, w *linop.Dense) {
	dense := d.Dense.Cols
	top := w.Window(0, dense)
	d.Dense.MulBlock(dst, &top)
	if d.Sparse.Cols == 0 {
		return
	}
	below := w.Window(dense, d.Sparse.Cols)
	for i := range dst.Rows {
		d.Sparse.AddRowMul(dst.Row(i), i, 1, &below)
	}
}

// MulBlockTrans stores Φᵀ U in dst, for the columns of U, by the plain loop.
func (d *Design) MulBlockTrans(dst, u *linop.Dense) {
	dense := d.Dense.Cols
	top := dst.Window(0, dense)
	d.Dense.MulBlockTrans(&top, u)
	if d.Sparse.Cols > 0 {
		below := dst.Window(dense, d.Sparse.Cols)
		d.Sparse.MulBlockTrans(&below, u)
	}
}

// RowDot returns φᵢᵀ w.
func (d *Design) RowDot(i int, w []float64) float64 {
	dense, sum := d.Dense.Cols, 0.0
	if dense > 0 {
		sum = kernel.Dot(d.Dense.Row(i), w[:dense])
	}
	return d.Sparse.AddRowDot(sum, i, w[dense:])
}

// RowSquareDot returns (φᵢ⊙φᵢ)ᵀ v, the variance of φᵢᵀw under independent weights of variances v.
func (d *Design) RowSquareDot(i int, v []float64) float64 {
	dense, sum := d.Dense.Cols, 0.0
	if dense > 0 {
		sum = squareDot(d.Dense.Row(i), v[:dense])
	}
	return d.Sparse.AddRowSquareDot(sum, i, v[dense:])
}

// squareDot returns (x⊙x)ᵀv, in four sums that do not wait for each other.
func squareDot(x, v []float64) float64 {
	var s0, s1, s2, s3 float64
	for ; len(x) >= 4 && len(v) >= 4; x, v = x[4:], v[4:] {
		s0 += x[0] * x[0] * v[0]
		s1 += x[1] * x[1] * v[1]
		s2 += x[2] * x[2] * v[2]
		s3 += x[3] * x[3] * v[3]
	}
	for j, xj := range x {
		s0 += xj * xj * v[j]
	}
	return (s0 + s1) + (s2 + s3)
}

// RowForm returns φᵢᵀ V φᵢ for a symmetric V whose upper triangle is that of v, d×d, in as many operations
// as the row has pairs of entries.
func (d *Design) RowForm(i int, v []float64) float64 {
	_, size := d.Dims()
	dense, sum := d.Dense.Cols, 0.0
	if dense > 0 {
		x := d.Dense.Row(i)
		for j, xj := range x {
			row := v[j*size : (j+1)*size]
			sum += xj * (2*d.Sparse.AddRowDot(kernel.Dot(row[j:dense], x[j:]), i, row[dense:]) - xj*row[j])
		}
	}
	columns, values := d.Sparse.Row(i)
	for k, c := range columns {
		row := v[(dense+int(c))*size+dense : (dense+int(c)+1)*size]
		if values == nil {
			sum += 2*linop.GatherSum(row, columns[k+1:]) + row[c]
		} else {
			sum += values[k] * (2*linop.GatherDot(row, columns[k+1:], values[k+1:]) + values[k]*row[c])
		}
	}
	return sum
}

// Each calls visit with the weight and the value of every dense column of row i and every
// stored entry of its sparse ones.
func (d *Design) Each(i int, visit func(weight int, v float64)) {
	dense := d.Dense.Cols
	if dense > 0 {
		for j, v := range d.Dense.Row(i) {
			visit(j, v)
		}
	}
	for j, v := range d.Sparse.Each(i) {
		visit(dense+j, v)
	}
}

// Mul stores Φ w in dst.
func (d *Design) Mul(ws *Workspace, dst, w []float64) { d.eachRow(ws, dst, w, (*Design).RowDot) }

// MulSquares stores (Φ⊙Φ) v in dst.
func (d *Design) MulSquares(ws *Workspace, dst, v []float64) {
	d.eachRow(ws, dst, v, (*Design).RowSquareDot)
}

// MulForms stores the φᵀVφ of every row, as [Design.RowForm].
func (d *Design) MulForms(ws *Workspace, dst, v []float64) { d.eachRow(ws, dst, v, (*Design).RowForm) }

// eachRow stores what of says of every row.
func (d *Design) eachRow(ws *Workspace, dst, w []float64, of func(d *Design, i int, w []float64) float64) {
	if len(dst) <= rowsPerTask { // no closure, so nothing is allocated
		for i := range dst {
			dst[i] = of(d, i, w)
		}
		return
	}
	ws.inRuns(len(dst), d.Dense.Rows*d.Dense.Cols+d.Sparse.Entries(), func(from, to int) {
		for i := from; i < to; i++ {
			dst[i] = of(d, i, w)
		}
	})
}

// MulUpper stores columns [left, left+cols) of Φ F in dst, n×cols, for an upper triangular F of
// d×d numbers, of which what lies below the diagonal is not used from left+cols on.
func (d *Design) MulUpper(ws *Workspace, dst, factor []float64, left, cols int) {
	n, size := d.Dims()
	dense := d.Dense.Cols
	if depth := left + cols; depth <= dense && depth > 0 {
		ws.pool.GemmUpper(n, cols, depth, d.Dense.Data, d.Dense.Stride, factor[left:], size, dst, cols)
	} else if dense > 0 {
		ws.pool.Gemm(false, false, n, cols, dense, 1, d.Dense.Data, d.Dense.Stride, factor[left:], size, 0, dst, cols)
	} else {
		clear(dst[:n*cols])
	}
	if d.Sparse.Cols == 0 || left+cols <= dense {
		return
	}
	below := linop.Dense{Rows: left + cols - dense, Cols: cols, Stride: size, Data: factor[dense*size+left:]}
	ws.Each(n, func(i int) {
		d.Sparse.AddRowMulUpper(dst[i*cols:(i+1)*cols], i, &below, dense, left)
	})
}

// MulColumns stores Φ W in dst, n×count, for W of as many rows as there are weights and count columns.
func (d *Design) MulColumns(ws *Workspace, dst, w []float64, count int) {
	n, _ := d.Dims()
	dense := d.Dense.Cols
	if dense > 0 {
		ws.pool.Gemm(false, false, n, count, dense, 1, d.Dense.Data, d.Dense.Stride, w, count, 0, dst, count)
	} else {
		clear(dst[:n*count])
	}
	if d.Sparse.Cols == 0 {
		return
	}
	d.addColumns(ws, dst, &linop.Dense{Rows: d.Sparse.Cols, Cols: count, Stride: count, Data: w[dense*count:]})
}

// addColumns adds the sparse part of Φ times W to dst, n×W.Cols.
func (d *Design) addColumns(ws *Workspace, dst []float64, w *linop.Dense) {
	ws.Each(d.Dense.Rows, func(i int) {
		d.Sparse.AddRowMul(dst[i*w.Cols:(i+1)*w.Cols], i, 1, w)
	})
}

// MulTransposed stores Φ Bᵀ in dst, n×count, for count rows of B, of one number a weight.
func (d *Design) MulTransposed(ws *Workspace, dst, b []float64, count int) {
	n, size := d.Dims()
	dense := d.Dense.Cols
	if dense > 0 {
		ws.pool.Gemm(false, true, n, count, dense, 1, d.Dense.Data, d.Dense.Stride, b, size, 0, dst, count)
	} else {
		clear(dst[:n*count])
	}
	if d.Sparse.Cols == 0 {
		return
	}
	if d.Sparse.Entries() >= d.Sparse.Cols {
		d.addAcross(ws, dst, b, count)
		return
	}
	ws.Each(n, func(i int) {
		row := dst[i*count : (i+1)*count]
		for k, sum := range row {
			row[k] = d.Sparse.AddRowDot(sum, i, b[k*size+dense:(k+1)*size])
		}
	})
}

// addAcross adds the sparse part of Φ Bᵀ to dst, with B turned round once for rows that have more entries
// together than it has columns: an entry then goes to its products at once.
func (d *Design) addAcross(ws *Workspace, dst, b []float64, count int) {
	mark := ws.Mark()
	_, size := d.Dims()
	dense, cols := d.Dense.Cols, d.Sparse.Cols
	across := linop.Dense{Rows: cols, Cols: count, Stride: count, Data: ws.Floats(cols * count)}
	for k := range count {
		for j, v := range b[k*size+dense : (k+1)*size] {
			across.Data[j*count+k] = v
		}
	}
	d.addColumns(ws, dst, &across)
	ws.Release(mark)
}

// stripe is the number of columns of a transposed product that a task adds up.
const stripe = 256

// AddMulTrans adds Φᵀ u to dst. Tasks take stripes of columns, so that sums follow the rows.
func (d *Design) AddMulTrans(ws *Workspace, dst, u []float64) {
	dense := d.Dense.Cols
	ws.pool.Run((dense+stripe-1)/stripe, func(task, _ int) {
		from, to := task*stripe, min(dense, (task+1)*stripe)
		for i, ui := range u {
			kernel.Axpy(ui, d.Dense.Row(i)[from:to], dst[from:to])
		}
	})
	d.addRows(ws, dst[dense:], u, (*linop.CSR).AddRow)
}

// AddMulSquaresTrans adds (Φ⊙Φ)ᵀ u to dst.
func (d *Design) AddMulSquaresTrans(ws *Workspace, dst, u []float64) {
	dense := d.Dense.Cols
	ws.pool.Run((dense+stripe-1)/stripe, func(task, _ int) {
		from, to := task*stripe, min(dense, (task+1)*stripe)
		for i, ui := range u {
			row, sums := d.Dense.Row(i)[from:to], dst[from:to]
			for j, v := range row {
				sums[j] += ui * v * v
			}
		}
	})
	d.addRows(ws, dst[dense:], u, (*linop.CSR).AddRowSquares)
}

// Where sparse rows have fullColumns entries a column or more, sparseParts parts of them are added up apart: as many
// threads may work, and sums do not depend on how many do.
const (
	sparseParts = 8
	fullColumns = 64
)

// addRows adds to dst what add adds of the sparse rows times u.
func (d *Design) addRows(ws *Workspace, dst, u []float64, add func(a *linop.CSR, dst []float64, i int, scale float64)) {
	if d.Sparse.Entries() < fullColumns*len(dst) || len(dst) == 0 {
		for i, ui := range u {
			if ui != 0 { // rows that are left out
				add(&d.Sparse, dst, i, ui)
			}
		}
		return
	}
	mark := ws.Mark()
	sums, size := ws.Floats(sparseParts*len(dst)), (len(u)+sparseParts-1)/sparseParts
	ws.run(sparseParts, d.Sparse.Entries(), func(part, _ int) {
		sum := sums[part*len(dst) : (part+1)*len(dst)]
		clear(sum)
		for i := part * size; i < min(len(u), (part+1)*size); i++ {
			add(&d.Sparse, sum, i, u[i])
		}
	})
	for part := range sparseParts {
		kernel.Axpy(1, sums[part*len(dst):(part+1)*len(dst)], dst)
	}
	ws.Release(mark)
}

// AddGram adds Φᵀ diag(weights) Φ to the d×d matrix gram; nil weights are ones. Products of dense
// with dense and of sparse with sparse columns go to the upper triangle. Products of a sparse
// with the dense columns go to the sparse column's row below the diagonal, where they are
// contiguous; after the last block of rows LiftGram moves them.
func (d *Design) AddGram(ws *Workspace, gram, weights []float64) {
	n, size := d.Dims()
	dense := d.Dense.Cols
	ws.pool.Gram(n, dense, d.Dense.Data, max(1, d.Dense.Stride), weights, gram, max(1, size))
	if d.Sparse.Cols == 0 {
		return
	}
	all := linop.Dense{Rows: size, Cols: size, Stride: size, Data: gram}
	below := all.Window(dense, size-dense)
	cross, square := below.Columns(0, dense), below.Columns(dense, size-dense)
	if dense > 0 {
		d.Sparse.AddTransMul(ws.pool, &cross, weights, &d.Dense)
	}
	d.Sparse.AddGram(ws.pool, &square, weights)
}
