package text

import (
	"bytes"
	"hash/maphash"

	"github.com/credence-ml/credence"
)

// Layout says what becomes of the fields of one file. Files of one table may
// hold their columns in different orders.
type Layout struct {
	File   string  // for error messages
	Fields []Field // one for each field of a row
	Width  int     // columns that are kept
	// Unseen says that the last of these columns is the sum of squares of a row's
	// entries beyond the limit (libsvm); it belongs to no field.
	Unseen bool
	// Last is the last field that is kept, -1 if none is: what follows is only
	// counted.
	Last int
}

// Field is one field of a row.
type Field struct {
	Name string
	Kind credence.Kind
	Keep int // position among the kept columns, or -1
}

// Rules say how values are read.
type Rules struct {
	Missing      map[string]struct{} // texts that mean missing
	KeepInfinite bool                // infinities are values, not faults
	// Verbatim reads categories as they are written: with the spaces around them,
	// of any length, and none but an empty one missing.
	Verbatim bool
}

// Level is a category value as it first occurs in a block.
type Level struct {
	Text []byte // valid until the block is reused
	Line int    // where it stood
}

// Block is a run of whole rows: the text, and what became of it.
type Block struct {
	Layout *Layout
	Line   int    // line of the first byte
	Data   []byte // whole rows; ends in '\n' unless empty
	Bytes  int64  // how much there was to decode; the text or, of other formats, the numbers
	Read   int64  // bytes of the input consumed up to the end of the block, as stored

	Rows   int
	Values []float64 // Rows×Width; a category is an index into Levels, missing is NaN
	// Levels holds, for every kept column, the distinct values of a category in
	// the order of their first occurrence.
	Levels []Levels

	// The sparse part of libsvm rows, as in linop.CSR. Value is meaningless where
	// Ones says that every value is 1.
	Start    []int
	Index    []int32
	Value    []float64
	Ones     bool
	MaxIndex int32 // the highest index that is kept, from 1
	Dropped  int   // entries beyond the limit
	Queries  int   // qid entries read over

	// Runs says where rows stand: row Row and those after it, up to the next run,
	// are on line Line and those after it.
	Runs []Run

	Err error // the first fault of the block; no rows count then

	scratch  []byte // unescaped fields that Levels refer to
	position int    // behind the last row that Records visited
}

// Run is the place of a run of rows on consecutive lines.
type Run struct{ Row, Line int }

// at notes that the next row stands on the given line.
func (b *Block) at(line int) {
	if n := len(b.Runs); n > 0 && b.Runs[n-1].Line+b.Rows-b.Runs[n-1].Row == line {
		return
	}
	b.Runs = append(b.Runs, Run{b.Rows, line})
}

// Reset empties the block, keeping its memory.
func (b *Block) Reset(layout *Layout) {
	b.Layout = layout
	b.Rows = 0
	b.Values = b.Values[:0]
	b.Start = append(b.Start[:0], 0)
	b.Index = b.Index[:0]
	b.Value = b.Value[:0]
	b.Ones, b.MaxIndex, b.Dropped, b.Queries = true, 0, 0, 0
	b.Runs = b.Runs[:0]
	b.Err = nil
	b.scratch = b.scratch[:0]
	for len(b.Levels) < layout.Width {
		b.Levels = append(b.Levels, Levels{})
	}
	b.Levels = b.Levels[:layout.Width]
	for i := range b.Levels {
		b.Levels[i].Reset()
	}
}

// fail records a fault at a line and column, unless there was one before.
func (b *Block) fail(line int, column, what string) {
	if b.Err == nil {
		b.Err = &Error{File: b.Layout.File, Line: line, Column: column, What: what}
	}
}

// Levels numbers the distinct values of a category column within a block. The
// zero value is empty.
type Levels struct {
	List []Level
	// Missing[i] says that level i is a text that means missing.
	Missing []bool
	hashes  []uint64
	table   []int32 // index into List plus 1, by hash; a power of two long
}

// levelSeed is drawn per process. Numbers are given by order of occurrence, so
// nothing depends on it.
var levelSeed = maphash.MakeSeed()

// Reset empties the set, keeping its memory.
func (l *Levels) Reset() {
	if len(l.List) > 0 {
		clear(l.table)
	}
	l.List, l.Missing, l.hashes = l.List[:0], l.Missing[:0], l.hashes[:0]
}

// Find returns the number of the text and whether it is new: a new text is
// kept as it is, without copying.
func (l *Levels) Find(text []byte, line int) (code int, isNew bool) {
	if 2*(len(l.List)+1) > len(l.table) {
		l.grow()
	}
	hash := maphash.Bytes(levelSeed, text)
	mask := uint64(len(l.table) - 1)
	i := hash & mask
	for l.table[i] != 0 {
		code = int(l.table[i] - 1)
		if l.hashes[code] == hash && bytes.Equal(l.List[code].Text, text) {
			return code, false
		}
		i = (i + 1) & mask
	}
	code = len(l.List)
	l.table[i] = int32(code + 1)
	l.List = append(l.List, Level{Text: text, Line: line})
	l.Missing = append(l.Missing, false)
	l.hashes = append(l.hashes, hash)
	return code, true
}

func (l *Levels) grow() {
	l.table = make([]int32, max(16, 2*len(l.table)))
	mask := uint64(len(l.table) - 1)
	for code, hash := range l.hashes {
		i := hash & mask
		for l.table[i] != 0 {
			i = (i + 1) & mask
		}
		l.table[i] = int32(code + 1)
	}
}
