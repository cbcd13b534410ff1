package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
)

// maxSparse is the highest index of a sparse column.
const maxSparse = math.MaxInt32

// selection is what a pass keeps.
type selection struct {
	columns []credence.Column // without the levels of categories not in training
	trained []bool
	keep    map[string]int // position in columns, by name
	sparse  bool
	limit   int // highest sparse index that is kept
	// unseen says that the squares of entries beyond the limit are summed, in a
	// column behind the others.
	unseen bool
	// verbatim says that the columns are texts as they stand in the file.
	verbatim bool
}

// outcome is what a pass found beside the rows.
type outcome struct {
	rows         int
	dictionaries []*dictionary // beside the columns, nil but for categories
	sparse       int           // highest sparse index
	dropped      int
	queries      int
	places       places
	unseen       []Unseen // of a pass that was read from the cache
}

// choose turns the caller's column names into a selection.
func (t *Table) choose(names []string) (*selection, error) {
	trained := t.options.Schema
	chosen := &selection{sparse: t.format == formatLibSVM, limit: maxSparse}
	if names == nil {
		described := &t.schema
		if trained != nil {
			described = trained
		}
		for _, c := range described.Columns {
			names = append(names, c.Name)
		}
	}
	if trained != nil {
		if trained.Sparse > 0 && t.format != formatLibSVM {
			return nil, fmt.Errorf("%s: the model was trained on the numbered columns of a libsvm file, which this file does not have: give it libsvm rows", t.inputs[0].name)
		}
		chosen.sparse = trained.Sparse > 0
		chosen.limit = trained.Sparse
		chosen.unseen = chosen.sparse
	}
	chosen.keep = make(map[string]int, len(names))
	for _, name := range names {
		if _, twice := chosen.keep[name]; twice {
			continue
		}
		position, known := t.index[name]
		if !known {
			need := "dataset: the column %q is not in %s: %s"
			if _, needed := t.trained[name]; needed {
				need = "dataset: the model needs the column %q, which %s does not have: %s"
			}
			return nil, fmt.Errorf(need, name, t.inputs[0].name, t.columnList())
		}
		if refusal := t.columns[position].refusal; refusal != "" {
			return nil, &text.Error{File: t.inputs[0].name, Column: name, What: refusal}
		}
		described := t.schema.Columns[position]
		if !t.columns[position].trained {
			described.Levels = nil
		}
		chosen.keep[name] = len(chosen.columns)
		chosen.columns = append(chosen.columns, described)
		// A category of training without levels is known by kind alone.
		chosen.trained = append(chosen.trained, t.columns[position].trained && described.Levels != nil)
	}
	return chosen, nil
}

// width returns the number of columns that are stored.
func (s *selection) width() int {
	if s.unseen {
		return len(s.columns) + 1
	}
	return len(s.columns)
}

// layout returns what becomes of the named fields of a file.
func (s *selection) layout(in *input, names []string) *text.Layout {
	layout := &text.Layout{File: in.name, Width: s.width(), Unseen: s.unseen, Fields: make([]text.Field, len(names)), Last: -1}
	for i, name := range names {
		layout.Fields[i] = text.Field{Name: name, Keep: -1}
		if k, kept := s.keep[name]; kept {
			layout.Fields[i].Keep, layout.Fields[i].Kind = k, s.columns[k].Kind
			layout.Last = i
		}
	}
	return layout
}

// pass reads all rows once and calls put with every block in file order, its
// category codes translated. The outcome is filled as the pass goes.
func (t *Table) pass(ctx context.Context, chosen *selection, found *outcome, put func(*text.Block) error) error {
	*found = outcome{dictionaries: make([]*dictionary, len(chosen.columns))}
	for i, c := range chosen.columns {
		if c.Kind == credence.Category {
			found.dictionaries[i] = newDictionary(c.Name, c.Levels, chosen.trained[i], t.options.maxLevels())
		}
	}
	total := int64(0)
	for _, in := range t.inputs {
		total += in.size
	}
	consume := func(b *text.Block) error {
		if b.Err != nil {
			return b.Err
		}
		for i, d := range found.dictionaries {
			if d != nil {
				if err := d.translate(b, i); err != nil {
					return err
				}
			}
		}
		found.places.add(b, found.rows)
		found.rows += b.Rows
		found.sparse = max(found.sparse, int(b.MaxIndex))
		found.dropped += b.Dropped
		found.queries += b.Queries
		if err := put(b); err != nil {
			return err
		}
		if t.options.Progress != nil {
			t.options.Progress(Progress{Rows: found.rows, Bytes: b.Read, Total: total})
		}
		return nil
	}
	var err error
	if t.format == formatParquet {
		err = t.passParquet(ctx, chosen, consume)
	} else {
		err = t.passText(ctx, chosen, consume)
	}
	if err != nil {
		return t.wordFailure(err)
	}
	if found.rows == 0 {
		return t.noRows()
	}
	if found.queries > 0 {
		t.note("qid entries are read over: rows are taken one by one, not in groups")
	}
	return nil
}

// note adds a note of the table, once.
func (t *Table) note(text string) {
	if n := (Note{Text: text}); !slices.Contains(t.notes, n) {
		t.notes = append(t.notes, n)
	}
}

// passText runs a pass over delimited or libsvm text.
func (t *Table) passText(ctx context.Context, chosen *selection, consume func(*text.Block) error) error {
	parsers := make(map[string]func(*text.Block), len(t.inputs)) // by file name, written before any block is sent
	for _, in := range t.inputs {
		if t.format == formatLibSVM {
			libsvm := &text.LibSVM{Rules: t.rulesOf(chosen), SparseLimit: chosen.limit}
			parsers[in.name] = libsvm.Parse
		} else {
			parser := t.parser(in)
			parser.Rules = t.rulesOf(chosen)
			parsers[in.name] = parser.Parse
		}
	}
	produce := func(take func() (*text.Block, bool), send func(*text.Block) bool) error {
		before := int64(0)
		for _, in := range t.inputs {
			if err := t.produceFile(ctx, in, chosen, before, take, send); err != nil {
				return err
			}
			before += in.size
		}
		return nil
	}
	work := func(b *text.Block) { parsers[b.Layout.File](b) }
	return text.Ordered(ctx, t.options.threads(), func() *text.Block { return &text.Block{} }, produce, work, consume)
}

// produceFile sends the blocks of a file, before which so many stored bytes were
// read.
func (t *Table) produceFile(ctx context.Context, in *input, chosen *selection, before int64,
	take func() (*text.Block, bool), send func(*text.Block) bool) error {
	s, err := in.open(ctx, true)
	if err != nil {
		return err
	}
	defer s.close()
	delimiter := byte(0)
	if t.format != formatLibSVM {
		delimiter = t.parser(in).Delimiter
	}
	splitter := text.NewSplitter(s, in.name, 1, delimiter)
	var layout *text.Layout
	for {
		block, more := take()
		if !more {
			return ctx.Err()
		}
		switch {
		case layout != nil:
			err = splitter.Next(block)
		case t.format == formatLibSVM:
			layout = chosen.layout(in, []string{"label"})
			err = splitter.Next(block)
		default:
			var names []string
			if names, err = t.headerOf(in, splitter, block); err == nil {
				layout = chosen.layout(in, names)
			}
		}
		if errors.Is(err, io.EOF) && layout != nil {
			return nil
		}
		if err != nil {
			return err
		}
		block.Reset(layout)
		block.Bytes = int64(len(block.Data))
		block.Read = before + s.count.Load()
		if !send(block) {
			return ctx.Err()
		}
	}
}

// endsEarly is what is wrong with a truncated file.
const endsEarly = "the compressed data end early: is the file complete? Fetch or write it again"

// wordFailure explains failures of the stream beneath the text.
func (t *Table) wordFailure(err error) error {
	var read *text.ReadError
	if !errors.As(err, &read) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	place := read.Place
	if errors.Is(read.Err, io.ErrUnexpectedEOF) {
		place.What = endsEarly
	} else {
		place.What = "the file cannot be read on: " + read.Err.Error() + ": is it damaged?"
	}
	return &text.ReadError{Place: place, Err: read.Err}
}
