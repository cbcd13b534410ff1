package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/table"
)

var errSampled = errors.New("enough rows are seen")

// headerOf reads the header of delimited text off its first block. The splitter
// stands behind that block, which may hold rows.
func (t *Table) headerOf(in *input, splitter *text.Splitter, block *text.Block) (names, notes []string, err error) {
	err = splitter.Next(block)
	if err == io.EOF {
		return nil, nil, &text.Error{File: in.name, What: "the file is empty: name one that has rows"}
	}
	if err != nil {
		return nil, nil, err
	}
	block.File = in.name
	whole := block.Data
	if in.preamble {
		block.SkipLine()
	}
	names, line, err := t.parser(in).Header(block)
	if err != nil {
		return nil, nil, err
	}
	if err := t.checkHeader(in, names, line); err != nil {
		return nil, nil, err
	}
	block.Before = whole[:len(whole)-len(block.Data)]
	names, notes = distinct(names)
	return names, notes, nil
}

// distinct gives the second of two equal names a suffix. Columns without a name, such as row numbers that
// pandas or R wrote, keep none and are left out.
func distinct(names []string) (unique, notes []string) {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		seen[name] = true
	}
	first := make(map[string]bool, len(names))
	for i, name := range names {
		switch {
		case name == "":
			notes = append(notes, fmt.Sprintf("column %d has no name and is left out", i+1))
		case first[name]:
			k := 2
			for seen[fmt.Sprintf("%s.%d", name, k)] {
				k++
			}
			names[i] = fmt.Sprintf("%s.%d", name, k)
			seen[names[i]] = true
			notes = append(notes, fmt.Sprintf("several columns are named %s: column %d is taken for %s", cell.Quote(name), i+1, names[i]))
		}
		first[names[i]] = true
	}
	return names, notes
}

// checkHeader refuses names that cannot serve.
func (t *Table) checkHeader(in *input, names []string, line int) error {
	fail := func(format string, values ...any) error {
		return &text.Error{File: in.name, Line: line, What: fmt.Sprintf(format, values...)}
	}
	if strings.Join(names, "") == "" {
		return &text.Error{File: in.name, What: "the file holds no header and no rows: was it written completely?"}
	}
	if len(names) == 1 {
		if other := sniffDelimiter([]byte(names[0]), true); other != 0 && t.options.Delimiter != 0 {
			return fail("the header is a single column %s: the delimiter is probably %s: use --delimiter %s",
				cell.Quote(names[0]), delimiterName(other), delimiterArgument(other))
		}
	}
	numbers, counted := 0, true
	for i, name := range names {
		if fault := cell.TextFault(name); fault != "" {
			return fail("the name of column %d, %s, %s", i+1, cell.Quote(name), fault)
		}
		if _, _, ok := cell.ParseNumber([]byte(name)); ok {
			numbers++
		}
		counted = counted && (name == strconv.Itoa(i) || name == strconv.Itoa(i+1))
	}
	if numbers == len(names) && !counted {
		return fail("the first line holds numbers, not column names: put a header line in front")
	}
	return nil
}

func delimiterName(delimiter byte) string {
	switch delimiter {
	case '\t':
		return "a tab"
	case ',':
		return "a comma"
	case ';':
		return "a semicolon"
	}
	return strconv.Quote(string(rune(delimiter)))
}

func delimiterArgument(delimiter byte) string {
	if delimiter == '\t' {
		return `$'\t'`
	}
	return "'" + string(rune(delimiter)) + "'"
}

// sample is what the first rows of the files show.
type sample struct {
	rows   int
	counts []cell.Census
	sparse int // highest index of libsvm text
}

// sampleFile reads the header of a file, and its first rows until enough are seen.
func (t *Table) sampleFile(ctx context.Context, in *input, seen *sample) error {
	s, err := in.open(ctx, false)
	if err != nil {
		return err
	}
	defer s.close()
	splitter := text.NewSplitter(s, in.name, 1, 0, t.quoting(in))
	if t.sparse() {
		err = t.sampleSparse(ctx, in, splitter, seen)
	} else {
		err = t.sampleCSV(ctx, in, splitter, seen)
	}
	if errors.Is(err, errCut) {
		if !t.options.KindsKnown && t.options.Schema == nil {
			t.note(fmt.Sprintf("kinds are inferred from the %s that came within a second of the first", countRows(seen.rows)))
		}
		err = nil
	}
	return err
}

// sampleCSV is sampleFile for delimited text.
func (t *Table) sampleCSV(ctx context.Context, in *input, splitter *text.Splitter, seen *sample) error {
	block := &text.Block{}
	names, notes, err := t.headerOf(in, splitter, block)
	if err != nil {
		return err
	}
	for _, text := range notes {
		t.note(text)
	}
	in.header = names
	if seen.counts == nil {
		t.describe(names, seen)
	}
	order, err := t.columnOrder(in, names)
	if err != nil {
		return err
	}
	parser, rules := t.parser(in), t.cells()
	for seen.rows < sampleRows {
		err = parser.Records(block, func(line int, fields [][]byte, fault error) error {
			if fault == nil && len(fields) != len(order) {
				fault = text.Ragged(in.name, line, len(fields), len(order), seen.rows == 0)
				if seen.rows == 0 && strings.HasPrefix(names[0], "#") {
					fault = &text.Error{File: in.name, Line: 1, What: fmt.Sprintf("the line, %s, is a comment, not the names of columns: remove it", cell.Quote(strings.Join(names, string(rune(parser.Delimiter)))))}
				}
			}
			if fault != nil {
				if t.options.SkipMalformed {
					return ctx.Err()
				}
				return fault
			}
			for i, field := range fields {
				if order[i] >= 0 {
					seen.counts[order[i]].Add(field, &rules)
				}
			}
			if seen.rows++; seen.rows == sampleRows {
				return errSampled
			}
			return ctx.Err()
		})
		if err == errSampled {
			return nil
		}
		if err == nil {
			err = splitter.Next(block)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		block.File = in.name
	}
	return nil
}

// describe begins the schema with the columns of the first file.
func (t *Table) describe(names []string, seen *sample) {
	t.schema.Columns, seen.counts = slices.Grow(t.schema.Columns, len(names)), slices.Grow(seen.counts, len(names))
	for _, name := range names {
		if name == "" {
			continue
		}
		kind, declared := t.typeOf(name)
		t.schema.Columns = append(t.schema.Columns, credence.Column{Name: name})
		seen.counts = append(seen.counts, cell.Census{KeepLevels: declared && kind == credence.Category})
	}
	t.columns = make([]column, len(seen.counts))
	t.index = t.schema.Places()
}

// sampleSparse is sampleFile for libsvm and Vowpal Wabbit text.
func (t *Table) sampleSparse(ctx context.Context, in *input, splitter *text.Splitter, seen *sample) error {
	names := t.fieldNames()
	if seen.counts == nil {
		t.describe(names, seen)
		t.schema.Label = true
	}
	layout := &text.Layout{File: in.name, Last: -1}
	for i, name := range names { // as texts, for the census
		layout.Fields = append(layout.Fields, text.Field{Name: name, Kind: credence.Category, Keep: i, Text: -1, Written: -1})
		layout.Columns = append(layout.Columns, table.Column{Name: name, Kind: credence.Category})
	}
	rules := t.cells()
	parse := t.parse(in, t.rules())
	block := &text.Block{}
	for seen.rows < sampleRows {
		err := splitter.Next(block)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		block.Reset(layout)
		parse(block)
		if len(block.Faults) > 0 && !t.options.SkipMalformed {
			return block.Faults[0].Err
		}
		for i := range min(block.Count, sampleRows-seen.rows) {
			for j, code := range block.Row(i) {
				if code == code {
					seen.counts[j].Add(block.Levels[j].List[int(code)].Text, &rules)
				}
			}
		}
		seen.rows += block.Count
		seen.sparse = max(seen.sparse, int(min(block.MaxIndex, maxSparseColumns)))
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// concludeSample decides the kinds of the columns.
func (t *Table) concludeSample(seen *sample) error {
	if seen.rows == 0 && t.options.Schema == nil && !t.options.Follow {
		return t.noRows()
	}
	shown := ""
	for i := range seen.counts {
		point, comma := seen.counts[i].Mark()
		for mark, is := range map[string]bool{".": point, ",": comma} {
			if is && shown != "" && shown != mark {
				shown = "both"
			} else if is {
				shown = mark
			}
		}
	}
	for i := range seen.counts {
		t.decideKind(i, &seen.counts[i], shown)
	}
	t.schema.Sparse = seen.sparse
	if t.format == formatVW || t.options.Keyed && t.sparse() {
		t.schema.Features = []credence.SparseFeature{} // to come
	}
	if trained := t.options.Schema; trained != nil {
		t.schema.Sparse, t.schema.ZeroBased, t.schema.Features = trained.Sparse, trained.ZeroBased, trained.Features
	}
	return nil
}

// ErrNoRows is what errors.Is finds in the error of a table without rows.
var ErrNoRows = errors.New("no rows")

// noRowsError is the error of a table without rows.
type noRowsError struct{ fault *text.Error }

func (noRowsError) Is(target error) bool { return target == ErrNoRows }

func (e noRowsError) Error() string { return e.fault.Error() }

func (e noRowsError) Unwrap() error { return e.fault }

func (t *Table) noRows() error {
	if t.format != formatCSV {
		return noRowsError{&text.Error{File: t.inputs[0].name, What: "there are no rows: was the file written completely?"}}
	}
	return noRowsError{&text.Error{File: t.inputs[0].name, What: fmt.Sprintf("there is no row below the header, the line %s: was the file written completely?",
		cell.Quote(strings.Join(t.schema.Names(), string(rune(t.parser(t.inputs[0]).Delimiter)))))}}
}

// columnOrder returns, for every field of a file, its column in the schema, -1 for one without a name.
func (t *Table) columnOrder(in *input, names []string) ([]int, error) {
	order := make([]int, len(names))
	named := 0
	for i, name := range names {
		if name == "" {
			order[i] = -1
			continue
		}
		named++
		var known bool
		if order[i], known = t.index[name]; !known {
			return nil, &text.Error{File: in.name, Line: 1, Column: name,
				What: "the column is not in " + t.inputs[0].name + ": files that are read together must have the same columns"}
		}
	}
	if named < len(t.schema.Columns) { // names differ among themselves
		found := make(map[int]bool, len(order))
		for _, position := range order {
			found[position] = true
		}
		for i, c := range t.schema.Columns {
			if !found[i] {
				return nil, &text.Error{File: in.name, Line: 1, Column: c.Name,
					What: "the column is missing, but " + t.inputs[0].name + " has it: files that are read together must have the same columns"}
			}
		}
	}
	return order, nil
}

// setting is what options, a schema that is stated and training say of how a column is written.
func (t *Table) setting(name string) cell.Setting {
	set := cell.Setting{Name: name, Stated: t.options.Decimal, Date: t.options.Dates[name]}
	if n, is := t.options.Reading.Notations[name]; is {
		set.Trained = &n
	}
	return set
}

// decideKind sets the kind of a column from training, from the options, or from
// what its values look like, in this order; shown is the decimal mark that columns show.
func (t *Table) decideKind(i int, c *cell.Census, shown string) {
	described, known := &t.schema.Columns[i], &t.columns[i]
	name := described.Name
	set := t.setting(name)
	set.Shown = shown
	kind, declared := t.typeOf(name)
	if at, is := t.trained[name]; is {
		*described = t.options.Schema.Columns[at]
		known.trained, declared, kind = true, true, described.Kind
		if kind == credence.Numeric && set.Trained == nil {
			set.Trained = &credence.Notation{}
		}
	}
	if declared {
		set.Declared = map[credence.Kind]cell.Kind{credence.Numeric: cell.Numeric, credence.Boolean: cell.Boolean, credence.Category: cell.Category}[kind]
	}
	if c.Empty() && set.Trained == nil && set.Stated == "" && shown == "," {
		set.Stated = shown // values to come are read by it, also where the first is the same with either mark
	}
	verdict := c.Decide(set)
	known.notation, known.plain = verdict.Notation, verdict.Kind == cell.Numeric && verdict.Doubt == "" && c.Plain()
	if known.refusal = verdict.Refusal; known.refusal != "" {
		known.refusal += ", or leave the column out"
		known.legible = true
	}
	if known.trained {
		return
	}
	known.doubt, known.codes = verdict.Doubt, c.Codes(name)
	if !declared {
		kind, known.note = kindOf(verdict.Kind), verdict.Note
		switch verdict.Kind {
		case cell.Unknown:
			late := set
			known.unknown = &late
			if t.format != formatVW || name != TagColumn {
				known.note = fmt.Sprintf("has no value in the first %d rows; its first value tells what it is", sampleRows)
			}
		case cell.Boolean:
			known.words = c.Words()
		}
	}
	described.Kind, known.classes = kind, c.Classes()
	if kind == credence.Category {
		described.Levels = c.Levels()
		cell.SortLevels(described.Levels)
	}
}
