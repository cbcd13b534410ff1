package keyed

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/keyhash"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/table"
)

// errDropped marks a row that the policy drop leaves out, errLacking one that it would, and that is to be
// predicted: it stays, without features.
var errDropped, errLacking = errors.New("dropped"), errors.New("lacking")

// Bind makes a batch of rows [first, first+count) of the run that Begin took up. Batch, Faults and From
// are valid until Bind is called for the [Batches]th time from then on. It leaves out rows whose cells the plan cannot
// take, noting up to most of them in Faults; at one more it stops, and returns its error and the number of rows that
// were taken up before it. Where means run it also stops behind a row that an engine may refuse.
func (b *Binder) Bind(dst *credence.Batch, first, count, most int) (taken int, err error) {
	b.turn = (b.turn + 1) % Batches
	memory := &b.memory[b.turn]
	b.Faults, b.From, b.Dropped, b.Unknown = memory.faults[:0], memory.from[:0], 0, 0
	b.Lacking = b.Lacking[:0]
	*dst = memory.batch
	s := &dst.Sparse
	s.Reset(0)
	s.Value = s.Value[:0]
	dst.Target, dst.Weight = dst.Target[:0], dst.Weight[:0]
	dst.Offset, dst.Unseen, dst.Time = dst.Offset[:0], dst.Unseen[:0], dst.Time[:0]
	b.pending = 0
	b.hash(first, count)
	plain, unseen := true, false
	b.ones = true
	for i := first; i < first+count; i++ {
		target, weight, offset, err := b.read(i)
		if err == nil {
			entries := len(s.Index)
			square := 0.0
			if square, err = b.entries(s, i); err != nil {
				s.Index, s.Value = s.Index[:entries], s.Value[:min(entries, len(s.Value))]
			} else {
				plain = plain && weight == 1 && offset == 0
				unseen = unseen || square > 0
				s.Start = append(s.Start, len(s.Index))
				s.Rows++
				dst.Target, dst.Weight = append(dst.Target, target), append(dst.Weight, weight)
				dst.Offset, dst.Unseen = append(dst.Offset, offset), append(dst.Unseen, square)
				if b.time.column >= 0 {
					dst.Time = append(dst.Time, b.now)
				}
				b.From = append(b.From, i)
				if b.observes(weight) {
					if !dst.Ordinary(s.Rows - 1) {
						b.pending = weight
						b.finish(dst, b.ones, plain, unseen)
						return i - first + 1, nil
					}
					b.observe(weight)
				}
				continue
			}
		}
		switch err {
		case errDropped:
			b.Dropped++
			continue
		case errLacking:
			s.Start = append(s.Start, len(s.Index))
			s.Rows++
			dst.Target, dst.Weight = append(dst.Target, math.NaN()), append(dst.Weight, 1)
			dst.Offset, dst.Unseen = append(dst.Offset, 0), append(dst.Unseen, 0)
			b.Lacking, b.From = append(b.Lacking, len(b.From)), append(b.From, i)
			continue
		}
		err = b.At(i, err)
		if len(b.Faults) == most {
			taken = i - first
			b.finish(dst, b.ones, plain, unseen)
			return taken, err
		}
		b.Faults = append(b.Faults, table.Fault{Row: i, Err: err})
	}
	b.finish(dst, b.ones, plain, unseen)
	return count, nil
}

// finish gives the batch its shape. What says nothing is left out: values that are all 1, weights
// that are all 1, offsets that are all 0.
func (b *Binder) finish(dst *credence.Batch, ones, plain, unseen bool) {
	b.memory[b.turn] = memory{*dst, b.From, b.Faults} // the memory of what is left out is used again
	dst.X = linop.Dense{Rows: dst.Sparse.Rows}
	dst.Sparse.Cols = b.index.Len()
	if ones {
		dst.Sparse.Value = nil
	}
	if plain {
		dst.Weight, dst.Offset = nil, nil
	}
	if !unseen {
		dst.Unseen = nil
	}
	if b.target.column < 0 {
		dst.Target = nil
	}
}

// At puts the place of a row of the run before what is wrong with it.
func (b *Binder) At(i int, err error) error {
	if b.rows.File == "" {
		return err
	}
	return fmt.Errorf("%s: %w", b.Place(i), err)
}

// Place says where a row of the run stands: "clicks.csv:17".
func (b *Binder) Place(i int) string {
	if line := b.rows.Line(i); line > 0 {
		return fmt.Sprintf("%s:%d", b.rows.File, line)
	}
	return fmt.Sprintf("%s: row %d of the run", b.rows.File, i+1)
}

// Farthest names the largest number of row i of the run, and gives it: an input, an entry of the row, an offset or, in
// learning, the weight; "" where there is none.
func (b *Binder) Farthest(i int) (name string, value float64) {
	far := func(v float64, of func() string) {
		if math.Abs(v) > math.Abs(value) {
			name, value = of(), v
		}
	}
	row := b.rows.Row(i)
	for k := range b.plan.Inputs {
		if in, c := &b.plan.Inputs[k], &b.cells[k]; c.column >= 0 && !c.level {
			if v, err := in.Expr.Apply(row[c.column]); err == nil {
				far(v, in.name)
			}
		}
	}
	if len(b.rows.Start) > 0 {
		for k := b.rows.Start[i]; k < b.rows.Start[i+1]; k++ {
			far(b.value(k), func() string { return string(b.appendToken(nil, k)) })
		}
	}
	readers := b.offset
	if !b.frozen && b.weight.column >= 0 {
		readers = append(slices.Clone(readers), b.weight)
	}
	for k := range readers {
		if v, err := readers[k].read(b.rows, row); err == nil {
			far(v, readers[k].expr.String)
		}
	}
	return name, value
}

// read reads the cells of a row.
func (b *Binder) read(i int) (target, weight, offset float64, err error) {
	row := b.rows.Row(i)
	b.row = i
	weight = 1
	if target, err = b.target.read(b.rows, row); err != nil {
		return
	}
	if b.target.column >= 0 && target != target && (!b.frozen || b.required) {
		return 0, 0, 0, b.target.missing(b.plan.Drops(b.target.expr.Column))
	}
	if b.weight.column >= 0 {
		switch weight, err = b.weight.read(b.rows, row); {
		case err != nil:
			return
		case weight != weight && b.frozen:
			weight = 1 // weights count in learning alone
		case weight != weight:
			return 0, 0, 0, b.weight.missing(b.drops())
		case weight < 0:
			return 0, 0, 0, frame.BadWeight(b.weight.expr.String(), weight)
		}
	}
	if b.time.column >= 0 {
		if b.now, err = b.time.read(b.rows, row); err == nil && b.now != b.now {
			err = b.time.missing(b.drops())
		}
		if err != nil {
			return 0, 0, 0, err
		}
	}
	offset = b.constant
	for k := range b.offset {
		r := &b.offset[k]
		v, err := r.read(b.rows, row)
		if err == nil && v != v {
			if err = r.missing(b.drops()); b.MarkLacking && b.plan.Missing == frame.Drop {
				err = errLacking
			}
		}
		if err != nil {
			return 0, 0, 0, err
		}
		offset += v
	}
	for _, k := range b.values {
		if err = b.cell(&b.plan.Inputs[k], &b.cells[k], row, i); err != nil {
			return
		}
	}
	return target, weight, offset, nil
}

// cell reads the cell of one input.
func (b *Binder) cell(in *Input, c *cells, row []float64, i int) error {
	if c.column < 0 {
		if in.Role == AsIndex {
			return b.indexed(in, c, i)
		}
		return nil
	}
	v := row[c.column]
	if in.Role == AsLevel { // a part of a date
		_, err := in.Expr.Apply(v)
		return err
	}
	if c.level {
		if c.has, c.gap = itself, v != v; !c.gap {
			return nil
		}
		switch b.plan.Missing {
		case frame.Indicator:
		case frame.Mean:
			c.has = filled
			if b.keysOf(i)[c.at] = c.fill; in.Seen == 0 {
				c.has = nothing
			}
		default:
			return b.missing(in.Expr.Column)
		}
		return nil
	}
	if v == v && isText(&b.rows.Columns[c.column]) {
		text := b.rows.TextOf(c.column, v)
		var ok bool
		if v, ok = numberOf(in.Kind, text); !ok {
			return fmt.Errorf("column %q: %q is not a %s: correct the row, or take the column as text by hash(%s)", in.Expr.Column, text, in.Kind, cell.Column(in.Expr.Column))
		}
	}
	if c.gap = v != v; c.gap {
		if !b.plan.Fills() {
			return b.missing(in.Expr.Column)
		}
		c.x = in.Mean
		return nil
	}
	var err error
	c.x, err = in.Expr.Apply(v)
	return err
}

// indexed reads an index of libsvm text, which is 0 where the row does not have it.
func (b *Binder) indexed(in *Input, c *cells, i int) (err error) {
	v := 0.0
	for k := b.rows.Start[i]; k < b.rows.Start[i+1]; k++ {
		if b.rows.Keys[k] == c.single {
			v = b.value(k)
		}
	}
	c.x, err = in.Expr.Apply(v)
	return err
}

// missing refuses a row without a value, or says that it is to be dropped, as are rows to learn from or
// to compare with their targets. Every other row is scored.
func (b *Binder) missing(column string) error {
	switch {
	case b.drops():
		return errDropped
	case b.MarkLacking && b.plan.Missing == frame.Drop:
		return errLacking
	case b.frozen:
		return fmt.Errorf("column %q is missing: fill in the value, or learn the model with --missing mean or indicator", column)
	}
	return fmt.Errorf("column %q: the value is missing: leave such rows out with --missing drop, fill it with --missing mean or indicator, or take the column as text by hash(%s)", column, cell.Column(column))
}

// drops says whether rows that lack a value are left out.
func (b *Binder) drops() bool { return b.plan.Missing == frame.Drop && (!b.frozen || b.required) }

// observes says whether a row of this weight counts in running means.
func (b *Binder) observes(weight float64) bool {
	return !b.frozen && weight > 0 && b.plan.Fills() && !b.again
}

// Learned says that the engine took the last row of the last batch, where Bind stopped for it: its values
// count in the running means.
func (b *Binder) Learned() {
	if b.pending > 0 {
		b.observe(b.pending)
	}
}

// observe takes the values of the present row, which is learned, into the running means.
func (b *Binder) observe(weight float64) {
	for k := range b.cells {
		in, c := &b.plan.Inputs[k], &b.cells[k]
		switch {
		case c.column < 0 || c.gap || in.Role != AsValue:
		case !c.level:
			in.Seen += weight
			in.Mean += (c.x - in.Mean) * (weight / in.Seen)
		case b.plan.Missing == frame.Mean:
			in.count(string(b.levelText(in, c)), weight)
			c.fill = keyhash.Text(c.space, []byte(in.Fill))
		}
	}
}

// count takes a level into account; of equally frequent levels the first stays.
func (in *Input) count(level string, weight float64) {
	if in.Counts == nil {
		in.Counts = map[string]float64{}
	}
	in.Counts[level] += weight
	if in.Counts[level] > in.Counts[in.Fill] || in.Seen == 0 {
		in.Fill = level
	}
	in.Seen += weight
}

// EndPass says that the next row begins another pass: means stay as they are.
func (b *Binder) EndPass() { b.again = true }

// value returns the value of an entry.
func (b *Binder) value(k int) float64 {
	if b.rows.Ones {
		return 1
	}
	return b.rows.Value[k]
}
