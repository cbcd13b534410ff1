package svi

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
)

// keepBytes is how much of Φ and of the rows stays in memory where they are read again.
const keepBytes = 64 << 20

// block is a run of rows with their features, as a pass works on them.
type block struct {
	batch *credence.Batch // nil where the features have been kept and never change
	phi   *credence.Design
	rows  int
	y     []float64
	// offset, weight and trials are nil where there are none.
	offset, weight, trials []float64
}

// outcomes are the rows without their inputs.
func (b *block) outcomes() *credence.Batch {
	return &credence.Batch{Target: b.y, Offset: b.offset, Weight: b.weight, Trials: b.trials}
}

// table is the rows of a fit, or an evenly spread part of them, in blocks of
// credence.BlockRows rows of the data.
type table struct {
	data     credence.Data
	ws       *credence.Workspace
	features credence.Features
	check    credence.Likelihood
	picked   []int // first row of each run
	size     int   // rows of a run
	count    int   // rows in all
	total    int   // rows of the data
	// retain keeps the batches too, for features that will change.
	retain bool
	// moving keeps nothing: the features change between passes over more rows than fit.
	moving  bool
	sums    *sufficient // at the present features; nil before they are wanted
	keep    []kept
	planned bool
	scratch credence.Batch
	phi     credence.Design
}

// kept is a block in memory.
type kept struct {
	batch *credence.Batch
	phi   *credence.Design
	block block
}

// newTable prepares the reading of data, or of about limit evenly spread rows of it if
// that is fewer. With retain the batches stay in memory, so limit must be modest.
func newTable(data credence.Data, ws *credence.Workspace, features credence.Features, check credence.Likelihood, limit int, retain bool) *table {
	t := &table{data: data, ws: ws, features: features, check: check, total: data.Rows(), retain: retain, size: credence.BlockRows}
	if limit > 0 && t.total >= 2*max(limit, credence.BlockRows) {
		// Short runs spread better over sorted data than whole blocks.
		if limit < 64*credence.BlockRows {
			t.size = 64
		}
		runs, all := (limit+t.size-1)/t.size, t.total/t.size
		for i := range runs {
			t.picked = append(t.picked, t.size*int(float64(i)*(float64(all)/float64(runs))))
		}
		t.count = runs * t.size
		return t
	}
	for first := 0; first < t.total; first += t.size {
		t.picked = append(t.picked, first)
	}
	t.count = t.total
	return t
}

// blocks returns the number of blocks.
func (t *table) blocks() int {
	return (t.count + credence.BlockRows - 1) / credence.BlockRows
}

// scale is N/M, the factor that makes a sum over these rows an unbiased estimate
// of that over all (revrand report, eq. 6).
func (t *table) scale() float64 { return rowScale(t.total, t.count) }

// rowScale is the factor N/M of eq. 6, in its one place.
func rowScale(total, batch int) float64 { return float64(total) / float64(batch) }

// at returns block k, valid until the next call.
func (t *table) at(ctx context.Context, k int) (*block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !t.planned {
		if err := t.plan(ctx); err != nil {
			return nil, err
		}
	}
	if k < len(t.keep) {
		return t.fromMemory(k)
	}
	if err := t.read(&t.scratch, k); err != nil {
		return nil, err
	}
	t.features.Transform(t.ws, &t.phi, &t.scratch)
	b := view(&t.scratch, &t.phi)
	return &b, nil
}

func view(batch *credence.Batch, phi *credence.Design) block {
	return block{batch: batch, phi: phi, rows: batch.Rows(), y: batch.Target, offset: batch.Offset, weight: batch.Weight, trials: batch.Trials}
}

// plan decides from the first block whether all of them can be kept.
func (t *table) plan(ctx context.Context) error {
	if err := t.read(&t.scratch, 0); err != nil {
		return err
	}
	t.features.Transform(t.ws, &t.phi, &t.scratch)
	per := designBytes(&t.phi) + 8*3*t.scratch.Rows()
	t.planned = true
	if t.retain || !t.moving && per*t.blocks() <= keepBytes {
		t.keep = make([]kept, t.blocks())
	}
	return nil
}

func designBytes(d *credence.Design) int {
	return 8*(d.Dense.Rows*d.Dense.Cols+len(d.Sparse.Start)+len(d.Sparse.Value)) + 4*len(d.Sparse.Index)
}

func (t *table) fromMemory(k int) (*block, error) {
	slot := &t.keep[k]
	if slot.phi != nil {
		return &slot.block, nil
	}
	batch := new(credence.Batch)
	if err := t.read(batch, k); err != nil {
		return nil, err
	}
	slot.phi = new(credence.Design)
	t.features.Transform(t.ws, slot.phi, batch)
	slot.block = view(batch, slot.phi)
	if t.retain {
		slot.batch = batch
	} else {
		slot.block.batch = nil
	}
	return &slot.block, nil
}

// retransform gives the rows, which must be retained, other features.
func (t *table) retransform(features credence.Features) {
	t.features, t.sums = features, nil
	for k := range t.keep {
		if slot := &t.keep[k]; slot.phi != nil {
			features.Transform(t.ws, slot.phi, slot.batch)
		}
	}
}

// read reads block k and refuses what no fit can use.
func (t *table) read(dst *credence.Batch, k int) error {
	if t.size == credence.BlockRows {
		first := t.picked[k]
		if err := t.data.Read(dst, first, min(t.size, t.total-first)); err != nil {
			return err
		}
		return t.verify(dst, func(i int) int { return first + i })
	}
	per := credence.BlockRows / t.size
	picked := t.picked[k*per : min((k+1)*per, len(t.picked))]
	var part credence.Batch
	for i, first := range picked {
		if err := t.data.Read(&part, first, t.size); err != nil {
			return err
		}
		appendRows(dst, &part, i == 0)
	}
	return t.verify(dst, func(i int) int { return picked[i/t.size] + i%t.size })
}

// appendRows adds the rows of part to dst, which is emptied first if fresh.
func appendRows(dst, part *credence.Batch, fresh bool) {
	if fresh {
		dst.First = part.First
		dst.X = linop.Dense{Cols: part.X.Cols, Stride: part.X.Cols, Data: dst.X.Data[:0]}
		dst.Sparse.Reset(part.Sparse.Cols)
		if part.Sparse.Value == nil {
			dst.Sparse.Value = nil
		}
		dst.Target, dst.Offset, dst.Weight, dst.Trials = dst.Target[:0], nil, nil, nil
	}
	for i := range part.X.Rows {
		if part.X.Cols > 0 {
			dst.X.Data = append(dst.X.Data, part.X.Row(i)...)
		}
		if part.Sparse.Cols > 0 {
			dst.Sparse.AppendRow(part.Sparse.Row(i))
		}
	}
	dst.X.Rows += part.X.Rows
	dst.Target = append(dst.Target, part.Target...)
	dst.Offset = append(dst.Offset, part.Offset...)
	dst.Weight = append(dst.Weight, part.Weight...)
	dst.Trials = append(dst.Trials, part.Trials...)
}

// verify refuses rows that have no target, or one that the family cannot have.
func (t *table) verify(b *credence.Batch, row func(i int) int) error {
	if len(b.Target) != b.Rows() {
		return fmt.Errorf("svi: rows from %d on have no target: fit needs one in every row", row(0)+1)
	}
	supported, _ := t.check.(likelihood.Supported)
	perRow, _ := t.check.(likelihood.PerRow)
	for i, y := range b.Target {
		err := error(nil)
		switch {
		case b.Trials != nil && perRow != nil:
			if s, ok := perRow.WithTrials(b.Trials[i]).(likelihood.Supported); ok {
				err = s.CheckTarget(y)
			}
		case supported != nil:
			err = supported.CheckTarget(y)
		case math.IsNaN(y) || math.IsInf(y, 0):
			err = fmt.Errorf("target %v is not a number: drop the row or declare it missing", y)
		}
		if err == nil && b.Offset != nil && (math.IsNaN(b.Offset[i]) || math.IsInf(b.Offset[i], 0)) {
			err = fmt.Errorf("offset %v is not a finite number: an exposure of zero has no logarithm; drop the row", b.Offset[i])
		}
		if err == nil && b.Offset != nil && math.Abs(b.Offset[i]) > 700 && overflows(t.check, b.Offset[i]) {
			err = fmt.Errorf("offset %v multiplies the mean by e to that power, which no number holds: state the logarithm of an exposure, as in offset(log(exposure))", b.Offset[i])
		}
		if err == nil && b.Weight != nil && !(b.Weight[i] >= 0 && !math.IsInf(b.Weight[i], 1)) {
			err = fmt.Errorf("weight %v is not a number from 0 up: correct it, or drop the row", b.Weight[i])
		}
		if err != nil {
			return fmt.Errorf("svi: row %d: %w", row(i)+1, err)
		}
	}
	return nil
}

// overflows says whether the mean of y is beyond all numbers where f is the offset alone.
func overflows(check credence.Likelihood, offset float64) bool {
	family, ok := check.(likelihood.Family)
	return ok && math.IsInf(family.Mean(offset), 0)
}
