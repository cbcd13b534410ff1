package kernel

// inversion is the inverse of a factor in progress; see CholeskyInverse.
type inversion struct {
	n, ldc int
	c      []float64
	w      []float64 // a block row of W, rows of width
	k      int       // its first row
	width  int

	identityTask, takeTask, mirrorTask func(t, worker int) // bound once
}

const inverseRows = 16 // rows of a task that only moves memory: one tile of symmetrizeRows

// CholeskyInverse stores the full symmetric C = (UᵀU)⁻¹, where U is upper
// triangular n×n. C must not overlap U. W = U⁻ᵀ is formed in the lower
// triangle of C, and WᵀW, added up by blocks of rows of W, in the upper: n³/3
// multiply-adds in all, and no second matrix.
func (p *Pool) CholeskyInverse(n int, u []float64, ldu int, c []float64, ldc int) {
	need("CholeskyInverse U", u, n, n, ldu)
	need("CholeskyInverse C", c, n, n, ldc)
	if n == 0 {
		return
	}
	if p.inverse == nil {
		v := &inversion{}
		v.identityTask, v.takeTask, v.mirrorTask = v.identity, v.take, v.mirror
		p.inverse = v
	}
	v, t := p.inverse, p.triangles()
	t.block = grow(t.block, side*n)
	v.n, v.c, v.ldc, v.w = n, c, ldc, t.block
	p.hold()
	defer p.release()
	v.run(p, n, v.identityTask)
	for k := 0; k < n; k += side {
		kb := min(side, n-k)
		rest := k + kb
		t.load(false, kb, u[k*ldu+k:], ldu)
		t.solve(false, rest, kb, c[k*ldc:], ldc)
		if rest < n {
			p.float64s().multiply(product[float64]{
				transA: true, lower: true, m: n - rest, n: rest, k: kb, alpha: -1,
				a: u[k*ldu+rest:], lda: ldu, b: c[k*ldc:], ldb: ldc, beta: 1, c: c[rest*ldc:], ldc: ldc,
			})
		}
	}
	for k := 0; k < n; k += side {
		kb := min(side, n-k)
		v.k, v.width = k, k+kb
		v.run(p, kb, v.takeTask)
		p.float64s().multiply(product[float64]{
			transA: true, upper: true, lower: true, same: true, m: v.width, n: v.width, k: kb, alpha: 1,
			a: v.w, lda: v.width, b: v.w, ldb: v.width, beta: 1, c: c, ldc: ldc,
		})
	}
	v.run(p, n, v.mirrorTask)
	v.c, v.w = nil, nil
}

// run does a task for every inverseRows of so many rows.
func (v *inversion) run(p *Pool, rows int, task func(t, worker int)) {
	tasks := (rows + inverseRows - 1) / inverseRows
	if v.n < 2*side {
		for t := range tasks {
			task(t, 0)
		}
		return
	}
	p.Run(tasks, task)
}

// identity sets rows of C.
func (v *inversion) identity(t, _ int) {
	for i := t * inverseRows; i < min(v.n, (t+1)*inverseRows); i++ {
		row := v.c[i*v.ldc : i*v.ldc+v.n]
		clear(row)
		row[i] = 1
	}
}

// take moves rows of W out of C: from the diagonal on, C is then the sum so far.
func (v *inversion) take(t, _ int) {
	for i := t * inverseRows; i < min(v.width-v.k, (t+1)*inverseRows); i++ {
		row := v.c[(v.k+i)*v.ldc : (v.k+i)*v.ldc+v.width]
		copy(v.w[i*v.width:(i+1)*v.width], row)
		clear(row[v.k+i:])
	}
}

// mirror copies columns of the upper triangle to rows of the lower.
func (v *inversion) mirror(t, _ int) {
	symmetrizeRows(t*inverseRows, min(v.n, (t+1)*inverseRows), v.c, v.ldc)
}

// Symmetrize copies the upper triangle of A (n×n) to the lower.
func Symmetrize(n int, a []float64, lda int) {
	need("Symmetrize A", a, n, n, lda)
	symmetrizeRows(0, n, a, lda)
}

// symmetrizeRows is Symmetrize for some rows.
func symmetrizeRows(from, to int, a []float64, lda int) {
	const tile = 16 // both sides of a tile stay in cache
	for i0 := from; i0 < to; i0 += tile {
		for j0 := 0; j0 <= i0; j0 += tile {
			for i := i0; i < min(to, i0+tile); i++ {
				row := a[i*lda : i*lda+i]
				for j := j0; j < min(i, j0+tile); j++ {
					row[j] = a[j*lda+i]
				}
			}
		}
	}
}
