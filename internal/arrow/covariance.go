package arrow

import (
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// What follows reads a covariance, the numbers of the pattern of C. Of two weights that no row has together the pattern
// has no number: what it then is follows from the others in a matrix whose inverse has the pattern.

// RowVariances stores φᵀCφ of every row; cells that the pattern lacks count as 0. Sums of rows, which may have several
// levels of a key, ask for the regression of C.
func (p *Pattern) RowVariances(ws *credence.Workspace, dst, covariance []float64, phi *credence.Design, regression func() []float64) {
	leaf := p.ofLeaf(phi)
	leaf.MulForms(ws, dst, p.Leaf(covariance))
	ws.InRuns(len(dst), func(from, to int) {
		e := p.entries()
		for i := from; i < to; i++ {
			if p.read(e, phi, i); e.several {
				row := p.spread(regression(), e, make([]float64, p.Weights))
				dst[i] = dot(row.leaf, row.leaf)
				for _, l := range row.own {
					dst[i] += dot(l.by, l.by)
				}
				continue
			}
			for t := range p.heads {
				dst[i] += p.form(covariance, &p.heads[t], e, t)
			}
		}
	})
}

// form is what the weights of a row's level add to φᵀCφ.
func (p *Pattern) form(covariance []float64, h *head, e *entries, t int) (sum float64) {
	if e.level[t] < 0 {
		return 0
	}
	b, at := p.block(covariance, h, e.level[t]), 0
	for r, z := range e.numbers[t] {
		own := z * b.own[at+r] / 2
		for c := range r {
			own += e.numbers[t][c] * b.own[at+c]
		}
		at += r + 1
		for j, v := range e.dense {
			own += v * b.dense[r*p.Dense+j]
		}
		sum += 2 * z * own
	}
	e.beyond(h, &b, func(cell int, v float64) {
		for r, z := range e.numbers[t] {
			sum += 2 * z * b.sparse[cell+r] * v
		}
	})
	return sum
}

// Uncentre turns the covariance of (b̃, w) into that of (b̃ − x̄ᵀw, w), for the means of [Pattern.Centre]. Of the leaf
// the upper triangle is read, and stored.
func (p *Pattern) Uncentre(covariance, means []float64) {
	q, size, leaf := p.Dense, p.Rest(), p.Leaf(covariance)
	for t := range p.heads {
		h := &p.heads[t]
		for r := range h.levels * h.k {
			row := covariance[h.dense+r*q : h.dense+(r+1)*q]
			row[0] -= dot(means[:q], row) // the mean of weight 0 is 0
		}
	}
	cross := make([]float64, size) // C x̄
	for i := range size {
		row := leaf[i*size : (i+1)*size]
		for j := i; j < size; j++ {
			if i < q {
				cross[j] += means[i] * row[j]
			}
			if j > i && j < q {
				cross[i] += means[j] * row[j]
			}
		}
	}
	axpy(-1, cross, leaf[:size])
	leaf[0] += dot(cross[:q], means[:q]) - cross[0]
}

// TimesDense stores by·ΦC at the dense columns in dst, n×Dense, for a covariance whose leaf has both triangles.
func (p *Pattern) TimesDense(ws *credence.Workspace, dst []float64, by float64, phi *credence.Design, covariance []float64) {
	q, size, leaf, n := p.Dense, p.Rest(), p.Leaf(covariance), phi.Dense.Rows
	ws.Pool().Gemm(false, false, n, q, q, by, phi.Dense.Data, max(1, phi.Dense.Stride), leaf, size, 0, dst, q)
	ws.InRuns(n, func(from, to int) {
		e := p.entries()
		for i := from; i < to; i++ {
			p.read(e, phi, i)
			row := dst[i*q : (i+1)*q]
			for k, at := range e.places {
				t, level, column := p.headOf(at)
				of := leaf[max(0, int(at)-p.leaf)*size:][:q]
				if t >= 0 {
					of = p.block(covariance, &p.heads[t], level).dense[column*q : (column+1)*q]
				}
				axpy(by*e.values[k], of, row)
			}
		}
	})
}

// Regression stores, in the place of a covariance, the weights of levels given those that they meet, in the same
// numbers: of every level the lower factor of its covariance given these, and the coefficients V_gc V_cc⁻¹, and of the
// leaf upper U with the covariance UᵀU. Weights of no variance are 0 given any.
func (p *Pattern) Regression(ws *credence.Workspace, covariance []float64) []float64 {
	out := make([]float64, p.size)
	leaf, size, q := p.Leaf(out), p.Rest(), p.Dense
	copy(leaf, p.Leaf(covariance))
	roots := make([]float64, q*q) // of the dense columns, which most levels meet alone
	for i := range q {
		copy(roots[i*q:], leaf[i*size:i*size+q])
	}
	semidefinite(roots, q)
	semidefinite(leaf, size)
	for t := len(p.heads) - 1; t >= 0; t-- {
		at := &p.heads[t]
		ws.Each(at.levels, func(g int) {
			p.regress(out, covariance, at, g, roots)
		})
	}
	return out
}

// regress stores the regression of a level. Roots is the upper factor of the covariance of the dense columns. Several
// levels of the second key that the level meets are apart: see [Pattern.regressApart].
func (p *Pattern) regress(out, covariance []float64, at *head, g int, roots []float64) {
	k, q, apart := at.k, p.Dense, 0
	b, to := p.block(covariance, at, g), p.block(out, at, g)
	if p.several(&b) {
		apart, _ = slices.BinarySearch(b.cells, int32(p.leaf))
	}
	m, met := q+len(b.cells)-apart, []int32(nil) // places, those of dense columns first
	if len(b.cells) > 0 {
		for j := range q {
			met = append(met, int32(p.leaf+j))
		}
		met = append(met, b.cells[apart:]...)
	}
	if m > q {
		roots = make([]float64, m*m)
		for i := range m {
			for j := i; j < m; j++ {
				roots[i*m+j] = p.number(covariance, met[i], met[j])
			}
		}
		semidefinite(roots, m)
	}
	by, with := make([]float64, k*m), make([]float64, k*m) // V_gc V_cc⁻¹, and V_gc
	for r, next := 0, 0; r < k; r, next = r+1, next+r+1 {
		x, own := by[r*m:(r+1)*m], with[r*m:(r+1)*m]
		copy(own, b.dense[r*q:(r+1)*q])
		for i := range own[q:] {
			own[q+i] = b.sparse[(apart+i)*k+r]
		}
		copy(x, own)
		solve(roots, x)
		for c := range r + 1 {
			sum, of := b.own[next+c], with[c*m:(c+1)*m]
			if q > 0 {
				sum -= dot(x[:q], of[:q])
			}
			for i, v := range of[q:] {
				sum -= x[q+i] * v
			}
			to.own[next+c] = sum
		}
	}
	if apart > 0 {
		p.regressApart(out, covariance, k, &b, &to, met, by)
	}
	for r := range k {
		copy(to.dense[r*q:(r+1)*q], by[r*m:])
		for i, v := range by[r*m+q : (r+1)*m] {
			to.sparse[(apart+i)*k+r] = v
		}
	}
	lower(to.own, k)
}

// negligible is the share of a variance below which what is left of it is rounding.
const negligible = 1e-13

// semidefinite factors the n×n matrix of which the upper triangle is read, UᵀU. A row whose pivot is rounding is 0.
func semidefinite(a []float64, n int) {
	for i := range n {
		before := a[i*n+i]
		for l := range i {
			before += a[l*n+i] * a[l*n+i] // what the pivot was
		}
		row := a[i*n : (i+1)*n]
		clear(row[:i])
		if !(row[i] > negligible*before) {
			clear(row[i:])
			continue
		}
		kernel.Scale(1/math.Sqrt(row[i]), row[i:])
		for l := i + 1; l < n; l++ {
			axpy(-row[l], row[l:], a[l*n+l:(l+1)*n])
		}
	}
}

// solve stores (UᵀU)⁻¹x in the place of x, 0 where U has a row of 0.
func solve(u, x []float64) {
	n := len(x)
	for i := range n {
		if u[i*n+i] == 0 {
			x[i] = 0
			continue
		}
		x[i] /= u[i*n+i]
		axpy(-x[i], u[i*n+i+1:(i+1)*n], x[i+1:])
	}
	for i := n - 1; i >= 0; i-- {
		if u[i*n+i] != 0 {
			x[i] = (x[i] - dot(u[i*n+i+1:(i+1)*n], x[i+1:])) / u[i*n+i]
		}
	}
}

// lower is cholesky for a matrix that may be semidefinite.
func lower(a []float64, k int) {
	full := make([]float64, k*k)
	open(full, a, k)
	semidefinite(full, k)
	turn(full, k)
	closeTo(a, full, k)
}

// Draw stores a draw of N(0, C), from the regression of C, in terms of standard normal numbers.
func (p *Pattern) Draw(dst, regression []float64, normal func() float64) {
	x, size, q := make([]float64, p.Weights), p.Rest(), p.Dense
	leaf := x[p.leaf:]
	for i, u := 0, p.Leaf(regression); i < size; i++ {
		axpy(normal(), u[i*size+i:(i+1)*size], leaf[i:])
	}
	for t := len(p.heads) - 1; t >= 0; t-- {
		at := &p.heads[t]
		for g := range at.levels {
			b, own, next := p.block(regression, at, g), x[at.first+g*at.k:at.first+(g+1)*at.k], 0
			unit := make([]float64, at.k)
			for r := range own {
				unit[r] = normal()
				own[r] = dot(b.own[next:next+r+1], unit[:r+1])
				next += r + 1
				if q > 0 {
					own[r] += dot(b.dense[r*q:(r+1)*q], leaf[:q])
				}
				for i, c := range b.cells {
					own[r] += b.sparse[i*at.k+r] * x[c]
				}
			}
		}
	}
	p.Give(dst, x)
}

// Covariance stores Φ_a C Φ_bᵀ, from the regression of C: also between levels that no row has together.
func (p *Pattern) Covariance(ws *credence.Workspace, dst *linop.Dense, regression []float64, a, b *credence.Design) {
	left, right := p.spreads(ws, regression, a), p.spreads(ws, regression, b)
	ws.Each(dst.Rows, func(i int) {
		row := dst.Row(i)
		for j := range row {
			row[j] = dot(left[i].leaf, right[j].leaf)
			for _, l := range left[i].own {
				for _, r := range right[j].own {
					if l.first == r.first {
						row[j] += dot(l.by, r.by)
					}
				}
			}
		}
	})
}

// spread is a row of a design in terms of independent variables of variance 1: those of levels, and those of the leaf,
// one a weight.
type spread struct {
	own  []ofLevel
	leaf []float64
}

type ofLevel struct {
	first int // place of the level
	by    []float64
}

func (p *Pattern) spreads(ws *credence.Workspace, regression []float64, phi *credence.Design) []spread {
	list := make([]spread, phi.Dense.Rows)
	ws.InRuns(len(list), func(from, to int) {
		e, x := p.entries(), make([]float64, p.Weights)
		for i := from; i < to; i++ {
			p.read(e, phi, i)
			list[i] = p.spread(regression, e, x)
		}
	})
	return list
}

// spread takes d numbers of scratch, those of heads 0, and leaves them so.
func (p *Pattern) spread(regression []float64, e *entries, x []float64) (out spread) {
	q, size, u := p.Dense, p.Rest(), p.Leaf(regression)
	clear(x[p.leaf:])
	copy(x[p.leaf:], e.dense)
	met := append([]int32(nil), e.places...) // and what the levels among them meet, head by head
	for l, at := range e.places {
		x[at] = e.values[l]
	}
	for t := range p.heads {
		h := &p.heads[t]
		for _, at := range met {
			if int(at) < h.first || int(at) >= h.end || x[at] == 0 {
				continue // of another head, or a level that was had
			}
			level := (int(at) - h.first) / h.k
			b, first, next := p.block(regression, h, level), h.first+level*h.k, 0
			by := make([]float64, h.k)
			for r, z := range x[first : first+h.k] {
				axpy(z, b.own[next:next+r+1], by[:r+1])
				next += r + 1
				axpy(z, b.dense[r*q:(r+1)*q], x[p.leaf:p.leaf+q])
				for l, c := range b.cells {
					x[c] += z * b.sparse[l*h.k+r]
				}
			}
			clear(x[first : first+h.k])
			met = append(met, b.cells...)
			out.own = append(out.own, ofLevel{first, by})
		}
	}
	out.leaf = make([]float64, size)
	for j := range size {
		out.leaf[j] = dot(u[j*size+j:(j+1)*size], x[p.leaf+j:])
	}
	return out
}
