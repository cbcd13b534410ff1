package arrow

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

// Inverse stores the numbers of A⁻¹ that the pattern has; of the leaf both triangles.
//
// With W of a level, V_cc of what it meets: V_gc = −L⁻ᵀ W V_cc and V_gg = L⁻ᵀ (I + W V_cc Wᵀ) L⁻¹.
func (f *Factor) Inverse(dst []float64) {
	p, q, size := f.p, f.p.Dense, f.p.Rest()
	leaf := p.Leaf(dst)
	f.ws.Pool().CholeskyInverse(size, p.Leaf(f.a), max(1, size), leaf, max(1, size))
	for t := len(p.heads) - 1; t >= 0; t-- {
		at := &p.heads[t]
		if rows := at.levels * at.k; q > few {
			f.ws.Pool().Gemm(false, false, rows, q, q, 1, f.a[at.dense:at.dense+rows*q], q, leaf, size, 0, dst[at.dense:at.dense+rows*q], q)
		}
		clear(dst[at.cells : at.cells+at.k*(p.Cells.Start[at.row+at.levels]-p.Cells.Start[at.row])])
		f.ws.InRuns(at.levels, func(from, to int) {
			inverse, square := make([]float64, at.k*at.k), make([]float64, at.k*at.k)
			for g := from; g < to; g++ {
				if q <= few {
					w, v := p.block(f.a, at, g).dense, p.block(dst, at, g).dense
					clear(v)
					for r := range at.k {
						for j, by := range w[r*q : (r+1)*q] {
							axpy(by, leaf[j*size:j*size+q], v[r*q:(r+1)*q])
						}
					}
				}
				f.select1(dst, at, g, inverse, square)
			}
		})
	}
}

// select1 stores the numbers of a level, whose dense cells are W V_cc so far, as far as dense columns go. Scratch has
// k² numbers.
func (f *Factor) select1(dst []float64, at *head, g int, inverse, square []float64) {
	p, k, q := f.p, at.k, f.p.Dense
	w, v := p.block(f.a, at, g), p.block(dst, at, g)
	for i, c := range w.cells { // W V_cc: sparse cells, and what they do to dense ones
		of := p.with(dst, c)
		own, sum := w.sparse[i*k:(i+1)*k], v.sparse[i*k:(i+1)*k]
		for r, by := range own {
			axpy(by, of.dense, v.dense[r*q:(r+1)*q])
			if q > 0 {
				sum[r] += dot(of.dense, w.dense[r*q:(r+1)*q])
			}
		}
		for j := i; j < len(w.cells); j++ {
			x := of.at(w.cells[j])
			for r := range k {
				sum[r] += x * w.sparse[j*k+r]
				if j > i {
					v.sparse[j*k+r] += x * own[r]
				}
			}
		}
	}
	for r := range k { // I + W V_cc Wᵀ
		for c := range r + 1 {
			sum := 0.0
			if q > 0 {
				sum = dot(v.dense[r*q:(r+1)*q], w.dense[c*q:(c+1)*q])
			}
			for i := range w.cells {
				sum += v.sparse[i*k+r] * w.sparse[i*k+c]
			}
			square[r*k+c], square[c*k+r] = sum, sum
		}
		square[r*k+r]++
	}
	clear(inverse)
	for r := range k {
		inverse[r*k+r] = 1
	}
	forward(w.own, inverse, k, k) // L⁻¹
	backward(w.own, square, k, k) // L⁻ᵀ(I + …)
	at2 := 0
	for r := range k {
		for c := range r + 1 {
			sum := 0.0
			for l := range k {
				sum += square[r*k+l] * inverse[l*k+c]
			}
			v.own[at2+c] = sum
		}
		at2 += r + 1
	}
	backward(w.own, v.dense, k, q)
	kernel.Scale(-1, v.dense)
	for i := range w.cells {
		backward(w.own, v.sparse[i*k:(i+1)*k], k, 1)
	}
	kernel.Scale(-1, v.sparse)
}

// with is the numbers that a place has with others.
type with struct {
	p           *Pattern
	leaf, dense []float64 // its row of the leaf, and its numbers with dense columns
	t, column   int       // its head, -1 without
	block       block
}

func (p *Pattern) with(values []float64, place int32) with {
	t, level, column := p.headOf(place)
	if t < 0 {
		row := values[p.rest+column*p.Rest() : p.rest+(column+1)*p.Rest()]
		return with{p: p, leaf: row, dense: row[:p.Dense], t: t}
	}
	b := p.block(values, &p.heads[t], level)
	return with{p: p, dense: b.dense[column*p.Dense : (column+1)*p.Dense], t: t, column: column, block: b}
}

// at is the number with another place, which does not come before it; 0 where the pattern has none.
func (w *with) at(place int32) float64 {
	if w.t < 0 {
		return w.leaf[int(place)-w.p.leaf]
	}
	switch t, _, column := w.p.headOf(place); {
	case t == w.t:
		return w.block.own[triangle(column)+w.column]
	case t < 0 && column < w.p.Dense:
		return w.dense[column]
	}
	if cell := w.block.at(place, w.p.heads[w.t].k); cell >= 0 {
		return w.block.sparse[cell+w.column]
	}
	return 0
}

// number is that of two places.
func (p *Pattern) number(values []float64, a, b int32) float64 {
	w := p.with(values, min(a, b))
	return w.at(max(a, b))
}

// Scale turns an inverse that Inverse stored into C = S A⁻¹ S.
func (f *Factor) Scale(dst []float64) { f.p.scaled(f.ws, dst, dst, 1, f.deviations, 0) }

// scaled stores scale·SHS, for an S in the pattern's order, with more on its diagonal. It may take the place of H.
func (p *Pattern) scaled(ws *credence.Workspace, dst, h []float64, scale float64, s []float64, more float64) {
	q, size, of := p.Dense, p.Rest(), s[p.leaf:]
	for t := range p.heads {
		at := &p.heads[t]
		ws.Each(at.levels, func(g int) {
			b, out, first, next := p.block(h, at, g), p.block(dst, at, g), at.first+g*at.k, 0
			for r := range at.k {
				by := scale * s[first+r]
				for c := range r + 1 {
					out.own[next+c] = by * s[first+c] * b.own[next+c]
				}
				next += r + 1
				out.own[next-1] += more
				for j, v := range b.dense[r*q : (r+1)*q] {
					out.dense[r*q+j] = by * of[j] * v
				}
				for i, c := range b.cells {
					out.sparse[i*at.k+r] = by * s[c] * b.sparse[i*at.k+r]
				}
			}
		})
	}
	leaf, source := p.Leaf(dst), p.Leaf(h)
	ws.Each(size, func(i int) {
		by := scale * of[i]
		for j := range size {
			leaf[i*size+j] = by * of[j] * source[i*size+j]
		}
		leaf[i*size+i] += more
	})
}
