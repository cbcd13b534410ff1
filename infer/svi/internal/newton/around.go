package newton

import (
	"context"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/order"
)

// around is what bounds at many θ near a mode have in common: V there, and the variances v of f of all rows under it,
// which cost d² operations a row where all else that a bound is made of costs d. The bound at N(m, V) is
//
//	Σ e(φᵀm, v̂) − ½ (tr HV − tr HV̂) − KL
//
// but for the second order of V − V̂, H being the sites at θ: those of the rows times the change of their variances.
type around struct {
	mode       *Given
	factor     gauss.Root
	covariance []float64 // V̂, its upper triangle
	rows       source    // those that variances are of; nil before a pass over all of them
	variances  []float64
}

// mostHeld is the number of rows, 32 MB of variances, above which they are computed again in every pass.
const mostHeld = 4 << 20

// approach takes V at a mode.
func (n *Newton) approach(mode *Given) {
	if n.around != nil && n.around.mode == mode {
		return
	}
	n.around = &around{mode: mode, covariance: make([]float64, n.Layout.Len())}
	n.Place(mode.Point)
	n.around.factor = slices.Clone(n.factor.(gauss.Root))
	n.Centred(n.around.covariance)
}

// value takes the bound at a point that was placed last, near the mode that was approached.
func (n *Newton) value(ctx context.Context, rows *problem.Rows, at *Point, s *Statistics) error {
	n.valued = true
	defer func() { n.valued = false }()
	if n.levels != nil {
		err := n.Pass(ctx, rows, s, at.Mean, n.factor, at.Family)
		at.Bound = s.Value - n.divergence(at)
		return err
	}
	err := n.Pass(ctx, rows, s, at.Mean, n.around.factor, at.Family)
	trace := float64(n.Dims) // HV = I − Λ⁻¹V
	for k, g := range n.Groups {
		for j := g.First; j < g.End(); j += g.Step() {
			trace -= at.Psi[j] / at.Prior[k]
		}
	}
	trace -= n.system.(gauss.Factor).Trace(at.Sites, n.around.covariance)
	at.Bound = s.Value - trace/2 - n.divergence(at)
	return err
}

// holding returns what holds the variances of rows at the mode, in a pass that takes those and no others; else nil.
func (n *Newton) holding(rows source) *around {
	if !n.valued || n.around == nil || rows.Blocks() > mostHeld/credence.BlockRows {
		return nil
	}
	if n.around.rows != rows {
		n.around.rows, n.around.variances = nil, order.Resized(n.around.variances, rows.Blocks()*credence.BlockRows)
	}
	return n.around
}

// take stores the variances of the rows from first on, or keeps them where there are none yet.
func (h *around) take(variances []float64, first int) {
	switch {
	case h == nil:
	case h.rows == nil:
		copy(h.variances[first:], variances)
	default:
		copy(variances, h.variances[first:])
	}
}
