package newton

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/linop"
)

// source is rows as a pass reads them.
type source interface {
	Blocks() int
	// Read returns a block, which is valid until the next one that is read into the same room. Once the first has been
	// read, several threads may read.
	Read(ctx context.Context, k int, room *problem.Room) (*problem.Block, error)
}

// worker is what one thread of a pass has for itself.
type worker struct {
	problem.Room
	terms problem.Terms
	block problem.Block // one with all columns dense
	phi   credence.Design
}

// mostParts is the number of runs of blocks of which a pass makes sums apart: as many threads may work, and the order
// of the sums does not depend on how many do.
const mostParts = 8

// manyWeights is the number of weights from which on threads share every block instead: one is work enough for several,
// and sums apart would take too much memory.
const manyWeights = 512

// passBlocks is pass in the order of the columns.
func (n *Newton) passBlocks(ctx context.Context, rows source, s *Statistics, m []float64, factor gauss.Spread, f *problem.Family) error {
	first, err := rows.Read(ctx, 0, &n.whole.Room)
	if err != nil {
		return err
	}
	dense := first.Phi.Dense.Cols
	held := n.holding(rows)
	if held != nil && held.rows != nil {
		factor = nil
	}
	n.plan(first, factor)
	known := n.counted == rows // by an earlier pass, so that they are not counted again
	n.counted = nil
	blocks, parts := rows.Blocks(), 1
	if n.Dims < manyWeights {
		parts = min(mostParts, blocks)
	}
	for len(n.workers) < n.Workspace.Pool().Threads() {
		n.workers = append(n.workers, &worker{Room: problem.Room{Workspace: credence.NewWorkspace(1)}})
	}
	sums, targets, errs := []*Statistics{s}, make([]base.Moments, parts), make([]error, parts)
	for k := 1; k < parts; k++ {
		if len(n.parts) < k {
			n.parts = append(n.parts, n.NewStatistics(len(s.Slope)))
		}
		part := n.parts[k-1]
		part.B, part.Beta = s.B, s.Beta
		sums = append(sums, part)
	}
	add := func(part int, w *worker) {
		sums[part].reset()
		for k := part * blocks / parts; k < (part+1)*blocks/parts && errs[part] == nil; k++ {
			var b *problem.Block
			if b, errs[part] = rows.Read(ctx, k, &w.Room); errs[part] != nil {
				return
			}
			if !known {
				targets[part].AddTargets(b.Batch)
			}
			if !n.addBlock(w, sums[part], b, k*credence.BlockRows, m, factor, f, held) {
				sums[part].Value = math.NaN()
				return
			}
		}
	}
	if parts == 1 {
		add(0, &n.whole)
	} else {
		n.Workspace.Pool().Run(parts, func(part, thread int) { add(part, n.workers[thread]) })
	}
	if !known {
		n.Targets = base.Moments{}
	}
	for k, part := range sums {
		if errs[k] != nil {
			return errs[k]
		}
		if k > 0 {
			s.add(n.Workspace, part)
		}
		if !known {
			n.Targets.Merge(targets[k])
		}
	}
	if problem.Finite(s.Value) {
		n.counted = rows
		if held != nil {
			held.rows = rows
		}
	}
	if !n.dense {
		n.Layout.Close(s.Curvature, dense)
	}
	return nil
}

// plan chooses by the first block how a pass takes the rows: as they are, with V for the variances of those that have
// few entries, or with all columns dense.
func (n *Newton) plan(b *problem.Block, factor gauss.Spread) {
	if n.levels != nil {
		return
	}
	many := b.Lead == nil && problem.NearlyDense(b.Phi)
	n.dense = many && b.Phi.Sparse.Cols > 0
	n.formed = factor != nil && !many
	if !n.formed {
		return
	}
	d := n.Dims
	n.upper = order.Resized(n.upper, d*d)
	n.Workspace.Pool().Syrk(d, d, 1, factor.(gauss.Root), d, 0, n.upper, d)
	if b.Lead != nil {
		n.order.TakeLower(n.lower, n.upper)
	}
}

// addBlock adds the statistics of the rows of a block, of which the first is row first. It reports whether q is within
// reach.
func (n *Newton) addBlock(w *worker, s *Statistics, b *problem.Block, first int, m []float64, factor gauss.Spread, f *problem.Family, held *around) bool {
	ws, terms, d, p := w.Workspace, &w.terms, n.Dims, f.Count()
	b = n.latent(w, b, m, factor, p)
	held.take(terms.Variance, first)
	if !f.Expanded && !terms.WithinReach(b, f.Likelihood) {
		return false
	}
	third := f.Expanded && n.sloped
	var bend []float64
	if !n.fixed && !n.valued {
		bend = s.Bend
	}
	terms.Expect(ws, b, f, !n.valued && (p > 0 && !n.fixed || third), bend)
	for _, v := range terms.Value {
		s.Value += v
	}
	s.Separated = s.Separated && b.Separated(f.Likelihood, terms.Mean)
	if n.valued {
		return true
	}
	b.Phi.AddMulTrans(ws, s.Gradient, terms.DMean)
	s.addParameters(ws, b, terms, p, !n.fixed || third)
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
	if b.Lead != nil {
		b.Phi.Sparse.AddLeadGram(ws.Pool(), &linop.Dense{Rows: d, Cols: d, Stride: d, Data: s.Curvature}, terms.DVariance, b.Lead)
	} else {
		n.Layout.AddRows(ws, s.Curvature, b.Phi, terms.DVariance)
	}
	return true
}

// addParameters adds what concerns the learned parameters of the likelihood: the slopes, and how the gradient changes
// with each.
func (s *Statistics) addParameters(ws *credence.Workspace, b *problem.Block, terms *problem.Terms, p int, cross bool) {
	rows, d := b.Rows(), len(s.Gradient)
	for i := range rows {
		for j, v := range terms.Slope[i*p : (i+1)*p] {
			s.Slope[j] += v
		}
	}
	for j := 0; cross && j < p; j++ {
		b.Phi.AddMulTrans(ws, s.Cross[j*d:(j+1)*d], terms.Cross[j*rows:(j+1)*rows])
	}
}

// latent stores the means and variances of f in the worker's terms, and returns the block as the plan has it.
func (n *Newton) latent(w *worker, b *problem.Block, m []float64, factor gauss.Spread, parameters int) *problem.Block {
	if n.dense {
		b = w.filled(b)
	}
	w.terms.Resize(b.Rows(), parameters)
	b.Means(w.Workspace, w.terms.Mean, m)
	n.variances(w, w.terms.Variance, b, factor)
	return b
}

// filled returns a block with all columns dense, valid until the next one.
func (w *worker) filled(b *problem.Block) *problem.Block {
	rows, d := b.Phi.Dims()
	dense, all := b.Phi.Dense.Cols, &w.phi.Dense
	all.Reshape(rows, d)
	clear(all.Data)
	for i := range rows {
		row := all.Row(i)
		if dense > 0 {
			copy(row, b.Phi.Dense.Row(i))
		}
		columns, values := b.Phi.Sparse.Row(i)
		for k, j := range columns {
			row[dense+int(j)] = linop.At(values, k)
		}
	}
	w.block = problem.Block{Batch: b.Batch, Phi: &w.phi}
	return &w.block
}

// variances stores φᵀFFᵀφ for the rows of a block.
func (n *Newton) variances(w *worker, dst []float64, b *problem.Block, factor gauss.Spread) {
	switch {
	case factor == nil:
		clear(dst)
	case !n.formed:
		factor.RowVariances(w.Workspace, dst, b.Phi)
	case b.Lead != nil:
		clear(dst)
		w.Workspace.InRuns(len(dst), func(from, to int) { b.Phi.Sparse.LeadForms(dst, n.lower, b.Lead, from, to) })
	default:
		b.Phi.MulForms(w.Workspace, dst, n.upper)
	}
	if n.formed || n.levels != nil {
		for i, v := range dst {
			dst[i] = math.Max(0, v) // but for rounding it is
		}
	}
}
