package text

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/table"
)

// Layout says what becomes of the fields of one file. Files of one table may
// hold their columns in different orders.
type Layout struct {
	File    string         // for error messages
	Fields  []Field        // one for each field of a row
	Columns []table.Column // those that are kept
	// Last is the last field that is kept, -1 if none is: what follows is only
	// counted.
	Last int
}

// Field is one field of a row.
type Field struct {
	Name string
	Kind credence.Kind
	Keep int // position of its values among the kept columns, or -1
	Text int // position of its texts among the kept columns, or -1
	// Written is the position, among the kept columns, of its texts as they stand, or -1.
	Written int
	// Noted says that its numbers have a notation of their own.
	Noted bool
}

// Rules say how values are read.
type Rules struct {
	cells cell.Rules
	// Verbatim reads categories as they are written: with the spaces around them,
	// of any length, and none but an empty one missing.
	Verbatim bool
	// InPlace leaves the texts of delimited text where they stand, not numbered.
	InPlace bool
}

// AsWritten are the rules of columns that are kept as they are written.
var AsWritten = Rules{Verbatim: true}

// NewRules returns rules by which empty texts, those of the caller and, where standard says so, the usual ones such
// as NA mean missing.
func NewRules(standard bool, missing []string) Rules {
	if standard {
		return Rules{cells: cell.NewRules(missing)}
	}
	var rules Rules
	for _, text := range missing {
		rules.cells.AddMissing(text)
	}
	return rules
}

// Block is a run of whole rows: the text, and what became of it.
type Block struct {
	table.Rows
	Layout *Layout
	Line   int // line of the first byte
	// of the file, before Data and in no other block: its header, or what was read before the place it was opened at
	Before []byte
	Data   []byte // whole rows; ends in '\n' unless empty
	Bytes  int64  // how much there was to decode; the text or, of other formats, the numbers
	Read   int64  // bytes of the input consumed up to the end of the block, as stored

	// The least and the highest index of libsvm rows; the least is above the highest
	// where there are none.
	MinIndex, MaxIndex uint64
	Queries            int // qid entries read over
	// Inexact are the first integers beyond 2⁵³, one for each column that has any.
	Inexact []Inexact

	Err error // a failure of other kinds than malformed rows; no rows count then

	odd      []bool // beside Levels: a text means missing or has a fault
	faulty   []byte // the text that was found to be no value last
	scratch  []byte // unescaped fields of a row that Records visits
	position int    // behind the last row that Records visited
	entries  entries
	// spaceKeys are the keys of Spaces.
	spaceKeys []uint64
}

// Inexact is an integer that a float64 does not hold exactly.
type Inexact struct {
	Column, Line int
	Text         []byte // valid as long as the block
}

var missing = math.NaN()

// Reset empties the block, keeping its memory.
func (b *Block) Reset(layout *Layout) {
	b.Layout = layout
	b.Rows.Reset(layout.File, layout.Columns)
	b.MinIndex, b.MaxIndex, b.Queries = 1, 0, 0
	b.Inexact = b.Inexact[:0]
	b.Err = nil
	b.scratch = b.scratch[:0]
	b.odd = append(b.odd[:0], make([]bool, len(layout.Columns))...)
}

// end closes a row, which ends before Data[next].
func (b *Block) end(next int) {
	b.Count++
	b.Ends = append(b.Ends, min(b.Offset+int64(next), b.End))
}

// fail records a malformed row, which ends before Data[next], and drops what it
// left in the block.
func (b *Block) fail(next, line int, column, what string) {
	b.Faults = append(b.Faults, table.Fault{Row: b.Count, End: min(b.Offset+int64(next), b.End),
		Err: &Error{File: b.Layout.File, Line: line, Column: column, Text: string(b.faulty), What: what}})
	b.faulty = nil
	b.Values = b.Values[:b.Count*len(b.Columns)]
	if len(b.Start) > 0 {
		n := b.Start[b.Count]
		b.Keys = b.Keys[:n]
		b.Value = b.Value[:min(n, len(b.Value))]
		b.Space, b.Tokens = b.Space[:min(n, len(b.Space))], b.Tokens[:min(n, len(b.Tokens))]
	}
}

// level returns the number of a text among the levels of a kept column, NaN where
// it is missing; fault says why it cannot be a level.
func (b *Block) level(rules *Rules, column int, text []byte, line int) (code float64, fault string) {
	levels := &b.Levels[column]
	found, isNew := levels.Find(text, line)
	if isNew {
		levels.List[found].Fault, levels.Missing[found] = rules.text(text)
		b.odd[column] = b.odd[column] || levels.Missing[found] || levels.List[found].Fault != ""
	}
	if !b.odd[column] {
		return float64(found), ""
	}
	if fault := levels.List[found].Fault; fault != "" {
		return 0, fault
	}
	if levels.Missing[found] {
		return missing, ""
	}
	return float64(found), ""
}

// text says why a text cannot be that of a category, or whether it means missing.
func (r *Rules) text(text []byte) (fault string, missing bool) {
	switch {
	case r.Verbatim:
		return "", len(text) == 0
	case len(text) > cell.MaxLevel:
		return fmt.Sprintf("a value of %d bytes is too long for a category (at most %d): leave the column out", len(text), cell.MaxLevel), false
	}
	if fault = cell.TextFault(text); fault != "" {
		fault = cell.Quote(text) + " " + fault
	}
	return fault, r.cells.IsMissing(text)
}

// value reads a text of the given kind for a kept column; fault says what is
// wrong with it. Nothing at all is always missing.
func (b *Block) value(rules *Rules, kind credence.Kind, column int, text []byte, line int) (value float64, fault string) {
	switch kind {
	case credence.Category:
		return b.level(rules, column, text, line)
	case credence.Boolean:
		value, fault = rules.cells.Boolean(text)
	default:
		if value, fault = rules.cells.Number(text, &b.Columns[column].Notation); beyondExact(value) {
			b.inexact(column, line, text)
		}
	}
	if fault != "" {
		b.faulty = text
	}
	return value, fault
}

// Cell reads a text as the parsers do: for formats that have texts of their own.
func (b *Block) Cell(rules *Rules, kind credence.Kind, column int, text []byte) (value float64, fault string) {
	return b.value(rules, kind, column, text, 0)
}

// beyondExact reports whether not every integer of this size is a float64.
func beyondExact(value float64) bool { return value >= 1<<53 || value <= -(1<<53) }

// inexact notes an integer in a kept column that a float64 does not hold exactly,
// unless there was one before.
func (b *Block) inexact(column, line int, text []byte) {
	for i := range b.Inexact {
		if b.Inexact[i].Column == column {
			return
		}
	}
	if !cell.Exact(text) {
		b.Inexact = append(b.Inexact, Inexact{column, line, text})
	}
}
