package kernel

func sameLength(name string, n int, xs ...int) {
	for _, m := range xs {
		if m != n {
			panic("kernel: " + name + ": slices differ in length")
		}
	}
}

// Dot returns xᵀy. The sum is kept in 32 interleaved parts, so its error grows
// with n/32.
func Dot(x, y []float64) float64 {
	sameLength("Dot", len(x), len(y))
	return dotOn(streaming(detected, len(x)), x, y)
}

// Axpy computes y += alpha x. y may be x.
func Axpy(alpha float64, x, y []float64) {
	sameLength("Axpy", len(x), len(y))
	axpyOn(detected, alpha, x, y)
}

// AddRows adds multiples alpha of rows of x to y, in their order: the rows of the numbers in index, which increase, ld
// values apart. A nil alpha is of ones. The bits are those of as many calls of [Axpy].
func AddRows(alpha []float64, index []int32, x []float64, ld int, y []float64) {
	if alpha != nil {
		sameLength("AddRows", len(index), len(alpha))
	}
	if len(index) == 0 || len(y) == 0 {
		return
	}
	if index[0] < 0 || int(index[len(index)-1])*ld+len(y) > len(x) {
		panic("kernel: AddRows: a row beyond the matrix")
	}
	addRowsOn(detected, alpha, index, x, ld, y)
}

// gathered is the number of values that are added together.
const gathered = 16

func addRowsOn(s ISA, alpha []float64, index []int32, x []float64, ld int, y []float64) {
	for ; len(y) >= gathered && gatherOn(s, alpha, index, x, ld, y); x, y = x[gathered:], y[gathered:] {
		if len(y) == gathered {
			return
		}
	}
	for k, row := range index {
		a := 1.0
		if alpha != nil {
			a = alpha[k]
		}
		axpyOn(s, a, x[int(row)*ld:int(row)*ld+len(y)], y)
	}
}

// Sum returns the sum of x, in 32 interleaved parts.
func Sum(x []float64) float64 { return sumOn(streaming(detected, len(x)), x) }

// Scale computes x *= alpha.
func Scale(alpha float64, x []float64) { scaleOn(detected, alpha, x) }

func scaleGo(alpha float64, x []float64) {
	for i := range x {
		x[i] *= alpha
	}
}

func dotGo(x, y []float64) float64 {
	var s [8]float64
	for ; len(x) >= 8 && len(y) >= 8; x, y = x[8:], y[8:] {
		s[0] += x[0] * y[0]
		s[1] += x[1] * y[1]
		s[2] += x[2] * y[2]
		s[3] += x[3] * y[3]
		s[4] += x[4] * y[4]
		s[5] += x[5] * y[5]
		s[6] += x[6] * y[6]
		s[7] += x[7] * y[7]
	}
	for i, v := range x {
		s[i] += v * y[i]
	}
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

func sumGo(x []float64) float64 {
	var s0, s1, s2, s3 float64
	for ; len(x) >= 4; x = x[4:] {
		s0 += x[0]
		s1 += x[1]
		s2 += x[2]
		s3 += x[3]
	}
	for _, v := range x {
		s0 += v
	}
	return (s0 + s2) + (s1 + s3)
}

func axpyGo(alpha float64, x, y []float64) {
	y = y[:len(x)]
	for i, v := range x {
		y[i] += alpha * v
	}
}

func axpy4Go(alpha, x []float64, ld int, y []float64) {
	n := len(y)
	a0, a1, a2, a3 := alpha[0], alpha[1], alpha[2], alpha[3]
	x0, x1, x2, x3 := x[:n], x[ld:ld+n], x[2*ld:2*ld+n], x[3*ld:3*ld+n]
	for i := range y {
		v := y[i] + a0*x0[i]
		v += a1 * x1[i]
		v += a2 * x2[i]
		y[i] = v + a3*x3[i]
	}
}
