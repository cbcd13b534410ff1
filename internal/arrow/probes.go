package arrow

import "math"

// determinant takes zᵀ log(S̃) z of the probes.
func (f *Crossed) determinant(l *lanczos) {
	f.logs = f.logs[:0]
	for j := f.skip; j < Probes; j++ {
		values, vectors := l.eigen(j, 1)
		sum := 0.0
		for k, v := range values {
			sum += float64(f.size) * vectors[k][0] * vectors[k][0] * math.Log(v)
		}
		if len(values) > 0 { // zᵀS̃z is zᵀz times Lanczos's first number
			sum -= float64(f.size) * (l.diagonal[0][j] - 1)
		}
		f.logs = append(f.logs, sum)
	}
}

// lanczos is the tridiagonal matrix of Lanczos's method, of every column, from the numbers of conjugate gradients.
type lanczos struct {
	diagonal, beside []columns
	count            [Probes]int
}

// lanczos stores S̃⁻¹z in x and S̃z in z.
func (f *Crossed) lanczos(x, z []float64, shares *columns) *lanczos {
	l := &lanczos{}
	var before, bound columns // α, and √β/α
	copy(f.b, z)
	f.iterate(x, f.b, shares, nil, func(alpha, beta *columns, q []float64) {
		if len(l.diagonal) == 0 {
			copy(z, q)
		}
		var diagonal, beside columns
		for j, a := range alpha {
			if a == 0 {
				continue
			}
			diagonal[j] = 1 / a
			if l.count[j] > 0 {
				diagonal[j] += bound[j] * bound[j] * before[j]
			}
			l.count[j]++
			before[j], bound[j] = a, math.Sqrt(beta[j])/a
			beside[j] = bound[j]
		}
		l.diagonal, l.beside = append(l.diagonal, diagonal), append(l.beside, beside)
	})
	return l
}

// mostTurns ends rotations that go on, as those of numbers that are none do; two or three of an eigenvalue suffice.
const mostTurns = 30

// eigen returns eigenvalues and the first components, one at least, of eigenvectors of a column's matrix, by the
// implicit QL method (Bowdler, Martin, Reinsch & Wilkinson 1968): a library of linear algebra is no part of programs
// that score.
func (l *lanczos) eigen(j, components int) (values []float64, vectors [][]float64) {
	n := l.count[j]
	beside := make([]float64, n)
	for k := range n {
		values, vectors = append(values, l.diagonal[k][j]), append(vectors, make([]float64, components))
		if k < components {
			vectors[k][k] = 1
		}
		if k < n-1 {
			beside[k] = l.beside[k][j]
		}
	}
	for first := range n {
		for range mostTurns {
			last := first
			for last < n-1 && math.Abs(beside[last]) > 1e-16*(math.Abs(values[last])+math.Abs(values[last+1])) {
				last++
			}
			if last == first {
				break
			}
			g := (values[first+1] - values[first]) / (2 * beside[first])
			g = values[last] - values[first] + beside[first]/(g+math.Copysign(math.Hypot(g, 1), g))
			s, c, shift, i := 1.0, 1.0, 0.0, last-1
			for ; i >= first; i-- {
				f, b := s*beside[i], c*beside[i]
				r := math.Hypot(f, g)
				if beside[i+1] = r; r == 0 { // it falls apart here
					values[i+1] -= shift
					break
				}
				s, c = f/r, g/r
				g = values[i+1] - shift
				r = (values[i]-g)*s + 2*c*b
				shift = s * r
				values[i+1], g = g+shift, c*r-b
				low, high := vectors[i], vectors[i+1]
				for k, v := range high {
					high[k], low[k] = s*low[k]+c*v, c*low[k]-s*v
				}
			}
			if i < first {
				values[first], beside[first] = values[first]-shift, g
			}
			beside[last] = 0
		}
	}
	for k, v := range values {
		values[k] = math.Max(v, math.SmallestNonzeroFloat64)
	}
	return values, vectors
}

// roots stores S̃^(−½)z, by Lanczos's method: its numbers first, and then its vectors, which are residuals.
func (f *Crossed) roots(dst, z []float64) {
	x, shares := f.b2, columns{}
	for j := range shares {
		shares[j] = probedShare
	}
	copy(dst, z)
	l := f.lanczos(x, dst, &shares)
	var by []columns // of every vector
	for range l.diagonal {
		by = append(by, columns{})
	}
	for j := range Probes {
		values, vectors := l.eigen(j, l.count[j])
		for k := range values {
			for i, v := range values {
				by[k][j] += math.Sqrt(float64(f.size)/v) * vectors[i][k] * vectors[i][0]
			}
			if k%2 == 1 {
				by[k][j] = -by[k][j]
			}
		}
	}
	clear(dst)
	step := 0
	copy(f.b, z)
	f.iterate(x, f.b, &shares, func(r []float64, squares *columns) {
		var share columns
		for j, square := range squares {
			if by[step][j] != 0 {
				share[j] = by[step][j] / math.Sqrt(square)
			}
		}
		for i := 0; i < len(r); i += Probes {
			to := dst[i : i+Probes]
			for j, v := range r[i : i+Probes] {
				to[j] += share[j] * v
			}
		}
		step++
	}, nil)
}

// prepare solves for the leaf and the probes, unless a system was solved.
func (f *Crossed) prepare() {
	if !f.ready {
		f.solve(make([]float64, f.p.Weights))
	}
}

// LogDet returns log|A|, an average over probes.
func (f *Crossed) LogDet() float64 {
	f.prepare()
	sum := 0.0
	for t, of := range [][]float64{f.own, f.root} {
		for _, pivot := range diagonal(of, f.p.heads[t].k) {
			sum += math.Log(*pivot)
		}
	}
	for i := range f.rest {
		sum += math.Log(f.leaf[i*f.rest+i])
	}
	mean := 0.0
	for _, v := range f.logs {
		mean += v / float64(len(f.logs))
	}
	return 2*sum + mean
}

// Scale turns an inverse into C = S A⁻¹ S.
func (f *Crossed) Scale(dst []float64) { f.p.scaled(f.ws, dst, dst, 1, f.s, 0) }

// StandardError is that of LogDet.
func (f *Crossed) StandardError() float64 {
	mean, square, n := 0.0, 0.0, float64(len(f.logs))
	for _, v := range f.logs {
		mean += v / n
	}
	for _, v := range f.logs {
		square += (v - mean) * (v - mean)
	}
	return math.Sqrt(square / (n * (n - 1)))
}

// moments are sums over probes: of inner levels of S̃⁻¹, of outer ones of W R⁻ᵀS̃⁻¹R⁻¹Wᵀ, less I and WWᵀ.
type moments struct {
	f            *Crossed
	inner, outer []float64 // lower triangles
}

func (f *Crossed) newMoments() *moments {
	return &moments{f, make([]float64, len(f.core)), make([]float64, len(f.own))}
}

// add adds by times the sums over columns of (abᵀ + baᵀ)/2 to blocks of k rows.
func (m *moments) add(to []float64, k int, by float64, a, b []float64) {
	size := triangle(k)
	for l := range len(to) / size {
		for r, next := 0, l*size; r < k; r, next = r+1, next+r+1 {
			for c := range r + 1 {
				sum := 0.0
				ar, br, ac, bc := a[(l*k+r)*Probes:][:Probes], b[(l*k+r)*Probes:][:Probes], a[(l*k+c)*Probes:][:Probes], b[(l*k+c)*Probes:][:Probes]
				for j, v := range ar {
					sum += v*bc[j] + br[j]*ac[j]
				}
				to[next+c] += by * sum / 2
			}
		}
	}
}

// addOuter does so for W R⁻ᵀa and W R⁻ᵀb.
func (m *moments) addOuter(by float64, a, b []float64) {
	f := m.f
	left, right := f.left, f.y
	f.outward(left, a, Probes)
	f.outward(right, b, Probes)
	m.add(m.outer, f.outer.k, by, left, right)
}

// Inverse stores the numbers of A⁻¹ on which slopes depend, of levels with themselves and with dense columns, and of
// the leaf. Those of single levels are rough; it is their sums that are known.
func (f *Crossed) Inverse(dst []float64) {
	f.prepare()
	m, difference, by := f.newMoments(), f.b, 1/float64(Probes-f.skip)
	for i, z := range f.z {
		difference[i] = f.at[i] + f.first[i] - 2*z
	}
	m.add(m.inner, f.inner.k, by, difference, f.z)
	for i, z := range f.z {
		difference[i] = f.at[i] - z
	}
	m.addOuter(by, difference, f.z)
	f.fill(dst, m, false)
}

// rounds is the number of sets of probes that variances of single weights are averages over.
const rounds = 2

// Selected stores the numbers of A⁻¹ that the pattern has. Those of single levels are averages of squares of draws
// y of N(0, S̃⁻¹): that of y given all others is known, and of its mean given these the square is taken.
func (f *Crossed) Selected(dst []float64) { f.selected(dst, rounds) }

func (f *Crossed) selected(dst []float64, rounds uint64) {
	f.prepare()
	m, y, z, mean := f.newMoments(), make([]float64, len(f.z)), make([]float64, len(f.z)), make([]float64, len(f.z))
	by := 1 / float64(Probes*rounds)
	for set := range rounds {
		f.draw(z, 1+set)
		f.roots(y, z)
		f.times(mean, y)
		for i, v := range y {
			mean[i] = v - mean[i]
		}
		m.add(m.inner, f.inner.k, by, mean, mean)
		m.addOuter(by, y, y)
		m.addOuter(-by, z, z)
	}
	f.fill(dst, m, true)
}

// fill stores the numbers of A⁻¹, those of outer with inner levels where cells are wanted.
func (f *Crossed) fill(dst []float64, m *moments, cells bool) {
	p, k, size, rest, wide := f.p, f.inner.k, triangle(f.inner.k), f.rest, f.wide
	leaf, pool := p.Leaf(dst), f.ws.Pool()
	pool.CholeskyInverse(rest, f.leaf, max(1, rest), leaf, max(1, rest))
	// F = L⁻¹B − W S̃⁻¹cross, and both times V of the leaf.
	outer, outerV, innerV := f.y[:f.rows*wide], make([]float64, f.rows*rest), make([]float64, f.size*rest)
	if rest > 0 {
		f.outward(outer, f.solved, wide)
		for i, v := range f.leafW {
			outer[i] = v - outer[i]
		}
		pool.Gemm(false, false, f.rows, rest, rest, 1, outer, wide, leaf, rest, 0, outerV, rest)
		pool.Gemm(false, false, f.size, rest, rest, 1, f.solved, wide, leaf, rest, 0, innerV, rest)
	}
	square := make([]float64, max(k, f.outer.k)*max(k, f.outer.k))
	for _, v := range diagonal(m.inner, k) { // which then are of S̃⁻¹, as cells with outer levels ask for
		*v++
	}
	for l := range f.inner.levels {
		b := p.block(dst, f.inner, l)
		copy(b.own, m.inner[l*size:(l+1)*size])
		f.finish(&b, f.root[l*size:(l+1)*size], k, f.solved[l*k*wide:(l+1)*k*wide], innerV[l*k*rest:(l+1)*k*rest], square)
	}
	of, cell := f.outer.k, make([]float64, k)
	for g := range f.outer.levels {
		b, n, first := p.block(dst, f.outer, g), f.start[g+1]-f.start[g], f.start[g]*f.outer.k
		copy(b.own, m.outer[g*triangle(of):(g+1)*triangle(of)])
		for r, next := 0, 0; r < of; r, next = r+1, next+r+1 {
			for c := range r + 1 {
				b.own[next+c] += dot(f.w[first+r*n:first+(r+1)*n], f.w[first+c*n:first+(c+1)*n])
			}
			b.own[next+r]++
			own, with := f.w[first+r*n:first+(r+1)*n], outerV[(g*of+r)*rest:(g*of+r+1)*rest]
			for i := 0; cells && i < n; i += k { // −WS̃⁻¹ + F V S̃⁻¹crossᵀ, times R⁻¹ from the right
				l := int(f.index[f.start[g]+i]) / k
				for c := range cell {
					cell[c] = dot(with, f.solved[(l*k+c)*wide:][:rest])
					for e, v := range own[i : i+k] {
						cell[c] -= v * m.inner[l*size+max(c, e)*(max(c, e)+1)/2+min(c, e)]
					}
				}
				backward(f.root[l*size:(l+1)*size], cell, k, 1)
				for c, v := range cell {
					b.sparse[(i+c)*of+r] = v
				}
			}
		}
		lower := f.own[g*triangle(of) : (g+1)*triangle(of)]
		for i := 0; cells && i < n; i++ {
			backward(lower, b.sparse[i*of:(i+1)*of], of, 1)
		}
		f.finish(&b, lower, of, outer[g*of*wide:(g+1)*of*wide], outerV[g*of*rest:(g+1)*of*rest], square)
	}
}

// finish adds what the leaf says to a level's own numbers, X V Xᵀ, takes both to weights by the level's factor, and
// stores those with the leaf, −XV.
func (f *Crossed) finish(b *block, lower []float64, k int, x, xv, square []float64) {
	rest, q := f.rest, f.p.Dense
	square = square[:k*k]
	open(square, b.own, k)
	for r := range k {
		for c := range k {
			square[r*k+c] += dot(x[r*f.wide:][:rest], xv[c*rest:(c+1)*rest])
		}
	}
	backward(lower, square, k, k)
	turn(square, k)
	backward(lower, square, k, k)
	closeTo(b.own, square, k)
	backward(lower, xv, k, rest)
	for r := range k {
		for j := range q {
			b.dense[r*q+j] = -xv[r*rest+j]
		}
		for i, c := range b.cells {
			if int(c) >= f.p.leaf {
				b.sparse[i*k+r] = -xv[r*rest+int(c)-f.p.leaf]
			}
		}
	}
}
