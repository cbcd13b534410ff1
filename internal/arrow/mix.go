package arrow

import (
	"github.com/credence-ml/credence/internal/kernel"
)

// Mix turns H into XᵀHX in place, for the matrix X that is the k×k matrix x for the k weights of every level of a run,
// of weights first + level·k + c, and 1 elsewhere. Of the leaf the upper triangle is read, and both are stored. Levels
// meet all k weights of another, or none: see [Finder].
func (p *Pattern) Mix(h []float64, first, levels, k int, x []float64) {
	from := int(p.place[first])
	t, _, offset := p.headOf(int32(from))
	if t < 0 {
		p.mixLeaf(p.Leaf(h), from-p.leaf, levels, k, x)
	} else {
		at := &p.heads[t]
		full, out := make([]float64, at.k*at.k), make([]float64, k*max(at.k, p.Dense))
		for g := range at.levels {
			b := p.block(h, at, g)
			mixOwn(b.own, full, out, at.k, offset, k, x)
			mixRows(b.dense[offset*p.Dense:(offset+k)*p.Dense], out, p.Dense, k, x)
			for i := range b.cells {
				mixNumbers(b.sparse[i*at.k+offset:i*at.k+offset+k], out[:k], x)
			}
		}
	}
	for s := range p.heads { // which meet the levels
		if s == t {
			break
		}
		p.mixCells(h, &p.heads[s], from, levels, k, t, x)
	}
}

// mixOwn does so for the weights [offset, offset+k) of the numbers of a level, a lower triangle; full and out have room
// for all of them.
func mixOwn(own, full, out []float64, size, offset, k int, x []float64) {
	open(full, own, size)
	for r := range size {
		mixNumbers(full[r*size+offset:r*size+offset+k], out[:k], x)
	}
	mixRows(full[offset*size:(offset+k)*size], out, size, k, x)
	closeTo(own, full, size)
}

// mixNumbers stores xᵀv in the place of the k numbers v.
func mixNumbers(v, out, x []float64) {
	k := len(v)
	clear(out)
	for d, value := range v {
		for c := range k {
			out[c] += value * x[d*k+c]
		}
	}
	copy(v, out)
}

// mixRows stores xᵀV in the place of k rows, for which out has room.
func mixRows(v, out []float64, cols, k int, x []float64) {
	out = out[:k*cols]
	clear(out)
	for d := range k {
		for c := range k {
			axpy(x[d*k+c], v[d*cols:(d+1)*cols], out[c*cols:(c+1)*cols])
		}
	}
	copy(v, out)
}

func (p *Pattern) mixLeaf(leaf []float64, first, levels, k int, x []float64) {
	size := p.Rest()
	kernel.Symmetrize(size, leaf, size)
	out := make([]float64, k*size)
	for g := range levels {
		mixRows(leaf[(first+g*k)*size:(first+(g+1)*k)*size], out, size, k, x)
	}
	for i := range size {
		for g := range levels {
			mixNumbers(leaf[i*size+first+g*k:i*size+first+(g+1)*k], out[:k], x)
		}
	}
}

// mixCells does so for the cells of a head with the levels, whose first place is from, of head t.
func (p *Pattern) mixCells(h []float64, at *head, from, levels, k, t int, x []float64) {
	step := k // between levels
	if t >= 0 {
		step = p.heads[t].k
	}
	v, out := make([]float64, k), make([]float64, k)
	for g := range at.levels {
		b := p.block(h, at, g)
		for i := 0; i+k <= len(b.cells); i++ {
			if place := int(b.cells[i]) - from; place < 0 || place >= levels*step || place%step != 0 {
				continue
			}
			for r := range at.k {
				for c := range v {
					v[c] = b.sparse[(i+c)*at.k+r]
				}
				mixNumbers(v, out, x)
				for c := range v {
					b.sparse[(i+c)*at.k+r] = v[c]
				}
			}
			i += k - 1
		}
	}
}

// Moments adds, of the weights of every level of a run as Mix has them, uuᵀ and the numbers of A⁻¹ to sum, k×k, for the
// weights u in the order of columns.
func (p *Pattern) Moments(sum, inverse, u []float64, first, levels, k int) {
	t, _, offset := p.headOf(p.place[first])
	for g := range levels {
		for r := range k {
			for c := range r + 1 {
				v := u[first+g*k+r] * u[first+g*k+c]
				if t >= 0 {
					at := &p.heads[t]
					v += inverse[at.own+g*triangle(at.k)+triangle(offset+r)+offset+c]
				} else {
					l := int(p.place[first+g*k]) - p.leaf
					v += inverse[p.rest+(l+c)*p.Rest()+l+r]
				}
				sum[r*k+c] += v
				if c < r {
					sum[c*k+r] += v
				}
			}
		}
	}
}
