package newton

import (
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
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
	Curvature []float64 // in the layout: d×d, upper triangle
	Slope     []float64 // P
	Bend      []float64 // P×P
	Cross     []float64 // P×d, Φᵀ ∂²e/∂mean∂parameter
	Third     []float64 // d, Φᵀ ½v ℓ‴, where slopes of an expansion are wanted
	Separated bool      // the classes of a two-valued target are separated
	// B and Beta, one for each row, are the normal likelihood exp(b u − ½ β u²), u = φᵀw, that stands
	// for the row; nil unless [Statistics.KeepSites] asks for them.
	B, Beta []float64
}

// NewStatistics returns room for statistics with so many learned parameters of the likelihood.
func (n *Newton) NewStatistics(parameters int) *Statistics {
	d := n.Dims
	return &Statistics{
		Gradient: make([]float64, d), Curvature: make([]float64, n.Layout.Len()),
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
	ws.InRuns(len(s.Curvature), func(from, to int) { kernel.Axpy(1, other.Curvature[from:to], s.Curvature[from:to]) })
}

// Pass adds up the statistics of all rows at N(m, V); a nil factor means no variance. Memory
// beyond the statistics is that of a few blocks. Where q is out of reach, Value is NaN. q and the
// statistics are in centred coordinates, see [problem.Intercept].
func (n *Newton) Pass(ctx context.Context, rows *problem.Rows, s *Statistics, m []float64, factor gauss.Spread, f *problem.Family) error {
	if n.fixed && !n.sloped {
		f = f.Held()
	}
	weights := make([]float64, n.Dims)
	n.Intercept.Weights(weights, m)
	factor, back := n.ofWeights(factor)
	defer back()
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
func (n *Newton) pass(ctx context.Context, rows *problem.Rows, s *Statistics, m []float64, factor gauss.Spread, f *problem.Family) error {
	d, p := n.Dims, f.Count()
	if g, ok := f.Likelihood.(likelihood.Gaussian); ok && d <= rows.Count() && n.levels == nil {
		root, _ := factor.(gauss.Root)
		return n.passSums(ctx, rows, s, m, root, g, p)
	}
	if n.apart(rows) {
		return n.ask(s, m, factor, f)
	}
	packed := rows.Packed()
	if packed == nil || s.Beta != nil {
		return n.passBlocks(ctx, rows, s, m, factor, f)
	}
	if n.packed == nil {
		n.packed, n.lower = n.NewStatistics(p), make([]float64, d*d)
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

// sums are the sums over rows that a Gaussian family needs, whatever its q and noise: with residuals
// r = y − offset − Φ m₀ about a mean m₀ near the data, so that nothing cancels, and weights w,
//
//	weight = Σw   square = Σwpr²   product = Φᵀ(wp⊙r)   gram = Φᵀdiag(wp)Φ,
//
// p the precision of a row.
type sums struct {
	rows           *problem.Rows // those that were added up
	weight, square float64
	logPrecision   float64   // ½ Σw log p
	about, product []float64 // m₀ and the product, d
	gram           []float64 // d×d, both triangles
	targets        base.Moments
}

// FeaturesChanged drops sums of rows that have other features now.
func (n *Newton) FeaturesChanged() { n.sums = nil }

// addUp adds up rows about m.
func (n *Newton) addUp(ctx context.Context, rows *problem.Rows, m []float64) (*sums, error) {
	d, ws, dense := n.Dims, n.Workspace, 0
	u := &sums{rows: rows, about: slices.Clone(m), product: make([]float64, d), gram: make([]float64, d*d)}
	if n.apart(rows) {
		return u, n.askGram(u)
	}
	terms := &n.whole.terms
	err := rows.Each(ctx, func(b *problem.Block) {
		dense = b.Phi.Dense.Cols
		u.targets.AddTargets(b.Batch)
		terms.Resize(b.Rows(), 0)
		b.Means(ws, terms.Mean, m)
		for i, y := range b.Target {
			w, p, gap := b.WeightOf(i), b.PrecisionOf(i), y-terms.Mean[i]
			if p != 1 {
				u.logPrecision += w * math.Log(p) / 2
			}
			terms.Value[i], terms.DMean[i] = w*p, w*p*gap
			u.weight += w
			u.square += w * p * gap * gap
		}
		b.Phi.AddMulTrans(ws, u.product, terms.DMean)
		n.Layout.AddRows(ws, u.gram, b.Phi, terms.Value)
	})
	n.Layout.Close(u.gram, dense)
	kernel.Symmetrize(d, u.gram, d) // it fills the lower triangle
	return u, err
}

// passSums is Pass for a Gaussian family, from the sums of the rows: with δ = m − m₀, residual sum of
// squares Q = Σwr² − 2δᵀproduct + δᵀGδ + tr GV and noise variance s²,
//
//	value = ½ Σw log p − ½ W log 2πs² − Q/2s²,   gradient = (product − Gδ)/s²,   curvature = G/s².
//
// It costs 2d³ operations where a pass over the rows costs 3nd².
func (n *Newton) passSums(ctx context.Context, rows *problem.Rows, s *Statistics, m, factor []float64, g likelihood.Gaussian, learned int) error {
	if n.sums == nil || n.sums.rows != rows {
		about := m
		if n.about != nil { // a resumed fit takes the sums of the one that was interrupted, to the last digit
			about = n.about
		}
		var err error
		if n.sums, err = n.addUp(ctx, rows, about); err != nil {
			n.sums = nil
			return err
		}
	}
	u, d := n.sums, n.Dims
	s.reset()
	s.Separated, n.Targets, n.counted = false, u.targets, nil
	noise := g.Variance(0)
	delta, along := n.work[0], n.work[1]
	for j := range delta {
		delta[j] = m[j] - u.about[j]
	}
	n.Layout.Mul(along, u.gram, delta)
	trace := 0.0
	if factor != nil {
		n.product = order.Resized(n.product, d*d)
		n.Workspace.Pool().Gemm(false, false, d, d, d, 1, u.gram, d, factor, d, 0, n.product, d)
		for i := range d { // F is upper triangular
			trace += kernel.Dot(n.product[i*d+i:(i+1)*d], factor[i*d+i:(i+1)*d])
		}
	}
	total := u.square - 2*kernel.Dot(delta, u.product) + kernel.Dot(delta, along)
	total = math.Max(total, 0) + trace
	s.Value = u.logPrecision - (u.weight*math.Log(2*math.Pi*noise)+total/noise)/2
	s.Trace = trace / noise
	for j := range s.Gradient {
		s.Gradient[j] = (u.product[j] - along[j]) / noise
	}
	for i, v := range u.gram {
		s.Curvature[i] = v / noise
	}
	if learned > 0 { // log s is the only parameter
		s.Slope[0] = total/noise - u.weight
		s.Bend[0] = -2 * total / noise
		for j, v := range s.Gradient {
			s.Cross[j] = -2 * v
		}
	}
	if s.Beta == nil {
		return nil
	}
	first := 0
	return rows.Each(ctx, func(b *problem.Block) {
		weights := b.SquareWeights()
		for i, y := range b.Target {
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			s.Beta[first+i], s.B[first+i] = w/noise, w*(y-b.OffsetOf(i))/noise
		}
		first += b.Rows()
	})
}
