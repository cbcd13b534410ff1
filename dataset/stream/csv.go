package stream

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// table parses delimited text with a header. A quoted field ends at the next
// quote that is not doubled and may hold delimiters and line breaks; other fields
// lose leading and trailing spaces. An empty field is a token of its own, and
// malformed where a number is needed.
type table struct {
	plan      *Plan
	labels    Labels
	named     bool
	delimiter byte

	columns []string // of the present file
	target  int
	weight  int
	offset  int
	terms   []tableTerm
	keep    []string // columns whose texts are kept
	keepAt  []int

	offsetTransforms []func(float64) float64

	fields  [][]byte
	scratch []byte
	cells   []cell
}

// cell is what a row has in a column, worked out once for all terms.
type cell struct {
	done  bool
	token uint64
}

// tableTerm is a term bound to the columns of a file.
type tableTerm struct {
	Term
	label      string
	columns    []int
	numbers    []bool // column k of the term is taken as a number
	spaces     []uint64
	transforms []func(float64) float64
}

func newTable(p *Plan, labels Labels, named bool) *table {
	t := &table{plan: p, labels: labels, named: named, delimiter: ','}
	if p.Format == FormatTSV {
		t.delimiter = '\t'
	}
	return t
}

// Header implements Headed: it finds the columns of the plan, which may stand in
// another order in every file.
func (t *table) Header(text []byte) error {
	if err := t.header(text); err != nil {
		return err
	}
	return t.bind()
}

// header finds the delimiter of CSV text and the columns.
func (t *table) header(text []byte) error {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if t.plan.Format == FormatCSV {
		t.delimiter = delimiterOf(text)
	}
	if err := t.split(text); err != nil {
		return err
	}
	t.columns = nil
	for k, field := range t.fields {
		name := string(field)
		if name == "" {
			return fmt.Errorf("column %d has no name: name it in the header", k+1)
		}
		t.columns = append(t.columns, name)
	}
	seen := make(map[string]int, len(t.columns))
	for k, name := range t.columns {
		if before, twice := seen[name]; twice {
			return fmt.Errorf("columns %d and %d are both named %q: rename one", before+1, k+1, name)
		}
		seen[name] = k
	}
	return nil
}

// delimiterOf is what a header has most of outside quotes, the comma where it has none.
func delimiterOf(header []byte) byte {
	var count [256]int
	quoted := false
	for _, c := range header {
		if c == '"' {
			quoted = !quoted
		}
		if !quoted {
			count[c]++
		}
	}
	best := byte(',')
	for _, c := range []byte("\t;|") {
		if count[c] > count[best] {
			best = c
		}
	}
	return best
}

func (t *table) bind() error {
	p := t.plan
	find := func(name string) (int, error) {
		if k := slices.Index(t.columns, name); k >= 0 {
			return k, nil
		}
		listed := t.columns[:min(12, len(t.columns))]
		return 0, fmt.Errorf("there is no column %q: the columns are %s", name, strings.Join(listed, ", "))
	}
	var err error
	t.target, t.weight, t.offset = -1, -1, -1
	if t.target, err = find(p.Target); err != nil {
		if !t.labels.Optional {
			return err
		}
		t.target = -1
	}
	if p.Weight != "" {
		if t.weight, err = find(p.Weight); err != nil {
			if !t.labels.Optional {
				return err
			}
			t.weight = -1 // weights count in learning alone
		}
	}
	if len(p.Offset.Columns) > 0 {
		if t.offset, err = find(p.Offset.Columns[0]); err != nil {
			return err
		}
	}
	t.keepAt = t.keepAt[:0]
	for _, name := range t.keep {
		k, err := find(name)
		if err != nil {
			return err
		}
		t.keepAt = append(t.keepAt, k)
	}
	t.offsetTransforms = functions(p.Offset.Transforms)
	t.terms = t.terms[:0]
	terms := slices.Clone(p.Terms)
	if p.All {
		taken := append([]string{p.Target, p.Weight}, p.Except...)
		taken = append(taken, p.Offset.Columns...)
		for _, term := range p.Terms {
			if len(term.Columns) == 1 {
				taken = append(taken, term.Columns[0])
			}
		}
		for _, name := range t.columns {
			if !slices.Contains(taken, name) {
				terms = append(terms, Term{Columns: []string{name}, Tokens: p.Tokens, Bits: p.Bits})
			}
		}
	}
	for _, term := range terms {
		b := tableTerm{Term: term, label: term.String()}
		for _, name := range term.Columns {
			k, err := find(name)
			if err != nil {
				return err
			}
			b.columns = append(b.columns, k)
			b.numbers = append(b.numbers, !term.Tokens && (len(term.Transforms) > 0 || slices.Contains(p.Numbers, name)))
			b.spaces = append(b.spaces, space(name))
		}
		if len(term.Transforms) > 0 {
			b.spaces[0] = space(b.label)
			b.transforms = functions(term.Transforms)
		}
		t.terms = append(t.terms, b)
	}
	return nil
}

// functions returns the transforms of these names.
func functions(names []string) []func(float64) float64 {
	var all []func(float64) float64
	for _, name := range names {
		if f, known := transform(name); known {
			all = append(all, f)
		}
	}
	return all
}

// Open implements MultiLine: a row goes on while a quote is open.
func (t *table) Open(text []byte) bool {
	if bytes.IndexByte(text, '"') < 0 {
		return false
	}
	err := t.split(text)
	return errors.Is(err, errOpenQuote)
}

var errOpenQuote = errors.New("a quote is not closed: double quotes that belong to the text")

// split finds the fields of a row.
func (t *table) split(text []byte) error {
	t.fields, t.scratch = t.fields[:0], t.scratch[:0]
	text = bytes.TrimSuffix(text, []byte("\r"))
	for {
		i := 0
		for i < len(text) && text[i] == ' ' {
			i++
		}
		if i < len(text) && text[i] == '"' {
			first := len(t.scratch)
			i++
			for {
				k := bytes.IndexByte(text[i:], '"')
				if k < 0 {
					return errOpenQuote
				}
				t.scratch = append(t.scratch, text[i:i+k]...)
				i += k + 1
				if i >= len(text) || text[i] != '"' {
					break
				}
				t.scratch = append(t.scratch, '"')
				i++
			}
			t.fields = append(t.fields, t.scratch[first:len(t.scratch):len(t.scratch)])
			for i < len(text) && text[i] == ' ' {
				i++
			}
			if i == len(text) {
				return nil
			}
			if text[i] != t.delimiter {
				return fmt.Errorf("text follows the closing quote of field %d: double quotes that belong to the text", len(t.fields))
			}
			text = text[i+1:]
			continue
		}
		k := bytes.IndexByte(text, t.delimiter)
		field := text
		if k >= 0 {
			field = text[:k]
		}
		t.fields = append(t.fields, trim(field))
		if k < 0 {
			return nil
		}
		text = text[k+1:]
	}
}

// trim drops spaces around a field.
func trim(field []byte) []byte {
	for len(field) > 0 && field[0] == ' ' {
		field = field[1:]
	}
	for len(field) > 0 && field[len(field)-1] == ' ' {
		field = field[:len(field)-1]
	}
	return field
}

// Parse implements Parser.
func (t *table) Parse(rows *Rows, text []byte) error {
	if len(text) == 0 || len(text) == 1 && text[0] == '\r' {
		return nil
	}
	if err := t.split(text); err != nil {
		return err
	}
	if len(t.fields) != len(t.columns) {
		return fmt.Errorf("%d fields, and the header has %d: correct the row", len(t.fields), len(t.columns))
	}
	target, weight, offset := math.NaN(), 1.0, 0.0
	var err error
	if t.target >= 0 {
		if target, err = t.labels.read(t.fields[t.target]); err != nil {
			return err
		}
	}
	if t.weight >= 0 {
		if weight, err = t.number(t.weight, nil); err != nil {
			return err
		}
		if weight < 0 {
			return fmt.Errorf("column %q: weight %v is negative: weights are 0 or more", t.columns[t.weight], weight)
		}
	}
	if t.offset >= 0 {
		if offset, err = t.number(t.offset, t.offsetTransforms); err != nil {
			return err
		}
	}
	if cap(t.cells) < len(t.columns) {
		t.cells = make([]cell, len(t.columns))
	}
	t.cells = t.cells[:len(t.columns)]
	clear(t.cells)
	rows.named = t.named
	rows.begin()
	for i := range t.terms {
		if err := t.term(rows, &t.terms[i]); err != nil {
			rows.undo()
			return err
		}
	}
	if !rows.finite() {
		rows.undo()
		return errNotFinite
	}
	rows.end(target, weight, offset)
	for _, k := range t.keepAt {
		rows.kept = append(rows.kept, t.fields[k]...)
		rows.keptEnds = append(rows.keptEnds, len(rows.kept))
	}
	return nil
}

// number reads a field as a number and transforms it.
func (t *table) number(column int, transforms []func(float64) float64) (float64, error) {
	text := t.fields[column]
	value, ok := number(text)
	if !ok {
		if len(text) == 0 {
			return 0, fmt.Errorf("column %q: the number is missing: correct the row, or take the column as tokens by hash(%s)", t.columns[column], t.columns[column])
		}
		return 0, fmt.Errorf("column %q: %s is not a number: correct the row, or take the column as tokens by hash(%s)", t.columns[column], quote(text), t.columns[column])
	}
	for _, f := range transforms {
		value = f(value)
	}
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("column %q: %s has no finite transform: correct the row", t.columns[column], quote(text))
	}
	return value, nil
}

// term adds the feature of one term.
func (t *table) term(rows *Rows, b *tableTerm) error {
	key, value := uint64(0), 1.0
	for k, column := range b.columns {
		var part uint64
		if b.numbers[k] {
			x, err := t.number(column, b.transforms)
			if err != nil {
				return err
			}
			value *= x
			part = numberKey(b.spaces[k])
		} else {
			c := &t.cells[column]
			if !c.done {
				*c = cell{true, Hash(b.spaces[k], t.fields[column])}
			}
			part = c.token
		}
		if k == 0 {
			key = part
		} else {
			key = Cross(key, part)
		}
	}
	if math.IsInf(value, 0) {
		return errNotFinite
	}
	if !rows.entry(shorten(key, b.Bits), value) || !t.named {
		return nil
	}
	if len(b.Transforms) > 0 {
		rows.text = append(rows.text, b.label...)
	} else {
		for k, column := range b.columns {
			if k > 0 {
				rows.text = append(rows.text, ':')
			}
			rows.text = append(rows.text, b.Columns[k]...)
			if !b.numbers[k] {
				rows.text = append(append(rows.text, '='), t.fields[column]...)
			}
		}
	}
	rows.name()
	return nil
}
