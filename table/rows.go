// Package table holds rows in memory.
//
// [New], [Records], [Structs], [SQL] and [Sparse] make a [credence.Source] of what a program has, with
// the kinds, levels and missing values that a file with the same cells has. [Bind] reads
// structs and maps one at a time as rows of a layout, and [Run] gives rows the codes of a
// schema, so that a service scores or learns a row without allocating.
//
// [Rows] is a run of consecutive rows as a file or a program states them, before
// any model: what readers of files fill, what sources translate to the codes of a
// schema, and what online learners hash.
package table

import (
	"slices"
	"sort"

	"github.com/credence-ml/credence"
)

// Rows is a run of consecutive rows of one file. Its memory is reused: what it
// holds is valid until its owner fills it again. No result depends on where a run
// ends.
//
// Labels, importances and offsets of libsvm and Vowpal Wabbit text are ordinary
// columns, named label, weight and offset.
type Rows struct {
	File    string   // name of the file, for messages
	Columns []Column // shared by all runs with the same columns
	Count   int      // number of rows

	// Values is Count × len(Columns), row by row. A missing value is NaN, a category
	// the index of its text in the Levels of the column or, where rows are InPlace, what
	// [InText] makes of the place of its text. TextOf returns the text.
	Values []float64
	// Levels holds, beside Columns, the distinct texts of each category in this run,
	// in the order of their first occurrence. Texts of malformed rows may be among them.
	Levels []Levels
	// InPlace says that texts are not numbered: the run is for readers who want the key
	// of every cell, and do not gain by knowing which are equal.
	InPlace bool

	// The entries of row i are [Start[i], Start[i+1]); Start is empty where the format
	// has no sparse entries. Keys are distinct within a row: the indices of libsvm text,
	// in increasing order, or [keyhash.Text] of namespace and token of Vowpal Wabbit
	// text, in the order of the row. Entries may be zero.
	Start []int
	Keys  []uint64
	// Value holds the values beside Keys, all finite; it is meaningless where Ones says
	// that every value is 1.
	Value []float64
	Ones  bool
	// Spaces are the distinct namespaces of the run (Vowpal Wabbit), Space the index
	// into them of every entry, Tokens the places of the entries' tokens in Text.
	Spaces Levels
	Space  []int32
	Tokens []Span
	Text   []byte
	// Merged counts the rows whose entries repeated an index or were not in order.
	Merged int

	// Offset is where the run begins in the decompressed file, End where it ends, in
	// bytes; row i ends at Ends[i].
	Offset, End int64
	Ends        []int64
	Places      []Place
	// Faults are the malformed rows of the run, in order.
	Faults []Fault
}

// Column describes one column of Rows.
type Column struct {
	Name string
	Kind credence.Kind
	// Text says that the values are the trimmed texts of the cells, as a category,
	// whatever kind the column has; the name is then that of [credence.TextOf].
	Text bool
	// Unknown says that no row up to and including this run has a value, so that the
	// kind is not yet known.
	Unknown bool
	// Notation is that of the texts of a column of numbers.
	Notation credence.Notation
}

// Span is a part of a text.
type Span struct{ From, To int32 }

// Place says that row Row stands on line Line, and the rows behind it, up to the
// next place, on the lines that follow. Lines count from 1; 0 means that the
// format has none.
type Place struct{ Row, Line int }

// Fault is a malformed row, which is not among the rows.
type Fault struct {
	Row int   // how many rows of the run stand before it
	End int64 // where it ends, in bytes of the decompressed file
	Err error // names file, line and column
}

// Reset empties the run for rows of the given columns, keeping its memory.
func (r *Rows) Reset(file string, columns []Column) {
	r.File, r.Columns, r.Count = file, columns, 0
	r.Values = r.Values[:0]
	r.Levels = slices.Grow(r.Levels, max(len(columns)-len(r.Levels), 0))[:len(columns)]
	for i := range r.Levels {
		if l := &r.Levels[i]; len(l.List) > 0 {
			l.Reset()
		}
	}
	r.Start, r.Keys, r.Value, r.Ones = r.Start[:0], r.Keys[:0], r.Value[:0], true
	r.Spaces.Reset()
	r.Space, r.Tokens, r.Text, r.InPlace = r.Space[:0], r.Tokens[:0], nil, false
	r.Merged = 0
	r.Ends, r.Places, r.Faults = r.Ends[:0], r.Places[:0], r.Faults[:0]
}

// lengthBits are enough for the length of any text of a category.
const lengthBits = 20

// InText returns the value of a cell whose text is Text[from:from+length], where rows are InPlace: a whole
// number that a float64 holds exactly.
func InText(from, length int) float64 { return float64(from<<lengthBits | length) }

// Written returns the value of a cell whose text, Text[from:to], is kept as it is written, where rows are InPlace: one
// that is longer than a category may be is numbered among the levels of the column.
func (r *Rows) Written(column, from, to int) float64 {
	if to-from < 1<<lengthBits {
		return InText(from, to-from)
	}
	code, _ := r.Levels[column].Find(r.Text[from:to], 0)
	return float64(-1 - code)
}

// TextOf returns the text of a category that is not missing, from its value in a row.
func (r *Rows) TextOf(column int, value float64) []byte {
	if !r.InPlace {
		return r.Levels[column].List[int(value)].Text
	}
	if value < 0 {
		return r.Levels[column].List[int(-1-value)].Text
	}
	from, length := int(value)>>lengthBits, int(value)&(1<<lengthBits-1)
	return r.Text[from : from+length : from+length]
}

// Row returns the values of row i.
func (r *Rows) Row(i int) []float64 {
	width := len(r.Columns)
	return r.Values[i*width : (i+1)*width : (i+1)*width]
}

// Token returns the text of an entry of Vowpal Wabbit text.
func (r *Rows) Token(entry int) []byte {
	t := r.Tokens[entry]
	return r.Text[t.From:t.To:t.To]
}

// Line returns the line on which row i stands; 0 where there are no lines.
func (r *Rows) Line(i int) int {
	k := sort.Search(len(r.Places), func(k int) bool { return r.Places[k].Row > i }) - 1
	if k < 0 || r.Places[k].Line == 0 {
		return 0
	}
	return r.Places[k].Line + i - r.Places[k].Row
}

// At notes that the next row stands on the given line.
func (r *Rows) At(line int) {
	if n := len(r.Places); n > 0 {
		last := &r.Places[n-1]
		switch {
		case last.Row == r.Count: // a malformed row stood there
			last.Line = line
			return
		case last.Line+r.Count-last.Row == line:
			return
		}
	}
	r.Places = append(r.Places, Place{r.Count, line})
}
