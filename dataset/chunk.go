package dataset

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/table"
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
	width  int // of the columns and, where unseen, the sum of squares behind them
	sparse bool
	unseen bool
	rows   int // of a full chunk
	chunk  *credence.Chunk
	// emit takes a chunk and returns the memory of the next.
	emit func(*credence.Chunk) (*credence.Chunk, error)
}

func newBuilder(chosen *selection, emit func(*credence.Chunk) (*credence.Chunk, error)) *builder {
	b := &builder{width: chosen.width(), sparse: chosen.sparse, unseen: chosen.unseen, rows: chunkRows, emit: emit}
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
	// Values begin as nil, for ones; appendRows makes them when it must.
	chunk.Sparse = linop.CSR{Start: append(chunk.Sparse.Start[:0], 0), Index: chunk.Sparse.Index[:0]}
}

// entryBytes is what a sparse entry takes.
const entryBytes = 12

// full reports whether the chunk takes no further row.
func (b *builder) full() bool {
	return b.chunk.Values.Rows >= b.rows || len(b.chunk.Sparse.Index)*entryBytes >= chunkBytes
}

// add appends a run of rows whose categories have their codes; number gives sparse
// entries their columns.
func (b *builder) add(rows *table.Rows, number *numbering) error {
	width := len(rows.Columns)
	for i := 0; i < rows.Count; {
		if b.full() {
			if err := b.flush(); err != nil {
				return err
			}
		}
		c := b.chunk
		if !b.sparse {
			n := min(rows.Count-i, b.rows-c.Values.Rows)
			c.Values.Data = append(c.Values.Data, rows.Values[i*width:(i+n)*width]...)
			c.Values.Rows += n
			i += n
			continue
		}
		c.Values.Data = append(c.Values.Data, rows.Row(i)...)
		unseen, err := number.appendRow(&c.Sparse, rows, i)
		if err != nil {
			return err
		}
		if b.unseen {
			c.Values.Data = append(c.Values.Data, unseen)
		}
		c.Values.Rows++
		i++
	}
	return nil
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

// appendRows appends the rows between consecutive elements of start to a. The
// values of a are nil as long as all are ones.
func appendRows(a *linop.CSR, start []int, index []int32, values []float64, areOnes bool) {
	lo, hi := start[0], start[len(start)-1]
	switch {
	case areOnes && a.Value == nil:
	case areOnes:
		a.Value = text.AppendOnes(a.Value, hi-lo)
	default:
		if a.Value == nil {
			a.Value = text.AppendOnes(make([]float64, 0, cap(a.Index)), len(a.Index))
		}
		a.Value = append(a.Value, values[lo:hi]...)
	}
	shift := len(a.Index) - lo
	a.Index = append(a.Index, index[lo:hi]...)
	for _, s := range start[1:] {
		a.Start = append(a.Start, s+shift)
	}
}

// emptySparse makes a a matrix of so many rows and no columns.
func emptySparse(a *linop.CSR, rows int) {
	a.Rows, a.Cols = rows, 0
	a.Index, a.Value = a.Index[:0], nil
	a.Start = order.Resized(a.Start, rows+1)
	clear(a.Start)
}
