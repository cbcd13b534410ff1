package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/format"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/internal/parquet"
	"github.com/credence-ml/credence/internal/task"
	"github.com/credence-ml/credence/table"
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
	index  int // within its file
	first  int // its first row within the file
	rows   int
	before int64 // stored bytes of the files before
	layout *text.Layout
	file   *parquetFile
	pages  *parquet.Group
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
		s.file.close()
		s.file = nil
	}
}

// groups lists the row groups of all files, in order, from the one with a row of
// file from on.
func (t *Table) groups(from int, row int64) []*group {
	var groups []*group
	before := int64(0)
	for k, in := range t.inputs {
		if k < from {
			before += in.size
			continue
		}
		source := &groupSource{in: in}
		first := 0
		for i, rows := range in.groups {
			if k == from && int64(first+rows) <= row {
				first += rows
				continue
			}
			source.left++
			groups = append(groups, &group{source: source, index: i, first: first, rows: rows, before: before})
			first += rows
		}
		before += in.size
	}
	return groups
}

// passParquet runs a pass over Parquet files, from a row of file from on: row groups are decoded side by
// side and consumed in order.
func (t *Table) passParquet(ctx context.Context, chosen *selection, from int, row int64, consume func(*text.Block) error) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	groups := t.groups(from, row)
	var working []*task.Task
	defer func() {
		cancel()
		for _, w := range working {
			w.Wait()
		}
		for _, g := range groups {
			g.source.close()
		}
	}()
	// Parquet says itself what is missing, beside the texts of the caller and of training.
	rules := text.NewRules(false, t.missing())
	var budget parquet.Budget
	begin := func(g *group) error {
		if s := g.source; s.file == nil {
			file, err := s.in.openParquet()
			if err != nil {
				return err
			}
			layout, err := chosen.leafLayout(file)
			if err != nil {
				file.close()
				return err
			}
			s.file, s.layout = file, layout
		}
		g.file, g.layout = g.source.file, g.source.layout
		g.pages = g.file.Group(ctx, g.index, &budget)
		g.blocks, g.free = make(chan *text.Block, groupBlocks+1), make(chan *text.Block, groupBlocks)
		for range groupBlocks {
			g.free <- &text.Block{}
		}
		working = append(working, task.Go(func() error {
			defer close(g.blocks)
			g.decode(ctx, &rules)
			return nil
		}))
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
		g.pages.Turn()
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
		g.pages, g.blocks, g.free = nil, nil, nil
		if g.source.left--; g.source.left == 0 {
			g.source.close()
			if err := g.source.in.unchanged(); err != nil {
				return err
			}
		}
	}
	return nil
}

// leafLayout returns what becomes of the columns of a file.
func (s *selection) leafLayout(file *parquetFile) (*text.Layout, error) {
	names := make([]string, len(file.leaves))
	for i, l := range file.leaves {
		names[i] = l.name
	}
	layout := s.layout(file.in, names)
	for i, f := range layout.Fields {
		if (f.Keep >= 0 || f.Text >= 0 || f.Written >= 0) && file.leaves[i].refusal != "" {
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
	defer g.pages.Close()
	var readers []*columnReader
	for i, f := range g.layout.Fields {
		l := &g.file.leaves[i]
		if f.Keep >= 0 {
			r := &columnReader{leaf: l, field: f, rules: rules, pages: g.pages.Pages(l.index)}
			if l.physical == format.Int64 && l.unit == 0 && f.Kind == credence.Numeric {
				r.exact = r.noteInexact
			}
			readers = append(readers, r)
		}
		if f.Text >= 0 {
			f.Keep, f.Kind = f.Text, credence.Category
			readers = append(readers, &columnReader{leaf: l, field: f, rules: rules, pages: g.pages.Pages(l.index)})
		}
		if f.Written >= 0 {
			f.Keep, f.Kind = f.Written, credence.Category
			readers = append(readers, &columnReader{leaf: l, field: f, rules: &text.AsWritten, pages: g.pages.Pages(l.index)})
		}
	}
	width := len(g.layout.Columns)
	step := parquetRows
	for step > 16 && step*width*8 > parquetBytes {
		step /= 2
	}
	total := g.rows
	for done := 0; done < total; {
		n := min(step, total-done)
		block.Values = order.Resized(block.Values, n*width)
		block.Count = n
		block.Offset, block.End = int64(g.first+done), int64(g.first+done+n)
		for i := range n {
			block.Ends = append(block.Ends, block.Offset+int64(i)+1)
		}
		if done == 0 {
			block.Places = append(block.Places, table.Place{Row: -g.first})
		}
		for _, r := range readers {
			if err := r.read(block, n); err != nil {
				g.fail(block, err, r)
				send()
				return
			}
		}
		g.dropFaulty(block, readers)
		block.Bytes = int64(8 * n * width)
		done += n
		block.Read = g.before + g.file.in.size*int64(g.first+done)/max(1, g.file.Rows)
		send()
		if done < total && !take() {
			return
		}
	}
}

// fault is a value that cannot be read, at a row of the present block.
type fault struct {
	row          int
	column, what string
}

// dropFaulty makes faults of the rows in which some column has one.
func (g *group) dropFaulty(block *text.Block, readers []*columnReader) {
	var faults []table.Fault
	for _, r := range readers {
		for _, f := range r.faults {
			place := fmt.Sprintf("%s: row %d", g.file.in.name, block.Offset+int64(f.row)+1)
			faults = append(faults, table.Fault{Row: f.row, End: block.Ends[f.row], Err: &text.Error{File: place, Column: f.column, What: f.what}})
		}
		r.faults = r.faults[:0]
	}
	if len(faults) > 0 {
		dropFaulty(&block.Rows, faults)
	}
}

// fail words what is wrong with the pages of a column.
func (g *group) fail(block *text.Block, err error, r *columnReader) {
	block.Count, block.Values = 0, block.Values[:0]
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("column %s has too few values", cell.Quote(r.field.Name))
	}
	block.Err = damagedParquet(g.file.in.name, err)
}
