package laplace

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

// random estimates the diagonal of M = (I + BᵀB)⁻¹, B = X̃V^(−½), from products with random signs: H⁻¹
// = V^(−½)MV^(−½). With fewer rows than columns that is the diagonal of I − M, which has the rank of
// the rows. Each vector is taken against the range of all the others (XDiag: Epperly, Tropp & Webber
// 2024), which leaves the estimate unbiased, and exact where the range is all of C's; the spread over
// the vectors is its error.
func (f *fit) random(bends []float64) *marginals {
	d, count := len(bends), f.config.Vectors
	root := make([]float64, d) // V^(−½)
	for j, v := range bends {
		root[j] = 1 / math.Sqrt(v)
	}
	signs, basis := make([]float64, 0, count*d), make([]float64, 0, count*d)
	upper := make([]float64, count*count) // R of the products' QR
	spanned := false
	for k := range count {
		rng := credence.Rand(f.config.Seed, credence.LaplaceVariances, uint64(k)+1)
		sign := make([]float64, d)
		for j := range sign {
			sign[j] = float64(2*rng.IntN(2) - 1)
		}
		column := make([]float64, d)
		f.product(column, sign, root)
		before := kernel.Dot(column, column)
		for range 2 {
			for a := range k {
				row := basis[a*d : (a+1)*d]
				part := kernel.Dot(row, column)
				upper[a*count+k] += part
				kernel.Axpy(-part, row, column)
			}
		}
		after := kernel.Dot(column, column)
		if !(after > 1e-14*before) { // the range is all there is
			spanned, count = true, k
			break
		}
		upper[k*count+k] = math.Sqrt(after)
		kernel.Scale(1/upper[k*count+k], column)
		signs, basis = append(signs, sign...), append(basis, column...)
	}
	images := make([]float64, count*d) // C Q
	diagonal := make([]float64, d)
	for a := range count {
		f.product(images[a*d:(a+1)*d], basis[a*d:(a+1)*d], root)
		for j, q := range basis[a*d : (a+1)*d] {
			diagonal[j] += q * images[a*d+j]
		}
	}
	square := make([]float64, d)
	if !spanned {
		square = leaveOneOut(diagonal, signs, basis, images, upper, count)
	}
	m := &marginals{variance: diagonal, logDet: math.NaN()}
	least, size := f.least(bends), 0.0
	for j, c := range diagonal {
		v := 1 / bends[j]
		if f.Rows < d {
			c = 1 - c
		}
		m.variance[j] = math.Min(math.Max(v*c, least[j]), v)
		spread := math.Min(v*math.Sqrt(square[j]), v-least[j])
		m.err += spread * spread
		size += m.variance[j] * m.variance[j]
	}
	m.err = math.Sqrt(m.err / size)
	return m
}

// least are 1/H_jj, which no variance is below.
func (f *fit) least(bends []float64) []float64 {
	out := make([]float64, len(bends))
	f.ws.InRuns(len(bends), func(from, to int) {
		column := make([]float64, f.Rows)
		for j := from; j < to; j++ {
			f.Column(column, j)
			f.scaled(column, column)
			out[j] = 1 / (bends[j] + kernel.Dot(column, column))
		}
	})
	return out
}

// leaveOneOut takes the diagonal of QQᵀC, for C the matrix estimated, to the mean of the estimates
// that leave one vector out of Q each, and returns the squares of its standard errors.
func leaveOneOut(diagonal, signs, basis, images, upper []float64, count int) (square []float64) {
	d := len(diagonal)
	sum, inverse := make([]float64, d), make([]float64, count)
	square = make([]float64, d)
	left, right := make([]float64, d), make([]float64, d) // Q s, C Q s
	for i := range count {
		// row i of R⁻¹, from xᵀR = e_iᵀ
		clear(inverse)
		for c := i; c < count; c++ {
			x := 0.0
			if c == i {
				x = 1
			}
			for a := i; a < c; a++ {
				x -= inverse[a] * upper[a*count+c]
			}
			inverse[c] = x / upper[c*count+c]
		}
		norm := math.Sqrt(kernel.Dot(inverse, inverse))
		clear(left)
		clear(right)
		for a := i; a < count; a++ {
			kernel.Axpy(inverse[a]/norm, basis[a*d:(a+1)*d], left)
			kernel.Axpy(inverse[a]/norm, images[a*d:(a+1)*d], right)
		}
		for j := range d {
			estimate := left[j] * (signs[i*d+j]/norm - right[j])
			sum[j] += estimate
			square[j] += estimate * estimate
		}
	}
	n := float64(count)
	for j := range d {
		mean := sum[j] / n
		square[j] = math.Max(0, square[j]/n-mean*mean) / (n - 1)
		diagonal[j] += mean
	}
	return square
}

// Solves by conjugate gradients.
const (
	solveTolerance = 1e-10
	mostSolveSteps = 2000
)

// product stores the product with the matrix estimated: s of (I + BᵀB)s = x, or x − s with fewer rows
// than columns.
func (f *fit) product(dst, x, root []float64) {
	d := len(x)
	residual, direction, product := append([]float64(nil), x...), append([]float64(nil), x...), make([]float64, d)
	solution := make([]float64, d)
	norm := kernel.Dot(x, x)
	start := norm
	rows := make([]float64, f.Rows)
	for range mostSolveSteps {
		if !(norm > solveTolerance*solveTolerance*start) {
			break
		}
		for j, v := range direction {
			product[j] = root[j] * v
		}
		f.Mul(f.ws, rows, product)
		for i, c := range f.curvature {
			rows[i] *= c
		}
		f.MulTrans(f.ws, product, rows)
		for j, v := range direction {
			product[j] = v + root[j]*product[j]
		}
		length := norm / kernel.Dot(direction, product)
		kernel.Axpy(length, direction, solution)
		kernel.Axpy(-length, product, residual)
		next := kernel.Dot(residual, residual)
		ratio := next / norm
		norm = next
		for j, r := range residual {
			direction[j] = r + ratio*direction[j]
		}
	}
	copy(dst, solution)
	if f.Rows < d {
		for j, v := range x {
			dst[j] = v - solution[j]
		}
	}
}
