package posterior

import (
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Full is w ~ N(Mean, C) with C = F Fᵀ, or Student-t with that covariance.
type Full struct {
	Mean []float64 `json:"-" tensor:"mean,d"`
	// Factor is F, d×d row-major and upper triangular: the inverse of the upper
	// Cholesky factor of the posterior precision UᵀU. Elements below the diagonal are 0.
	Factor []float64 `json:"-" tensor:"covariance_factor,d,d"`
	// Probability is P(w_j ≠ 0), 1 for an intercept; nil if every weight is included. Mean and
	// Factor are those of w itself, the chance of 0 included.
	Probability []float64 `json:"-" tensor:"inclusion,d,optional"`
	// DF is the degrees of freedom of every f, above 2; 0 stands for the normal distribution.
	DF float64 `json:"df,omitempty"`
}

var (
	_ credence.Joint    = (*Full)(nil)
	_ credence.Selector = (*Full)(nil)
	_ credence.LatentDF = (*Full)(nil)
)

// Weights returns d.
func (p *Full) Weights() int { return len(p.Mean) }

// LatentDF returns DF.
func (p *Full) LatentDF() float64 { return p.DF }

// SameCovariance reports whether another posterior has the same factor in memory, so that the
// variances of f are the same.
func (p *Full) SameCovariance(other credence.Posterior) bool {
	q, ok := other.(*Full)
	return ok && len(p.Factor) > 0 && len(q.Factor) == len(p.Factor) && &q.Factor[0] == &p.Factor[0]
}

// panel is the number of rows that one product works on, and of columns whose squares are added up apart.
const panel = 256

// width is the number of columns of a triangular factor that are multiplied at once: of one row, which is not packed,
// as many as are added up, and otherwise more, so that the rows are packed for more of them.
func width(rows int) int {
	if rows == 1 {
		return panel
	}
	return 4 * panel
}

// Latent stores Φm and the rows' φᵀCφ = ‖Fᵀφ‖².
func (p *Full) Latent(ws *credence.Workspace, mean, variance []float64, phi *credence.Design) {
	check("Full.Latent", len(p.Mean), mean, variance, phi)
	phi.MulVec(mean, p.Mean)
	if variance == nil {
		return
	}
	clear(variance)
	n, d := phi.Dims()
	defer ws.Release(ws.Mark())
	width := min(d, width(n))
	product := ws.Floats(min(n, panel) * width)
	for first := 0; first < n; first += panel {
		rows := phi
		if n > panel { // a window takes memory, which one row does not need
			window := phi.Window(first, min(panel, n-first))
			rows = &window
		}
		for left := 0; left < d; left += width {
			cols := min(width, d-left)
			rows.MulUpper(ws, product, p.Factor, left, cols)
			for i := range rows.Dense.Rows {
				for row := range slices.Chunk(product[i*cols:(i+1)*cols], panel) {
					variance[first+i] += kernel.Dot(row, row)
				}
			}
		}
	}
}

// Covariance stores Φ_a C Φ_bᵀ = (Φ_a F)(Φ_b F)ᵀ, panel by panel of F's columns.
func (p *Full) Covariance(ws *credence.Workspace, dst *linop.Dense, a, b *credence.Design) {
	m, n := checkCovariance("Full.Covariance", len(p.Mean), dst, a, b)
	defer ws.Release(ws.Mark())
	d := len(p.Mean)
	left, right := ws.Floats(m*min(d, panel)), ws.Floats(n*min(d, panel))
	dst.Clear()
	for first := 0; first < d; first += panel {
		cols := min(panel, d-first)
		a.MulUpper(ws, left, p.Factor, first, cols)
		b.MulUpper(ws, right, p.Factor, first, cols)
		ws.Pool().Gemm(false, true, m, n, cols, 1, left, cols, right, cols, 1, dst.Data, max(1, dst.Stride))
	}
}

// Marginals stores the means and variances of the weights.
func (p *Full) Marginals(mean, variance []float64) {
	d := len(p.Mean)
	copy(mean, p.Mean)
	for j := range d {
		row := p.Factor[j*d+j : (j+1)*d]
		variance[j] = kernel.Dot(row, row)
	}
}

// Selects reports whether weights may be 0.
func (p *Full) Selects() bool { return p.Probability != nil }

// InclusionProbability returns P(w_j ≠ 0).
func (p *Full) InclusionProbability(j int) float64 { return included(p.Probability, j) }

// included returns element j of the probabilities, nil meaning that all weights are included.
func included(probability []float64, j int) float64 {
	if probability == nil {
		return 1
	}
	return probability[j]
}

// check panics unless the arguments of a Latent agree in shape.
func check(method string, d int, mean, variance []float64, phi *credence.Design) {
	n, cols := phi.Dims()
	if cols != d || len(mean) != n || variance != nil && len(variance) != n {
		panic(fmt.Sprintf("posterior: %s with %d weights, a %d×%d design, %d means and %d variances",
			method, d, n, cols, len(mean), len(variance)))
	}
}

// checkCovariance panics unless the arguments of a Covariance agree in shape, which it returns.
func checkCovariance(method string, d int, dst *linop.Dense, a, b *credence.Design) (rows, cols int) {
	m, left := a.Dims()
	n, right := b.Dims()
	if left != d || right != d || dst.Rows != m || dst.Cols != n {
		panic(fmt.Sprintf("posterior: %s with %d weights of designs %d×%d and %d×%d into a %d×%d matrix",
			method, d, m, left, n, right, dst.Rows, dst.Cols))
	}
	return m, n
}
