package convex

import (
	"cmp"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

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

// newLeading takes the diagonal of A, the part of it that the rows make, these rows' weights, and how many columns lead.
func (c *columns) newLeading(diagonal, rowPart, weights []float64, most int) *leading {
	d := len(diagonal)
	p := &leading{ws: c.ws, inverse: make(linop.Diagonal, d), places: make([]int, d)}
	for j, v := range diagonal {
		p.places[j], p.inverse[j] = j, 1/v
	}
	slices.SortFunc(p.places, func(i, j int) int {
		return cmp.Or(cmp.Compare(rowPart[j]*p.inverse[j], rowPart[i]*p.inverse[i]), cmp.Compare(i, j))
	})
	p.places = slices.Clone(p.places[:min(d, most)])
	slices.Sort(p.places)
	m := len(p.places)
	at := make([]int, d) // place among the leading columns, from 1
	for k, j := range p.places {
		at[j] = k + 1
	}
	p.upper = make([]float64, m*m)
	sums, total, one := make([]float64, m), 0.0, 0.0
	dense := c.phi.Dense.Cols
	values, own := make([]float64, 0, m), make([]int, 0, m)
	for i, w := range weights {
		values, own = values[:0], own[:0]
		row := c.phi.Dense.Row(i)
		for k, j := range p.places {
			if j >= dense {
				break
			}
			values, own = append(values, row[j]), append(own, k)
		}
		for j, v := range c.phi.Sparse.Each(i) {
			if k := at[dense+j]; k > 0 {
				values, own = append(values, v), append(own, k-1)
			}
		}
		if c.means != nil {
			one = row[0]
		}
		total += w * one * one
		for a, v := range values {
			sums[own[a]] += w * one * v
			to := p.upper[own[a]*m:]
			for b := a; b < len(own); b++ {
				to[own[b]] += w * v * values[b]
			}
		}
	}
	if c.means != nil {
		for a, j := range p.places {
			for b := a; b < m; b++ {
				k := p.places[b]
				p.upper[a*m+b] += c.means[j]*c.means[k]*total - c.means[j]*sums[b] - c.means[k]*sums[a]
			}
		}
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
