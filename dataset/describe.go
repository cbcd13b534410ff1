package dataset

import (
	"fmt"
	"maps"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/table"
)

// column is what is known of a column beyond the schema.
type column struct {
	trained bool     // kind and levels are those of training
	refusal string   // why it cannot be read, or ""
	inexact bool     // integers beyond 2⁵³ were noted
	note    string   // how its kind came about, or ""
	classes []string // its two values, where the sample has just two
	words   []string // of a boolean, for false and for true; nil if unknown
	doubt   string   // why it may not be meant as it is read, or ""
	codes   string   // what its whole numbers are the names of, by their looks, or ""
	// notation is that of its numbers. legible says that what is refused can be read as text.
	notation credence.Notation
	legible  bool
	plain    bool // its texts in the sample are plain numbers
	// unknown is what is known of a column beside its values where the sample has none: the first will tell the kind.
	unknown *cell.Setting
}

// Note tells the user something about a column or, where Column is empty, about
// the table.
type Note struct {
	Column string
	Text   string
	Doubt  bool // it is probably not meant to be read as it is
}

// missing returns the texts that mean missing, of training and of this table.
func (t *Table) missing() []string {
	texts := slices.Clone(t.options.Reading.Missing)
	for _, token := range t.options.MissingTokens {
		if !slices.Contains(texts, token) {
			texts = append(texts, token)
		}
	}
	return texts
}

// setReading keeps how the columns of the sample are read.
func (t *Table) setReading() {
	columns := make([]table.Column, len(t.columns))
	for i := range columns {
		columns[i] = table.Column{Name: t.schema.Columns[i].Name, Notation: t.columns[i].notation}
	}
	t.schema.Reading = t.reading(columns)
}

// reading says how the columns are read.
func (t *Table) reading(columns []table.Column) credence.Reading {
	r := credence.Reading{Missing: t.missing(), Delimiter: t.options.Reading.Delimiter}
	if t.options.Delimiter != 0 {
		r.Delimiter = string(rune(t.options.Delimiter))
	}
	for i := range columns {
		if c := &columns[i]; c.Notation != (credence.Notation{}) {
			r.Set(c.Name, c.Notation)
		}
	}
	return r
}

// Schema returns all columns of the files, in file order. The kind of a column that
// has no value in the sample is a number until it has one; the levels of a category
// are those met so far unless they are those of training. Tags of Vowpal Wabbit text
// are a column, tag, for those who ask for it. What it refers to is shared, and stays as it is.
func (t *Table) Schema() *credence.Schema {
	schema := t.schema
	if t.format == formatVW {
		schema.Columns = schema.Columns[:len(schema.Columns)-1]
	}
	return &schema
}

// Tagged reports whether rows have tags, which are texts of the column tag.
func (t *Table) Tagged() bool { return t.format == formatVW }

// Files returns the names of the files, in reading order.
func (t *Table) Files() []string {
	names := make([]string, len(t.inputs))
	for i, in := range t.inputs {
		names[i] = in.name
	}
	return names
}

// Notes returns what the user should know about how columns are read.
func (t *Table) Notes() []Note {
	var notes []Note
	for _, in := range t.inputs {
		if in.encoding == "" && in.latin.Load() {
			notes = append(notes, Note{Text: in.name + " is read as Windows-1252, for it is not UTF-8"})
		}
	}
	for i, c := range t.columns {
		if c.note != "" {
			notes = append(notes, Note{Column: t.schema.Columns[i].Name, Text: c.note})
		}
		if c.doubt != "" {
			notes = append(notes, Note{Column: t.schema.Columns[i].Name, Text: c.doubt, Doubt: true})
		}
	}
	return append(notes, t.notes...)
}

// checkTypes refuses types of columns that do not exist.
func (t *Table) checkTypes() error {
	for _, name := range slices.Sorted(maps.Keys(t.options.Types)) {
		if _, known := t.index[name]; !known {
			return fmt.Errorf("dataset: --types names the column %q, which %s does not have: %s", name, t.inputs[0].name, t.columnList())
		}
	}
	return nil
}

// Words returns the texts of a boolean column, for false and for true, or nil.
func (t *Table) Words(column string) []string {
	if i, known := t.index[column]; known {
		return t.columns[i].words
	}
	return nil
}

// Classes returns the two values that a column has in the sample, numbers or texts in their order,
// those of a boolean in lower case, that of false first; nil where it has fewer or more.
func (t *Table) Classes(column string) []string {
	if i, known := t.index[column]; known {
		return t.columns[i].classes
	}
	return nil
}

// Codes says what a column of whole numbers looks like in the sample that are names rather than amounts: "codes",
// "years", "identifiers", or "" where they are none.
func (t *Table) Codes(column string) string {
	if i, known := t.index[column]; known && t.schema.Columns[i].Kind == credence.Numeric {
		return t.columns[i].codes
	}
	return ""
}

// Undecided says whether the sample has no value of a column, so that its first value will tell its kind.
func (t *Table) Undecided(column string) bool {
	i, known := t.index[column]
	return known && t.columns[i].unknown != nil
}

// columnList names the columns that there are to one that asks for another.
func (t *Table) columnList() string {
	return "its columns are " + cell.List(t.schema.Names()) + "; name one of them, or add it to the file"
}
