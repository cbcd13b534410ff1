// Package gauss is the normal posterior of weights under a normal prior of variances Λ and rows of precisions G,
// written once for the engines. G is what a row counts, w·p over the variance of the noise or a site's precision, and
// the caller's. There are two forms. The first is by weights, with S² = Λ and H = ΦᵀGΦ, or another matrix that sums the
// rows up:
//
//	C = S A⁻¹ S      A = I + S H S
//
// so that no prior variance is inverted, however small it is. The second is by rows, for fewer rows than weights:
//
//	C = Λ − ΛΦᵀTΦΛ      T = √G B⁻¹ √G      B = I + √G ΦΛΦᵀ √G
//
// (Woodbury), where a row of weight 0 is one that says nothing. Both take O(side³) operations and a few times side²
// numbers.
//
// A and B are as well conditioned as the problem: their eigenvalues are at least 1. Rounding may leave a pivot that is
// not positive all the same, where columns or rows repeat each other and the noise is tiny: as little as is needed is
// then added to the diagonal.
//
// A factor belongs to the engine that made it and holds one matrix at a time: Set overwrites it, with the roots it gave
// out. Factors are not safe for several goroutines, and run on the threads of their workspace.
package gauss

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

// Values says how the values of a symmetric matrix H of the weights lie in a slice, which may be added to others,
// scaled and saved as it is.
type Values interface {
	// Len is the number of values.
	Len() int
	// AddRows adds ΦᵀWΦ, where nil weights are ones. After the last rows Close makes H whole, by how many columns are
	// dense.
	AddRows(ws *credence.Workspace, h []float64, phi *credence.Design, weights []float64)
	Close(h []float64, dense int)
	// Centre turns H into TᵀHT, that of columns less their means: weight 0 is the intercept, and T = [1, −x̄ᵀ; 0, I].
	Centre(h, means []float64)
	// Mul stores Hx.
	Mul(dst, h, x []float64)
	// AddOuter adds scale·xxᵀ, as far as the layout has it.
	AddOuter(h []float64, scale float64, x []float64)
	// Diagonal stores diag H.
	Diagonal(dst, h []float64)
	// Solver returns room for a matrix A.
	Solver(ws *credence.Workspace) Solver
}

// Layout is that of all d×d values.
type Layout interface {
	Values
	// Factor returns room for factors of A.
	Factor(ws *credence.Workspace) Factor
}

// System is the form by weights, as far as evidence and its slopes ask for it.
type System interface {
	// Set takes H times a scale, and the prior standard deviations S, of which it keeps a copy. The error is a
	// [*Repeated].
	Set(h []float64, scale float64, deviations []float64) error
	// Jitter is what Set added to the diagonal of A, as a share of its mean.
	Jitter() float64
	// Whiten stores Cb in dst and S⁻¹Cb in white: its square is that of Cb in the metric of the prior. All may be the
	// same.
	Whiten(dst, white, b []float64)
	// LogDet returns log|A| = log|Λ| − log|C|.
	LogDet() float64
	// Inverse stores A⁻¹ as the layout has it, with both triangles where it is a square.
	Inverse(dst []float64)
}

// Solver is the form by weights, as far as every layout has it.
type Solver interface {
	System
	// Covariance stores C as Inverse stores A⁻¹.
	Covariance(dst []float64)
	// Variances stores diag C.
	Variances(dst []float64)
	// Spread returns C. It is the solver's own, until the next Set.
	Spread() Spread
}

// Spread is a covariance C = FFᵀ of the weights.
type Spread interface {
	// Mul stores Cx in dst, which may be x, and Fᵀx in half, which may not be.
	Mul(ws *credence.Workspace, dst, half, x []float64)
	// Draw stores Fz, a draw of N(0, C), and returns zᵀz.
	Draw(dst []float64, rng *rand.Rand) (square float64)
	// RowVariances stores φᵀCφ for every row φ.
	RowVariances(ws *credence.Workspace, dst []float64, phi *credence.Design)
}

var _ Spread = Root(nil)

// Factor is the form by weights where all of C is at hand.
type Factor interface {
	Solver
	// Solve stores Cb in dst, which may be b.
	Solve(dst, b []float64)
	// Trace returns tr HC, for a covariance that Covariance stored.
	Trace(h, covariance []float64) float64
	// Half turns the columns of x, one number a weight, into U⁻ᵀSx, where UᵀU = A: their squares are xᵀCx.
	Half(x []float64, columns int)
	// Root returns F with FFᵀ = C. It is the factor's own, until the next Set.
	Root() Root
}

// Root is an upper triangular F, row-major, of a covariance FFᵀ.
type Root []float64

// Variances stores the diagonal of FFᵀ.
func (f Root) Variances(ws *credence.Workspace, dst []float64) {
	d := len(dst)
	ws.Each(d, func(i int) {
		row := f[i*d+i : (i+1)*d]
		dst[i] = kernel.Dot(row, row)
	})
}

// Covariance stores FFᵀ, d×d.
func (f Root) Covariance(ws *credence.Workspace, dst []float64, d int) {
	ws.Pool().Syrk(d, d, 1, f, d, 0, dst, d)
	kernel.Symmetrize(d, dst, d)
}

// Mul stores FFᵀx in dst, which may be x, and Fᵀx in half.
func (f Root) Mul(ws *credence.Workspace, dst, half, x []float64) {
	d := len(x)
	clear(half)
	const stripe = 256
	ws.Pool().Run((d+stripe-1)/stripe, func(task, _ int) {
		from := task * stripe
		to := min(d, from+stripe)
		for i := range to { // F is upper triangular
			low := max(i, from)
			kernel.Axpy(x[i], f[i*d+low:i*d+to], half[low:to])
		}
	})
	ws.Each(d, func(i int) {
		dst[i] = kernel.Dot(f[i*d+i:(i+1)*d], half[i:])
	})
}

// Draw stores Fz, a draw of N(0, FFᵀ), and returns zᵀz.
func (f Root) Draw(dst []float64, rng *rand.Rand) (square float64) {
	d := len(dst)
	for j := range dst {
		dst[j] = rng.NormFloat64()
		square += dst[j] * dst[j]
	}
	for j := range dst { // F is upper triangular, and what has been stored is behind
		dst[j] = kernel.Dot(f[j*d+j:(j+1)*d], dst[j:])
	}
	return square
}

// width is the number of columns of the root in one product: some panels even of a small root, for a triangle's zeros
// to be left out, and not many of a large one, for each reads the rows again.
func width(d int) int { return min(d, max(64, min(d/4/64*64, 256))) }

// RowVariances stores φᵀFFᵀφ for every row φ.
func (f Root) RowVariances(ws *credence.Workspace, dst []float64, phi *credence.Design) {
	n, d := phi.Dims()
	width := width(d)
	defer ws.Release(ws.Mark())
	room := ws.Floats(min(n, credence.BlockRows) * width)
	clear(dst)
	for first, rows := range credence.Blocks(n) {
		part, of := phi.Window(first, rows), dst[first:first+rows]
		for left := 0; left < d; left += width {
			cols := min(width, d-left)
			product := room[:rows*cols]
			part.MulUpper(ws, product, f, left, cols)
			ws.Each(rows, func(i int) {
				row := product[i*cols : (i+1)*cols]
				of[i] += kernel.Dot(row, row)
			})
		}
	}
}

// Repeated says that a matrix has no factor: to the last digits a column, or a row, is a sum of others.
type Repeated struct {
	Rows         bool // it is a row
	Pivot, Count int  // which, of how many
	Twin         int  // the one before it that it is most like; −1 where all are 0
}

// Error implements error.
func (e *Repeated) Error() string {
	if e.Rows {
		return fmt.Sprintf("row %d of %d is lost to rounding: the covariance of the rows is not positive definite; rows may be equal: scale the columns, raise the noise variance, or state a smaller prior variance", e.Pivot+1, e.Count)
	}
	return e.Of(func(j int) string { return fmt.Sprintf("weight %d", j+1) })
}

// Of says it of named weights.
func (e *Repeated) Of(name func(j int) string) string {
	if e.Rows {
		return e.Error()
	}
	like := ""
	if e.Twin >= 0 {
		like = ", most like that of " + name(e.Twin)
	}
	return fmt.Sprintf("the column of %s (%d of %d%s) is lost to rounding: the precision of the weights is not positive definite; columns may be equal, or far from 0: scale them, leave one out, or state a smaller prior variance or a larger noise variance", name(e.Pivot), e.Pivot+1, e.Count, like)
}

// jitters are added one after the other to a diagonal, as shares of its mean, until there is a factor.
var jitters = [...]float64{0, 1e-12, 1e-10, 1e-8, 1e-6}

// factorise fills a with fill and factors it in place; it returns the pivot that failed, or -1. A matrix that may have
// negative eigenvalues is tried as it is alone.
func factorise(pool *kernel.Pool, n int, a []float64, definite bool, fill func()) (jitter float64, pivot int) {
	for _, jitter = range jitters {
		fill()
		if jitter > 0 {
			mean := 0.0
			for i := range n {
				mean += a[i*n+i] / float64(n)
			}
			for i := range n {
				a[i*n+i] += jitter * mean
			}
		}
		var ok bool
		if pivot, ok = pool.Cholesky(n, a, max(1, n)); ok {
			return jitter, -1
		}
		if !definite {
			break
		}
	}
	return jitter, pivot
}

// ScaleSides stores SMS in the place of a square matrix M, for the diagonal S.
func ScaleSides(ws *credence.Workspace, m, s []float64) {
	d := len(s)
	ws.Each(d, func(i int) {
		row, by := m[i*d:(i+1)*d], s[i]
		for j, v := range s {
			row[j] *= by * v
		}
	})
}

// LogDeterminant returns log|UᵀU| of an upper triangular U, n×n.
func LogDeterminant(n int, u []float64) float64 {
	sum := 0.0
	for i := range n {
		sum += math.Log(u[i*n+i])
	}
	return 2 * sum
}
