package posterior

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

// Full is w ~ N(Mean, C) with C = F Fᵀ.
type Full struct {
	Mean []float64 // length d
	// Factor is F, d×d row-major and upper triangular: the inverse of the upper
	// Cholesky factor of the posterior precision UᵀU. Elements below the diagonal are 0.
	Factor []float64
}

var _ credence.Posterior = (*Full)(nil)

// Weights returns d.
func (p *Full) Weights() int { return len(p.Mean) }

// panel is the number of rows, and of columns of a triangular factor, that one
// product works on.
const panel = 256

// Latent stores Φm and the rows' φᵀCφ = ‖Fᵀφ‖².
func (p *Full) Latent(ws *credence.Workspace, mean, variance []float64, phi *credence.Design) {
	check("Full.Latent", len(p.Mean), mean, variance, phi)
	phi.MulVec(mean, p.Mean)
	if variance == nil {
		return
	}
	clear(variance)
	n, d := phi.Dims()
	dense := phi.Dense.Cols
	defer ws.Release(ws.Mark())
	product := ws.Floats(min(n, panel) * min(d, panel))
	for first := 0; first < n; first += panel {
		rows := min(panel, n-first)
		for left := 0; left < d; left += panel {
			cols := min(panel, d-left)
			// F is upper triangular: rows below left+cols are zero in these columns.
			depth := min(dense, left+cols)
			beta := 0.0
			if depth > 0 {
				ws.Pool().Gemm(false, false, rows, cols, depth, 1,
					phi.Dense.Data[first*phi.Dense.Stride:], phi.Dense.Stride, p.Factor[left:], d, beta, product, cols)
			} else {
				clear(product[:rows*cols])
			}
			if phi.Sparse.Cols > 0 {
				p.addSparse(product, phi, first, rows, left, cols)
			}
			for i := range rows {
				row := product[i*cols : (i+1)*cols]
				variance[first+i] += kernel.Dot(row, row)
			}
		}
	}
}

// addSparse adds the sparse columns' part of Φ F[:, left:left+cols] for some rows.
func (p *Full) addSparse(product []float64, phi *credence.Design, first, rows, left, cols int) {
	d, dense := len(p.Mean), phi.Dense.Cols
	for i := range rows {
		columns, values := phi.Sparse.Row(first + i)
		for k, j := range columns {
			weight := dense + int(j)
			if weight >= left+cols {
				break // columns increase, and F is zero from here on
			}
			v := 1.0
			if values != nil {
				v = values[k]
			}
			kernel.Axpy(v, p.Factor[weight*d+left:weight*d+left+cols], product[i*cols:(i+1)*cols])
		}
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

// check panics unless the arguments of a Latent agree in shape.
func check(method string, d int, mean, variance []float64, phi *credence.Design) {
	n, cols := phi.Dims()
	if cols != d || len(mean) != n || variance != nil && len(variance) != n {
		panic(fmt.Sprintf("posterior: %s with %d weights, a %d×%d design, %d means and %d variances",
			method, d, n, cols, len(mean), len(variance)))
	}
}
