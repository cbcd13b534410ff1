package frame

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/internal/segments"
)

// censusReader is what a census needs to add rows of a table.
type censusReader struct {
	*view
	source func(row int) string // where a row of the table stands
	block  credence.Chunk       // rows that wait until they are a block
	rows   []int                // the rows of the table that they are
	marks  []bool               // rows that lack a value
	column []float64            // one block of an expression
	weight []float64            // weights of the current block, nil where there are none
	trials []float64
	lacks  string // the place of the first row without a target

	inputs, others []operand // others: weight, precision, trials and offsets
	// Of weight, precision, trials and target; without an expression where there is none.
	weights, precision, count, target operand
}

// placeOf says where row i of the current block stands.
func (r *censusReader) placeOf(i int) string {
	row := r.current.First + i
	if r.current == &r.block {
		row = r.rows[i]
	}
	return r.source(row)
}

// resolve finds the columns of the frame's expressions.
func (r *censusReader) resolve(f *Frame) {
	optional := func(e *Expr) operand {
		if e == nil {
			return operand{}
		}
		return r.operand(e)
	}
	r.weights, r.precision, r.count = optional(f.Weight), optional(f.Precision), optional(f.Trials)
	if f.Target != nil {
		r.target = r.operand(&f.Target.Expr)
	}
	for i := range f.Inputs {
		r.inputs = append(r.inputs, r.operand(&f.Inputs[i].Expr))
	}
	for _, o := range []operand{r.weights, r.precision, r.count} {
		if o.Expr != nil {
			r.others = append(r.others, o)
		}
	}
	for i := range f.Offset {
		r.others = append(r.others, r.operand(&f.Offset[i]))
	}
}

// AddAll adds all rows of a source, file by file, whose columns have the kinds of the census's schema, and takes the
// words of a boolean target from it.
func (c *Census) AddAll(ctx context.Context, source credence.Source) error {
	if source == nil {
		return errors.New("frame: there is no table: give a credence.Source, as table.Structs or dataset.Open make")
	}
	if c.reader == nil {
		return fmt.Errorf("frame: a census that was read from a file takes no rows: continue one that is made for the table")
	}
	c.reader.source = func(row int) string { return place(source, row) }
	if worder, ok := source.(Worder); ok && c.frame.Target != nil && c.frame.Target.Kind == credence.Boolean {
		c.words = worder.Words(c.frame.Target.Expr.Column)
	}
	var chunk credence.Chunk
	files := ability.Files(source)
	for k, begin := range files[:len(files)-1] {
		for first, count := range ability.FileBlocks(begin, files[k+1]) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := source.Read(&chunk, first, count); err != nil {
				return err
			}
			if err := c.Add(&chunk); err != nil {
				return err
			}
		}
		if err := c.EndFile(); err != nil {
			return err
		}
	}
	return nil
}

// Add adds the next rows of the table, which chunk says are the next. Results do not depend on how
// rows are divided into chunks.
func (c *Census) Add(chunk *credence.Chunk) error {
	r := c.reader
	if r == nil {
		return fmt.Errorf("frame: a census that was read from a file takes no rows: continue one that is made for the table")
	}
	if chunk.First != c.added {
		return fmt.Errorf("frame: the census has the rows up to %d, and cannot add those from %d on", c.added, chunk.First+1)
	}
	c.added += chunk.Rows()
	drop := c.frame.drops() != nil
	if !drop && len(r.rows) == 0 && chunk.Rows() == credence.BlockRows && c.next%credence.BlockRows == 0 {
		c.open()
		c.next += chunk.Rows()
		return c.count(chunk)
	}
	if drop {
		r.show(chunk)
		r.marks, r.column = order.Resized(r.marks, chunk.Rows()), order.Resized(r.column, chunk.Rows())
		r.lacking(r.marks, r.column, c.frame.drops())
	}
	for i := range chunk.Rows() {
		if c.next%c.size == 0 || len(r.rows) == credence.BlockRows {
			if err := c.flushBlock(); err != nil {
				return err
			}
		}
		c.open()
		c.next++
		if drop && r.marks[i] {
			c.segment.Dropped++
			continue
		}
		if len(r.rows) == 0 {
			r.block.Reset(r.schema, chunk.First+i)
		}
		r.block.Append(chunk, i, 1)
		r.rows = append(r.rows, chunk.First+i)
	}
	return nil
}

// open makes the segment of the next row the present one.
func (c *Census) open() {
	if c.segment != nil && c.next%c.size == 0 {
		c.close()
	}
	if c.segment == nil {
		c.segment = c.newTally()
	}
}

// close makes the present segment a node.
func (c *Census) close() {
	if c.segment != nil {
		c.within = segments.Join(append(c.within, node{Position: (c.next - 1) / c.size, Sum: c.segment}))
		c.segment = nil
	}
}

// EndFile says that the rows that were added last are those at the end of a file: those that follow, if any, are of the
// next. A file may have no rows.
func (c *Census) EndFile() error {
	if c.reader == nil {
		return fmt.Errorf("frame: a census that was read from a file takes no rows: continue one that is made for the table")
	}
	if err := c.flushBlock(); err != nil {
		return err
	}
	c.close()
	total, _, _ := segments.Total(c.within)
	if total == nil {
		total = c.newTally()
	}
	c.nodes = segments.Join(append(c.nodes, node{Position: c.file, Sum: total}))
	c.file, c.next, c.within = c.file+1, 0, nil
	return nil
}

// flushBlock counts the rows that wait.
func (c *Census) flushBlock() error {
	if len(c.reader.rows) == 0 {
		return nil
	}
	err := c.count(&c.reader.block)
	c.reader.rows = c.reader.rows[:0]
	return err
}

// flush ends the last file, whose end may go without saying.
func (c *Census) flush() error {
	if c.reader == nil || c.next == 0 {
		return nil
	}
	return c.EndFile()
}

// count adds a block of rows, which lie in the present segment.
func (c *Census) count(block *credence.Chunk) error {
	r := c.reader
	r.show(block)
	rows := block.Rows()
	r.column = order.Resized(r.column, rows)
	if err := c.readWeights(rows); err != nil {
		return err
	}
	t := c.segment
	t.Rows += rows
	if len(c.pending) > 0 {
		for k, p := range c.pending {
			if err := r.evaluate(r.column, p.operand, p.at, 0); err != nil {
				return err
			}
			t.Steps[k].add(r.column, r.weight)
		}
		return nil
	}
	return c.countLast(t, rows)
}

// readWeights evaluates the weights of the block; one that is missing counts as 0, and as missing.
func (c *Census) readWeights(rows int) error {
	r := c.reader
	e := r.weights
	if e.Expr == nil {
		return nil
	}
	r.weight = order.Resized(r.weight, rows)
	if err := r.evaluate(r.weight, e, len(e.Steps), 0); err != nil {
		return err
	}
	for i, w := range r.weight {
		if w < 0 {
			return r.fail(i, BadWeight(e.String(), w))
		}
		if w != w {
			r.weight[i] = 0
		}
	}
	return nil
}

// countLast is the main round.
func (c *Census) countLast(t *tally, rows int) error {
	r := c.reader
	if c.frame.Sparse > 0 || len(r.named) > 0 {
		if err := r.checkSparse(0); err != nil {
			return err
		}
	}
	for i, e := range r.inputs {
		if err := r.evaluate(r.column, e, len(e.Steps), 0); err != nil {
			return err
		}
		if c.frame.Inputs[i].Kind != credence.Category {
			t.Inputs[i].moments.add(r.column, r.weight)
		} else if err := c.countLevels(&t.Inputs[i], e); err != nil {
			return err
		}
	}
	for _, e := range r.others {
		if err := r.evaluate(r.column, e, len(e.Steps), 0); err != nil {
			return err
		}
		for i, v := range r.column {
			if v != v {
				t.Missing[e.Column]++
			} else if e.Expr == r.precision.Expr && !(v > 0) {
				return r.fail(i, badPrecision(e.Expr, v))
			}
		}
		if e.Expr == r.count.Expr {
			r.trials = append(r.trials[:0], r.column...)
		}
	}
	for i := range rows {
		if r.weight == nil {
			t.Weight++
		} else {
			t.Weight += r.weight[i]
			if r.weight[i] != math.Floor(r.weight[i]) {
				t.Fractions++
			}
		}
	}
	if r.target.Expr == nil {
		return nil
	}
	return c.countTarget(t)
}

// countLevels adds the codes of a category in the present block.
func (c *Census) countLevels(t *inputTally, e operand) error {
	r := c.reader
	list := c.levels[e.root()]
	if s := &r.slots[e.slot]; s.texts != nil {
		list.Levels = s.texts.levels // more may have come
	}
	hashes := list.hash()
	for i, v := range r.column {
		if k := int(v); v == v && (k < 0 || k >= len(hashes)) {
			return r.fail(i, fmt.Errorf("column %q holds code %s, and has %d levels: the source is broken", e.Column, number(v), len(hashes)))
		}
	}
	t.add(r.column, r.weight, hashes)
	return nil
}

func (c *Census) countTarget(t *tally) error {
	r := c.reader
	e := r.target
	if err := r.evaluate(r.column, e, len(e.Steps), 0); err != nil {
		return err
	}
	if t.Target.add(r.column, r.weight); r.lacks == "" && t.Target.Missing > 0 {
		r.lacks = r.place(slices.IndexFunc(r.column, func(y float64) bool { return y != y }))
	}
	if len(e.Steps) > 0 && e.Invertible() {
		t.Target.addSlopes(e.Expr, r.column, r.weight)
	}
	if c.frame.Target.Mode != Numbers || c.options.CheckTarget == nil {
		return nil
	}
	for i, y := range r.column {
		n := 0.0
		if r.count.Expr != nil {
			n = r.trials[i]
		}
		if y != y || n != n {
			continue
		}
		if err := c.options.CheckTarget(y, n); err != nil {
			return r.fail(i, fmt.Errorf("%s: %w", e.place(), err))
		}
	}
	return nil
}

// Rows returns how many rows were added, and how many more were left out for a missing value.
func (c *Census) Rows() (kept, dropped int, err error) {
	if err := c.flush(); err != nil {
		return 0, 0, err
	}
	for _, n := range c.nodes {
		kept, dropped = kept+n.Sum.Rows, dropped+n.Sum.Dropped
	}
	return kept, dropped, nil
}

// Left returns how many rounds there are behind the present one.
func (c *Census) Left() (rounds int) {
	for _, e := range c.frame.expressions(true) {
		learned := 0
		if e != nil && e.Column != "" {
			for at := range e.Steps {
				if e.Steps[at].Function.learned() {
					learned++
				}
			}
		}
		rounds = max(rounds, learned)
	}
	return rounds - c.round
}

// First reads the first rows of the source, up to count of them, that the model does not leave out for a missing value.
func (c *Census) First(source credence.Source, count int) (*credence.Chunk, error) {
	if c.reader == nil || source == nil {
		return nil, errors.New("frame: rows are read by a census that is made for the table: give the source that it counts")
	}
	var chunk credence.Chunk
	all := new(credence.Chunk)
	all.Reset(source.Schema(), 0)
	var marks []bool
	var column []float64
	for first, n := range credence.Blocks(source.Rows()) {
		if err := source.Read(&chunk, first, n); err != nil {
			return nil, err
		}
		marks, column = order.Resized(marks, n), order.Resized(column, n)
		clear(marks)
		if drops := c.frame.drops(); drops != nil {
			c.reader.show(&chunk)
			c.reader.lacking(marks, column, drops)
		}
		for i := range n {
			if all.Values.Rows == count {
				return all, nil
			}
			if !marks[i] {
				all.Append(&chunk, i, 1)
			}
		}
	}
	return all, nil
}
