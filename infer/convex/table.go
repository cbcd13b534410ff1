package convex

import (
	"cmp"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// columns are the features of a table as an operator from (b̃, w), the intercept at the columns' means.
type columns struct {
	ws    *credence.Workspace
	phi   *credence.Design // for normal targets times the roots of the rows' weights, the intercept's column too
	means []float64        // of the columns; nil without an intercept
	// byColumn is the sparse columns as rows: sums over rows of a block of vectors then stay in registers. Nil where no
	// system is solved by products.
	byColumn *linop.CSR
}

// Dims implements linop.Matrix.
func (c *columns) Dims() (rows, cols int) { return c.phi.Dims() }

// MulVec implements linop.Matrix.
func (c *columns) MulVec(dst, u []float64) {
	if c.means != nil {
		u = slices.Clone(u)
		problem.Uncentre(c.means, u)
	}
	c.phi.Mul(c.ws, dst, u)
}

// MulVecTrans implements linop.Matrix.
func (c *columns) MulVecTrans(dst, v []float64) {
	clear(dst)
	c.phi.AddMulTrans(c.ws, dst, v)
	if c.means != nil {
		first := dst[0]
		kernel.Axpy(-first, c.means, dst)
		dst[0] = first
	}
}

// MulBlock implements linop.Blocked.
func (c *columns) MulBlock(dst, x *linop.Dense) {
	c.phi.MulBlock(dst, x)
	if c.means == nil {
		return
	}
	centre := make([]float64, x.Cols)
	for j, mean := range c.means {
		kernel.Axpy(-mean, x.Row(j), centre)
	}
	for i := range dst.Rows {
		kernel.Axpy(c.phi.Dense.Row(i)[0], centre, dst.Row(i))
	}
}

// MulBlockTrans implements linop.Blocked.
func (c *columns) MulBlockTrans(dst, v *linop.Dense) {
	if c.byColumn != nil {
		dense := c.phi.Dense.Cols
		above, below := dst.Window(0, dense), dst.Window(dense, c.byColumn.Rows)
		c.phi.Dense.MulBlockTrans(&above, v)
		c.byColumn.MulBlock(&below, v)
	} else {
		c.phi.MulBlockTrans(dst, v)
	}
	for j, mean := range c.means {
		if mean != 0 {
			kernel.Axpy(-mean, dst.Row(0), dst.Row(j))
		}
	}
}

// preconditioner is that of the leading columns of A: of ΦᵀPΦ and of what A has beside the rows.
func (t *beside) preconditioner(precision []float64) linop.Matrix {
	weights := t.rowWeights(precision)
	if weights == nil {
		n, _ := t.table.Dims()
		weights = slices.Repeat([]float64{1}, n)
	}
	part, diagonal := t.table.squares(weights), t.rest(precision)
	kernel.Axpy(1, part, diagonal)
	return t.table.newLeading(diagonal, part, weights, leadingColumns)
}

// squares returns the diagonal of ΦᵀWΦ.
func (c *columns) squares(weights []float64) []float64 {
	_, d := c.Dims()
	out := make([]float64, d)
	c.phi.AddMulSquaresTrans(c.ws, out, weights)
	if c.means == nil {
		return out
	}
	first, sums := slices.Clone(weights), make([]float64, d)
	for i := range first {
		first[i] *= c.phi.Dense.Row(i)[0]
	}
	c.phi.AddMulTrans(c.ws, sums, first)
	for j, mean := range c.means {
		out[j] = math.Max(0, out[j]+mean*(mean*sums[0]-2*sums[j]))
	}
	return out
}

// leadingColumns is the number of columns of a table whose part of A is factored for its preconditioner: those that
// the rows tell most of, such as the frequent words of texts, are the ones that go together.
const leadingColumns = 192

// leading is the inverse of A with all but the diagonal left out outside the leading columns.
type leading struct {
	ws      *credence.Workspace
	inverse linop.Diagonal
	places  []int
	upper   []float64 // the factor of A in the leading columns
}

// newLeading takes the diagonal of A, the part of it that the rows make, these rows' weights, and how many columns
// lead.
func (c *columns) newLeading(diagonal, rowPart, weights []float64, most int) *leading {
	d := len(diagonal)
	p := &leading{ws: c.ws, inverse: make(linop.Diagonal, d), places: make([]int, d)}
	for j, v := range diagonal {
		p.places[j], p.inverse[j] = j, 1/v
	}
	share := func(j int) float64 {
		if c.means != nil && j == 0 { // the intercept always leads: columns stand about their means along it
			return math.Inf(1)
		}
		return rowPart[j] * p.inverse[j]
	}
	slices.SortFunc(p.places, func(i, j int) int { return cmp.Or(cmp.Compare(share(j), share(i)), cmp.Compare(i, j)) })
	p.places = slices.Clone(p.places[:min(d, most)])
	slices.Sort(p.places)
	m, means := len(p.places), make([]float64, len(p.places))
	dense, _ := slices.BinarySearch(p.places, c.phi.Dense.Cols) // so many of them are dense
	own := make([]int32, d)                                     // place among the sparse leading columns, from 1
	for k, j := range p.places {
		own[j], means[k] = int32(k-dense+1), at(c.means, j, 0)
	}
	layout, part := gauss.Dense{Weights: m}, credence.Design{}
	p.upper = make([]float64, layout.Len())
	var places []int32
	var values []float64
	for first, count := range credence.Blocks(len(weights)) {
		part.Dense.Reshape(count, dense)
		part.Sparse.Reset(m - dense)
		for i := range count {
			for k, j := range p.places[:dense] {
				part.Dense.Row(i)[k] = c.phi.Dense.Row(first + i)[j]
			}
			places, values = places[:0], values[:0]
			for j, v := range c.phi.Sparse.Each(first + i) {
				if k := own[c.phi.Dense.Cols+j]; k > 0 {
					places, values = append(places, k-1), append(values, v)
				}
			}
			part.Sparse.AppendRow(places, values)
		}
		layout.AddRows(c.ws, p.upper, &part, weights[first:first+count])
	}
	layout.Close(p.upper, dense)
	if c.means != nil {
		layout.Centre(p.upper, means)
	}
	for k, j := range p.places {
		p.upper[k*m+k] = diagonal[j]
	}
	if _, ok := c.ws.Pool().Cholesky(m, p.upper, m); !ok { // rounding: the diagonal alone
		p.places = nil
	}
	return p
}

// Dims implements linop.Matrix.
func (p *leading) Dims() (rows, cols int) { return len(p.inverse), len(p.inverse) }

// MulVec implements linop.Matrix.
func (p *leading) MulVec(dst, x []float64) { p.MulBlock(linop.Column(dst), linop.Column(x)) }

// MulVecTrans implements linop.Matrix.
func (p *leading) MulVecTrans(dst, x []float64) { p.MulVec(dst, x) }

// MulBlock implements linop.Blocked.
func (p *leading) MulBlock(dst, x *linop.Dense) {
	p.inverse.MulBlock(dst, x)
	m := len(p.places)
	part := linop.NewDense(m, x.Cols)
	for k, j := range p.places {
		copy(part.Row(k), x.Row(j))
	}
	// UᵀU s = x, on the goroutine of the caller: blocks of draws have one each.
	for k := range m {
		row := part.Row(k)
		for l := range k {
			kernel.Axpy(-p.upper[l*m+k], part.Row(l), row)
		}
		kernel.Scale(1/p.upper[k*m+k], row)
	}
	for k := m - 1; k >= 0; k-- {
		row := part.Row(k)
		for l := k + 1; l < m; l++ {
			kernel.Axpy(-p.upper[k*m+l], part.Row(l), row)
		}
		kernel.Scale(1/p.upper[k*m+k], row)
	}
	for k, j := range p.places {
		copy(dst.Row(j), part.Row(k))
	}
}

// MulBlockTrans implements linop.Blocked.
func (p *leading) MulBlockTrans(dst, x *linop.Dense) { p.MulBlock(dst, x) }
