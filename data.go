package credence

import (
	"context"
	"iter"

	"github.com/credence-ml/credence/linop"
)

// BlockRows is the number of rows in which engines read data. It is part of the
// definition of every streamed sum (the order of additions follows the blocks),
// so it is a constant and never depends on memory or threads. Learners of streams read runs of any length, which change
// nothing, see package learn.
const BlockRows = 512

// SegmentRows is the number of rows of a file whose sums are added block by block from zero. The sums of its
// segments are then added as a binary tree over their positions, and those of files as one over the files, so that
// files that are summed up apart have the bits of the whole table when they are merged.
const SegmentRows = 1 << 17

// Batch is n consecutive rows as a model sees them.
//
// X holds the dense inputs, n×p: scaled numbers, 0/1 values, and category codes
// (the index of the level; -1 for a level never seen in training). Sparse holds
// the sparse inputs, n×s. Offset, Weight, Precision and Trials are nil where the model has
// none; Weight 2 means the row twice. Target is nil where it is unknown.
type Batch struct {
	First  int // index of the first row in its data
	X      linop.Dense
	Sparse linop.CSR
	Target []float64 // length n
	Offset []float64 // length n: added to f
	Weight []float64 // length n
	// Precision divides the dispersion of each row, length n: the variance of a Gaussian.
	// A row of precision 4 is the mean of four rows of precision 1.
	Precision []float64
	Trials    []float64 // length n: trials of a binomial target
	// Unseen is the sum of squares of a row's entries in sparse columns that training
	// did not have, length n, or nil where there are none. Their weights have their
	// prior: they add its variance times this to the variance of f.
	Unseen []float64
	// Time is when each row came, length n, in a unit of the caller, for learners that forget by time;
	// nil where nobody asks for it.
	Time []float64
}

// Rows returns the number of rows.
func (b *Batch) Rows() int { return b.X.Rows }

// WeightOf returns the weight of row i.
func (b *Batch) WeightOf(i int) float64 {
	if b.Weight == nil {
		return 1
	}
	return b.Weight[i]
}

// PrecisionOf returns the precision of row i.
func (b *Batch) PrecisionOf(i int) float64 {
	if b.Precision == nil {
		return 1
	}
	return b.Precision[i]
}

// SquareWeights returns weight times precision of every row, by which the square of its residual
// counts in a Gaussian likelihood; nil where all are 1.
func (b *Batch) SquareWeights() []float64 {
	switch {
	case b.Precision == nil:
		return b.Weight
	case b.Weight == nil:
		return b.Precision
	}
	products := make([]float64, len(b.Weight))
	for i, w := range b.Weight {
		products[i] = w * b.Precision[i]
	}
	return products
}

// Append adds count rows of a batch of the same model, from row first on. Rows of a batch without a role that others
// have have what stands for none.
func (b *Batch) Append(src *Batch, first, count int) {
	n := b.Rows()
	if n == 0 {
		b.X.Reshape(0, src.X.Cols)
		b.Sparse.Reset(src.Sparse.Cols)
	}
	for i := first; i < first+count; i++ {
		if src.X.Cols > 0 {
			b.X.Data = append(b.X.Data, src.X.Row(i)...)
		}
		if src.Sparse.Cols > 0 {
			b.Sparse.AppendRow(src.Sparse.Row(i))
		}
	}
	b.X.Rows = n + count
	for _, role := range []struct {
		to   *[]float64
		from []float64
		none float64
	}{{&b.Target, src.Target, 0}, {&b.Offset, src.Offset, 0}, {&b.Weight, src.Weight, 1}, {&b.Precision, src.Precision, 1}, {&b.Trials, src.Trials, 1}, {&b.Unseen, src.Unseen, 0}, {&b.Time, src.Time, 0}} {
		if role.from == nil && *role.to == nil {
			continue
		}
		for len(*role.to) < n || role.from == nil && len(*role.to) < n+count {
			*role.to = append(*role.to, role.none)
		}
		if role.from != nil {
			*role.to = append(*role.to, role.from[first:first+count]...)
		}
	}
}

// LikelihoodOf returns p(y|f) of row i: the likelihood with the trials and the precision of the row,
// as far as rows state them and the family takes them. It is for cold paths: a family of its own
// costs an allocation.
func (b *Batch) LikelihoodOf(l Likelihood, i int) Likelihood {
	if b.Trials != nil {
		if perRow, ok := l.(interface{ WithTrials(trials float64) family }); ok {
			l = perRow.WithTrials(b.Trials[i])
		}
	}
	if b.Precision != nil {
		if dispersed, ok := l.(interface {
			WithPrecision(precision float64) family
		}); ok {
			l = dispersed.WithPrecision(b.Precision[i])
		}
	}
	return l
}

// family spells out Likelihood, as package likelihood does, which imports nothing of ours.
type family = interface {
	LogDensity(y, f float64) float64
	Mean(f float64) float64
	Variance(f float64) float64
}

// OffsetOf returns the offset of row i.
func (b *Batch) OffsetOf(i int) float64 {
	if b.Offset == nil {
		return 0
	}
	return b.Offset[i]
}

// Data is rows that a model can be fitted to, readable again and again in the
// same order.
//
// Read fills dst with rows [first, first+count), reusing its memory; dst is
// valid until the next Read into it. Data are safe for use by one reader at a
// time. An error names the file and the row.
type Data interface {
	Rows() int
	Read(dst *Batch, first, count int) error
}

// Blocks yields the first row and the number of rows of every block of n rows, in their order.
func Blocks(n int) iter.Seq2[int, int] {
	return func(yield func(first, count int) bool) {
		for first := 0; first < n && yield(first, min(BlockRows, n-first)); first += BlockRows {
		}
	}
}

// Batches reads all rows of data block by block. A batch is valid until the next; the first error, that of ctx
// between blocks among them, is the last that is yielded.
func Batches(ctx context.Context, data Data) iter.Seq2[*Batch, error] {
	return blocks(ctx, data.Rows(), data.Read)
}

// Chunks is Batches for the rows of a table.
func Chunks(ctx context.Context, source Source) iter.Seq2[*Chunk, error] {
	return blocks(ctx, source.Rows(), source.Read)
}

func blocks[T any](ctx context.Context, n int, read func(dst *T, first, count int) error) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		var rows T
		for first, count := range Blocks(n) {
			err := ctx.Err()
			if err == nil {
				err = read(&rows, first, count)
			}
			if !yield(&rows, err) || err != nil {
				return
			}
		}
	}
}

// Frame says how rows of a table, or of text, become rows of a model: expressions, categories,
// missing values, scaling, keys. A model file stores it, so that prediction repeats exactly
// what training did.
type Frame interface {
	// TargetName is the target as the formula writes it, for example "log(price)".
	TargetName() string
}
