package exact

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
)

// keepBytes is how much of the rows stays in memory where they are read again.
const keepBytes = 32 << 20

// units are the units in which an engine computes: y' = (y − offset − centre)/scale.
// The shift is taken up by the prior mean of the intercept, so the model is the
// same, but sums of squares do not drown in a large mean. It is 0 without an
// intercept. The scale is a power of two, which costs no digits.
type units struct{ centre, scale float64 }

// rows are the rows of a fit, or an evenly spread part of them, in blocks of
// credence.BlockRows.
type rows struct {
	data    credence.Data
	pick    []int // rows of data; nil means all
	count   int
	keep    []credence.Batch // all blocks, once read, if they are kept
	scratch credence.Batch
	current int // block in scratch, or -1
	inputs  int // dense and sparse, of a row
	units   units
}

// openRows prepares the reading of data, or of limit evenly spread rows of it
// if that is fewer. With shift, an intercept takes up the centre of the target; with repeat,
// rows that fit are kept in memory.
func openRows(ctx context.Context, data credence.Data, limit int, shift, repeat bool) (*rows, error) {
	r := &rows{data: data, count: data.Rows(), current: -1}
	if limit > 0 && limit < r.count {
		r.pick = make([]int, limit)
		for i := range r.pick {
			r.pick[i] = int(float64(i) * (float64(r.count) / float64(limit)))
		}
		r.count = limit
	}
	first, err := r.block(ctx, 0)
	if err != nil {
		return nil, err
	}
	if perRow := float64(batchBytes(first)) / float64(first.Rows()); r.pick != nil || repeat && perRow*float64(r.count) <= keepBytes {
		keep := make([]credence.Batch, r.blocks())
		keep[0] = r.scratch
		r.scratch, r.current = credence.Batch{}, -1
		for k := 1; k < len(keep); k++ {
			if err := r.read(ctx, &keep[k], k); err != nil {
				return nil, err
			}
		}
		r.keep = keep
		first = &keep[0]
	}
	r.inputs = first.X.Cols + first.Sparse.Cols
	r.setUnits(first, shift)
	return r, nil
}

func batchBytes(b *credence.Batch) int {
	return 8*(b.X.Rows*b.X.Cols+len(b.Target)+len(b.Offset)+len(b.Weight)+len(b.Sparse.Value)) + 4*len(b.Sparse.Index)
}

// setUnits chooses the units from the first block: any order of magnitude does.
func (r *rows) setUnits(first *credence.Batch, shift bool) {
	low, high, mean := math.Inf(1), math.Inf(-1), 0.0
	for i := range first.Target {
		y := residualTarget(first, i)
		low, high = math.Min(low, y), math.Max(high, y)
		mean += (y - mean) / float64(i+1)
	}
	centre := 0.0
	if shift {
		centre = math.Max(low, math.Min(high, mean)) // exactly y where y is constant
	}
	largest := math.Max(math.Abs(high-centre), math.Abs(low-centre))
	if largest == 0 {
		largest = math.Abs(centre)
	}
	r.units = units{centre: centre, scale: powerOfTwo(largest)}
}

// powerOfTwo returns the least power of two above x, and 1 for zero.
func powerOfTwo(x float64) float64 {
	if x == 0 {
		return 1
	}
	_, exponent := math.Frexp(x)
	return math.Ldexp(1, max(-1020, min(exponent, 1020)))
}

// residualTarget is what Φw has to explain in row i.
func residualTarget(b *credence.Batch, i int) float64 {
	if b.Offset == nil {
		return b.Target[i]
	}
	return b.Target[i] - b.Offset[i]
}

// grow widens the scale for targets whose squares would overflow and returns
// the old scale by the new one.
func (r *rows) grow(b *credence.Batch) float64 {
	largest := 0.0
	for i := range b.Target {
		largest = math.Max(largest, math.Abs(residualTarget(b, i)-r.units.centre))
	}
	if largest/r.units.scale < 1e100 {
		return 1
	}
	old := r.units.scale
	r.units.scale = powerOfTwo(largest)
	return old / r.units.scale
}

func (r *rows) blocks() int { return (r.count + credence.BlockRows - 1) / credence.BlockRows }

// block returns block k, which is valid until the next call.
func (r *rows) block(ctx context.Context, k int) (*credence.Batch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r.keep != nil {
		return &r.keep[k], nil
	}
	if r.current == k {
		return &r.scratch, nil
	}
	r.current = -1
	if err := r.read(ctx, &r.scratch, k); err != nil {
		return nil, err
	}
	r.current = k
	return &r.scratch, nil
}

// read reads block k into dst and refuses what no fit can use.
func (r *rows) read(ctx context.Context, dst *credence.Batch, k int) error {
	first := k * credence.BlockRows
	count := min(credence.BlockRows, r.count-first)
	if r.pick == nil {
		if err := r.data.Read(dst, first, count); err != nil {
			return err
		}
	} else {
		var row credence.Batch
		for i := first; i < first+count; i++ {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := r.data.Read(&row, r.pick[i], 1); err != nil {
				return err
			}
			appendRow(dst, &row)
		}
	}
	return r.checkRows(dst, first)
}

// appendRow adds a batch of one row to dst.
func appendRow(dst, row *credence.Batch) {
	if dst.X.Rows == 0 {
		dst.First = row.First
		dst.X.Cols, dst.X.Stride = row.X.Cols, row.X.Cols
		dst.Sparse.Reset(row.Sparse.Cols)
	}
	dst.X.Rows++
	if row.X.Cols > 0 {
		dst.X.Data = append(dst.X.Data, row.X.Row(0)...)
	}
	if row.Sparse.Cols > 0 {
		dst.Sparse.AppendRow(row.Sparse.Row(0))
	}
	dst.Target = append(dst.Target, row.Target...)
	dst.Offset = append(dst.Offset, row.Offset...)
	dst.Weight = append(dst.Weight, row.Weight...)
}

func (r *rows) checkRows(b *credence.Batch, first int) error {
	number := func(i int) int {
		if r.pick != nil {
			return r.pick[first+i] + 1
		}
		return first + i + 1
	}
	if len(b.Target) != b.Rows() {
		return fmt.Errorf("exact: rows from %d on have no target: fit needs one in every row", number(0))
	}
	for i := range b.Target {
		if y := residualTarget(b, i); math.IsNaN(y) || math.IsInf(y, 0) {
			return fmt.Errorf("exact: row %d: target less offset is %v: drop the row or declare it missing", number(i), y)
		}
		if b.Weight != nil && !(b.Weight[i] >= 0 && !math.IsInf(b.Weight[i], 1)) {
			return fmt.Errorf("exact: row %d: weight %v is not a number from 0 up", number(i), b.Weight[i])
		}
	}
	return nil
}

// targets stores y' of a block in dst, which it returns.
func (r *rows) targets(dst []float64, b *credence.Batch) []float64 {
	dst = dst[:b.Rows()]
	for i := range dst {
		dst[i] = (residualTarget(b, i) - r.units.centre) / r.units.scale
	}
	return dst
}

// summary holds the sums over rows that involve no features, in units.
type summary struct {
	weight       float64 // Σw
	sum, square  float64 // Σwy', Σwy'²
	targetSum    float64 // the same of the targets before the offset is taken off
	targetSquare float64
}

// add adds a block with its y'.
func (s *summary) add(u units, b *credence.Batch, y []float64) {
	for i, v := range y {
		w := 1.0
		if b.Weight != nil {
			w = b.Weight[i]
		}
		s.weight += w
		s.sum += w * v
		s.square += w * v * v
		t := v
		if b.Offset != nil {
			t = (b.Target[i] - u.centre) / u.scale
		}
		s.targetSum += w * t
		s.targetSquare += w * t * t
	}
}

// rescale follows a change of the units.
func (s *summary) rescale(factor float64) {
	s.sum *= factor
	s.square *= factor * factor
	s.targetSum *= factor
	s.targetSquare *= factor * factor
}

// variance is the variance of y', in which the squares' own rounding is nothing.
func (s *summary) variance() float64 {
	mean := s.sum / s.weight
	v := s.square/s.weight - mean*mean
	if v <= 1e-15*s.square/s.weight {
		return 0
	}
	return v
}

// target returns mean and variance of the targets on their own scale.
func (s *summary) target(u units) (mean, variance float64) {
	mean = s.targetSum / s.weight
	variance = math.Max(0, s.targetSquare/s.weight-mean*mean)
	return u.centre + u.scale*mean, math.Min(variance*u.scale*u.scale, math.MaxFloat64)
}
