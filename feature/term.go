package feature

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Inputs are the inputs of a model, and Input is a dense one.
type (
	Inputs = credence.Inputs
	Input  = credence.Input
)

// Term is one term of a formula: plain data. Fields tagged "tensor" are for binary storage, as
// package modelfile says: matrices in row-major order, whose dimension "inputs" is that of
// [Tensored]. All others survive encoding/json.
type Term interface {
	// Kind names the type of the term for storage; see [All].
	Kind() string
	// Label is the name of the term's block, as the formula writes it.
	Label() string
	// Bind checks the term against the inputs and makes it ready for work. It
	// does not change the term, and the map does not refer to in afterwards.
	Bind(in *Inputs) (Map, error)
}

// Tensored is implemented by terms with tensors.
type Tensored interface {
	// TensorInputs returns how many of the inputs the term reads.
	TensorInputs(in *Inputs) int
}

// Map is a bound term. It is immutable and safe for concurrent use with
// different workspaces: it remembers nothing of the rows that it has seen, so that the columns of a row are the same
// in any batch, which checkFeatures tests (reuse, split, order and threads).
type Map interface {
	// Columns returns the number of dense columns and of columns that are mostly
	// zero, which together are the term's weights, in this order.
	Columns() (dense, sparse int)
	// Fill stores the dense columns of the rows in dst, a window that is
	// rows × dense.
	Fill(ws *credence.Workspace, dst linop.Dense, rows *credence.Batch)
	// WeightName returns the name of the term's weight j for people.
	WeightName(j int) string
}

// SparseMap is a map with sparse columns.
type SparseMap interface {
	Map
	// Ones reports whether every entry of these rows is 1, so that values need
	// not be stored.
	Ones(rows *credence.Batch) bool
	// AppendRow appends the entries of row i to dst.Index, columns increasing
	// and counted from first, and unless ones their values to dst.Value.
	AppendRow(dst *linop.CSR, first int32, rows *credence.Batch, i int, ones bool)
}

// TunableMap is a map with hyper-parameters.
type TunableMap interface {
	Map
	// Hyper lists the hyper-parameters.
	Hyper() []credence.Hyper
	// WithHyper returns the term at other values.
	WithHyper(values []float64) Term
	// Pullback adds Σ dPhi ⊙ ∂Φ/∂log θ over the rows to grad, one element for
	// each hyper-parameter. phi and dPhi are windows on the term's dense columns.
	Pullback(ws *credence.Workspace, grad []float64, rows *credence.Batch, phi, dPhi linop.Dense)
}

// RandomMap is a map that can be drawn afresh.
type RandomMap interface {
	Map
	// Redraw returns the term with random parts drawn from rng.
	Redraw(rng *rand.Rand) Term
	// Thin returns the term with the first of its random parts, one in so many.
	Thin(parts int) Term
}

// All returns an empty term of every kind of this package, for reading stored terms.
func All() []Term {
	return []Term{
		&Intercept{}, &Linear{}, &OneHot{}, &Hash{}, &Interaction{}, &Kept{}, &Group{}, &Multilevel{},
		&Polynomial{}, &Spline{}, &Cyclic{}, &HSGP{}, &Periodic{}, &Radial{}, &Sigmoid{}, &RandomFourier{},
	}
}

// inputAt returns the dense input at an index that a term names.
func inputAt(in *Inputs, label string, index int) (*Input, error) {
	if index < 0 || index >= len(in.Dense) {
		return nil, fmt.Errorf("feature: %s: input %d of %d: give the position of a column of the batch", label, index, len(in.Dense))
	}
	return &in.Dense[index], nil
}

// segment is a choice of columns of the sparse segment.
type segment struct {
	columns int     // how many are chosen
	without []int32 // those left out, increasing; the segment may be too wide for a table of all
	names   credence.SparseNames
}

// newSegment chooses all columns but without, which must be increasing.
func newSegment(label string, in *Inputs, use bool, without []int32) (segment, error) {
	if !use {
		if len(without) > 0 {
			return segment{}, fmt.Errorf("feature: %s leaves out columns of a sparse segment that it does not use", label)
		}
		return segment{}, nil
	}
	if in.Segment <= 0 {
		return segment{}, fmt.Errorf("feature: %s uses a sparse segment, which the data lack", label)
	}
	s := segment{columns: in.Segment - len(without), without: without, names: in.SparseNames}
	last := int32(-1)
	for _, k := range without {
		if k <= last || int(k) >= in.Segment {
			return segment{}, fmt.Errorf("feature: %s leaves out column %d: the list must increase and stay below %d", label, k, in.Segment)
		}
		last = k
	}
	return s, nil
}

// place returns the place of a column among the chosen, or -1 if it is left out.
func (s *segment) place(column int32) int32 {
	if len(s.without) == 0 {
		return column
	}
	return s.search(column)
}

// search is place where columns are left out; apart, so that place is inlined.
//
//go:noinline
func (s *segment) search(column int32) int32 {
	before, left := slices.BinarySearch(s.without, column)
	if left {
		return -1
	}
	return column - int32(before)
}

// name is the name of the j-th chosen column.
func (s *segment) name(j int) string {
	// Before without[i] stand without[i]−i chosen columns.
	return s.names.SparseName(j + sort.Search(len(s.without), func(i int) bool { return int(s.without[i])-i > j }))
}

// code returns the level that a category input holds, or -1 for none. A code
// past the last level is a bug of whoever made the batch.
func code(x float64, levels int) int {
	if !(x >= 0) {
		return -1
	}
	c := int(x)
	if c >= levels {
		panic(fmt.Sprintf("feature: category code %d of an input with %d levels", c, levels))
	}
	return c
}
