package dataset

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
)

// stated is a schema as a file has it, for people to read and to change.
type stated struct {
	Columns   []statedColumn `json:"columns"`
	Missing   []string       `json:"missing,omitempty"`
	Delimiter string         `json:"delimiter,omitempty"`
}

type statedColumn struct {
	Name   string   `json:"name"`
	Kind   string   `json:"kind"` // number, boolean or category
	Levels []string `json:"levels,omitempty"`
	credence.Notation
}

// mostStated is the largest number of levels that a schema file has of a column: more are those of the data.
const mostStated = 1000

// WriteSchema writes how a table is read as JSON, for [ReadSchema]: the name, kind, levels and notation of each column,
// and the texts that mean missing.
func WriteSchema(w io.Writer, schema *credence.Schema) error {
	if schema == nil {
		return errors.New("dataset: there is no schema to write: take that of a table")
	}
	out := stated{Columns: []statedColumn{}, Missing: schema.Reading.Missing, Delimiter: schema.Reading.Delimiter}
	for _, c := range schema.Columns {
		of := statedColumn{Name: c.Name, Kind: c.Kind.String(), Notation: schema.Reading.Notations[c.Name]}
		if len(c.Levels) <= mostStated {
			of.Levels = c.Levels
		}
		out.Columns = append(out.Columns, of)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(out)
}

// mostSchema bounds the bytes of a schema file.
const mostSchema = 64 << 20

// ReadSchema reads what [WriteSchema] writes, for [Options].Stated. It refuses a schema that names no column, kinds
// that there are not and names given twice.
func ReadSchema(r io.Reader) (*credence.Schema, error) {
	if r == nil {
		return nil, errors.New("dataset: there is no schema to read: open a file that look -o wrote")
	}
	text, err := io.ReadAll(io.LimitReader(r, mostSchema+1))
	if err != nil {
		return nil, err
	}
	if len(text) > mostSchema {
		return nil, fmt.Errorf("dataset: the schema is longer than %d MB: it is no file that look -o wrote", mostSchema>>20)
	}
	var in stated
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return nil, fmt.Errorf("dataset: it is no schema (%w): look DATA -o writes one", err)
	}
	if len(in.Columns) == 0 {
		return nil, errors.New("dataset: the schema names no column: look DATA -o writes one of the columns of a table")
	}
	schema := &credence.Schema{Reading: credence.Reading{Missing: in.Missing, Delimiter: in.Delimiter}}
	known := map[string]bool{}
	for _, c := range in.Columns {
		kind := slices.IndexFunc([]credence.Kind{credence.Numeric, credence.Boolean, credence.Category}, func(k credence.Kind) bool { return k.String() == c.Kind })
		switch {
		case c.Name == "":
			return nil, errors.New("dataset: a column of the schema has no name: give it one")
		case known[c.Name]:
			return nil, fmt.Errorf("dataset: the schema names the column %q twice: keep one", c.Name)
		case kind < 0:
			return nil, fmt.Errorf("dataset: column %q of the schema is of kind %q: use number, boolean or category", c.Name, c.Kind)
		case c.Date != "" && !cell.DateOrder(c.Date):
			return nil, fmt.Errorf("dataset: column %q of the schema has dates written as %q: use ymd, dmy or mdy", c.Name, c.Date)
		case c.Decimal != "" && c.Decimal != "." && c.Decimal != ",":
			return nil, fmt.Errorf("dataset: column %q of the schema has the decimal mark %q: use . or a comma", c.Name, c.Decimal)
		case credence.Kind(kind) != credence.Numeric && c.Notation != credence.Notation{}, credence.Kind(kind) != credence.Category && len(c.Levels) > 0:
			return nil, fmt.Errorf("dataset: column %q of the schema is a %s, of which levels or the notation of numbers are none: leave them out", c.Name, c.Kind)
		}
		known[c.Name] = true
		schema.Columns = append(schema.Columns, credence.Column{Name: c.Name, Kind: credence.Kind(kind), Levels: c.Levels})
		if credence.Kind(kind) == credence.Numeric { // plain ones, too, which are then not inferred
			schema.Reading.Set(c.Name, c.Notation)
		}
	}
	if len(in.Delimiter) > 1 || in.Delimiter == "\"" || in.Delimiter == "\n" || in.Delimiter == "\r" {
		return nil, fmt.Errorf("dataset: the delimiter %q of the schema is not one character that can stand between fields", in.Delimiter)
	}
	return schema, nil
}

// state takes over what a schema states and options do not.
func (t *Table) state() {
	s, o := t.options.Stated, &t.options
	if s == nil {
		return
	}
	o.Reading, t.stated = credence.Reading{Missing: s.Reading.Missing}, s.Places()
	for _, c := range s.Columns {
		_, overridden := o.Types[c.Name]
		if n, is := s.Reading.Notations[c.Name]; is && !overridden && o.Dates[c.Name] == "" {
			o.Reading.Set(c.Name, n)
		}
	}
	if o.Delimiter == 0 && s.Reading.Delimiter != "" {
		o.Delimiter = s.Reading.Delimiter[0]
	}
}

// typeOf returns the kind that the options or the schema stated declare a column to be.
func (t *Table) typeOf(name string) (kind credence.Kind, declared bool) {
	if kind, declared = t.options.Types[name]; declared {
		return kind, true
	}
	if k, is := t.stated[name]; is {
		return t.options.Stated.Columns[k].Kind, true
	}
	kind, declared = t.options.Kinds[name]
	return kind, declared
}

// checkStated refuses a table that lacks columns of the schema stated, and notes those that it has more. A model knows
// which columns it needs.
func (t *Table) checkStated() error {
	s := t.options.Stated
	if s == nil || t.options.Schema != nil {
		return nil
	}
	for _, c := range s.Columns {
		if _, there := t.index[c.Name]; !there {
			return fmt.Errorf("dataset: --schema names the column %q, which %s does not have: %s", c.Name, t.inputs[0].name, t.columnList())
		}
	}
	for i, c := range t.schema.Columns {
		if _, known := t.stated[c.Name]; !known {
			note := []string{"is not in the schema, and is read as a " + c.Kind.String()}
			if t.columns[i].note != "" {
				note = append(note, t.columns[i].note)
			}
			t.columns[i].note = strings.Join(note, "; ")
		}
	}
	return nil
}

// noteLevels notes levels that the schema stated lacks.
func (t *Table) noteLevels(columns []credence.Column) {
	if t.options.Stated == nil {
		return
	}
	for _, c := range columns {
		k, is := t.stated[c.Name]
		if !is || t.options.Stated.Columns[k].Levels == nil || c.Kind != credence.Category {
			continue
		}
		known := map[string]bool{}
		for _, level := range t.options.Stated.Columns[k].Levels {
			known[level] = true
		}
		more := slices.DeleteFunc(slices.Clone(c.Levels), func(level string) bool { return known[level] })
		if len(more) > 0 {
			text := fmt.Sprintf("has the level %q, which the schema lacks", more[0])
			if len(more) > 1 {
				text = fmt.Sprintf("has %d levels that the schema lacks, such as %q", len(more), more[0])
			}
			t.columns[t.index[c.Name]].doubt = text
		}
	}
}
