package arrow

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Iterations end where every residual is a share of the right side, or after mostIterations. What is averaged over
// probes is the second order of S̃⁻¹ − I, whose own error by few of them is a hundred times what their residuals leave.
const (
	solvedShare    = 1e-8
	probedShare    = 1e-4
	mostIterations = 400
)

var exactly = func() (c columns) {
	for j := range c {
		c[j] = solvedShare
	}
	return c
}()

// columns are numbers of Probes columns.
type columns [Probes]float64

// iterate stores S̃⁻¹B in x by conjugate gradients, up to shares of B, which becomes what is left. residual, if not
// nil, is called with the residuals and their squares before every iteration, and found with what it found: the α and β
// of columns that go on, 0 of others, and S̃ times the step.
func (f *Crossed) iterate(x, b []float64, shares *columns, residual func(r []float64, squares *columns), found func(alpha, beta *columns, q []float64)) {
	clear(x)
	step, q := f.step, f.q
	copy(step, b)
	var squares, limit, alpha, beta columns
	for i := 0; i < len(b); i += Probes {
		for j, v := range b[i : i+Probes] {
			squares[j] += v * v
		}
	}
	for j, v := range squares {
		limit[j] = v * shares[j] * shares[j]
	}
	whole := squares
	for range mostIterations {
		going := false
		for j, v := range squares {
			going = going || v > limit[j]
		}
		if !going {
			return
		}
		if residual != nil {
			residual(b, &squares)
		}
		f.times(q, step)
		var products, next columns
		for i := 0; i < len(b); i += Probes {
			p, q := step[i:i+Probes], q[i:i+Probes]
			for j, v := range p {
				products[j] += v * q[j]
			}
		}
		for j, v := range squares {
			if alpha[j] = 0; v > limit[j] {
				alpha[j] = v / products[j]
			}
		}
		for i := 0; i < len(b); i += Probes {
			p, q, x, r := step[i:i+Probes], q[i:i+Probes], x[i:i+Probes], b[i:i+Probes]
			for j, a := range alpha {
				x[j] += a * p[j]
				v := r[j] - a*q[j]
				r[j] = v
				next[j] += v * v
			}
		}
		for j, v := range squares {
			if beta[j] = 0; v > limit[j] {
				beta[j] = next[j] / v
			}
		}
		for i := 0; i < len(b); i += Probes {
			p, r := step[i:i+Probes], b[i:i+Probes]
			for j, by := range beta {
				p[j] = r[j] + by*p[j]
			}
		}
		if found != nil {
			found(&alpha, &beta, q)
		}
		squares = next
	}
	for j, v := range squares {
		if v > limit[j] {
			f.Left = math.Max(f.Left, math.Sqrt(v/whole[j]))
		}
	}
}

// solve makes vectors in the pattern's order A⁻¹x. At first it is one, beside which the leaf's columns and the probes
// are solved for.
func (f *Crossed) solve(list ...[]float64) {
	k, inner, leafAt := f.outer.k, f.inner.k, f.p.leaf
	var middles [][]float64
	for _, x := range list {
		first, middle, leaf := x[:f.rows], x[f.rows:leafAt], x[leafAt:]
		for g := range f.outer.levels {
			own := first[g*k : (g+1)*k]
			forward(f.own[g*triangle(k):(g+1)*triangle(k)], own, k, 1)
			for r, v := range own {
				axpy(-v, f.leafW[(g*k+r)*f.wide:][:f.rest], leaf)
			}
		}
		for l := range f.inner.levels {
			forward(f.root[l*triangle(inner):(l+1)*triangle(inner)], middle[l*inner:(l+1)*inner], inner, 1)
		}
		for c := range middle {
			for at := f.turnedStart[c]; at < f.turnedStart[c+1]; at++ {
				middle[c] += f.turned[at] * first[f.turnedIndex[at]]
			}
		}
		middles = append(middles, middle)
	}
	if f.ready {
		f.solveColumns(middles)
	} else {
		f.solveFirst(middles[0])
	}
	for _, x := range list {
		first, middle, leaf := x[:f.rows], x[f.rows:leafAt], x[leafAt:]
		for c, v := range middle { // the leaf less crossᵀ S̃⁻¹ middle: cross comes in by its own solution
			axpy(-v, f.cross[c*f.wide:][:f.rest], leaf)
		}
		pool := f.ws.Pool()
		pool.TrsmLeft(true, f.rest, 1, f.leaf, max(1, f.rest), leaf, 1)
		pool.TrsmLeft(false, f.rest, 1, f.leaf, max(1, f.rest), leaf, 1)
		for c := range middle {
			middle[c] -= dot(leaf, f.solved[c*f.wide:][:f.rest])
		}
		for g := range f.outer.levels {
			n, own := f.start[g+1]-f.start[g], first[g*k:(g+1)*k]
			for r := range own {
				own[r] -= dot(leaf, f.leafW[(g*k+r)*f.wide:][:f.rest])
				for i, v := range f.w[f.start[g]*k+r*n : f.start[g]*k+(r+1)*n] {
					own[r] -= v * middle[f.index[f.start[g]+i]]
				}
			}
			backward(f.own[g*triangle(k):(g+1)*triangle(k)], own, k, 1)
		}
		for l := range f.inner.levels {
			backward(f.root[l*triangle(inner):(l+1)*triangle(inner)], middle[l*inner:(l+1)*inner], inner, 1)
		}
	}
}

// solveColumns makes vectors S̃⁻¹x.
func (f *Crossed) solveColumns(list [][]float64) {
	b, x := f.b, f.b2
	for ; len(list) > 0; list = list[min(len(list), Probes):] {
		clear(b)
		for j, v := range list[:min(len(list), Probes)] {
			for c, at := range v {
				b[c*Probes+j] = at
			}
		}
		f.iterate(x, b, &exactly, nil, nil)
		for j, v := range list[:min(len(list), Probes)] {
			for c := range v {
				v[c] = x[c*Probes+j]
			}
		}
	}
}

// solveFirst makes a vector S̃⁻¹x, and solves for the leaf's columns and the probes. These stand in one set of columns,
// as far as besideProbes go.
func (f *Crossed) solveFirst(middle []float64) {
	copy(f.first, f.z)
	few := min(f.rest, besideProbes)
	for c, v := range middle {
		row := f.first[c*Probes : (c+1)*Probes]
		row[0] = v
		copy(row[1:], f.cross[c*f.wide:][:few])
	}
	shares := exactly
	for j := f.skip; j < Probes; j++ {
		shares[j] = probedShare
	}
	l := f.lanczos(f.at, f.first, &shares)
	for c := range middle {
		at, first := f.at[c*Probes:(c+1)*Probes], f.first[c*Probes:(c+1)*Probes]
		middle[c] = at[0]
		copy(f.solved[c*f.wide:], at[1:1+few])
		clear(at[:f.skip])
		clear(first[:f.skip])
	}
	f.determinant(l)
	var further [][]float64
	for j := few; j < f.rest; j++ {
		column := make([]float64, f.size)
		for c := range column {
			column[c] = f.cross[c*f.wide+j]
		}
		further = append(further, column)
	}
	f.solveColumns(further)
	for j, column := range further {
		for c, v := range column {
			f.solved[c*f.wide+few+j] = v
		}
	}
	f.ready = true
	if f.rest > 0 {
		products := make([]float64, f.rest*f.rest)
		f.ws.Pool().Gemm(true, false, f.rest, f.rest, f.size, 1, f.cross, f.wide, f.solved, f.wide, 0, products, f.rest)
		f.takeOff(products)
		f.ws.Pool().Cholesky(f.rest, f.leaf, f.rest)
	}
}

// Whiten stores Cb in dst and S⁻¹Cb in white, both of which may be b.
func (f *Crossed) Whiten(dst, white, b []float64) {
	x := f.x
	f.p.Take(x, b)
	floats.Mul(x, f.s)
	f.solve(x)
	f.p.Give(white, x)
	floats.Mul(x, f.s)
	f.p.Give(dst, x)
}

// Inverses makes vectors A⁻¹x, after a first one was solved for.
func (f *Crossed) Inverses(list [][]float64) {
	ordered := make([][]float64, len(list))
	for k, x := range list {
		ordered[k] = make([]float64, len(x))
		f.p.Take(ordered[k], x)
	}
	f.solve(ordered...)
	for k, x := range list {
		f.p.Give(x, ordered[k])
	}
}
