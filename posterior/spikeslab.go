package posterior

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// SpikeSlab is a factorised posterior of weights that may be exactly 0: of
// each, the mean, the variance, and the probability that it is not 0. Mean and
// Variance are those of w itself, the chance of 0 included.
type SpikeSlab struct {
	Mean     []float64 `json:"-" tensor:"mean,d"`
	Variance []float64 `json:"-" tensor:"variance,d"`
	// Probability is P(w_j ≠ 0), 1 for an intercept; nil if every weight is included.
	Probability []float64 `json:"-" tensor:"inclusion,d,optional"`
}

var (
	_ credence.Joint    = (*SpikeSlab)(nil)
	_ credence.Selector = (*SpikeSlab)(nil)
)

// Weights returns d.
func (p *SpikeSlab) Weights() int { return len(p.Mean) }

// Latent stores Φm and the rows' Σ_j φ_j² v_j. Sparse columns may stand in any
// order, and one may occur several times: the entries then count as different
// weights that share mean and variance.
func (p *SpikeSlab) Latent(ws *credence.Workspace, mean, variance []float64, phi *credence.Design) {
	check("SpikeSlab.Latent", len(p.Mean), mean, variance, phi)
	phi.MulVec(mean, p.Mean)
	if variance != nil {
		phi.MulSquares(ws, variance, p.Variance)
	}
}

// Covariance stores Φ_a diag(v) Φ_bᵀ.
func (p *SpikeSlab) Covariance(_ *credence.Workspace, dst *linop.Dense, a, b *credence.Design) {
	checkCovariance("SpikeSlab.Covariance", len(p.Mean), dst, a, b)
	clearRows(dst)
	addDiagonalCovariance(dst, a, b, p.Variance)
}

// Marginals stores the means and variances of the weights.
func (p *SpikeSlab) Marginals(mean, variance []float64) {
	copy(mean, p.Mean)
	copy(variance, p.Variance)
}

// Selects reports that weights may be 0.
func (p *SpikeSlab) Selects() bool { return true }

// InclusionProbability returns P(w_j ≠ 0).
func (p *SpikeSlab) InclusionProbability(j int) float64 { return included(p.Probability, j) }
