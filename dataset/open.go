package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
)

// Table is one or several files of the same columns, opened: the columns are
// known, the rows not yet read. It is for one goroutine at a time.
type Table struct {
	options Options
	format  string
	inputs  []*input
	schema  credence.Schema
	columns []column       // beside schema.Columns
	index   map[string]int // of the columns, by name
	trained map[string]int // of the columns of training, nil without
	notes   []Note         // of the table as a whole
	outcome outcome        // of the last Load or Each
}

// column is what is known of a column beyond the schema.
type column struct {
	trained bool     // kind and levels are those of training
	refusal string   // why it cannot be read, or ""
	note    string   // how its kind came about, or ""
	words   []string // of a boolean, for false and for true; nil if unknown
	comma   string   // a value with a decimal comma, where most are such
	doubt   string   // why it may be no category, or ""
}

// stdinName is what messages call standard input.
const stdinName = "standard input"

// Note tells the user something about a column or, where Column is empty, about
// the table.
type Note struct {
	Column string
	Text   string
	Doubt  bool // it is probably not meant to be read as it is
}

// Open finds out the format and the columns of the files at the paths: files,
// folders, shell patterns, or "-" for standard input. Types are inferred from
// the first 10,000 rows.
//
// The table holds a spool of standard input where there is one, and must be
// closed.
func Open(ctx context.Context, paths []string, options Options) (table *Table, err error) {
	names, err := expand(paths)
	if err != nil {
		return nil, err
	}
	switch options.Delimiter {
	case '"', '\n', '\r':
		return nil, fmt.Errorf("dataset: %q cannot separate fields: use for example a comma, a semicolon or a tab", options.Delimiter)
	}
	t := &Table{options: options}
	if options.Schema != nil {
		t.trained = positions(options.Schema.Columns)
	}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	for _, name := range names {
		in, err := t.newInput(ctx, name)
		if err != nil {
			return nil, err
		}
		t.inputs = append(t.inputs, in)
		if err := t.recognise(ctx, in); err != nil {
			return nil, err
		}
	}
	switch t.format {
	case formatLibSVM:
		err = t.sampleLibSVM(ctx)
	case formatParquet:
		err = t.sampleParquet(ctx)
	default:
		err = t.sampleCSV(ctx)
	}
	if err != nil {
		return nil, t.wordFailure(err)
	}
	return t, t.checkTypes()
}

// Close removes what the table keeps outside memory. Sources in memory stay
// readable.
func (t *Table) Close() error {
	var errs []error
	for _, in := range t.inputs {
		if in.live != nil && in.live.opened != nil {
			in.live.opened.close()
		}
		if in.temporary {
			errs = append(errs, os.Remove(in.path))
			in.temporary = false
		}
	}
	return errors.Join(errs...)
}

// newInput looks at a file, or spools standard input.
func (t *Table) newInput(ctx context.Context, name string) (*input, error) {
	if name != "-" {
		return newInput(name)
	}
	stdin := t.options.Stdin
	if stdin == nil {
		stdin = os.Stdin
	}
	in := &input{name: stdinName}
	if t.options.Live {
		in.live = &liveInput{raw: stdin}
		return in, nil
	}
	folder, err := t.options.cacheFolder()
	if err != nil {
		return nil, err
	}
	in.path, in.size, err = spool(ctx, folder, stdin)
	in.temporary = err == nil
	return in, err
}

// recognise finds out the format and the delimiter of an input.
func (t *Table) recognise(ctx context.Context, in *input) error {
	s, err := in.open(ctx, false)
	if err != nil {
		return err
	}
	defer s.close()
	head := make([]byte, headBytes)
	n, err := io.ReadFull(s, head)
	whole := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && n == 0 && !errors.Is(err, io.EOF) {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = &text.ReadError{Place: text.Error{File: in.name, What: endsEarly}, Err: err}
			return err
		}
		return fmt.Errorf("%s: reading stopped: %w", in.name, err)
	}
	head = head[:n]
	format, err := detect(t.options.Format, in.name, head)
	if err != nil {
		return err
	}
	if err := vowpalFault(in.name, format, head); err != nil {
		return err
	}
	switch format {
	case formatTSV:
		in.delimiter = '\t'
	case formatCSV:
		in.delimiter = sniffDelimiter(head, whole)
	}
	if t.options.Delimiter != 0 && format != formatLibSVM {
		in.delimiter = t.options.Delimiter
	}
	if format == formatTSV {
		format = formatCSV
	}
	if t.format != "" && t.format != format {
		return fmt.Errorf("%s: is %s, but %s is %s: read files of one format at a time, or name it with --format",
			in.name, format, t.inputs[0].name, t.format)
	}
	t.format = format
	if format == formatParquet && (s.compressed || in.live != nil) {
		return t.unpack(ctx, in)
	}
	return nil
}

// unpack spools the decoded content of an input that must be read at any place.
func (t *Table) unpack(ctx context.Context, in *input) error {
	folder, err := t.options.cacheFolder()
	if err != nil {
		return err
	}
	s, err := in.open(ctx, true)
	if err != nil {
		return err
	}
	defer s.close()
	path, size, err := spool(ctx, folder, s)
	if err != nil {
		return err
	}
	if in.temporary {
		os.Remove(in.path)
	}
	in.path, in.temporary = path, true
	if in.live != nil {
		in.live, in.size = nil, size
	}
	return nil
}

// parser returns the delimited-text parser of an input.
func (t *Table) parser(in *input) *text.CSV {
	delimiter := in.delimiter
	if delimiter == 0 {
		delimiter = ',' // a single column
	}
	return &text.CSV{Delimiter: delimiter, Rules: t.rules()}
}

func (t *Table) rules() text.Rules {
	return text.Rules{Missing: t.options.missing(), KeepInfinite: t.options.KeepInfinite}
}

// rulesOf returns the rules by which a pass reads text.
func (t *Table) rulesOf(chosen *selection) text.Rules {
	if chosen.verbatim {
		return text.Rules{Verbatim: true}
	}
	return t.rules()
}

// Schema returns all columns of the files, in file order. Kinds are final; the
// levels of a category are those met so far unless they are those of training.
func (t *Table) Schema() *credence.Schema { return &t.schema }

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

// positions returns the position of every column by its name: wide tables are
// looked up too often to search.
func positions(columns []credence.Column) map[string]int {
	index := make(map[string]int, len(columns))
	for i := range columns {
		index[columns[i].Name] = i
	}
	return index
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

// words returns the texts of a boolean column, for false and for true, or nil.
func (t *Table) words(column string) []string {
	if i, known := t.index[column]; known {
		return t.columns[i].words
	}
	return nil
}

// DecimalCommas returns the columns that were taken for categories and hold numbers
// with decimal commas, and one such value.
func (t *Table) DecimalCommas() (columns []string, example string) {
	for i, c := range t.columns {
		if c.comma != "" {
			columns = append(columns, t.schema.Columns[i].Name)
			example = cmp.Or(example, c.comma)
		}
	}
	return columns, example
}

// columnList names the columns that there are.
func (t *Table) columnList() string {
	const shown = 8
	var names []string
	for i, c := range t.schema.Columns {
		if i == shown {
			names = append(names, fmt.Sprintf("and %d more", len(t.schema.Columns)-shown))
			break
		}
		names = append(names, c.Name)
	}
	return "its columns are " + strings.Join(names, ", ")
}
