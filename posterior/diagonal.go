package posterior

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

// Diagonal is w ~ N(Mean, diag Variance): 2d numbers, and as many operations for a
// row as it has features.
type Diagonal struct {
	Mean     []float64 // length d
	Variance []float64 // length d
}

var _ credence.Posterior = (*Diagonal)(nil)

// Weights returns d.
func (p *Diagonal) Weights() int { return len(p.Mean) }

// Latent stores Φm and (Φ⊙Φ)v.
func (p *Diagonal) Latent(ws *credence.Workspace, mean, variance []float64, phi *credence.Design) {
	check("Diagonal.Latent", len(p.Mean), mean, variance, phi)
	diagonalLatent(ws, mean, variance, phi, p.Mean, p.Variance)
}

// Marginals stores the means and variances of the weights.
func (p *Diagonal) Marginals(mean, variance []float64) {
	copy(mean, p.Mean)
	copy(variance, p.Variance)
}

// diagonalLatent stores Φm and, unless variance is nil, (Φ⊙Φ)v. Workers take fixed
// runs of rows.
func diagonalLatent(ws *credence.Workspace, mean, variance []float64, phi *credence.Design, m, v []float64) {
	const run = 64
	rows, dense := phi.Dense.Rows, phi.Dense.Cols
	ws.Pool().Run((rows+run-1)/run, func(task, _ int) {
		for i := task * run; i < min(rows, (task+1)*run); i++ {
			sum, squares := 0.0, 0.0
			if dense > 0 {
				row := phi.Dense.Row(i)
				sum = kernel.Dot(row, m[:dense])
				if variance != nil {
					for j, x := range row {
						squares += x * x * v[j]
					}
				}
			}
			if phi.Sparse.Cols > 0 {
				columns, values := phi.Sparse.Row(i)
				for k, j := range columns {
					x := 1.0
					if values != nil {
						x = values[k]
					}
					sum += x * m[dense+int(j)]
					squares += x * x * v[dense+int(j)]
				}
			}
			mean[i] = sum
			if variance != nil {
				variance[i] = squares
			}
		}
	})
}
