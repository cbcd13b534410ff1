package kernel

import "math"

// need panics unless a slice holds rows rows of cols values at stride ld.
func need[T float](name string, x []T, rows, cols, ld int) {
	if rows < 0 || cols < 0 {
		panic("kernel: " + name + ": negative dimension")
	}
	if rows == 0 || cols == 0 {
		return
	}
	if ld < cols {
		panic("kernel: " + name + ": row stride is smaller than the row")
	}
	if len(x) < (rows-1)*ld+cols {
		panic("kernel: " + name + ": slice is shorter than its shape")
	}
}

// Gemm computes C = alpha op(A) op(B) + beta C, where op(A) is m×k, op(B) is
// k×n and C is m×n. With beta 0, C is overwritten and never read.
func (p *Pool) Gemm(transA, transB bool, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if transA {
		need("Gemm A", a, k, m, lda)
	} else {
		need("Gemm A", a, m, k, lda)
	}
	if transB {
		need("Gemm B", b, n, k, ldb)
	} else {
		need("Gemm B", b, k, n, ldb)
	}
	need("Gemm C", c, m, n, ldc)
	if m == 1 && n > 0 && k > 0 && !transA && !transB && alpha == 1 && beta == 0 && n*k <= rowProductMax {
		p.rowProduct(n, k, a, b, ldb, c, k)
		return
	}
	if n == 1 && m > 0 && k > 0 && p.isa != PureGo && !transA && (transB || ldb == 1) && (beta == 0 || beta == 1) && m*k <= rowProductMax {
		p.columnProduct(m, k, alpha, a, lda, b, beta, c, ldc)
		return
	}
	p.float64s().multiply(product[float64]{
		transA: transA, transB: transB, m: m, n: n, k: k, alpha: alpha,
		a: a, lda: lda, b: b, ldb: ldb, beta: beta, c: c, ldc: ldc,
	})
}

// GemmUpper computes C = A B, where A is m×k and C is m×n, and B, k×n, is columns [k-n, k) of an upper triangular
// matrix: below the diagonal, which begins in row k-n, it holds zeros, which are not multiplied. The bits are those of
// Gemm.
func (p *Pool) GemmUpper(m, n, k int, a []float64, lda int, b []float64, ldb int, c []float64, ldc int) {
	need("GemmUpper A", a, m, k, lda)
	need("GemmUpper B", b, k, n, ldb)
	need("GemmUpper C", c, m, n, ldc)
	if k < n {
		panic("kernel: GemmUpper: more columns than rows")
	}
	if m == 1 && n > 0 && n*k <= rowProductMax {
		p.rowProduct(n, k, a, b, ldb, c, k-n)
		return
	}
	p.float64s().multiply(product[float64]{
		triangular: true, m: m, n: n, k: k, alpha: 1, a: a, lda: lda, b: b, ldb: ldb, c: c, ldc: ldc,
	})
}

// columnRows is the number of rows whose sums keep a processor busy: one waits for its last multiply-add.
const columnRows = 8

// columnProduct stores alpha times the product of an m×k matrix and a column in c, or adds it where beta is 1, with the
// bits of the blocked loop of the vector kernels: the multiply-adds of an element stand in its order.
func (p *Pool) columnProduct(m, k int, alpha float64, a []float64, lda int, b []float64, beta float64, c []float64, ldc int) {
	for i := 0; i < m; i += columnRows {
		var row [columnRows][]float64
		var total, sums [columnRows]float64
		for r := range row { // behind the last row it stands again
			total[r] = beta * c[min(i+r, m-1)*ldc]
		}
		for k0 := 0; k0 < k; k0 += depth {
			last := min(k, k0+depth)
			for r := range row {
				at := min(i+r, m-1) * lda
				row[r] = a[at+k0 : at+last]
			}
			rowSumsOn(p.isa, b[k0:last], &row, &sums)
			for r, s := range sums {
				if k0 == 0 && beta == 0 { // what stood there may be no number
					total[r] = alpha * s
					continue
				}
				total[r] = math.FMA(alpha, s, total[r])
			}
		}
		for r, v := range total[:min(columnRows, m-i)] {
			c[(i+r)*ldc] = v
		}
	}
}

// rowProductMax is how many elements of a matrix one worker multiplies by a row.
const rowProductMax = 1 << 19

// rowProduct stores the product of a row and a k×n matrix in c. The multiply-adds of an element are those of
// the blocked loop in their order, so the bits are too; packing what is used once is left out. Row i of the matrix
// begins with i-diagonal zeros, which are passed over but for a few: sums then begin where they began before, so that
// vectors that have just been written are read whole.
func (p *Pool) rowProduct(n, k int, a, b []float64, ldb int, c []float64, diagonal int) {
	isa := p.isa
	// the end of a row under a mask can take it longer than all the rest, and the matrix is in no nearer cache
	if isa == AVX512 {
		isa = AVX2
	}
	sum := c[:n]
	for k0 := 0; k0 < k; k0 += depth {
		if k0 > 0 {
			p.row = grow(p.row, n)
			sum = p.row[:n]
		}
		clear(sum)
		i, last := k0, min(k, k0+depth)
		for ; i+4 <= last; i += 4 {
			from := max(0, i-diagonal) &^ (chunk - 1)
			axpy4On(isa, a[i:i+4], b[i*ldb+from:], ldb, sum[from:])
		}
		for ; i < last; i++ {
			from := max(0, i-diagonal) &^ (chunk - 1)
			axpyOn(isa, a[i], b[i*ldb+from:i*ldb+n], sum[from:])
		}
		if k0 > 0 {
			axpyOn(isa, 1, sum, c[:n])
		}
	}
}

func scaleBy(beta float64, x []float64) {
	if beta == 0 {
		clear(x)
	} else if beta != 1 {
		Scale(beta, x)
	}
}

// Gram adds Xᵀ diag(w) X to the upper triangle of G (d×d), where X is n×d.
// w nil means ones. The strict lower triangle of G is neither read nor written.
func (p *Pool) Gram(n, d int, x []float64, ldx int, w []float64, g []float64, ldg int) {
	need("Gram X", x, n, d, ldx)
	need("Gram G", g, d, d, ldg)
	if w != nil && len(w) < n {
		panic("kernel: Gram w: slice is shorter than its shape")
	}
	p.float64s().multiply(product[float64]{
		transA: true, upper: true, same: true, m: d, n: d, k: n, alpha: 1,
		a: x, lda: ldx, b: x, ldb: ldx, w: w, beta: 1, c: g, ldc: ldg,
	})
}

// Syrk computes the upper triangle of C = alpha A Aᵀ + beta C, where A is n×k
// and C is n×n. With beta 0, C is overwritten and never read.
func (p *Pool) Syrk(n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	p.SyrkWeighted(n, k, alpha, a, lda, nil, beta, c, ldc)
}

// SyrkWeighted computes the upper triangle of C = alpha A diag(w) Aᵀ + beta C,
// otherwise like Syrk. w nil means ones.
func (p *Pool) SyrkWeighted(n, k int, alpha float64, a []float64, lda int, w []float64, beta float64, c []float64, ldc int) {
	need("Syrk A", a, n, k, lda)
	need("Syrk C", c, n, n, ldc)
	if w != nil && len(w) < k {
		panic("kernel: Syrk w: slice is shorter than its shape")
	}
	p.float64s().multiply(product[float64]{
		transB: true, upper: true, same: true, m: n, n: n, k: k, alpha: alpha,
		a: a, lda: lda, b: a, ldb: lda, w: w, beta: beta, c: c, ldc: ldc,
	})
}
