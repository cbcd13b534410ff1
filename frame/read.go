package frame

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/linop"
)

// Read fills dst with rows [first, first+count).
func (b *Bound) Read(dst *credence.Batch, first, count int) error {
	if err := b.rows.read(first, count); err != nil {
		return err
	}
	fresh := first <= b.counted && first+count > b.counted
	from := b.counted - first // rows before it were counted by an earlier Read
	if !fresh {
		from = count
	}
	if b.marks {
		b.lacking = slices.Grow(b.lacking[:0], count)[:count]
		clear(b.lacking)
	}
	dst.First = first
	dst.X.Reshape(count, len(b.frame.Inputs))
	if b.frame.SegmentWidth > 0 {
		if err := b.rows.checkSparse(first); err != nil {
			return err
		}
	}
	if err := b.readPlain(&dst.X, &b.rows.current.Values, b.plain, first, from); err != nil {
		return err
	}
	if err := b.readPlain(&dst.X, &b.rows.spread, b.sparse, first, from); err != nil {
		return err
	}
	for i := range b.special {
		if err := b.readSpecial(&dst.X, &b.special[i], first, from); err != nil {
			return err
		}
	}
	dst.Unseen = b.readUnseen(dst.Unseen)
	b.readSparse(&dst.Sparse, from)
	if err := b.readOthers(dst, first, count, from); err != nil {
		return err
	}
	if fresh {
		b.counted = first + count
	}
	return nil
}

// readPlain is the hot path: row by row, so that memory is read and written in order.
func (b *Bound) readPlain(x, values *linop.Dense, plain []plainInput, first, from int) error {
	if len(plain) == 0 {
		return nil
	}
	check := 0.0
	for i := range x.Rows {
		source := values.Data[i*values.Stride : i*values.Stride+values.Cols]
		row := x.Data[i*x.Stride : i*x.Stride+x.Cols]
		for k := range plain {
			p := &plain[k]
			v := source[p.from]
			scaled := (v - p.center) * p.inverse
			check += scaled - scaled // 0 for a number, NaN otherwise
			row[p.to] = scaled
		}
	}
	if check == 0 {
		return nil
	}
	for i := range x.Rows {
		source, row := values.Row(i), x.Row(i)
		for _, p := range plain {
			v, in := source[p.from], &b.frame.Inputs[p.to]
			switch {
			case v != v:
				if err := b.fill(&row[p.to], in, first, i, from); err != nil {
					return err
				}
			case math.IsInf(v, 0):
				err := in.Expr.apply([]float64{v}, 0)
				return b.rows.fail(first+i, err)
			case math.IsInf(row[p.to], 0):
				return b.rows.fail(first+i, fmt.Errorf("column %q is %s, and overflows when scaled: correct the value", in.Expr.Column, number(v)))
			}
		}
	}
	return nil
}

// fill stores what stands for a missing value of the input in row i.
func (b *Bound) fill(dst *float64, in *Input, first, i, from int) error {
	switch {
	case b.frame.Missing == Mean || b.frame.Missing == Indicator:
		if i >= from {
			b.counts.Filled++
		}
	case !b.lack(i, from):
		return b.rows.fail(first+i, fmt.Errorf("column %q is missing: fill in the value, or let --missing mean fill in the mean of training", in.Expr.Column))
	}
	*dst = (in.Fill - in.Center) * (1 / in.Scale)
	return nil
}

func (b *Bound) readSpecial(x *linop.Dense, s *specialInput, first, from int) error {
	in := &b.frame.Inputs[s.to]
	b.column = order.Resized(b.column, x.Rows)
	steps := len(in.Expr.Steps)
	if err := b.rows.evaluate(b.column, s.operand, steps, first); err != nil {
		return err
	}
	inverse := 1 / in.Scale
	for i, v := range b.column {
		to := &x.Data[i*x.Stride+s.to]
		if in.Indicates {
			*to = 0
			if v != v {
				*to = 1
			}
			continue
		}
		if v != v && (in.Expr.Keyed || in.Expr.Grouped && (s.missing >= 0 || !b.refuses(in))) {
			*to = s.missing
			b.countUnseen(in, s.missing, i >= from)
			continue
		}
		if v != v {
			if err := b.fill(to, in, first, i, from); err != nil {
				return err
			}
			continue
		}
		if s.binary && v != 0 && v != 1 {
			return b.rows.fail(first+i, fmt.Errorf("column %q is %s, and was true or false in training: correct the value", in.Expr.Column, number(v)))
		}
		if in.Kind == credence.Category {
			code, err := b.code(in, s, v, first, i)
			if err != nil {
				return err
			}
			b.countUnseen(in, code, i >= from)
			*to = code
			continue
		}
		*to = (v - in.Center) * inverse
	}
	return nil
}

// countUnseen counts the code of a row that is read for the first time.
func (b *Bound) countUnseen(in *Input, code float64, fresh bool) {
	switch {
	case code >= 0 || !fresh || in.Expr.Keyed || in.Expr.Idle:
	case in.Expr.Grouped:
		b.counts.DrawnGroups++
	default:
		b.counts.UnseenLevels++
	}
}

// refuses reports whether the input may not have levels that training did not see.
func (b *Bound) refuses(in *Input) bool { return !b.frame.Lenient(&in.Expr) }

// ErrUnseen is what is wrong with a row that has a level which training did not see and must not have.
var ErrUnseen = errors.New("a level was not seen in training")

type unseenError struct{ error }

func (unseenError) Is(target error) bool { return target == ErrUnseen }

// code returns training's code of a level of row i of the block.
func (b *Bound) code(in *Input, s *specialInput, v float64, first, i int) (float64, error) {
	k, row := int(v), first+i
	if k == -1 { // the source knows training's levels, and this is another
		if b.refuses(in) {
			column, _ := credence.CutText(in.Expr.Column)
			level := "its level"
			if text, ok := b.rows.text(row, &in.Expr); ok {
				level = fmt.Sprintf("level %q", text)
			}
			if in.Expr.Level {
				if part, err := in.Expr.Apply(b.rows.current.Values.Row(i)[b.rows.slots[s.slot].column]); err == nil {
					level = fmt.Sprintf("%s %s", in.Expr, number(part))
				}
			}
			return 0, b.rows.fail(row, unseenError{fmt.Errorf("column %q: %s was not seen in training: correct it, or let --unseen prior score it by the variance of the levels", column, level)})
		}
		return -1, nil
	}
	if k < 0 || k >= len(s.codes) {
		return 0, b.rows.fail(row, fmt.Errorf("column %q holds code %s, and has %d levels: the source is broken", in.Expr.Column, number(v), len(s.codes)))
	}
	if s.codes[k] < 0 && b.refuses(in) {
		column, _ := credence.CutText(in.Expr.Column)
		return 0, b.rows.fail(row, unseenError{fmt.Errorf("column %q: level %q was not seen in training (this table has %d such %s): correct it, or let --unseen prior score it by the variance of the levels",
			column, b.rows.levels(&in.Expr)[k], s.unseen, cell.Plural(s.unseen, "level", "levels"))})
	}
	return s.codes[k], nil
}

// readUnseen returns the sums of squares of entries beyond the columns of training,
// in dst's memory, or nil if there are none.
func (b *Bound) readUnseen(dst []float64) []float64 {
	chunk := b.rows.current
	if b.frame.Sparse == 0 || chunk.Unseen == nil && b.rows.schema.Sparse <= b.frame.Sparse {
		return nil
	}
	dst = append(dst[:0], make([]float64, chunk.Rows())...)
	copy(dst, chunk.Unseen)
	some := chunk.Unseen != nil
	for i := range chunk.Sparse.Rows {
		columns, values := chunk.Sparse.Row(i)
		for k := len(columns) - 1; k >= 0 && int(columns[k]) >= b.frame.Sparse; k-- {
			v := linop.At(values, k)
			dst[i] += v * v
			some = true
		}
	}
	if !some {
		return nil
	}
	return dst
}

// readSparse stores the sparse inputs, without columns beyond those of training.
func (b *Bound) readSparse(dst *linop.CSR, from int) {
	sparse := &b.rows.current.Sparse
	if b.frame.Sparse == 0 || b.rows.schema.Sparse == 0 {
		*dst = linop.CSR{Cols: b.frame.Sparse, Rows: b.rows.current.Rows(), Start: order.Resized(dst.Start, b.rows.current.Rows()+1)}
		clear(dst.Start)
		return
	}
	if sparse.Cols <= b.frame.Sparse {
		// The batch takes the memory that the source filled, and the next Read gets the batch's.
		*dst, *sparse = *sparse, *dst
		dst.Cols = b.frame.Sparse
		return
	}
	dst.Reset(b.frame.Sparse)
	for i := range sparse.Rows {
		columns, values := sparse.Row(i)
		known, _ := slices.BinarySearch(columns, int32(b.frame.Sparse))
		if i >= from {
			b.counts.UnseenFeatures += len(columns) - known
		}
		if values != nil {
			values = values[:known]
		}
		dst.AppendRow(columns[:known], values)
	}
}

// readOthers stores target, offset, weight, precision and trials.
func (b *Bound) readOthers(dst *credence.Batch, first, count, from int) error {
	f := b.frame
	dst.Target, dst.Weight = optional(dst.Target, count, b.targets != IgnoreTargets), optional(dst.Weight, count, b.weight.Expr != nil)
	dst.Offset, dst.Trials = optional(dst.Offset, count, len(f.Offset) > 0), optional(dst.Trials, count, f.Trials != nil)
	dst.Precision = optional(dst.Precision, count, f.Precision != nil)
	if dst.Target != nil {
		if err := b.readTarget(dst.Target, first); err != nil {
			return err
		}
	}
	clear(dst.Offset)
	for k := range f.Offset {
		b.column = order.Resized(b.column, count)
		if err := b.complete(b.column, b.offsets[k], "offset", first, from); err != nil {
			return err
		}
		for i, v := range b.column {
			dst.Offset[i] += v
		}
	}
	if dst.Trials != nil {
		if err := b.complete(dst.Trials, b.trials, "trials", first, from); err != nil {
			return err
		}
	}
	if dst.Precision != nil {
		if err := b.complete(dst.Precision, b.precision, "precision", first, from); err != nil {
			return err
		}
		for i, p := range dst.Precision {
			if !(p > 0) {
				return b.rows.fail(first+i, badPrecision(f.Precision, p))
			}
		}
	}
	if dst.Weight == nil {
		return nil
	}
	if err := b.complete(dst.Weight, b.weight, "weight", first, from); err != nil {
		return err
	}
	for i, w := range dst.Weight {
		if w < 0 {
			return b.rows.fail(first+i, BadWeight(f.Weight.String(), w))
		}
	}
	return nil
}

// complete evaluates an expression that may not be missing.
func (b *Bound) complete(dst []float64, e operand, role string, first, from int) error {
	if err := b.rows.evaluate(dst, e, len(e.Steps), first); err != nil {
		return err
	}
	for i, v := range dst {
		if v != v {
			if dst[i] = 1; b.lack(i, from) {
				continue
			}
			return b.rows.fail(first+i, fmt.Errorf("%s %s is missing: fill in the value or leave the row out", role, e))
		}
	}
	return nil
}

// optional returns a slice of n numbers, reusing memory, or nil if it is not wanted.
func optional(s []float64, n int, wanted bool) []float64 {
	if !wanted {
		return nil
	}
	return order.Resized(s, n)
}
