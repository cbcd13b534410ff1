package arrow

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
)

// Factor is the Cholesky factor of A = I + S H S, for a diagonal S of prior standard deviations: the covariance of the
// weights is C = S A⁻¹ S. It has room for a matrix of the pattern and a few vectors, and is not safe for several
// goroutines.
type Factor struct {
	p          *Pattern
	ws         *credence.Workspace
	a          []float64 // of every level L and W = L⁻¹B, and of the leaf U, UᵀU = A
	deviations []float64 // in the pattern's order
	x          []float64
	jitter     float64
}

// NewFactor returns room for factors.
func (p *Pattern) NewFactor(ws *credence.Workspace) *Factor {
	return &Factor{p: p, ws: ws, a: make([]float64, p.size), deviations: make([]float64, p.Weights), x: make([]float64, p.Weights)}
}

// Set takes H times a scale, and the deviations. It returns the weight whose pivot is lost to rounding even where one
// of the shares of its mean is added to the diagonal, or -1.
func (f *Factor) Set(h []float64, scale float64, deviations, jitters []float64) (lost int) {
	f.p.Take(f.deviations, deviations)
	for _, f.jitter = range jitters {
		f.fill(h, scale)
		if lost = f.factorise(); lost < 0 {
			return lost
		}
	}
	for j, at := range f.p.place {
		if int(at) == lost {
			return j
		}
	}
	return lost
}

// fill stores A.
func (f *Factor) fill(h []float64, scale float64) {
	p, size := f.p, f.p.Rest()
	p.scaled(f.ws, f.a, h, scale, f.deviations, 1)
	for i, leaf := 0, p.Leaf(f.a); i < size; i++ {
		clear(leaf[i*size : i*size+i]) // what levels take off products of sparse with dense columns
	}
	if f.jitter > 0 {
		f.raise()
	}
}

// raise adds the jitter's share of its mean to the diagonal.
func (f *Factor) raise() {
	p, values, total := f.p, make([]float64, f.p.Weights), 0.0
	p.Diagonal(values, f.a)
	for _, v := range values {
		total += v / float64(len(values))
	}
	total *= f.jitter
	for t := range p.heads {
		at := &p.heads[t]
		for _, v := range diagonal(f.a[at.own:at.dense], at.k) {
			*v += total
		}
	}
	for i, leaf := 0, p.Leaf(f.a); i < p.Rest(); i++ {
		leaf[i*p.Rest()+i] += total
	}
}

// factorise returns the place of the pivot that is not positive, or -1.
func (f *Factor) factorise() (lost int) {
	p, size := f.p, f.p.Rest()
	for t := range p.heads {
		at := &p.heads[t]
		f.ws.Each(at.levels, func(g int) {
			b := p.block(f.a, at, g)
			cholesky(b.own, at.k)
			forward(b.own, b.dense, at.k, p.Dense)
			for i := range b.cells {
				forward(b.own, b.sparse[i*at.k:(i+1)*at.k], at.k, 1)
			}
		})
		for i, pivot := range diagonal(f.a[at.own:at.dense], at.k) {
			if !(*pivot > 0) {
				return at.first + i
			}
		}
		f.subtract(at)
	}
	leaf := p.Leaf(f.a)
	for i := p.Dense; i < size; i++ {
		for j := range p.Dense {
			leaf[j*size+i] += leaf[i*size+j]
		}
	}
	if pivot, ok := f.ws.Pool().Cholesky(size, leaf, max(1, size)); !ok {
		return p.leaf + pivot
	}
	return -1
}

// cholesky factors a k×k matrix, of which the lower triangle is stored row by row, in place. Pivots that are not
// positive become NaN.
func cholesky(a []float64, k int) {
	for r, row := 0, 0; r < k; r, row = r+1, row+r+1 {
		for c, other := 0, 0; c <= r; c, other = c+1, other+c+1 {
			v := a[row+c]
			for l := range c {
				v -= a[row+l] * a[other+l]
			}
			if c < r {
				a[row+c] = v / a[other+c]
			} else if a[row+c] = math.NaN(); v > 0 {
				a[row+c] = math.Sqrt(v)
			}
		}
	}
}

// forward stores L⁻¹X in the place of X, k×cols.
func forward(l, x []float64, k, cols int) {
	for r, row := 0, 0; r < k; r, row = r+1, row+r+1 {
		to := x[r*cols : (r+1)*cols]
		for c := range r {
			axpy(-l[row+c], x[c*cols:(c+1)*cols], to)
		}
		by := 1 / l[row+r]
		for j := range to {
			to[j] *= by
		}
	}
}

// backward stores L⁻ᵀX in the place of X, k×cols.
func backward(l, x []float64, k, cols int) {
	for r := k - 1; r >= 0; r-- {
		to := x[r*cols : (r+1)*cols]
		for c := r + 1; c < k; c++ {
			axpy(-l[c*(c+1)/2+r], x[c*cols:(c+1)*cols], to)
		}
		by := 1 / l[r*(r+3)/2]
		for j := range to {
			to[j] *= by
		}
	}
}

// mostStripes is into how many parts the leaf's rows go at most, each of which goes through all levels.
const mostStripes = 16

// subtract takes WᵀW of every level of a head off what comes after it.
func (f *Factor) subtract(at *head) {
	p, q, size, leaf := f.p, f.p.Dense, f.p.Rest(), f.p.Leaf(f.a)
	if q > 0 {
		mark := f.ws.Mark()
		gram := f.ws.Floats(q * q)
		clear(gram)
		w := f.a[at.dense : at.dense+at.levels*at.k*q]
		if q > few {
			f.ws.Pool().Gram(at.levels*at.k, q, w, q, nil, gram, q)
		}
		for ; q <= few && len(w) > 0; w = w[q:] {
			for i, v := range w[:q] {
				axpy(v, w[i:q], gram[i*q+i:(i+1)*q])
			}
		}
		for i := range q {
			axpy(-1, gram[i*q+i:(i+1)*q], leaf[i*size+i:i*size+q])
		}
		f.ws.Release(mark)
	}
	sparse := size - q
	if at.row+at.levels < p.Cells.Rows && !at.bare {
		for g := range at.levels {
			f.subtractFromHeads(at, g)
		}
	}
	if sparse == 0 || at.bare {
		return
	}
	stripe := (sparse + mostStripes - 1) / mostStripes
	if f.ws.Pool().Threads() == 1 {
		stripe = sparse
	}
	f.ws.Pool().Run((sparse+stripe-1)/stripe, func(task, _ int) {
		from := p.leaf + q + task*stripe
		for g := range at.levels {
			f.subtractFromLeaf(at, g, from, min(from+stripe, p.Weights))
		}
	})
}

// subtractFromLeaf takes WᵀW of a level off the leaf's rows of the places [from, to). What belongs to dense columns
// goes below the diagonal, where it is contiguous.
func (f *Factor) subtractFromLeaf(at *head, g, from, to int) {
	p, b := f.p, f.p.block(f.a, at, g)
	q, size, k := p.Dense, p.Rest(), at.k
	for i, c := range b.cells {
		if int(c) < from || int(c) >= to {
			continue
		}
		own := b.sparse[i*k : (i+1)*k]
		row := f.a[p.rest+(int(c)-p.leaf)*size : p.rest+(int(c)-p.leaf+1)*size]
		for r, w := range own {
			axpy(-w, b.dense[r*q:(r+1)*q], row[:q])
		}
		if k == 1 {
			for j, other := range b.cells[i:] {
				row[int(other)-p.leaf] -= own[0] * b.sparse[i+j]
			}
			continue
		}
		for j := i; j < len(b.cells); j++ {
			row[int(b.cells[j])-p.leaf] -= dot(own, b.sparse[j*k:(j+1)*k])
		}
	}
}

// subtractFromHeads takes WᵀW of a level off the rows of the heads that come after it.
func (f *Factor) subtractFromHeads(at *head, g int) {
	p, b := f.p, f.p.block(f.a, at, g)
	q, k := p.Dense, at.k
	for i, c := range b.cells {
		u, level, column := p.headOf(c)
		if u < 0 {
			return // places ascend
		}
		to, own := p.block(f.a, &p.heads[u], level), b.sparse[i*k:(i+1)*k]
		for r, w := range own {
			axpy(-w, b.dense[r*q:(r+1)*q], to.dense[column*q:(column+1)*q])
		}
		for j := i; j < len(b.cells); j++ {
			v := dot(own, b.sparse[j*k:(j+1)*k])
			if t, _, other := p.headOf(b.cells[j]); t == u {
				to.own[other*(other+1)/2+column] -= v
			} else {
				to.sparse[to.at(b.cells[j], p.heads[u].k)+column] -= v
			}
		}
	}
}

// Jitter is what Set added to the diagonal, as a share of its mean.
func (f *Factor) Jitter() float64 { return f.jitter }

// LogDet returns log|A|. Pivots are at least 1, up to rounding: so many are multiplied before a logarithm is taken.
func (f *Factor) LogDet() (sum float64) {
	p, product := f.p, 1.0
	take := func(pivot float64) {
		if product *= pivot; !(product > 1e-100 && product < 1e100) {
			sum, product = sum+math.Log(product/pivot)+math.Log(pivot), 1
		}
	}
	for t := range p.heads {
		at := &p.heads[t]
		for _, pivot := range diagonal(f.a[at.own:at.dense], at.k) {
			take(*pivot)
		}
	}
	for i, leaf := 0, p.Leaf(f.a); i < p.Rest(); i++ {
		take(leaf[i*p.Rest()+i])
	}
	return 2 * (sum + math.Log(product))
}

// Whiten stores Cb in dst and S⁻¹Cb in white, both of which may be b.
func (f *Factor) Whiten(dst, white, b []float64) {
	f.eliminate(b)
	f.substitute()
	f.p.Give(white, f.x)
	f.give(dst)
}

// Mul stores Cb in dst, and Fᵀb in half for an F with FFᵀ = C; both may be b.
func (f *Factor) Mul(dst, half, b []float64) {
	f.eliminate(b)
	copy(half, f.x)
	f.substitute()
	f.give(dst)
}

// Draw stores a draw Fz of N(0, C), of standard normal numbers z.
func (f *Factor) Draw(dst, z []float64) {
	copy(f.x, z)
	f.substitute()
	f.give(dst)
}

// give stores Sx.
func (f *Factor) give(dst []float64) {
	floats.Mul(f.x, f.deviations)
	f.p.Give(dst, f.x)
}

// eliminate makes x U⁻ᵀSb, where UᵀU = A.
func (f *Factor) eliminate(b []float64) {
	p, x, q, size := f.p, f.x, f.p.Dense, f.p.Rest()
	p.Take(x, b)
	floats.Mul(x, f.deviations)
	for t := range p.heads {
		at := &p.heads[t]
		for g := range at.levels {
			b, own := p.block(f.a, at, g), x[at.first+g*at.k:at.first+(g+1)*at.k]
			forward(b.own, own, at.k, 1)
			for r, v := range own {
				axpy(-v, b.dense[r*q:(r+1)*q], x[p.leaf:p.leaf+q])
				for i, c := range b.cells {
					x[c] -= v * b.sparse[i*at.k+r]
				}
			}
		}
	}
	f.ws.Pool().TrsmLeft(true, size, 1, p.Leaf(f.a), max(1, size), x[p.leaf:], 1)
}

// substitute makes x U⁻¹x.
func (f *Factor) substitute() {
	p, x, q, size := f.p, f.x, f.p.Dense, f.p.Rest()
	leaf := x[p.leaf:]
	f.ws.Pool().TrsmLeft(false, size, 1, p.Leaf(f.a), max(1, size), leaf, 1)
	for t := len(p.heads) - 1; t >= 0; t-- {
		at := &p.heads[t]
		for g := range at.levels {
			b, own := p.block(f.a, at, g), x[at.first+g*at.k:at.first+(g+1)*at.k]
			for r := range own {
				own[r] -= dot(b.dense[r*q:(r+1)*q], leaf[:q])
				for i, c := range b.cells {
					own[r] -= x[c] * b.sparse[i*at.k+r]
				}
			}
			backward(b.own, own, at.k, 1)
		}
	}
}
