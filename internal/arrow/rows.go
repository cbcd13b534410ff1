package arrow

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// entries are those of a row of a design, by places.
type entries struct {
	dense   []float64
	places  []int32 // of the sparse ones, ascending
	values  []float64
	level   []int       // of every head, -1 without
	several bool        // a head has two levels: no row of a table, but a sum of some
	numbers [][]float64 // of every head, those of the level's columns
}

func (p *Pattern) entries() *entries {
	e := &entries{level: make([]int, len(p.heads)), numbers: make([][]float64, len(p.heads))}
	for t, h := range p.heads {
		e.numbers[t] = make([]float64, h.k)
	}
	return e
}

// read takes row i.
func (p *Pattern) read(e *entries, phi *credence.Design, i int) {
	e.dense, e.places, e.values, e.several = nil, e.places[:0], e.values[:0], false
	if p.Dense > 0 {
		e.dense = phi.Dense.Row(i)
	}
	for t := range e.level {
		e.level[t] = -1
		clear(e.numbers[t])
	}
	columns, values := phi.Sparse.Row(i)
	for k, c := range columns {
		at, v := p.place[p.Dense+int(c)], linop.At(values, k)
		if t, level, column := p.headOf(at); t >= 0 {
			e.several = e.several || e.level[t] >= 0 && e.level[t] != level
			e.level[t] = level
			e.numbers[t][column] = v
		}
		e.places, e.values = append(e.places, at), append(e.values, v)
		for l := len(e.places) - 1; l > 0 && e.places[l-1] > at; l-- {
			e.places[l], e.values[l], e.places[l-1], e.values[l-1] = e.places[l-1], e.values[l-1], at, v
		}
	}
}

// beyond calls visit for the entries that come after a head, and where the level's cells with them begin.
func (e *entries) beyond(h *head, b *block, visit func(cell int, v float64)) {
	for i, at := range e.places {
		if int(at) < h.end {
			continue
		}
		if cell := b.at(at, h.k); cell >= 0 {
			visit(cell, e.values[i])
		}
	}
}

// ofLeaf are the columns of a design that no head has.
func (p *Pattern) ofLeaf(phi *credence.Design) credence.Design {
	out := credence.Design{Dense: phi.Dense}
	if sparse := p.Rest() - p.Dense; sparse > 0 {
		out.Sparse.Reset(sparse)
		var places []int32
		var of []float64
		for i := range phi.Dense.Rows {
			columns, values := phi.Sparse.Row(i)
			places, of = places[:0], of[:0]
			for k, c := range columns {
				if at := int(p.place[p.Dense+int(c)]); at >= p.leaf {
					places, of = append(places, int32(at-p.leaf-p.Dense)), append(of, linop.At(values, k))
				}
			}
			out.Sparse.AppendRow(places, of)
		}
	}
	return out
}

// AddRows adds ΦᵀWΦ, where nil weights are ones. After the last rows Close makes the leaf whole.
func (p *Pattern) AddRows(ws *credence.Workspace, h []float64, phi *credence.Design, weights []float64) {
	leaf := p.ofLeaf(phi)
	leaf.AddGram(ws, p.Leaf(h), weights)
	e := p.entries()
	for i := range phi.Dense.Rows {
		if w := linop.At(weights, i); w != 0 {
			p.read(e, phi, i)
			for t := range p.heads {
				p.addRow(h, &p.heads[t], e, t, w)
			}
		}
	}
}

func (p *Pattern) addRow(values []float64, h *head, e *entries, t int, w float64) {
	if e.level[t] < 0 {
		return
	}
	b, at := p.block(values, h, e.level[t]), 0
	for r, z := range e.numbers[t] {
		by := w * z
		for c := range r + 1 {
			b.own[at+c] += by * e.numbers[t][c]
		}
		at += r + 1
		if by != 0 {
			for j, v := range e.dense {
				b.dense[r*p.Dense+j] += by * v
			}
		}
	}
	e.beyond(h, &b, func(cell int, v float64) {
		for r, z := range e.numbers[t] {
			b.sparse[cell+r] += w * z * v
		}
	})
}

// Close makes the leaf whole after the last rows.
func (p *Pattern) Close(h []float64) { linop.LiftGram(p.Leaf(h), p.Rest(), p.Dense) }

// Centre turns H into TᵀHT, that of dense columns less their means: weight 0 is the intercept, a dense column, and T =
// [1, −x̄ᵀ; 0, I]. The means of sparse columns have to be 0, for their cells would all be there.
func (p *Pattern) Centre(h, means []float64) {
	q, size, leaf := p.Dense, p.Rest(), p.Leaf(h)
	for t := range p.heads {
		at := &p.heads[t]
		for r := range at.levels * at.k {
			row := h[at.dense+r*q : at.dense+(r+1)*q]
			axpy(-row[0], means[:q], row) // the mean of weight 0 is 0
		}
	}
	first := leaf[:size]
	for i := 1; i < q; i++ {
		row := leaf[i*size : (i+1)*size]
		axpy(-means[i], first[i:], row[i:])
		axpy(means[i]*first[0]-first[i], means[i:q], row[i:q])
	}
	axpy(-first[0], means[:q], first[:q])
}

// Diagonal stores diag H.
func (p *Pattern) Diagonal(dst, h []float64) {
	ordered := make([]float64, p.Weights)
	for t := range p.heads {
		at := &p.heads[t]
		for i, v := range diagonal(h[at.own:at.dense], at.k) {
			ordered[at.first+i] = *v
		}
	}
	for j, leaf := 0, p.Leaf(h); j < p.Rest(); j++ {
		ordered[p.leaf+j] = leaf[j*p.Rest()+j]
	}
	p.Give(dst, ordered)
}

// Mul stores Hx.
func (p *Pattern) Mul(dst, h, x []float64) {
	from, to := make([]float64, p.Weights), make([]float64, p.Weights)
	p.Take(from, x)
	q, size, leaf := p.Dense, p.Rest(), p.Leaf(h)
	for t := range p.heads {
		at := &p.heads[t]
		for g := range at.levels {
			b, first, next := p.block(h, at, g), at.first+g*at.k, 0
			for r := range at.k {
				own, v := b.own[next:next+r+1], from[first+r]
				next += r + 1
				to[first+r] += dot(own, from[first:first+r+1])
				axpy(v, own[:r], to[first:first+r])
				if q > 0 {
					row := b.dense[r*q : (r+1)*q]
					to[first+r] += dot(row, from[p.leaf:p.leaf+q])
					axpy(v, row, to[p.leaf:p.leaf+q])
				}
				for i, c := range b.cells {
					to[first+r] += b.sparse[i*at.k+r] * from[c]
					to[c] += b.sparse[i*at.k+r] * v
				}
			}
		}
	}
	for i := range size {
		row := leaf[i*size+i : (i+1)*size]
		to[p.leaf+i] += dot(row, from[p.leaf+i:])
		axpy(from[p.leaf+i], row[1:], to[p.leaf+i+1:])
	}
	p.Give(dst, to)
}

// AddOuter adds scale·xxᵀ, as far as the pattern has it.
func (p *Pattern) AddOuter(h []float64, scale float64, x []float64) {
	to, q := make([]float64, p.Weights), p.Dense
	p.Take(to, x)
	leaf := to[p.leaf:]
	for t := range p.heads {
		at := &p.heads[t]
		for g := range at.levels {
			b, own, next := p.block(h, at, g), to[at.first+g*at.k:at.first+(g+1)*at.k], 0
			for r, v := range own {
				axpy(scale*v, own[:r+1], b.own[next:next+r+1])
				next += r + 1
				axpy(scale*v, leaf[:q], b.dense[r*q:(r+1)*q])
				for i, c := range b.cells {
					b.sparse[i*at.k+r] += scale * v * to[c]
				}
			}
		}
	}
	for i, v := range leaf {
		row := p.Leaf(h)[i*len(leaf) : (i+1)*len(leaf)]
		axpy(scale*v, leaf[i:], row[i:])
	}
}
