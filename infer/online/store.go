package online

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/kernel"
)

// pair is what every learner here keeps of a feature.
type pair [2]float64

// bounded says whether a pair stays finite under ordinary rows.
func (p *pair) bounded() bool { return ability.Bounded(p[0], p[1]) }

const (
	pairShift = 4 // a pair has 1 << pairShift bytes
	chunkSize = kernel.PrefetchBytes >> pairShift
)

// prefetch fetches the pairs of a later row from memory.
func (s *store) prefetch(b *credence.Batch, row int) {
	if row += prefetched; row < b.Sparse.Rows {
		columns, _ := b.Sparse.Row(row)
		kernel.Prefetch(s.chunks, pairShift, columns)
	}
}

// prefetched is how many rows ahead that is.
const prefetched = 2

// chunks are pairs by slot.
type chunks []*[chunkSize]pair

func (c chunks) at(slot int32) *pair { return &c[uint32(slot)/chunkSize][uint32(slot)%chunkSize] }

// store holds the pairs of the slots, growing without moving them.
type store struct {
	chunks
	slots int
	start pair // of a feature not seen yet
}

// reserve makes memory for the slots below n.
func (s *store) reserve(n int) {
	for len(s.chunks)*chunkSize < n {
		chunk := new([chunkSize]pair)
		if s.start != (pair{}) {
			for i := range chunk {
				chunk[i] = s.start
			}
		}
		s.chunks = append(s.chunks, chunk)
	}
	s.slots = max(s.slots, n)
}

// row is one row of a batch.
type row struct {
	columns []int32
	values  []float64 // nil where all are 1
	target  float64   // 1, 0 or NaN
	weight  float64
	offset  float64
}

// rowOf returns row i of a batch.
func rowOf(b *credence.Batch, i int) row {
	columns, values := b.Sparse.Row(i)
	return row{columns, values, b.Target[i], b.WeightOf(i), b.OffsetOf(i)}
}

// counts says whether there is anything to learn from the row.
func (r *row) counts() bool { return r.weight > 0 && !math.IsNaN(r.target) }
