package arrow

import (
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

// Crossed is A = I + S H S of a pattern of two heads that are crossed (see [Finder.Cross]), whose levels meet in too
// many ways for a factor. With W = L⁻¹B of the outer levels, D = LLᵀ, and P the diagonal blocks of what they leave of
// the inner ones,
//
//	S̃ = R⁻¹ (C − WᵀW) R⁻ᵀ      RRᵀ = P
//
// has blocks of ones on its diagonal and is only multiplied by: conjugate gradients solve it, for vectors and for the
// leaf's columns, so that the leaf is exact (Pandolfi, Papaspiliopoulos & Zanella, arXiv 2411.04729, where iterations
// do not grow with the levels). Its log determinant and the diagonal of its inverse are averages over [Probes] vectors
// z of random signs, the same at every H and S. From the same iterations come zᵀS̃⁻¹z and, by Lanczos's matrix, zᵀ
// log(S̃) z (Ubaru, Chen & Saad 2017); what zᵀ(S̃ − I)z is off 0, its mean, is taken off both.
//
// Numbers of A⁻¹ of an outer with an inner weight are those to which other inner weights add nothing. Crossed is not
// safe for several goroutines; results are the same bytes at any number of threads.
type Crossed struct {
	p            *Pattern
	ws           *credence.Workspace
	outer, inner *head
	rows, size   int // weights of either
	rest         int // R
	wide         int // R, to a multiple of Probes: rows of that length are added up fast
	skip         int // columns of the first set of vectors that are no probes
	signs        func(set uint64) *rand.Rand

	s, x []float64 // deviations and a vector, in the pattern's order
	// Cells of outer levels with inner weights, and of inner weights with outer ones.
	start, turnedStart []int
	index, turnedIndex []int32
	own                []float64 // L of outer levels
	w                  []float64 // W R⁻ᵀ: of every level its k rows of cells
	leafW              []float64 // L⁻¹B of the leaf, rows×R
	turned             []float64 // −R⁻¹Wᵀ, by inner weights
	root, core         []float64 // R, and R⁻¹CR⁻ᵀ, of inner levels
	cross              []float64 // of inner weights with the leaf, size×R
	leaf               []float64 // R×R, then its factor
	solved             []float64 // S̃⁻¹cross, once a system was solved
	ready              bool

	z, at, first []float64 // probes, S̃⁻¹z and S̃z; 0 in columns that are none
	logs         []float64 // zᵀ log(S̃) z
	// Scratch: columns of inner and of outer weights.
	step, q, b, b2, y, left []float64
	// Left is the largest share of a right side that iterations left.
	Left float64
}

// Probes is the number of columns that are solved for together, and of vectors of random signs, of which a vector and
// up to besideProbes columns of the leaf take the place.
const (
	Probes       = 16
	besideProbes = 7
)

// NewCrossed returns room for matrices; signs returns the random numbers of a set of probes.
func (p *Pattern) NewCrossed(ws *credence.Workspace, signs func(set uint64) *rand.Rand) *Crossed {
	f := &Crossed{p: p, ws: ws, outer: &p.heads[0], inner: &p.heads[1], rest: p.Rest(), signs: signs}
	f.wide, f.skip = (f.rest+Probes-1)/Probes*Probes, 1+min(f.rest, besideProbes)
	f.rows, f.size = f.outer.levels*f.outer.k, f.inner.levels*f.inner.k
	f.s, f.x = make([]float64, p.Weights), make([]float64, p.Weights)
	f.start, f.turnedStart = make([]int, f.outer.levels+1), make([]int, f.size+1)
	for g := range f.outer.levels {
		for _, c := range p.cellsOf(f.outer, g) {
			if int(c) < f.inner.end {
				f.index = append(f.index, c-int32(f.inner.first))
				f.turnedStart[int(c)-f.inner.first+1] += f.outer.k
			}
		}
		f.start[g+1] = len(f.index)
	}
	for c := range f.size {
		f.turnedStart[c+1] += f.turnedStart[c]
	}
	f.turnedIndex, f.turned = make([]int32, len(f.index)*f.outer.k), make([]float64, len(f.index)*f.outer.k)
	f.own, f.w = make([]float64, f.outer.levels*triangle(f.outer.k)), make([]float64, len(f.turned))
	f.root, f.core = make([]float64, f.inner.levels*triangle(f.inner.k)), make([]float64, f.inner.levels*triangle(f.inner.k))
	f.leafW, f.cross, f.solved = make([]float64, f.rows*f.wide), make([]float64, f.size*f.wide), make([]float64, f.size*f.wide)
	f.leaf = make([]float64, f.rest*f.rest)
	f.y, f.left, f.z = make([]float64, f.rows*max(Probes, f.wide)), make([]float64, f.rows*Probes), make([]float64, f.size*Probes)
	f.step, f.q, f.b, f.b2 = make([]float64, len(f.z)), make([]float64, len(f.z)), make([]float64, len(f.z)), make([]float64, len(f.z))
	f.at, f.first, f.logs = make([]float64, f.size*Probes), make([]float64, f.size*Probes), make([]float64, Probes)
	f.draw(f.z, 0)
	for c := range f.size {
		clear(f.z[c*Probes:][:f.skip])
	}
	return f
}

// draw stores a set of probes.
func (f *Crossed) draw(z []float64, set uint64) {
	rng := f.signs(set)
	for i := 0; i < len(z); {
		for bits, n := rng.Uint64(), 0; n < 64 && i < len(z); i, n, bits = i+1, n+1, bits>>1 {
			z[i] = float64(2*int(bits&1) - 1)
		}
	}
}

// Set takes H times a scale, and the deviations. It returns a weight whose pivot is not positive, or -1.
func (f *Crossed) Set(h []float64, scale float64, deviations []float64) (lost int) {
	f.p.Take(f.s, deviations)
	f.ready = false
	f.ws.Each(f.outer.levels, func(g int) {
		f.eliminate(h, scale, g)
	})
	f.precondition(h, scale)
	for t, of := range [][]float64{f.own, f.root} {
		head := &f.p.heads[t]
		for i, pivot := range diagonal(of, head.k) {
			if !(*pivot > 0) {
				return head.runs[0].First + i/head.k*head.runs[0].Columns
			}
		}
	}
	return -1
}

// eliminate stores L and W of an outer level.
func (f *Crossed) eliminate(h []float64, scale float64, g int) {
	k, n := f.outer.k, f.start[g+1]-f.start[g]
	own, w, leaf := f.own[g*triangle(k):(g+1)*triangle(k)], f.w[f.start[g]*k:f.start[g+1]*k], f.leafW[g*k*f.wide:(g+1)*k*f.wide]
	f.load(h, scale, f.outer, g, own, w, leaf)
	cholesky(own, k)
	forward(own, w, k, n)
	forward(own, leaf, k, f.wide)
}

// load stores what A has of a level: its own numbers, and k rows of its cells, first those of w and then the leaf's.
func (f *Crossed) load(h []float64, scale float64, at *head, g int, own, w, leaf []float64) {
	p, k, q := f.p, at.k, f.p.Dense
	b, first, n := p.block(h, at, g), at.first+g*k, len(w)/k
	clear(leaf)
	for r, next := 0, 0; r < k; r, next = r+1, next+r+1 {
		by := scale * f.s[first+r]
		for c := range r + 1 {
			own[next+c] = by * f.s[first+c] * b.own[next+c]
		}
		own[next+r]++
		for j, v := range b.dense[r*q : (r+1)*q] {
			leaf[r*f.wide+j] = by * f.s[p.leaf+j] * v
		}
		for i, c := range b.cells {
			if v := by * f.s[c] * b.sparse[i*k+r]; i < n {
				w[r*n+i] = v
			} else {
				leaf[r*f.wide+int(c)-p.leaf] = v
			}
		}
	}
}

// precondition stores R and what is to be multiplied by it.
func (f *Crossed) precondition(h []float64, scale float64) {
	p, k, size := f.p, f.inner.k, triangle(f.inner.k)
	for l := range f.inner.levels {
		f.load(h, scale, f.inner, l, f.core[l*size:(l+1)*size], nil, f.cross[l*k*f.wide:(l+1)*k*f.wide])
	}
	copy(f.root, f.core)
	f.eachCells(func(_ int, w []float64, l int) {
		root := f.root[l*size : (l+1)*size]
		for r, next := 0, 0; r < k; r, next = r+1, next+r+1 {
			axpy(-w[r], w[:r+1], root[next:next+r+1])
		}
	})
	full := make([]float64, k*k)
	for l := range f.inner.levels {
		root, core := f.root[l*size:(l+1)*size], f.core[l*size:(l+1)*size]
		cholesky(root, k)
		open(full, core, k)
		forward(root, full, k, k)
		turn(full, k)
		forward(root, full, k, k)
		closeTo(core, full, k)
		forward(root, f.cross[l*k*f.wide:(l+1)*k*f.wide], k, f.wide)
	}
	next := append([]int(nil), f.turnedStart...)
	f.eachCells(func(row int, w []float64, l int) {
		forward(f.root[l*size:(l+1)*size], w, k, 1)
		for c, v := range w {
			to := next[l*k+c]
			f.turnedIndex[to], f.turned[to] = int32(row), -v
			next[l*k+c]++
		}
	})
	copy(f.leaf, p.Leaf(h))
	for i, by := range f.s[p.leaf:] {
		for j := i; j < f.rest; j++ {
			f.leaf[i*f.rest+j] *= scale * by * f.s[p.leaf+j]
		}
		f.leaf[i*f.rest+i]++
	}
	if f.rest == 0 {
		return
	}
	for c := range f.size { // what outer levels leave of it, and of the leaf
		f.addTurned(c, f.leafW, f.wide, f.cross[c*f.wide:(c+1)*f.wide])
	}
	gram := make([]float64, f.rest*f.rest)
	f.ws.Pool().Gram(f.rows, f.rest, f.leafW, f.wide, nil, gram, f.rest)
	f.takeOff(gram)
}

// takeOff takes the upper triangle of a matrix off the leaf.
func (f *Crossed) takeOff(m []float64) {
	for i := range f.rest {
		axpy(-1, m[i*f.rest+i:(i+1)*f.rest], f.leaf[i*f.rest+i:(i+1)*f.rest])
	}
}

// eachCells calls visit for the cells of every outer weight with every inner level.
func (f *Crossed) eachCells(visit func(row int, w []float64, level int)) {
	outer, inner := f.outer.k, f.inner.k
	for g := range f.outer.levels {
		n := f.start[g+1] - f.start[g]
		for r := range outer {
			for i := 0; i < n; i += inner {
				at := f.start[g]*outer + r*n + i
				visit(g*outer+r, f.w[at:at+inner], int(f.index[f.start[g]+i])/inner)
			}
		}
	}
}

// open stores a lower triangle as a square, closeTo the lower triangle of a square, and turn transposes it.
func open(full, lower []float64, k int) {
	for r, next := 0, 0; r < k; r, next = r+1, next+r+1 {
		for c := range r + 1 {
			full[r*k+c], full[c*k+r] = lower[next+c], lower[next+c]
		}
	}
}

func closeTo(lower, full []float64, k int) {
	for r, next := 0, 0; r < k; r, next = r+1, next+r+1 {
		copy(lower[next:next+r+1], full[r*k:])
	}
}

func turn(full []float64, k int) {
	for r := range k {
		for c := range r {
			full[r*k+c], full[c*k+r] = full[c*k+r], full[r*k+c]
		}
	}
}

// addTurned adds −R⁻¹Wᵀ times X, rows×cols, of an inner weight to y.
func (f *Crossed) addTurned(c int, x []float64, cols int, y []float64) {
	from, to := f.turnedStart[c], f.turnedStart[c+1]
	kernel.AddRows(f.turned[from:to], f.turnedIndex[from:to], x, cols, y)
}

// outward stores W R⁻ᵀ X, rows×cols, for X of inner weights.
func (f *Crossed) outward(dst, x []float64, cols int) {
	k := f.outer.k
	f.ws.Each(f.outer.levels, func(g int) {
		index, w := f.index[f.start[g]:f.start[g+1]], f.w[f.start[g]*k:f.start[g+1]*k]
		for r := range k {
			row := dst[(g*k+r)*cols : (g*k+r+1)*cols]
			clear(row)
			kernel.AddRows(w[r*len(index):(r+1)*len(index)], index, x, cols, row)
		}
	})
}

// times stores S̃V of Probes columns.
func (f *Crossed) times(dst, v []float64) {
	f.outward(f.y, v, Probes)
	k, size := f.inner.k, triangle(f.inner.k)
	f.ws.Each(f.inner.levels, func(l int) {
		core := f.core[l*size : (l+1)*size]
		for r := range k {
			row := dst[(l*k+r)*Probes : (l*k+r+1)*Probes]
			clear(row)
			for c := range k {
				by := core[max(r, c)*(max(r, c)+1)/2+min(r, c)]
				for j, x := range v[(l*k+c)*Probes : (l*k+c+1)*Probes] {
					row[j] += by * x
				}
			}
			f.addTurned(l*k+r, f.y, Probes, row)
		}
	})
}
