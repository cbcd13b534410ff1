package posterior

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Diagonal is w ~ N(Mean, diag Variance): 2d numbers, and as many operations for a
// row as it has features.
type Diagonal struct {
	Mean     []float64 `json:"-" tensor:"mean,d"`
	Variance []float64 `json:"-" tensor:"variance,d"`
}

var _ credence.Joint = (*Diagonal)(nil)

// Weights returns d.
func (p *Diagonal) Weights() int { return len(p.Mean) }

// Latent stores Φm and (Φ⊙Φ)v.
func (p *Diagonal) Latent(ws *credence.Workspace, mean, variance []float64, phi *credence.Design) {
	check("Diagonal.Latent", len(p.Mean), mean, variance, phi)
	diagonalLatent(ws, mean, variance, phi, p.Mean, p.Variance)
}

// Covariance stores Φ_a diag(v) Φ_bᵀ.
func (p *Diagonal) Covariance(_ *credence.Workspace, dst *linop.Dense, a, b *credence.Design) {
	checkCovariance("Diagonal.Covariance", len(p.Mean), dst, a, b)
	clearRows(dst)
	addDiagonalCovariance(dst, a, b, p.Variance)
}

// Marginals stores the means and variances of the weights.
func (p *Diagonal) Marginals(mean, variance []float64) {
	copy(mean, p.Mean)
	copy(variance, p.Variance)
}

// diagonalLatent stores Φm and, unless variance is nil, (Φ⊙Φ)v.
func diagonalLatent(ws *credence.Workspace, mean, variance []float64, phi *credence.Design, m, v []float64) {
	phi.Mul(ws, mean, m)
	if variance != nil {
		phi.MulSquares(ws, variance, v)
	}
}

// addDiagonalCovariance adds Φ_a diag(v) Φ_bᵀ to dst. A sparse column that a row names twice counts
// as one weight.
func addDiagonalCovariance(dst *linop.Dense, a, b *credence.Design, v []float64) {
	scaled := make([]float64, len(v)) // v⊙φ of one row, zero between two rows
	for i := range dst.Rows {
		a.Each(i, func(j int, x float64) { scaled[j] += x * v[j] })
		row := dst.Row(i)
		for k := range row {
			row[k] += b.RowDot(k, scaled)
		}
		a.Each(i, func(j int, _ float64) { scaled[j] = 0 })
	}
}
