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

// outcome is what a pass found beside the rows.
type outcome struct {
	rows         int
	kinds        *kinds
	dictionaries []*dictionary // beside the columns, nil but for categories
	number       *numbering
	merged       int // rows whose entries were merged or sorted
	queries      int
	places       places
	unseen       []Unseen // of a pass that was read from the cache
}

// pass reads all rows once and calls put with every block in file order, its
// category codes translated. The outcome is filled as the pass goes.
func (t *Table) pass(ctx context.Context, chosen *selection, found *outcome, put func(*text.Block) error) error {
	*found = outcome{dictionaries: make([]*dictionary, len(chosen.columns)), kinds: newKinds(chosen, t.cells())}
	if chosen.sparse {
		found.number = newNumbering(t.options.Schema, chosen.keyed)
	}
	total := int64(0)
	for _, in := range t.inputs {
		total += in.size
	}
	var unread *Offending
	consume := func(b *text.Block) error {
		if b.Err != nil {
			return b.Err
		}
		found.kinds.settle(&b.Rows)
		if len(b.Faults) > 0 && unread == nil {
			if unread = t.offending(b.Faults[0].Err, math.MaxInt); unread == nil {
				return b.Faults[0].Err
			}
		}
		if unread != nil {
			unread.Add(b.Faults)
			return nil
		}
		for i, c := range found.kinds.columns {
			if c.Kind != credence.Category || c.Unknown {
				continue
			}
			d := found.dictionaries[i]
			if d == nil {
				d = newDictionary(c.Name, chosen.columns[i].Levels, chosen.trained[i], t.options.maxLevels())
				found.dictionaries[i] = d
			}
			if err := d.translate(&b.Rows, i); err != nil {
				return err
			}
		}
		found.places.add(&b.Rows, found.rows)
		found.rows += b.Count
		found.merged += b.Merged
		found.queries += b.Queries
		t.noteInexact(b)
		if err := put(b); err != nil {
			return err
		}
		if t.options.Progress != nil {
			t.options.Progress(Progress{Rows: found.rows, Bytes: b.Read, Total: total})
		}
		return nil
	}
	err := t.passFrom(ctx, chosen, 0, credence.Position{}, consume)
	if unread != nil && ctx.Err() == nil {
		err = t.wordFailure(unread)
	}
	if err != nil {
		return err
	}
	if found.rows == 0 {
		return t.noRows()
	}
	t.noteEntries(found.merged, found.queries)
	return nil
}

// noteEntries notes what is odd about sparse entries.
func (t *Table) noteEntries(merged, queries int) {
	if queries > 0 {
		t.note("qid entries are read over: rows are taken one by one, not in groups")
	}
	if merged > 0 {
		t.note(fmt.Sprintf("%s had indices repeated or out of order: they are summed and sorted", countRows(merged)))
	}
}

// noteZero notes that indices begin with 0.
func (t *Table) noteZero(zero bool) {
	if zero && t.options.Schema == nil {
		t.note("indices begin with 0: the first feature is x0")
	}
}

// noteInexact notes columns with integers that no float64 holds.
func (t *Table) noteInexact(b *text.Block) {
	for _, found := range b.Inexact {
		name := b.Columns[found.Column].Name
		i := t.index[name]
		if t.columns[i].inexact {
			continue
		}
		t.columns[i].inexact = true
		place := b.File
		if found.Line > 0 {
			place = fmt.Sprintf("%s:%d", b.File, found.Line)
		}
		t.notes = append(t.notes, Note{Column: name, Doubt: true, Text: fmt.Sprintf(
			"has integers beyond 2⁵³, such as %s (%s), which lose their last digits as numbers: read it as a category with --types, or leave it out", found.Text, place)})
	}
}

func countRows(n int) string {
	if n == 1 {
		return "1 row"
	}
	return fmt.Sprintf("%d rows", n)
}

// note adds a note of the table, once.
func (t *Table) note(text string) {
	if n := (Note{Text: text}); !slices.Contains(t.notes, n) {
		t.notes = append(t.notes, n)
	}
}

// passFrom runs a pass over the files, from a place in input first on.
func (t *Table) passFrom(ctx context.Context, chosen *selection, first int, start credence.Position, consume func(*text.Block) error) error {
	if t.format == formatParquet {
		return t.wordFailure(t.passParquet(ctx, chosen, first, start.Offset, consume))
	}
	return t.wordFailure(t.passText(ctx, chosen, first, start, consume))
}

// passText runs a pass over text, from a place in input first on.
func (t *Table) passText(ctx context.Context, chosen *selection, first int, start credence.Position, consume func(*text.Block) error) error {
	parsers := make(map[string]func(*text.Block), len(t.inputs)) // by file name, written before any block is sent
	rules := t.rules()
	rules.InPlace = chosen.inPlace
	for _, in := range t.inputs {
		parsers[in.name] = t.parse(in, rules)
	}
	produce := func(take func() (*text.Block, bool), send func(*text.Block) bool) error {
		before := int64(0)
		for i, in := range t.inputs {
			if i >= first {
				if err := t.produceFile(ctx, in, chosen, before, start, take, send); err != nil {
					return err
				}
				start = credence.Position{}
			}
			before += in.size
		}
		return nil
	}
	work := func(b *text.Block) { parsers[b.Layout.File](b) }
	return text.Ordered(ctx, t.options.threads(), func() *text.Block { return &text.Block{} }, produce, work, consume)
}

// produceFile sends the blocks of a file from a place on, before which so many
// stored bytes of other files were read.
func (t *Table) produceFile(ctx context.Context, in *input, chosen *selection, before int64, start credence.Position,
	take func() (*text.Block, bool), send func(*text.Block) bool) error {
	s, err := t.openAt(ctx, in, &start)
	if err != nil {
		return err
	}
	defer s.close()
	splitter := text.NewSplitter(s, in.name, start.Line+1, start.Offset, t.quoting(in))
	var layout *text.Layout
	resumed := start.Offset > 0
	if resumed && !t.sparse() {
		layout = chosen.layout(in, in.header)
	}
	for {
		block, more := take()
		if !more {
			return ctx.Err()
		}
		switch {
		case layout != nil:
			err = splitter.Next(block)
		case t.sparse():
			layout = chosen.layout(in, t.fieldNames())
			err = splitter.Next(block)
		default:
			var names []string
			if names, _, err = t.headerOf(in, splitter, block); err == nil {
				layout = chosen.layout(in, names)
			}
		}
		if errors.Is(err, io.EOF) && layout != nil {
			return in.unchanged()
		}
		if err != nil {
			return err
		}
		if resumed {
			block.Before, resumed = *s.before, false
		}
		block.Reset(layout)
		block.Bytes = int64(len(block.Data))
		block.Read = before + s.count.Load()
		if !send(block) {
			return ctx.Err()
		}
	}
}

// parse returns the parser of an input.
func (t *Table) parse(in *input, rules text.Rules) func(*text.Block) {
	switch t.format {
	case formatLibSVM:
		return (&text.LibSVM{Rules: rules}).Parse
	case formatVW:
		return (&text.VW{Rules: rules}).Parse
	}
	parser := t.parser(in)
	parser.Rules = rules
	return parser.Parse
}

// quoting returns the delimiter by which quotes are understood, 0 for formats
// without quotes.
func (t *Table) quoting(in *input) byte {
	if t.sparse() {
		return 0
	}
	return t.parser(in).Delimiter
}

// fieldNames returns the columns of formats that have no header.
func (t *Table) fieldNames() []string {
	if t.format == formatVW {
		return []string{"label", "weight", "offset", TagColumn}
	}
	return []string{"label"}
}

// endsEarly is what is wrong with a truncated file.
const endsEarly = "the compressed data end early: is the file complete? Fetch or write it again"

// wordFailure explains failures of a pass: by a file that changed under it, or by the stream beneath the text.
func (t *Table) wordFailure(err error) error {
	if err == nil {
		return nil
	}
	var read *text.ReadError
	if faulty := (*text.Error)(nil); errors.As(err, &faulty) {
		for _, in := range t.inputs {
			if changed := in.unchanged(); changed != nil {
				return changed
			}
		}
	}
	if !errors.As(err, &read) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	place := read.Place
	if errors.Is(read.Err, io.ErrUnexpectedEOF) {
		place.What = endsEarly
	} else {
		place.What = "the file cannot be read on: " + read.Err.Error() + ": is it damaged? Fetch or write it again"
	}
	return &text.ReadError{Place: place, Err: read.Err}
}
