package exact

import (
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/segments"
)

// Sums are what the d×d form asks of the rows of a table, or of some of its files: ΦᵀWΦ, ΦᵀWy' and
// the sums of the targets. Files are summed up apart, maybe on other machines; merged in any order, the sums give the
// fit of all rows to the bit. See [Engine.NewSums].
type Sums struct {
	engine      *Engine
	layout      gauss.Values
	fingerprint string
	base        Units // in which every segment begins
	segment     int   // rows of a segment
	file        int   // that rows are added to
	next        int   // position of its segment that is open
	dense       int   // dense columns of Φ
	inputs      int   // dense and sparse, of a row
	open        partial
	within      []subtree // of the segments of the file before the open one
	trees       []subtree // of the files before
	y, wy       []float64
}

// partial are the sums over some rows, as the form uses them.
type partial struct {
	rows int
	summary
	// ΦᵀWΦ, W = weights times precisions, in the layout; in trees of a dense one its upper triangle alone
	gram  []float64
	cross []float64 // ΦᵀWy'
}

func (p *partial) reset(size, d int, u Units) {
	if p.gram == nil {
		p.gram, p.cross = make([]float64, size), make([]float64, d)
	}
	clear(p.gram)
	clear(p.cross)
	p.rows, p.summary = 0, summary{units: u}
}

// add adds a block of rows with their features.
func (s *Sums) add(ws *credence.Workspace, phi *credence.Design, b *credence.Batch) {
	d := len(s.open.cross)
	if s.open.rows == s.segment {
		s.within = segments.Join(append(s.within, s.pack(s.next)))
		s.next++
		s.open.reset(s.layout.Len(), d, s.base)
	}
	o := &s.open
	if factor := o.grow(b); factor != 1 {
		kernel.Scale(factor, o.cross)
	}
	s.y = o.units.targets(s.y[:0], b)
	o.summary.add(b, s.y)
	s.dense = phi.Dense.Cols
	weights := b.SquareWeights()
	s.layout.AddRows(ws, o.gram, phi, weights)
	s.wy = append(s.wy[:0], s.y...)
	for i, w := range weights {
		s.wy[i] *= w
	}
	if s.dense > 0 {
		ws.Pool().Gemv(true, len(s.wy), s.dense, 1, phi.Dense.Data, phi.Dense.Stride, s.wy, 1, o.cross)
	}
	if phi.Sparse.Cols > 0 {
		phi.Sparse.AddMulVecTrans(o.cross[s.dense:], s.wy)
	}
	o.rows += b.Rows()
}

// endFile says that rows that follow are of the next file.
func (s *Sums) endFile() {
	if s.open.rows > 0 {
		s.within = segments.Join(append(s.within, s.pack(s.next)))
	}
	total, _, _ := segments.Total(s.within)
	s.trees = segments.Join(append(s.trees, subtree{Position: s.file, Sum: total}))
	s.file, s.next, s.within = s.file+1, 0, nil
	s.open.reset(s.layout.Len(), len(s.open.cross), s.base)
}

// restart forgets all rows; segments begin in the units.
func (s *Sums) restart(d int, u Units) {
	s.base, s.file, s.next, s.within, s.trees = u, 0, 0, nil, nil
	s.open.reset(s.layout.Len(), d, u)
}

// finish ends the last file, and makes the open segment the sums over all rows, which must be those of the first files
// of a table.
func (s *Sums) finish() error {
	if len(s.trees) == 0 && s.file == 0 && s.next == 0 {
		s.layout.Close(s.open.gram, s.dense)
		return nil
	}
	s.endFile()
	return s.total(&s.open)
}

// total stores the sums over all rows, which must be those of the first files of a table.
func (s *Sums) total(dst *partial) error {
	all, from, to := segments.Total(s.trees)
	switch {
	case to > 0:
		return fmt.Errorf("exact: the sums lack files %d to %d: merge the sums that have them", from+1, to)
	case all == nil:
		return fmt.Errorf("exact: the sums have no rows")
	}
	d := len(all.cross)
	dst.reset(s.layout.Len(), d, all.units)
	dst.rows, dst.summary = all.rows, all.summary
	copy(dst.cross, all.cross)
	if len(all.gram) == len(dst.gram) { // not packed
		copy(dst.gram, all.gram)
		return nil
	}
	at := 0
	for i := range d {
		at += copy(dst.gram[i*d+i:(i+1)*d], all.gram[at:])
	}
	return nil
}

// Products returns the sums over all rows, which must be those of the first files of a table, as one symmetric matrix:
// the products of the model's d columns and, behind them, of the target less its offset and less Units().Centre,
// (d+1)×(d+1), in the target's own scale. The model needs an intercept, and rows no precision of their own.
func (s *Sums) Products() ([]float64, error) {
	var all partial
	if err := s.total(&all); err != nil {
		return nil, err
	}
	d := len(all.cross)
	if _, dense := s.layout.(gauss.Dense); !dense {
		return nil, fmt.Errorf("exact: products are those of fewer columns of categories: %d are too many to be multiplied with each other", d)
	}
	if !s.engine.intercept || all.precise != all.weight || all.logPrecision != 0 {
		return nil, fmt.Errorf("exact: products are those of a model with an intercept and without precision(…)")
	}
	out := make([]float64, (d+1)*(d+1))
	put := func(i, j int, v float64) { out[i*(d+1)+j], out[j*(d+1)+i] = v, v }
	scale := all.units.Scale // y = centre + scale·y'
	for i := range d {
		for j := i; j < d; j++ {
			put(i, j, all.gram[i*d+j])
		}
		put(i, d, scale*all.cross[i])
	}
	put(d, d, scale*scale*all.square)
	return out, nil
}

// subtree is a run of files, or of segments of one, and their sums, whose gram is the upper triangle, row by row; nil
// where there are no rows.
type subtree = segments.Node[*partial]

// pack returns the open segment at a position.
func (s *Sums) pack(position int) subtree {
	d := len(s.open.cross)
	s.layout.Close(s.open.gram, s.dense)
	p := &partial{rows: s.open.rows, summary: s.open.summary, cross: slices.Clone(s.open.cross)}
	if _, dense := s.layout.(gauss.Dense); !dense {
		p.gram = slices.Clone(s.open.gram)
		return subtree{Position: position, Sum: p}
	}
	p.gram = make([]float64, 0, d*(d+1)/2)
	for i := range d {
		p.gram = append(p.gram, s.open.gram[i*d+i:(i+1)*d]...)
	}
	return subtree{Position: position, Sum: p}
}

// Plus returns the sums with those of the rows behind, in the wider of their units, which differ by a
// power of two.
func (p *partial) Plus(later *partial) *partial {
	switch {
	case p == nil:
		return later
	case later == nil:
		return p
	}
	out := &partial{rows: p.rows + later.rows, summary: p.summary, gram: slices.Clone(p.gram), cross: slices.Clone(p.cross)}
	other := later.summary
	wide := max(out.units.Scale, other.units.Scale)
	kernel.Scale(out.widen(wide), out.cross)
	kernel.Axpy(other.widen(wide), later.cross, out.cross)
	kernel.Axpy(1, later.gram, out.gram)
	out.plus(&other)
	return out
}
