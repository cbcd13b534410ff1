package feature

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
)

// DenseLevels is the largest number of category columns that a set stores dense. Dense
// products run several times faster per number than sparse ones, but a row of
// categories has one entry in hundreds.
const DenseLevels = 256

// Set is a list of terms. It implements [credence.Features] and the abilities
// [credence.Tunable], [ability.Redrawable], [credence.Named] and
// [ability.Rescaled].
type Set struct {
	inputs  Inputs
	terms   []bound // in the order of their weights
	dense   int     // columns that are always dense
	sparse  int     // columns that are sparse, or dense when spread
	spread  bool    // the sparse columns are stored dense
	segment bool    // some term reads the sparse segment
	hypers  int
}

// bound is a term with its place in the set.
type bound struct {
	term                    Term
	mapped                  Map
	entries                 SparseMap  // nil without sparse columns
	tunable                 TunableMap // nil without hyper-parameters
	dense, sparse           int
	firstDense, firstSparse int // among the dense and among the sparse columns of the set
	firstHyper, hypers      int
}

// New binds terms to inputs. It refuses terms that the inputs do not fit, labels
// given twice, and more than one term with both dense and sparse columns.
func New(inputs Inputs, terms ...Term) (*Set, error) {
	if n := len(inputs.Features); inputs.Features != nil && n != inputs.Segment {
		return nil, fmt.Errorf("feature: %d names of a sparse segment of %d columns", n, inputs.Segment)
	}
	if inputs.Segment < 0 || inputs.Segment > math.MaxInt32 {
		return nil, fmt.Errorf("feature: a sparse segment of %d columns: give at most %d", inputs.Segment, math.MaxInt32)
	}
	s := &Set{inputs: inputs}
	labels := make(map[string]bool, len(terms))
	var groups [3][]bound // dense only, both, sparse only
	for _, term := range terms {
		if labels[term.Label()] {
			return nil, fmt.Errorf("feature: the term %s stands twice: leave one out", term.Label())
		}
		labels[term.Label()] = true
		b, err := bind(term, &inputs)
		if err != nil {
			return nil, err
		}
		switch {
		case b.sparse == 0:
			groups[0] = append(groups[0], b)
		case b.dense > 0:
			groups[1] = append(groups[1], b)
		default:
			groups[2] = append(groups[2], b)
		}
	}
	if len(groups[1]) > 1 {
		return nil, fmt.Errorf("feature: %s and %s both have dense and sparse columns, which one term of a set may",
			groups[1][0].term.Label(), groups[1][1].term.Label())
	}
	for _, group := range groups {
		s.terms = append(s.terms, group...)
	}
	s.place()
	if s.sparse > math.MaxInt32 {
		return nil, fmt.Errorf("feature: %d sparse columns, more than %d: use hash(...) or fewer interactions", s.sparse, math.MaxInt32)
	}
	together := slices.ContainsFunc(s.terms, func(b bound) bool {
		m, ok := b.mapped.(*multilevelMap)
		return ok && m.count > 1 // engines eliminate their levels
	})
	s.spread = s.sparse <= DenseLevels && !s.segment && !together
	return s, nil
}

// place gives every term its weights and hyper-parameters.
func (s *Set) place() {
	s.dense, s.sparse, s.hypers = 0, 0, 0
	for k := range s.terms {
		b := &s.terms[k]
		b.firstDense, b.firstSparse, b.firstHyper = s.dense, s.sparse, s.hypers
		s.dense += b.dense
		s.sparse += b.sparse
		s.hypers += b.hypers
		s.segment = s.segment || readsSegment(b.term)
	}
}

// bind binds a term and finds its abilities.
func bind(term Term, inputs *Inputs) (bound, error) {
	m, err := term.Bind(inputs)
	if err != nil {
		return bound{}, err
	}
	b := bound{term: term, mapped: m}
	b.dense, b.sparse = m.Columns()
	if b.sparse > 0 {
		b.entries = m.(SparseMap)
	}
	if tunable, ok := m.(TunableMap); ok {
		b.tunable, b.hypers = tunable, len(tunable.Hyper())
	}
	return b, nil
}

// SegmentReader is implemented by terms that may read the sparse segment.
type SegmentReader interface{ ReadsSegment() bool }

func readsSegment(t Term) bool {
	reader, ok := t.(SegmentReader)
	return ok && reader.ReadsSegment()
}

// unseenMap is a map that finds columns in rows that training did not have.
type unseenMap interface {
	// unseen returns the sum of squares of a row's entries in such columns.
	unseen(rows *credence.Batch, i int) float64
}

// AddUnseen implements [credence.UnseenFeatures]: categories and products with them, the linear block, with a weight
// for each sparse column, and terms of keys would have further weights.
func (s *Set) AddUnseen(variance []float64, rows *credence.Batch, prior credence.UnseenPrior) {
	for k := range s.terms {
		b := &s.terms[k]
		block := s.block(b)
		switch m := b.mapped.(type) {
		case *linearMap:
			if m.segment.columns > 0 {
				ability.AddUnseenSquares(variance, rows.UnseenOf, prior, block)
			}
			for _, c := range m.categories {
				levels := block
				levels.First, levels.Count = block.First+len(m.numbers)+c.first, len(c.input.Levels)
				ability.AddUnseenSquares(variance, func(i int) float64 { return c.unseen(rows.X.Row(i)) }, prior, levels)
			}
		case *multilevelMap:
			m.addUnseen(variance, rows, prior, block)
		case unseenMap:
			ability.AddUnseenSquares(variance, func(i int) float64 { return m.unseen(rows, i) }, prior, block)
		}
	}
}

// Inputs returns the inputs the set was made for, which the caller must not change.
func (s *Set) Inputs() Inputs { return s.inputs }

// Terms returns the terms in the order of their weights; New with these and
// Inputs makes an equal set.
func (s *Set) Terms() []Term {
	terms := make([]Term, len(s.terms))
	for k, b := range s.terms {
		terms[k] = b.term
	}
	return terms
}

// Weights implements [credence.Features].
func (s *Set) Weights() int { return s.dense + s.sparse }

// DenseWeights returns how many of the weights, the first ones, belong to dense
// columns of a design.
func (s *Set) DenseWeights() int {
	if s.spread {
		return s.dense + s.sparse
	}
	return s.dense
}

// Blocks implements [credence.Features].
func (s *Set) Blocks() []credence.Block {
	blocks := make([]credence.Block, len(s.terms))
	for k := range s.terms {
		blocks[k] = s.block(&s.terms[k])
	}
	return blocks
}

func (s *Set) block(b *bound) credence.Block {
	_, intercept := b.term.(*Intercept)
	_, kept := b.term.(*Kept)
	_, unit := b.term.(*RandomFourier)
	switch b.term.(type) {
	case *HSGP, *Periodic: // but for what their functions leave out
		unit = true
	}
	return credence.Block{Name: b.term.Label(), First: s.first(b), Count: b.dense + b.sparse, Intercept: intercept, Kept: kept, Unit: unit}
}

// first returns the first weight of a term. A term with both sorts of columns
// has the last dense and the first sparse ones, so its weights are a run.
func (s *Set) first(b *bound) int {
	if b.dense > 0 {
		return b.firstDense
	}
	return s.dense + b.firstSparse
}

// Transform implements [credence.Features].
func (s *Set) Transform(ws *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	s.check(rows)
	phi.Dense.Reshape(rows.Rows(), s.DenseWeights())
	for _, b := range s.terms {
		if b.dense > 0 {
			b.mapped.Fill(ws, phi.Dense.Columns(b.firstDense, b.dense), rows)
		}
	}
	s.fillSparse(phi, rows)
}

// fillSparse builds the sparse columns, and moves them to the dense ones when
// they are spread.
func (s *Set) fillSparse(phi *credence.Design, rows *credence.Batch) {
	n := rows.Rows()
	csr := &phi.Sparse
	csr.Reset(s.sparse)
	if s.copiesSegment() {
		csr.Append(&rows.Sparse)
		return
	}
	ones := true
	for _, b := range s.terms {
		ones = ones && (b.entries == nil || b.entries.Ones(rows))
	}
	if ones {
		csr.Value = nil
	}
	for i := range n {
		for k := range s.terms {
			if b := &s.terms[k]; b.entries != nil {
				b.entries.AppendRow(csr, int32(b.firstSparse), rows, i, ones)
			}
		}
		csr.Start = append(csr.Start, len(csr.Index))
	}
	csr.Rows = n
	if !s.spread || s.sparse == 0 {
		return
	}
	window := phi.Dense.Columns(s.dense, s.sparse)
	window.Clear()
	csr.AddTo(&window)
	csr.Reset(0)
	csr.Rows, csr.Start = n, append(csr.Start, make([]int, n)...)
}

// copiesSegment says whether the sparse columns are the sparse segment as it stands.
func (s *Set) copiesSegment() bool {
	for k := range s.terms {
		if b := &s.terms[k]; b.entries != nil {
			m, linear := b.mapped.(*linearMap)
			return linear && m.copies() && b.sparse == s.sparse
		}
	}
	return false
}

// check panics unless a batch has the shape the set was made for.
func (s *Set) check(rows *credence.Batch) {
	if rows.X.Cols != len(s.inputs.Dense) {
		panic(fmt.Sprintf("feature: a batch with %d inputs for features of %d", rows.X.Cols, len(s.inputs.Dense)))
	}
	if s.segment && (rows.Sparse.Cols != s.inputs.Segment || rows.Sparse.Rows != rows.X.Rows) {
		panic(fmt.Sprintf("feature: a batch with %d rows and a sparse segment of %d×%d for features of %d sparse columns",
			rows.X.Rows, rows.Sparse.Rows, rows.Sparse.Cols, s.inputs.Segment))
	}
}

var (
	_ credence.Features = (*Set)(nil)
	_ ability.Keyed     = (*Set)(nil)
)
