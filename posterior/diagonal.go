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
	dst.Clear()
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

// SpikeSlab is a factorised posterior of weights that may be exactly 0: of
// each, the mean, the variance, and the probability that it is not 0. Mean and
// Variance are those of w itself, the chance of 0 included.
//
// With a Centre c, weight 0 is an intercept that stands at c: f = b̃ + (φ − c)ᵀw, where b̃ is independent of the other
// weights. Mean[0] is then that of weight 0, b̃ − cᵀw, and Variance[0] that of b̃.
type SpikeSlab struct {
	Mean     []float64 `json:"-" tensor:"mean,d"`
	Variance []float64 `json:"-" tensor:"variance,d"`
	Centre   []float64 `json:"-" tensor:"centre,d,optional"` // c, whose element 0 is 0
	// Probability is P(w_j ≠ 0), 1 for an intercept; nil if every weight is included.
	Probability []float64 `json:"-" tensor:"inclusion,d,optional"`
}

var (
	_ credence.Joint    = (*SpikeSlab)(nil)
	_ credence.Selector = (*SpikeSlab)(nil)
)

// Weights returns d.
func (p *SpikeSlab) Weights() int { return len(p.Mean) }

// Latent stores Φm and the rows' Σ_j (φ_j − c_j)² v_j. Sparse columns may stand in any
// order, and without a Centre one may occur several times: the entries then count as different
// weights that share mean and variance.
func (p *SpikeSlab) Latent(ws *credence.Workspace, mean, variance []float64, phi *credence.Design) {
	check("SpikeSlab.Latent", len(p.Mean), mean, variance, phi)
	phi.MulVec(mean, p.Mean)
	switch {
	case variance == nil:
	case p.Centre == nil: // no rows that are centred, so nothing is allocated
		phi.MulSquares(ws, variance, p.Variance)
	default:
		defer ws.Release(ws.Mark())
		rows := centredRows(ws, phi, p.Centre)
		rows.MulSquares(ws, variance, p.Variance)
		centreSquares(ws, variance, &rows, p.Centre, p.Variance)
	}
}

// Covariance stores Φ_a diag(v) Φ_bᵀ of centred rows.
func (p *SpikeSlab) Covariance(ws *credence.Workspace, dst *linop.Dense, a, b *credence.Design) {
	checkCovariance("SpikeSlab.Covariance", len(p.Mean), dst, a, b)
	dst.Clear()
	if p.Centre == nil {
		addDiagonalCovariance(dst, a, b, p.Variance)
		return
	}
	defer ws.Release(ws.Mark())
	left, right := centredRows(ws, a, p.Centre), centredRows(ws, b, p.Centre)
	addDiagonalCovariance(dst, &left, &right, p.Variance)
	centreCovariance(ws, dst, &left, &right, p.Centre, p.Variance, a.Dense.Cols)
}

// Marginals stores the means and variances of the weights, of which weight 0 is b̃ − cᵀw.
func (p *SpikeSlab) Marginals(mean, variance []float64) {
	copy(mean, p.Mean)
	copy(variance, p.Variance)
	for j, c := range p.Centre {
		variance[0] += c * c * p.Variance[j]
	}
}

// Selects reports that weights may be 0.
func (p *SpikeSlab) Selects() bool { return true }

// InclusionProbability returns P(w_j ≠ 0).
func (p *SpikeSlab) InclusionProbability(j int) float64 { return included(p.Probability, j) }
