package dataset

import (
	"bytes"
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
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/table"
)

// Table is one or several files of the same columns, opened: the columns are
// known, the rows not yet read. It is for one goroutine at a time.
type Table struct {
	options Options
	format  string
	inputs  []*input
	closed  bool
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
	unknown bool     // the sample has no value of it: its first value will tell the kind
	inexact bool     // integers beyond 2⁵³ were noted
	note    string   // how its kind came about, or ""
	classes []string // its two values, where the sample has just two
	words   []string // of a boolean, for false and for true; nil if unknown
	doubt   string   // why it may not be meant as it is read, or ""
	// notation is that of its numbers. legible says that what is refused can be read as text.
	notation credence.Notation
	legible  bool
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
		t.options.Reading = options.Schema.Reading
	}
	defer func() {
		if err != nil {
			t.Close()
		}
	}()
	var sample sample
	for i, name := range names {
		in, err := t.newInput(name)
		if err != nil {
			return nil, err
		}
		t.inputs = append(t.inputs, in)
		if err := t.prepare(ctx, in, i == len(names)-1); err != nil {
			return nil, err
		}
		if t.format != formatParquet {
			err = t.sampleFile(ctx, in, &sample)
		}
		if err != nil {
			return nil, t.wordFailure(err)
		}
	}
	if t.format == formatParquet {
		err = t.sampleParquet(ctx)
	} else {
		err = t.concludeSample(&sample)
	}
	if err != nil {
		return nil, t.wordFailure(err)
	}
	return t, t.checkTypes()
}

// Close removes what the table keeps outside memory. Sources in memory stay
// readable.
func (t *Table) Close() error {
	if t.closed {
		return nil
	}
	t.closed = true
	var errs []error
	for _, in := range t.inputs { // a reader that was given up may still look at them
		if in.pipe != nil {
			in.pipe.cancel()
		}
		if in.content != nil {
			errs = append(errs, in.content.close())
		}
	}
	return errors.Join(errs...)
}

// newInput looks at a file.
func (t *Table) newInput(name string) (*input, error) {
	if name == "-" {
		return &input{name: stdinName, original: name}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", name, err)
	}
	in := &input{name: name, original: name}
	if info.Mode().IsRegular() {
		in.path, in.size, in.modified = name, info.Size(), info.ModTime()
	}
	return in, nil
}

// raw opens what an input stores.
func (t *Table) raw(in *input) (io.Reader, func(), error) {
	if in.original == "-" {
		stdin := t.options.Stdin
		if stdin == nil {
			stdin = os.Stdin
		}
		return stdin, func() {}, nil
	}
	file, err := os.Open(in.original)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: cannot be read: %w", in.name, err)
	}
	return file, func() { file.Close() }, nil
}

// prepare makes an input readable: what cannot be opened again is kept, or read
// once; the last may be followed. It finds out the format and the delimiter.
func (t *Table) prepare(ctx context.Context, in *input, last bool) error {
	follow := t.options.Follow && last
	switch {
	case in.path == "" && t.options.Kept != nil:
		if err := t.keep(ctx, in); err != nil {
			return err
		}
	case t.options.Once && in.path == "" || follow:
		t.startPipe(ctx, in, 0)
		if err := in.pipe.collect(ctx, 1, 0); err != nil {
			return err
		}
	case in.path == "":
		if err := t.spoolRaw(ctx, in); err != nil {
			return err
		}
	}
	s, err := in.open(ctx, false)
	if err != nil {
		return err
	}
	defer s.close()
	if err := t.recognise(in, s); err != nil {
		return err
	}
	switch {
	case t.format == formatParquet && follow:
		return fmt.Errorf("%s: Parquet files do not grow: leave --follow out", in.name)
	case t.format == formatParquet && (s.compressed || in.pipe != nil):
		return t.unpack(ctx, in)
	case in.pipe != nil:
		header := 1
		if t.sparse() {
			header = 0
		}
		if err := in.pipe.collect(ctx, header+1, 0); err != nil {
			return err
		}
		if t.options.Schema != nil { // kinds are known: the first row is enough to begin
			return nil
		}
		if err := in.pipe.collect(ctx, header+sampleRows, sampleTime); err != nil {
			return err
		}
	}
	return nil
}

// startPipe begins to read an input once, from an offset of its decoded content.
func (t *Table) startPipe(ctx context.Context, in *input, offset int64) {
	follow := t.options.Follow && in == t.inputs[len(t.inputs)-1]
	in.pipe = newPipe(ctx, func(ctx context.Context) (*stream, error) {
		raw, closer, err := t.raw(in)
		if err != nil {
			return nil, err
		}
		s := newStream(closer)
		s.file, _ = raw.(*os.File)
		if follow && grows(s.file) {
			raw = following{ctx, raw}
		}
		if err := s.decode(ctx, raw); err != nil {
			return nil, fmt.Errorf("%s: %w", in.name, err)
		}
		if in.path == "" {
			s.file = nil // a pipe does not seek
		}
		return s, s.skip(in.name, offset)
	})
}

// grows reports whether more may come behind the end of a file. A pipe ends when nobody writes to it any more.
func grows(file *os.File) bool {
	if file == nil {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular()
}

// openAt opens an input for a pass, at an offset of its decoded content.
func (t *Table) openAt(ctx context.Context, in *input, offset int64) (*stream, error) {
	if in.pipe != nil && in.path != "" { // a file that is followed can be read again
		in.pipe.cancel()
		t.startPipe(ctx, in, offset)
		offset = 0
	}
	s, err := in.open(ctx, true)
	if err != nil {
		return nil, err
	}
	if err := s.skip(in.name, offset); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// checkHead refuses content whose first stored bytes tell that it is nothing to read.
func (t *Table) checkHead(ctx context.Context, in *input, stored []byte) error {
	s := newStream()
	if err := s.decode(ctx, bytes.NewReader(stored)); err != nil {
		return fmt.Errorf("%s: %w", in.name, err)
	}
	defer s.close()
	head := make([]byte, headBytes)
	n, _ := io.ReadFull(s, head) // what lacks is still to come
	if n == 0 && len(stored) > 0 {
		return nil
	}
	_, err := detect(t.options.Format, in.name, head[:n])
	return err
}

// recognise finds out the format and the delimiter of an input from its beginning.
func (t *Table) recognise(in *input, s *stream) error {
	head := make([]byte, headBytes)
	n, err := io.ReadFull(s, head)
	whole := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && n == 0 && !errors.Is(err, io.EOF) && !errors.Is(err, text.ErrIdle) {
		return t.wordFailure(&text.ReadError{Place: text.Error{File: in.name, What: "reading stopped: " + err.Error()}, Err: err})
	}
	head = head[:n]
	format, err := detect(t.options.Format, in.name, head)
	if err != nil {
		return err
	}
	switch format {
	case formatTSV:
		in.delimiter = '\t'
	case formatCSV:
		in.delimiter = sniffDelimiter(head, whole)
	}
	if format == formatCSV || format == formatTSV {
		t.stateDelimiter(in, head)
	}
	if format == formatTSV {
		format = formatCSV
	}
	if t.format != "" && t.format != format {
		return fmt.Errorf("%s: is %s, but %s is %s: read files of one format at a time, or name it with --format",
			in.name, format, t.inputs[0].name, t.format)
	}
	t.format = format
	return nil
}

// unpack keeps the decoded content of an input that must be read at any place.
func (t *Table) unpack(ctx context.Context, in *input) error {
	s, err := in.open(ctx, true)
	if err != nil {
		return err
	}
	defer s.close()
	content, err := t.spool(ctx, in.name, s, nil)
	if err != nil {
		return err
	}
	if in.content != nil {
		in.content.close()
	}
	if in.pipe != nil {
		in.pipe, in.size = nil, content.size
	}
	in.content = content
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
	return text.Rules{Rules: cell.NewRules(t.missing(), t.options.KeepInfinite)}
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

// rulesOf returns the rules by which a pass reads text.
func (t *Table) rulesOf(chosen *selection) text.Rules {
	if chosen.verbatim {
		return text.Rules{Verbatim: true}
	}
	return t.rules()
}

// Schema returns all columns of the files, in file order. The kind of a column that
// has no value in the sample is a number until it has one; the levels of a category
// are those met so far unless they are those of training. Tags of Vowpal Wabbit text
// are a column, tag, for those who ask for it.
func (t *Table) Schema() *credence.Schema {
	schema := t.schema
	columns := make([]table.Column, len(t.columns))
	for i := range columns {
		columns[i] = table.Column{Name: t.schema.Columns[i].Name, Notation: t.columns[i].notation}
	}
	schema.Reading = t.reading(columns)
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

// Classes returns the two values that a column has in the sample, numbers or texts in their order; nil
// where it has fewer or more, or is a boolean.
func (t *Table) Classes(column string) []string {
	if i, known := t.index[column]; known {
		return t.columns[i].classes
	}
	return nil
}

// Undecided says whether the sample has no value of a column, so that its first value will tell its kind.
func (t *Table) Undecided(column string) bool {
	i, known := t.index[column]
	return known && t.columns[i].unknown
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
