package dataset

import (
	"fmt"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/table"
)

// selection is what a pass keeps.
type selection struct {
	columns []credence.Column // without the levels of categories not in training
	trained []bool
	keep    map[string]int // position in columns, by name
	// unknown are the settings of columns that had no value in the sample, nil of others.
	unknown []*cell.Setting
	// notations are those of columns of numbers.
	notations map[string]credence.Notation
	sparse    bool
	keyed     bool // sparse columns are numbered as they come
	// unseen says that the squares of entries outside training's columns are summed,
	// behind the other columns.
	unseen bool
	// inPlace says that texts stay where they stand, not numbered.
	inPlace bool
}

// Check refuses columns that cannot be read, before any row is.
func (t *Table) Check(columns []string) error {
	_, err := t.choose(columns)
	return err
}

// choose turns the caller's column names into a selection.
func (t *Table) choose(names []string) (*selection, error) {
	trained := t.options.Schema
	chosen := &selection{sparse: t.sparse(), keyed: t.options.Keyed || t.format == formatVW}
	if names == nil {
		described := t.Schema()
		if trained != nil {
			described = trained
		}
		names = described.Names()
	}
	if trained != nil {
		if err := t.checkTrained(trained); err != nil {
			return nil, err
		}
		chosen.sparse = trained.Sparse > 0
		chosen.unseen = chosen.sparse
	}
	chosen.keep = make(map[string]int, len(names))
	chosen.notations = make(map[string]credence.Notation)
	for _, name := range names {
		if _, twice := chosen.keep[name]; twice {
			continue
		}
		position, asText, known := t.find(name)
		if !known {
			need := "dataset: the column %q is not in %s: %s"
			if _, needed := t.trained[name]; needed {
				need = "dataset: the model needs the column %q, which %s does not have: %s"
			}
			return nil, fmt.Errorf(need, name, t.inputs[0].name, t.columnList())
		}
		if refusal := t.columns[position].refusal; refusal != "" && !(asText && t.columns[position].legible) {
			return nil, &text.Error{File: t.inputs[0].name, Column: t.schema.Columns[position].Name, What: refusal}
		}
		described, learned := t.schema.Columns[position], t.columns[position].trained
		if asText {
			described = credence.Column{Name: name, Kind: credence.Category}
			var at int
			if at, learned = t.trained[name]; learned {
				described = trained.Columns[at]
			}
		}
		if !learned {
			described.Levels = nil
		}
		chosen.keep[name] = len(chosen.columns)
		if n := t.columns[position].notation; n != (credence.Notation{}) && !asText {
			chosen.notations[name] = n
		}
		chosen.columns = append(chosen.columns, described)
		unknown := t.columns[position].unknown
		if asText {
			unknown = nil
		}
		chosen.unknown = append(chosen.unknown, unknown)
		// A category of training without levels is known by kind alone.
		chosen.trained = append(chosen.trained, learned && described.Levels != nil)
	}
	return chosen, nil
}

// find returns the column of that name, or the one whose texts it names.
func (t *Table) find(name string) (position int, asText, known bool) {
	if position, known = t.index[name]; known {
		return position, false, true
	}
	of, is := textOf(name)
	if is {
		position, known = t.index[of]
	}
	return position, is, known
}

// asWritten begins the names by which [Table.Rows] is asked for texts as they are written; no column has such a name.
const asWritten = "\x00"

// Written names the texts of a column as they stand in the file, see [Table.Fields], beside whatever else of the column
// [Table.Rows] is asked for.
func Written(column string) string { return asWritten + column }

// textOf returns the column whose texts are named, trimmed or as they are written.
func textOf(name string) (column string, is bool) {
	if column, is = strings.CutPrefix(name, asWritten); is {
		return column, true
	}
	return credence.CutText(name)
}

// sparse reports whether the format has sparse entries.
func (t *Table) sparse() bool { return t.format == formatLibSVM || t.format == formatVW }

// checkTrained refuses files without the sparse columns of training.
func (t *Table) checkTrained(trained *credence.Schema) error {
	want := formatLibSVM
	if len(trained.Features) > 0 && trained.Features[0].Token != "" {
		want = formatVW
	}
	if trained.Sparse == 0 || t.format == want {
		return nil
	}
	if want == formatVW {
		return fmt.Errorf("%s: the model was trained on the features of Vowpal Wabbit text, which this file does not have: give it such rows", t.inputs[0].name)
	}
	return fmt.Errorf("%s: the model was trained on the numbered columns of a libsvm file, which this file does not have: give it libsvm rows", t.inputs[0].name)
}

// width returns the number of columns that are stored.
func (s *selection) width() int {
	if s.unseen {
		return len(s.columns) + 1
	}
	return len(s.columns)
}

// rowColumns describes the columns to the consumers of rows.
func (s *selection) rowColumns() []table.Column {
	columns := make([]table.Column, len(s.columns))
	for i, c := range s.columns {
		_, asText := textOf(c.Name)
		columns[i] = table.Column{Name: c.Name, Kind: c.Kind, Text: asText, Unknown: s.unknown[i] != nil, Notation: s.notations[c.Name]}
	}
	return columns
}

// layout returns what becomes of the named fields of a file.
func (s *selection) layout(in *input, names []string) *text.Layout {
	layout := &text.Layout{File: in.name, Columns: s.rowColumns(), Fields: make([]text.Field, len(names)), Last: -1}
	for i, name := range names {
		field := text.Field{Name: name, Keep: -1, Text: -1, Written: -1}
		if k, kept := s.keep[name]; kept {
			field.Keep, field.Kind = k, s.columns[k].Kind
			if layout.Columns[k].Unknown {
				field.Kind = credence.Category // until its first value tells
			}
			field.Noted = layout.Columns[k].Notation != credence.Notation{}
			layout.Last = i
		}
		if k, kept := s.keep[credence.TextOf(name)]; kept {
			field.Text = k
			layout.Last = i
		}
		if k, kept := s.keep[Written(name)]; kept {
			field.Written = k
			layout.Last = i
		}
		layout.Fields[i] = field
	}
	return layout
}
