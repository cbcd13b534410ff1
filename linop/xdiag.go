package linop

import (
	"math"

	"github.com/credence-ml/credence/internal/kernel"
)

// EstimatedDiagonal is the diagonal that is estimated by [XDiag] of a matrix A.
type EstimatedDiagonal struct {
	Values []float64 // length n
	Square []float64 // of the standard error of each, from the spread over the vectors
	// Least are the squared norms of the rows of AQ: where no eigenvalue of A is above 1, no element is below.
	Least []float64
	Exact bool // the vectors span the range of A
	// Products with A, of vectors.
	Products int
}

// fewElements are so few that two vectors of random signs may be the same, as if the range were all there is.
const fewElements = 24

// productsTogether is the number of vectors that XDiag multiplies at a time.
const productsTogether = 16

// XDiag estimates the diagonal of a symmetric n×n matrix from products with count vectors of random signs, and with
// the basis Q of these products. Each vector is taken against the range of all the others, which leaves the
// estimate unbiased, and exact where the range is all of A's (Epperly, Tropp & Webber 2024). Of no more than 2·count
// elements, for which they take no more products, or of 24, the vectors are unit vectors, and the diagonal is exact,
// too. sign stores vector k; product stores A X for the columns of X. It holds 3·count·n numbers.
func XDiag(n, count int, sign func(k int, dst []float64), product func(dst, x *Dense) error) (*EstimatedDiagonal, error) {
	signs, basis := make([]float64, 0, count*n), make([]float64, 0, count*n)
	upper, out := make([]float64, count*count), &EstimatedDiagonal{} // R of the products' QR
	most := count
	if n <= 2*count || n <= fewElements && count > 1 {
		basis, count, out.Exact = make([]float64, n*n), n, true
		for k := range n {
			basis[k*n+k] = 1
		}
	}
	for first := 0; first < count && !out.Exact; first += productsTogether {
		part := min(productsTogether, most-first)
		for k := range part {
			signs = signs[:(first+k+1)*n]
			sign(first+k, signs[(first+k)*n:])
		}
		columns, err := timesRows(n, signs[first*n:], product)
		if err != nil {
			return nil, err
		}
		out.Products += part
		for k := first; k < first+part; k++ {
			column := columns[(k-first)*n : (k-first+1)*n]
			before := kernel.Dot(column, column)
			for range 2 {
				for a := range k {
					row := basis[a*n : (a+1)*n]
					along := kernel.Dot(row, column)
					upper[a*most+k] += along
					kernel.Axpy(-along, row, column)
				}
			}
			after := kernel.Dot(column, column)
			if !(after > 1e-14*before) { // the range is all there is
				out.Exact, count = true, k
				break
			}
			upper[k*most+k] = math.Sqrt(after)
			kernel.Scale(1/upper[k*most+k], column)
			basis = append(basis, column...)
		}
	}
	out.Values, out.Square, out.Least = make([]float64, n), make([]float64, n), make([]float64, n)
	images := make([]float64, 0, count*n) // AQ
	for first := 0; first < count; first += productsTogether {
		part, err := timesRows(n, basis[first*n:min(count, first+productsTogether)*n], product)
		if err != nil {
			return nil, err
		}
		images = append(images, part...)
	}
	out.Products += count
	for a := range count {
		image := images[a*n : (a+1)*n]
		for j, q := range basis[a*n : (a+1)*n] {
			out.Values[j] += q * image[j]
			out.Least[j] += image[j] * image[j]
		}
	}
	if !out.Exact {
		out.leaveOneOut(signs, basis, images, upper, count)
	}
	return out, nil
}

// timesRows returns the products with the rows of x, n numbers each, as rows.
func timesRows(n int, x []float64, product func(dst, x *Dense) error) ([]float64, error) {
	count := len(x) / n
	from, to, out := NewDense(n, count), NewDense(n, count), make([]float64, len(x))
	for k := range count {
		for i, v := range x[k*n : (k+1)*n] {
			from.Data[i*count+k] = v
		}
	}
	if err := product(&to, &from); err != nil {
		return nil, err
	}
	for k := range count {
		for i := range n {
			out[k*n+i] = to.Data[i*count+k]
		}
	}
	return out, nil
}

// leaveOneOut takes the diagonal of QQᵀA to the mean of the estimates that leave one vector out of Q each, and
// finds their spread.
func (d *EstimatedDiagonal) leaveOneOut(signs, basis, images, upper []float64, count int) {
	n := len(d.Values)
	sum, inverse := make([]float64, n), make([]float64, count)
	left, right := make([]float64, n), make([]float64, n) // Qs, AQs
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
			kernel.Axpy(inverse[a]/norm, basis[a*n:(a+1)*n], left)
			kernel.Axpy(inverse[a]/norm, images[a*n:(a+1)*n], right)
		}
		for j := range n {
			estimate := left[j] * (signs[i*n+j]/norm - right[j])
			sum[j] += estimate
			d.Square[j] += estimate * estimate
		}
	}
	for j := range n {
		mean := sum[j] / float64(count)
		if count > 1 { // else all that one vector adds may be chance
			d.Square[j] = math.Max(0, d.Square[j]/float64(count)-mean*mean) / float64(count-1)
		}
		d.Values[j] += mean
	}
}
