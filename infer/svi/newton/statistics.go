package newton

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
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
	n.Intercept.CentreCurvature(s.Curvature)
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

// source is rows as a pass reads them.
type source interface {
	Blocks() int
	Block(ctx context.Context, k int) (*problem.Block, error)
}

// passBlocks is pass in the order of the columns.
func (n *Newton) passBlocks(ctx context.Context, rows source, s *Statistics, m, factor []float64, f *problem.Family) error {
	d, p := n.Dims, f.Count()
	s.reset()
	n.formed = false
	known := n.counted == rows // by an earlier pass, so that they are not counted again
	if !known {
		n.counted, n.Targets = nil, problem.Moments{}
	}
	ws, terms := n.Workspace, &n.terms
	first, dense := 0, 0
	for k := range rows.Blocks() {
		b, err := rows.Block(ctx, k)
		if err != nil {
			return err
		}
		dense = b.Phi.Dense.Cols
		if !known {
			n.Targets.Add(b)
		}
		n.latent(b, m, factor, p)
		if !f.Expanded && !terms.WithinReach(f.Likelihood) {
			s.Value = math.NaN()
			return nil
		}
		third := f.Expanded && n.sloped
		terms.Expect(ws, b, f, p > 0 && !n.fixed || third)
		for _, v := range terms.Value {
			s.Value += v
		}
		s.Separated = s.Separated && b.Separated(f.Likelihood, terms.Mean)
		b.Phi.AddMulTrans(ws, s.Gradient, terms.DMean)
		s.addParameters(ws, b, terms, p, !n.fixed, third)
		if third {
			b.Phi.AddMulTrans(ws, s.Third, terms.Third)
		}
		for i, v := range terms.DVariance {
			terms.DVariance[i] = -2 * v
			s.Trace -= 2 * v * terms.Variance[i]
			if n.clamp && v > 0 {
				terms.DVariance[i] = 0
			}
		}
		if s.Beta != nil {
			for i, beta := range terms.DVariance {
				s.Beta[first+i], s.B[first+i] = beta, terms.DMean[i]+beta*(terms.Mean[i]-b.OffsetOf(i))
			}
		}
		first += b.Rows()
		if b.Lead != nil {
			b.Phi.Sparse.AddLeadGram(ws.Pool(), &linop.Dense{Rows: d, Cols: d, Stride: d, Data: s.Curvature}, terms.DVariance, b.Lead)
			continue
		}
		b.Phi.AddGram(ws, s.Curvature, terms.DVariance)
	}
	n.counted = rows
	credence.LiftGram(s.Curvature, d, dense)
	return nil
}

// addParameters adds what concerns the learned parameters of the likelihood: the slopes, with curvature
// how these change, and with either how the gradient does.
func (s *Statistics) addParameters(ws *credence.Workspace, b *problem.Block, terms *problem.Terms, p int, curvature, cross bool) {
	rows, d := b.Rows(), len(s.Gradient)
	for j := range p {
		for i := range rows {
			s.Slope[j] += terms.Slope[i*p+j]
			for l := 0; curvature && l < p; l++ {
				s.Bend[j*p+l] += terms.Bend[(j*rows+i)*p+l]
			}
		}
		if curvature || cross {
			b.Phi.AddMulTrans(ws, s.Cross[j*d:(j+1)*d], terms.Cross[j*rows:(j+1)*rows])
		}
	}
}

// latent stores the means and variances of f in n.terms.
func (n *Newton) latent(b *problem.Block, m, factor []float64, parameters int) {
	n.terms.Resize(b.Rows(), parameters)
	b.Means(n.Workspace, n.terms.Mean, m)
	n.variances(n.terms.Variance, b, factor)
}

// form stores V in n.upper.
func (n *Newton) form(factor []float64) {
	n.Workspace.Pool().Syrk(n.Dims, n.Dims, 1, factor, n.Dims, 0, n.upper, n.Dims)
	n.formed = true
}

// panelWidth is the number of columns of the factor in one product: some panels even of a small
// factor, for a triangle's zeros to be left out, and not many of a large one, for each reads the
// features again.
func panelWidth(d int) int { return max(64, min(d/4/64*64, 256)) }

// fewEntries is the share of the weights that the rows of a block may have entries of for their
// variances to be sums over pairs of entries: an element that is looked up takes about as long as
// three that a product goes through.
const fewEntries = 1.0 / 3

// variances stores φᵀFFᵀφ for the rows of a block.
func (n *Newton) variances(dst []float64, b *problem.Block, factor []float64) {
	phi := b.Phi
	clear(dst)
	if factor == nil {
		return
	}
	rows, d := len(dst), n.Dims
	if b.Lead != nil {
		if !n.formed {
			n.form(factor)
			n.order.TakeLower(n.lower, n.upper)
		}
		n.Workspace.InRuns(rows, func(from, to int) {
			phi.Sparse.LeadForms(dst, n.lower, b.Lead, from, to)
			for i := from; i < to; i++ {
				dst[i] = math.Max(0, dst[i]) // but for rounding it is
			}
		})
		return
	}
	if entries := phi.Sparse.Entries() + rows*phi.Dense.Cols; float64(entries) < fewEntries*float64(rows)*float64(d) {
		if !n.formed {
			n.form(factor)
		}
		phi.MulForms(n.Workspace, dst, n.upper)
		for i, v := range dst {
			dst[i] = math.Max(0, v) // but for rounding it is
		}
		return
	}
	width := min(panelWidth(d), d)
	n.product = problem.Grow(n.product, rows*width)
	for left := 0; left < d; left += width {
		cols := min(width, d-left)
		product := n.product[:rows*cols]
		phi.MulUpper(n.Workspace, product, factor, left, cols)
		n.Workspace.InRuns(rows, func(from, to int) {
			for i := from; i < to; i++ {
				row := product[i*cols : (i+1)*cols]
				dst[i] += kernel.Dot(row, row)
			}
		})
	}
}
