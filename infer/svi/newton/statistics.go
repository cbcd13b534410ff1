package newton

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
)

// Statistics are the sums over rows at one q = N(m, V) that a step needs: with e the expected log
// density of a row,
//
//	value = Σ e      gradient = Φᵀ ∂e/∂mean      curvature = −2 Φᵀ diag(∂e/∂variance) Φ
//
// and the same for the learned parameters of the likelihood.
type Statistics struct {
	Value     float64
	Trace     float64   // Σ βv = tr HV
	Gradient  []float64 // d
	Curvature []float64 // d×d, upper triangle
	Slope     []float64 // P
	Bend      []float64 // P×P
	Cross     []float64 // P×d, Φᵀ ∂²e/∂mean∂parameter
	Third     []float64 // d, Φᵀ ½v ℓ‴, where slopes of an expansion are wanted
	Separated bool      // the classes of a two-valued target are separated
	// B and Beta, one for each row, are the normal likelihood exp(b u − ½ β u²), u = φᵀw, that stands
	// for the row; nil unless [Statistics.KeepSites] asks for them.
	B, Beta []float64
}

// NewStatistics returns room for the statistics of d weights and so many learned parameters.
func NewStatistics(d, parameters int) *Statistics {
	return &Statistics{
		Gradient: make([]float64, d), Curvature: make([]float64, d*d),
		Slope: make([]float64, parameters), Bend: make([]float64, parameters*parameters),
		Cross: make([]float64, parameters*d), Third: make([]float64, d),
	}
}

// KeepSites asks for B and Beta of so many rows; 0 asks for none.
func (s *Statistics) KeepSites(rows int) *Statistics {
	if rows > 0 {
		s.B, s.Beta = make([]float64, rows), make([]float64, rows)
	}
	return s
}

func (s *Statistics) reset() {
	s.Value, s.Trace, s.Separated = 0, 0, true
	for _, x := range [][]float64{s.Gradient, s.Curvature, s.Slope, s.Bend, s.Cross, s.Third} {
		clear(x)
	}
}

// add adds the statistics of other rows.
func (s *Statistics) add(ws *credence.Workspace, other *Statistics) {
	s.Value, s.Trace, s.Separated = s.Value+other.Value, s.Trace+other.Trace, s.Separated && other.Separated
	for _, part := range [][2][]float64{{other.Gradient, s.Gradient}, {other.Slope, s.Slope}, {other.Bend, s.Bend}, {other.Cross, s.Cross}, {other.Third, s.Third}} {
		kernel.Axpy(1, part[0], part[1])
	}
	d := len(s.Gradient)
	ws.InRuns(d, func(from, to int) { kernel.Axpy(1, other.Curvature[from*d:to*d], s.Curvature[from*d:to*d]) })
}

// Pass adds up the statistics of all rows at N(m, FFᵀ); a nil factor means no variance. Memory
// beyond the statistics is that of a few blocks. Where q is out of reach, Value is NaN. q and the
// statistics are in centred coordinates, see [problem.Intercept].
func (n *Newton) Pass(ctx context.Context, rows *problem.Rows, s *Statistics, m, factor []float64, f *problem.Family) error {
	if n.fixed && !n.sloped {
		f = f.Held()
	}
	weights := make([]float64, n.Dims)
	n.Intercept.Weights(weights, m)
	defer n.Intercept.WeightFactor(factor)()
	if err := n.pass(ctx, rows, s, weights, factor, f); err != nil {
		return err
	}
	n.Intercept.CentreSlope(s.Gradient)
	n.Intercept.CentreSlope(s.Third)
	n.Intercept.CentreCurvature(n.Layout, s.Curvature)
	for k := range f.Count() {
		n.Intercept.CentreSlope(s.Cross[k*n.Dims : (k+1)*n.Dims])
	}
	return nil
}

// pass is Pass in the weights themselves.
func (n *Newton) pass(ctx context.Context, rows *problem.Rows, s *Statistics, m, factor []float64, f *problem.Family) error {
	d, p := n.Dims, f.Count()
	if g, ok := f.Likelihood.(likelihood.Gaussian); ok && d <= rows.Count() {
		return n.passSums(ctx, rows, s, m, factor, g, p)
	}
	packed := rows.Packed()
	switch {
	case packed == nil || s.Beta != nil:
		return n.passBlocks(ctx, rows, s, m, factor, f)
	case packed.Order == nil:
		return n.passBlocks(ctx, packed, s, m, factor, f)
	}
	if n.packed == nil {
		n.packed, n.lower = NewStatistics(d, p), make([]float64, d*d)
	}
	q, columns := n.packed, make([]float64, d)
	n.order = packed
	packed.Take(columns, m)
	if err := n.passBlocks(ctx, packed, q, columns, factor, f); err != nil {
		return err
	}
	s.Value, s.Trace, s.Separated = q.Value, q.Trace, q.Separated
	copy(s.Slope, q.Slope)
	copy(s.Bend, q.Bend)
	packed.Give(s.Gradient, q.Gradient)
	packed.Give(s.Third, q.Third)
	for k := range p {
		packed.Give(s.Cross[k*d:(k+1)*d], q.Cross[k*d:(k+1)*d])
	}
	packed.GiveUpper(s.Curvature, q.Curvature)
	return nil
}
