package problem

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
)

// Roles are what rows have beside inputs and a target.
type Roles uint8

// The roles of columns in a row; see [credence.Batch].
const (
	Offset Roles = 1 << iota
	Weight
	Precision
	Trials
	// AllRoles are those that a likelihood may have a place for.
	AllRoles = Offset | Weight | Precision | Trials
)

// String names roles as formulas do.
func (r Roles) String() string {
	var names []string
	for k, name := range []string{"offset(…)", "weights", "precision(…)", "trials"} {
		if r&(1<<k) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Rows are the rows of a fit: all rows of the data, or an evenly spread sample of them.
type Rows struct {
	engine  string // stands before errors
	model   credence.Model
	data    credence.Data
	filled  Roles
	inputs  int // dense and sparse, of a row
	count   int
	starts  []int // first rows of the sample's runs; nil means all rows
	run     int   // rows of a run
	keep    []credence.Batch
	scratch credence.Batch
	current int // block in scratch, or -1
	part    credence.Batch
	lock    *sync.Mutex // of data and part
}

// Open returns all rows of data, of which it reads the first block. It refuses data without rows, and rows with a role
// that the engine does not take, or that the model's likelihood has no place for; of the model it looks at the
// likelihood, and at the features where [Rows.Held] is asked for. engine stands before errors.
func Open(engine string, model credence.Model, data credence.Data, takes Roles) (*Rows, error) {
	r := &Rows{engine: engine, model: model, data: data, count: data.Rows(), current: -1, lock: new(sync.Mutex)}
	if r.count == 0 {
		return nil, fmt.Errorf("%s: there are no rows to fit", engine)
	}
	if carried, ok := data.(interface{ Lacking() bool }); ok && carried.Lacking() {
		return r, nil // who has the rows looks at them
	}
	first, err := r.Block(context.Background(), 0)
	if err != nil {
		return nil, err
	}
	r.inputs = first.X.Cols + first.Sparse.Cols
	for k, values := range [][]float64{first.Offset, first.Weight, first.Precision, first.Trials} {
		if values != nil {
			r.filled |= 1 << k
		}
	}
	if _, dispersed := model.Likelihood.(likelihood.Dispersed); r.filled&Precision != 0 && !dispersed {
		return nil, fmt.Errorf("%s: %T has no dispersion for precisions to divide: give weights", engine, model.Likelihood)
	}
	if left := r.filled &^ takes; left != 0 {
		return nil, fmt.Errorf("%s: the model has %v, which this engine does not use: leave it out, or use --engine exact or svi with --prior normal", engine, left)
	}
	return r, nil
}

// Sample returns about limit of the rows, in evenly spread runs of the given number of rows, of
// which a block must be a multiple: every part of sorted data has its share. All rows are
// returned where there are no more than limit, or where limit is 0.
func (r *Rows) Sample(limit, run int) *Rows {
	s := &Rows{engine: r.engine, model: r.model, data: r.data, filled: r.filled, inputs: r.inputs, count: r.Total(), current: -1, lock: r.lock}
	if limit <= 0 || limit >= s.count {
		return s
	}
	s.starts, s.run = startsOf(s.count, limit, run), run
	s.count = len(s.starts) * run
	return s
}

// startsOf returns where the runs of a sample begin.
func startsOf(rows, limit, run int) []int {
	all := rows / run
	starts := make([]int, min((limit+run-1)/run, all))
	for i := range starts {
		starts[i] = run * int(float64(i)*(float64(all)/float64(len(starts))))
	}
	return starts
}

// Evenly returns the rows of so many that [Rows.Sample] takes.
func Evenly(rows, limit, run int) (places []int) {
	if limit <= 0 || limit >= rows {
		limit, run = rows, 1
	}
	for _, first := range startsOf(rows, limit, run) {
		for i := range run {
			places = append(places, first+i)
		}
	}
	return places
}

// Under returns the rows with other features.
func (r *Rows) Under(features credence.Features) *Rows {
	s := *r
	s.model.Features = features
	return &s
}

// Filled returns the roles that rows have.
func (r *Rows) Filled() Roles { return r.filled }

// Report returns what every report begins with.
func (r *Rows) Report() credence.Report {
	return credence.Report{Engine: r.engine, Rows: r.Total(), Inputs: r.inputs, Weights: r.model.Features.Weights()}
}

// Count returns the number of rows, Total that of the data.
func (r *Rows) Count() int { return r.count }

// Total returns the number of rows of the data.
func (r *Rows) Total() int { return r.data.Rows() }

// Sampled says whether the rows are a part of the data.
func (r *Rows) Sampled() bool { return r.starts != nil }

// Blocks returns the number of blocks.
func (r *Rows) Blocks() int { return (r.count + credence.BlockRows - 1) / credence.BlockRows }

// size returns the number of rows of block k.
func (r *Rows) size(k int) int { return min(credence.BlockRows, r.count-k*credence.BlockRows) }

// Place returns the row of the data that row i of block k is.
func (r *Rows) Place(k, i int) int {
	i += k * credence.BlockRows
	if r.starts == nil {
		return i
	}
	return r.starts[i/r.run] + i%r.run
}

// Keep reads all blocks into memory if they take no more than budget bytes, as the first one has
// it. Kept blocks are the same at every call of Block.
func (r *Rows) Keep(ctx context.Context, budget int) error {
	first, err := r.Block(ctx, 0)
	if err != nil {
		return err
	}
	if r.keep != nil || float64(batchBytes(first))/float64(first.Rows())*float64(r.count) > float64(budget) {
		return nil
	}
	keep := make([]credence.Batch, r.Blocks())
	keep[0] = r.scratch
	r.scratch, r.current = credence.Batch{}, -1
	for k := 1; k < len(keep); k++ {
		if err := r.Read(ctx, &keep[k], k); err != nil {
			return err
		}
	}
	r.keep = keep
	return nil
}

// Kept says whether all blocks are in memory.
func (r *Rows) Kept() bool { return r.keep != nil }

func batchBytes(b *credence.Batch) int {
	return 8*(b.X.Rows*b.X.Cols+len(b.Target)+len(b.Offset)+len(b.Weight)+len(b.Precision)+len(b.Trials)+len(b.Sparse.Value)) + 4*len(b.Sparse.Index)
}

// Block returns block k, which is valid until the next call unless blocks are kept.
func (r *Rows) Block(ctx context.Context, k int) (*credence.Batch, error) {
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
	if err := r.Read(ctx, &r.scratch, k); err != nil {
		return nil, err
	}
	r.current = k
	return &r.scratch, nil
}

// FileBlock is a block of the rows of a file, counted from 0.
type FileBlock struct {
	*credence.Batch
	File int
}

// ByFile yields all rows of the data by blocks that end with their files, as [ability.Files] has these. A batch is
// valid until the next.
func (r *Rows) ByFile(ctx context.Context) iter.Seq2[FileBlock, error] {
	return func(yield func(FileBlock, error) bool) {
		files := ability.Files(r.data)
		for k, begin := range files[:len(files)-1] {
			for first, count := range ability.FileBlocks(begin, files[k+1]) {
				if !yield(r.blockOf(ctx, k, first, count)) {
					return
				}
			}
		}
	}
}

// blockOf reads rows of a file.
func (r *Rows) blockOf(ctx context.Context, file, first, count int) (FileBlock, error) {
	if first%credence.BlockRows == 0 && count == r.size(first/credence.BlockRows) {
		b, err := r.Block(ctx, first/credence.BlockRows)
		return FileBlock{b, file}, err
	}
	err := ctx.Err()
	if err == nil {
		err = r.data.Read(&r.part, first, count)
	}
	if err == nil {
		err = r.check(&r.part, func(i int) int { return first + i })
	}
	return FileBlock{&r.part, file}, err
}

// Read reads block k into dst and refuses rows that no fit can use. Several threads may read, of which one at a time
// has the data.
func (r *Rows) Read(ctx context.Context, dst *credence.Batch, k int) error {
	r.lock.Lock()
	err := r.read(ctx, dst, k)
	r.lock.Unlock()
	if err != nil {
		return err
	}
	return r.check(dst, func(i int) int { return r.Place(k, i) })
}

// Gather reads runs of the given number of rows that begin at starts into dst, in their order, and
// refuses rows that no fit can use. The run at the end of the data may be shorter.
func (r *Rows) Gather(dst *credence.Batch, starts []int, run int) error {
	var places []int
	for i, first := range starts {
		count := min(run, r.Total()-first)
		if err := r.data.Read(&r.part, first, count); err != nil {
			return err
		}
		if i == 0 {
			reset(dst, &r.part)
		}
		dst.Append(&r.part, 0, count)
		for row := range count {
			places = append(places, first+row)
		}
	}
	return r.check(dst, func(i int) int { return places[i] })
}

// Neighbouring runs of a sample are read at once where at least one row in spanShare is wanted,
// because readers decode rows by the block.
const spanShare = 8

func (r *Rows) read(ctx context.Context, dst *credence.Batch, k int) error {
	size := r.size(k)
	if r.starts == nil || r.run == size {
		return r.data.Read(dst, r.Place(k, 0), size)
	}
	starts := r.starts[k*credence.BlockRows/r.run:][:size/r.run]
	_, carried := r.data.(interface{ Lacking() bool }) // which has the rows of the sample and none between them
	for done := 0; done < len(starts); {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, next := starts[done], done+1
		for next < len(starts) {
			span := starts[next] + r.run - first
			if carried || span > credence.BlockRows || span > spanShare*r.run*(next+1-done) {
				break
			}
			next++
		}
		if err := r.data.Read(&r.part, first, starts[next-1]+r.run-first); err != nil {
			return err
		}
		if done == 0 {
			reset(dst, &r.part)
		}
		for _, start := range starts[done:next] {
			dst.Append(&r.part, start-first, r.run)
		}
		done = next
	}
	return nil
}

// reset empties dst, whose memory is used again.
func reset(dst, like *credence.Batch) {
	*dst = credence.Batch{First: like.First, X: dst.X, Sparse: dst.Sparse, Target: dst.Target[:0]}
	dst.X.Rows = 0
}

// Transform stores Φ of all rows in dst and calls do, if there is one, with every block. phi is scratch memory.
func (r *Rows) Transform(ctx context.Context, ws *credence.Workspace, dst, phi *credence.Design, features credence.Features, do func(first int, b *credence.Batch)) error {
	return r.each(ctx, ws, phi, features, func(first int, b *credence.Batch) {
		if first == 0 {
			dst.Dense.Reshape(r.count, phi.Dense.Cols)
			dst.Sparse.Reset(phi.Sparse.Cols)
		}
		for i := range b.Rows() {
			copy(dst.Dense.Row(first+i), phi.Dense.Row(i))
			if phi.Sparse.Cols > 0 {
				dst.Sparse.AppendRow(phi.Sparse.Row(i))
			}
		}
		if do != nil {
			do(first, b)
		}
	})
}

// each stores Φ of block after block in phi, and calls do with the block's first row.
func (r *Rows) each(ctx context.Context, ws *credence.Workspace, phi *credence.Design, features credence.Features, do func(first int, b *credence.Batch)) error {
	for k := range r.Blocks() {
		b, err := r.Block(ctx, k)
		if err != nil {
			return err
		}
		features.Transform(ws, phi, b)
		do(k*credence.BlockRows, b)
	}
	return nil
}

// MeanSquares returns the mean square of every column of features over all rows, which count their weight times their
// precision, at the values that learned hyper-parameters start from.
func (r *Rows) MeanSquares(ctx context.Context, ws *credence.Workspace, features credence.Features) ([]float64, error) {
	var phi credence.Design
	if tunable, learned := LearnedHypers(features); len(learned) > 0 {
		values, list := HyperValues(features), tunable.Hyper()
		for _, i := range learned {
			values[i] = cmp.Or(list[i].Start, values[i])
		}
		features = tunable.WithHyper(values)
	}
	sums, total := make([]float64, features.Weights()), 0.0
	err := r.each(ctx, ws, &phi, features, func(_ int, b *credence.Batch) {
		weights := squareWeights(b)
		phi.AddMulSquaresTrans(ws, sums, weights)
		for _, w := range weights {
			total += w
		}
	})
	kernel.Scale(1/total, sums)
	return sums, err
}

// squareWeights returns weight times precision of every row.
func squareWeights(b *credence.Batch) []float64 {
	if weights := b.SquareWeights(); weights != nil {
		return weights
	}
	return slices.Repeat([]float64{1}, b.Rows())
}
