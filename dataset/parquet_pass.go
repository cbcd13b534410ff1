package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/credence-ml/credence/dataset/text"
)

const (
	// parquetRows of a group are decoded at a time; fewer if rows are wide, so
	// that the block stays in the second-level cache while column after column is
	// written to it.
	parquetRows  = 4096
	parquetBytes = 256 << 10
	// parallelGroups is how many row groups are decoded at once at most: each
	// holds a page of every column.
	parallelGroups = 4
	// groupBlocks are in flight for each row group.
	groupBlocks = 3
)

// group is a row group that is to be read.
type group struct {
	source *groupSource
	index  int   // within its file
	first  int   // its first row within the file
	before int64 // stored bytes of the files before
	layout *text.Layout
	file   *parquetFile
	blocks chan *text.Block
	free   chan *text.Block
}

// groupSource is a file while its row groups are read.
type groupSource struct {
	in     *input
	file   *parquetFile // nil while none of its groups is begun
	layout *text.Layout
	left   int // groups that are not yet consumed
}

func (s *groupSource) close() {
	if s.file != nil {
		s.file.handle.Close()
		s.file = nil
	}
}

// groups lists the row groups of all files, in order.
func (t *Table) groups() []*group {
	var groups []*group
	before := int64(0)
	for _, in := range t.inputs {
		source := &groupSource{in: in, left: len(in.groups)}
		first := 0
		for i, rows := range in.groups {
			groups = append(groups, &group{source: source, index: i, first: first, before: before})
			first += rows
		}
		before += in.size
	}
	return groups
}

// passParquet runs a pass over Parquet files: row groups are decoded side by
// side and consumed in order.
func (t *Table) passParquet(ctx context.Context, chosen *selection, consume func(*text.Block) error) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	groups := t.groups()
	var working sync.WaitGroup
	defer func() {
		cancel()
		working.Wait()
		for _, g := range groups {
			g.source.close()
		}
	}()
	rules := t.parquetRules(chosen)
	begin := func(g *group) error {
		if s := g.source; s.file == nil {
			file, err := s.in.openParquet()
			if err != nil {
				return err
			}
			layout, err := chosen.leafLayout(file)
			if err != nil {
				file.handle.Close()
				return err
			}
			s.file, s.layout = file, layout
		}
		g.file, g.layout = g.source.file, g.source.layout
		g.blocks, g.free = make(chan *text.Block, groupBlocks+1), make(chan *text.Block, groupBlocks)
		for range groupBlocks {
			g.free <- &text.Block{}
		}
		working.Go(func() {
			defer close(g.blocks)
			g.decode(ctx, &rules)
		})
		return nil
	}
	begun := 0
	parallel := max(1, min(t.options.threads(), parallelGroups, 256/max(1, len(chosen.columns))))
	for i, g := range groups {
		for ; begun < min(i+parallel, len(groups)); begun++ {
			if err := begin(groups[begun]); err != nil && begun == i {
				return err
			} else if err != nil {
				break // again when it is its turn, so that the first error is reported
			}
		}
		for b := range g.blocks {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := consume(b); err != nil {
				return err
			}
			g.free <- b
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		g.blocks, g.free = nil, nil
		if g.source.left--; g.source.left == 0 {
			g.source.close()
		}
	}
	return nil
}

// parquetRules are those of text, but only the caller's own texts mean missing:
// Parquet says itself what is missing.
func (t *Table) parquetRules(chosen *selection) text.Rules {
	if chosen.verbatim {
		return text.Rules{Verbatim: true}
	}
	rules := text.Rules{Missing: make(map[string]struct{}), KeepInfinite: t.options.KeepInfinite}
	for _, token := range t.options.MissingTokens {
		rules.Missing[token] = struct{}{}
	}
	return rules
}

// leafLayout returns what becomes of the columns of a file.
func (s *selection) leafLayout(file *parquetFile) (*text.Layout, error) {
	names := make([]string, len(file.leaves))
	for i, l := range file.leaves {
		names[i] = l.name
	}
	layout := s.layout(file.in, names)
	for i, f := range layout.Fields {
		if f.Keep >= 0 && file.leaves[i].refusal != "" {
			return nil, &text.Error{File: file.in.name, Column: f.Name, What: file.leaves[i].refusal}
		}
	}
	return layout, nil
}

// decode sends the rows of the group, in blocks; the last may hold an error.
func (g *group) decode(ctx context.Context, rules *text.Rules) {
	var block *text.Block
	take := func() bool {
		select {
		case block = <-g.free:
			block.Reset(g.layout)
			return true
		case <-ctx.Done():
			return false
		}
	}
	// Sending never blocks: there are groupBlocks blocks, and one for a panic.
	send := func() { g.blocks <- block }
	if !take() {
		return
	}
	defer func() {
		if r := recover(); r != nil { // the decoder may panic on damaged files
			g.blocks <- &text.Block{Layout: g.layout, Err: damagedParquet(g.file.in.name, r)}
		}
	}()
	var readers []*columnReader
	defer func() {
		for _, r := range readers {
			r.close()
		}
	}()
	rows := g.file.RowGroups()[g.index]
	chunks := rows.ColumnChunks()
	for i, f := range g.layout.Fields {
		if f.Keep >= 0 {
			l := &g.file.leaves[i]
			readers = append(readers, &columnReader{leaf: l, field: f, rules: rules, pages: chunks[l.index].Pages()})
		}
	}
	width := g.layout.Width
	step := parquetRows
	for step > 16 && step*width*8 > parquetBytes {
		step /= 2
	}
	total := int(rows.NumRows())
	for done := 0; done < total; {
		n := min(step, total-done)
		if cap(block.Values) < n*width {
			block.Values = make([]float64, n*width)
		}
		block.Values = block.Values[:n*width]
		for _, r := range readers {
			if err := r.read(block, n); err != nil {
				g.fail(block, err, done, r)
				send()
				return
			}
		}
		block.Rows = n
		block.Bytes = int64(8 * n * width)
		if done == 0 {
			block.Runs = append(block.Runs, text.Run{Row: -g.first})
		}
		done += n
		block.Read = g.before + g.file.in.size*int64(g.first+done)/max(1, g.file.NumRows())
		send()
		if done < total && !take() {
			return
		}
	}
}

// fault is a value that cannot be read, at a row of the present block.
type fault struct {
	row  int
	what string
}

func (f *fault) Error() string { return f.what }

// fail words an error of a column, done rows after the beginning of the group.
func (g *group) fail(block *text.Block, err error, done int, r *columnReader) {
	block.Rows = 0
	var value *fault
	switch {
	case errors.As(err, &value):
		block.Err = &text.Error{File: fmt.Sprintf("%s: row %d", g.file.in.name, g.first+done+value.row+1), Column: r.field.Name, What: value.what}
	case errors.Is(err, io.EOF):
		block.Err = damagedParquet(g.file.in.name, fmt.Sprintf("column %s has too few values", text.Quote(r.field.Name)))
	default:
		block.Err = damagedParquet(g.file.in.name, err)
	}
}
