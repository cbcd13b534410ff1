package dataset

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/linop"
)

const (
	// Rows are stored in chunks of at most chunkRows rows and about chunkBytes
	// bytes; a single row may be longer.
	chunkRows  = 4096
	chunkBytes = 1 << 20
)

// builder gathers the rows of blocks into chunks whose sizes depend on the rows
// alone.
type builder struct {
	width  int
	sparse bool
	rows   int // of a full chunk
	chunk  *credence.Chunk
	// emit takes a chunk and returns the memory of the next.
	emit func(*credence.Chunk) (*credence.Chunk, error)
}

func newBuilder(chosen *selection, emit func(*credence.Chunk) (*credence.Chunk, error)) *builder {
	b := &builder{width: len(chosen.columns), sparse: chosen.sparse, rows: chunkRows, emit: emit}
	for b.rows > 1 && b.rows*b.width*8 > chunkBytes {
		b.rows /= 2
	}
	b.begin(&credence.Chunk{}, 0)
	return b
}

// begin starts a chunk in the given memory.
func (b *builder) begin(chunk *credence.Chunk, first int) {
	b.chunk = chunk
	chunk.First = first
	chunk.Values = linop.Dense{Cols: b.width, Stride: b.width, Data: chunk.Values.Data[:0]}
	chunk.Sparse = linop.CSR{Start: append(chunk.Sparse.Start[:0], 0), Index: chunk.Sparse.Index[:0]}
}

// full reports whether the chunk takes no further row.
func (b *builder) full() bool {
	const entryBytes = 12
	return b.chunk.Values.Rows >= b.rows || len(b.chunk.Sparse.Index)*entryBytes >= chunkBytes
}

// add appends the rows of a block.
func (b *builder) add(block *text.Block) error {
	for i := 0; i < block.Rows; {
		if b.full() {
			if err := b.flush(); err != nil {
				return err
			}
		}
		c := b.chunk
		n := min(block.Rows-i, b.rows-c.Values.Rows)
		if b.sparse { // row by row, as the size of rows decides
			n = 1
			lo, hi := block.Start[i], block.Start[i+1]
			appendEntries(&c.Sparse, block.Index[lo:hi], valuesOf(block, lo, hi))
		}
		c.Values.Data = append(c.Values.Data, block.Values[i*b.width:(i+n)*b.width]...)
		c.Values.Rows += n
		i += n
	}
	return nil
}

func valuesOf(block *text.Block, lo, hi int) []float64 {
	if block.Ones {
		return nil
	}
	return block.Value[lo:hi]
}

// flush emits the chunk if it has rows and begins another.
func (b *builder) flush() error {
	rows := b.chunk.Values.Rows
	if rows == 0 {
		return nil
	}
	if b.sparse {
		b.chunk.Sparse.Rows = rows
	} else {
		emptySparse(&b.chunk.Sparse, rows)
	}
	first := b.chunk.First + rows
	next, err := b.emit(b.chunk)
	if err != nil {
		return err
	}
	b.begin(next, first)
	return nil
}

// appendEntries appends a row to a; nil values mean ones. The values of a are
// nil as long as all are ones.
func appendEntries(a *linop.CSR, index []int32, values []float64) {
	if values == nil && a.Value != nil {
		for range index {
			a.Value = append(a.Value, 1)
		}
	} else if values != nil {
		if a.Value == nil {
			a.Value = ones(len(a.Index), len(a.Index)+len(values))
		}
		a.Value = append(a.Value, values...)
	}
	a.Index = append(a.Index, index...)
	a.Start = append(a.Start, len(a.Index))
}

// ones returns n ones in a slice that is never nil.
func ones(n, capacity int) []float64 {
	values := make([]float64, n, max(capacity, 1))
	for i := range values {
		values[i] = 1
	}
	return values
}

// emptySparse makes a a matrix of so many rows and no columns.
func emptySparse(a *linop.CSR, rows int) {
	a.Rows, a.Cols = rows, 0
	a.Index, a.Value = a.Index[:0], nil
	if cap(a.Start) < rows+1 {
		a.Start = make([]int, rows+1)
	}
	a.Start = a.Start[:rows+1]
	clear(a.Start)
}
