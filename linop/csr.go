package linop

import (
	"fmt"
	"iter"
)

// CSR is a sparse matrix of compressed rows: the entries of row i are
// (Index[k], Value[k]) for k in [Start[i], Start[i+1]), with strictly increasing
// column indices. A nil Value means that every stored entry is 1. A matrix without
// columns needs no Start.
type CSR struct {
	Rows, Cols int
	Start      []int     // length Rows+1; Start[0] is 0, except in a Window
	Index      []int32   // column of each entry
	Value      []float64 // value of each entry, or nil
}

// Dims returns the number of rows and of columns.
func (a *CSR) Dims() (rows, cols int) { return a.Rows, a.Cols }

// Entries returns the number of stored entries.
func (a *CSR) Entries() int {
	if a.Cols == 0 {
		return 0
	}
	return a.Start[a.Rows] - a.Start[0]
}

// Row returns the columns and the values of row i, sharing memory with a; values
// is nil when every entry is 1.
func (a *CSR) Row(i int) (columns []int32, values []float64) {
	if a.Cols == 0 {
		return nil, nil
	}
	lo, hi := a.Start[i], a.Start[i+1]
	if a.Value == nil {
		return a.Index[lo:hi:hi], nil
	}
	return a.Index[lo:hi:hi], a.Value[lo:hi:hi]
}

// At returns value k of a row, which is 1 where values are left out.
func At(values []float64, k int) float64 {
	if values == nil {
		return 1
	}
	return values[k]
}

// Each goes through the columns and values of row i.
func (a *CSR) Each(i int) iter.Seq2[int, float64] {
	columns, values := a.Row(i)
	return func(yield func(int, float64) bool) {
		for k, j := range columns {
			if !yield(int(j), At(values, k)) {
				return
			}
		}
	}
}

// Window returns rows [first, first+count), sharing memory with a.
func (a *CSR) Window(first, count int) CSR {
	window := CSR{Rows: count, Cols: a.Cols, Index: a.Index, Value: a.Value}
	if a.Cols > 0 {
		window.Start = a.Start[first : first+count+1]
	}
	return window
}

// Reset makes a an empty matrix with no rows and the given number of columns,
// keeping its memory for AppendRow.
func (a *CSR) Reset(cols int) {
	a.Rows, a.Cols = 0, cols
	a.Start = append(a.Start[:0], 0)
	a.Index = a.Index[:0]
	a.Value = a.Value[:0]
}

// Append adds the rows of b, which are copied, to a matrix of as many columns.
func (a *CSR) Append(b *CSR) {
	if len(a.Index) > 0 && (a.Value == nil) != (b.Value == nil) {
		for i := range b.Rows {
			a.AppendRow(b.Row(i))
		}
		return
	}
	if len(a.Start) == 0 {
		a.Start = append(a.Start, 0)
	}
	from, to, before := b.Start[0], b.Start[b.Rows], len(a.Index)
	a.Index = append(a.Index, b.Index[from:to]...)
	if a.Value = append(a.Value, b.Value[min(from, len(b.Value)):min(to, len(b.Value))]...); b.Value == nil {
		a.Value = nil
	}
	for _, end := range b.Start[1 : b.Rows+1] {
		a.Start = append(a.Start, before+end-from)
	}
	a.Rows += b.Rows
}

// AppendRow adds a row with the given entries, which are copied; nil values mean ones.
// Columns must be strictly increasing.
func (a *CSR) AppendRow(columns []int32, values []float64) {
	if len(a.Start) == 0 {
		a.Start = append(a.Start, 0)
	}
	if values != nil && len(values) != len(columns) {
		panic(fmt.Sprintf("linop: AppendRow with %d columns and %d values", len(columns), len(values)))
	}
	if a.Rows == 0 && values == nil {
		a.Value = nil
	}
	if values != nil || a.Value != nil {
		for len(a.Value) < len(a.Index) { // rows of ones before the first values
			a.Value = append(a.Value, 1)
		}
		a.Value = append(a.Value, values...)
		for range len(columns) - len(values) {
			a.Value = append(a.Value, 1)
		}
	}
	a.Index = append(a.Index, columns...)
	a.Rows++
	a.Start = append(a.Start, len(a.Index))
}
