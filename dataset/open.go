package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/cell"
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
	stated  map[string]int // of those of Options.Stated
	notes   []Note         // of the table as a whole
	outcome outcome        // of the last Load or Each
	runs    *runs          // of the last Rows
}

// stdinName is what messages call standard input.
const stdinName = "standard input"

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
	switch options.Encoding {
	case "", encodingUTF8, encodingLatin:
	default:
		return nil, fmt.Errorf("dataset: there is no encoding %q: use utf-8 or windows-1252, or convert the files with iconv", options.Encoding)
	}
	t := &Table{options: options}
	t.state()
	if options.Schema != nil {
		t.trained = options.Schema.Places()
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
	t.setReading()
	if err := t.checkTypes(); err != nil {
		return nil, err
	}
	return t, t.checkStated()
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
		return &input{name: stdinName, original: name, encoding: t.options.Encoding}, nil
	}
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("%s: cannot be read: %w", name, err)
	}
	in := &input{name: name, original: name, encoding: t.options.Encoding}
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
		t.startPipe(ctx, in, &credence.Position{})
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

// startPipe begins to read an input once, from a place on, and returns where the end of what is before it will be.
func (t *Table) startPipe(ctx context.Context, in *input, start *credence.Position) *[]byte {
	var before []byte
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
		if err := s.decode(ctx, in, raw); err != nil {
			return nil, fmt.Errorf("%s: %w", in.name, err)
		}
		if in.path == "" {
			s.file = nil // a pipe does not seek
		}
		before, err = s.resume(in.name, start)
		return s, err
	})
	return &before
}

// grows reports whether more may come behind the end of a file. A pipe ends when nobody writes to it any more.
func grows(file *os.File) bool {
	if file == nil {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular()
}

// openAt opens an input for a pass, at a place of its decoded content.
func (t *Table) openAt(ctx context.Context, in *input, start *credence.Position) (*stream, error) {
	var before *[]byte
	if in.pipe != nil && in.path != "" { // a file that is followed can be read again
		in.pipe.cancel()
		before = t.startPipe(ctx, in, start)
	}
	s, err := in.open(ctx, true)
	if err != nil {
		return nil, err
	}
	if s.before = before; before == nil {
		read, err := s.resume(in.name, start)
		if err != nil {
			s.close()
			return nil, err
		}
		s.before = &read
	}
	return s, nil
}

// checkHead refuses content whose first stored bytes tell that it is nothing to read.
func (t *Table) checkHead(ctx context.Context, in *input, stored []byte) error {
	s := newStream()
	if err := s.decode(ctx, &input{}, bytes.NewReader(stored)); err != nil {
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

// cells are the rules of single texts.
func (t *Table) cells() cell.Rules { return cell.NewRules(t.missing()) }

func (t *Table) rules() text.Rules { return text.NewRules(true, t.missing()) }
