package problem

import (
	"cmp"
	"context"
	"math/bits"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/linop"
)

// Packed are the rows of a problem as passes over all of them read them best. Rows that are equal are one, with
// the sum of their weights. Columns go from the most frequent to the rarest and rows are sorted, so that a row has its
// first entries in common with the row before, and what is made of those is made once.
type Packed struct {
	Order  []int // the weight that each column is
	blocks []Block
}

// Blocks returns the number of blocks.
func (p *Packed) Blocks() int { return len(p.blocks) }

// Read returns block k.
func (p *Packed) Read(ctx context.Context, k int, _ *Room) (*Block, error) {
	return &p.blocks[k], ctx.Err()
}

const (
	// fewestPacked is the number of rows below which packing takes longer than it saves.
	fewestPacked = 4096
	// nearlyDense is the share of entries from which on products with all columns are faster than with the
	// pairs of entries of each row.
	nearlyDense = 0.2
)

// NearlyDense says whether rows have so many entries that products with all columns are faster than with the pairs of
// entries of each row.
func NearlyDense(phi *credence.Design) bool {
	rows, d := phi.Dims()
	entries := rows*phi.Dense.Cols + phi.Sparse.Entries()
	return float64(entries) >= nearlyDense*float64(rows)*float64(d)
}

// Packed returns the packed rows, nil where there are none.
func (t *Rows) Packed() *Packed { return t.packed }

// Pack packs rows that are in memory with features that stay, of an intercept at most and sparse columns, whose order
// is then another. Rows that are nearly dense stay: equal ones are one before there are features, see base.Merge.
func (t *Rows) Pack() {
	if t.Count() < fewestPacked || t.retain || t.moving || len(t.kept) == 0 {
		return
	}
	sparse := true
	for _, b := range t.kept {
		if b.Phi == nil {
			return
		}
		sparse = sparse && b.Phi.Sparse.Cols > 0 && b.Phi.Dense.Cols <= 1
	}
	if sparse && !NearlyDense(t.kept[0].Phi) {
		t.packed, t.kept = merge(t.kept, t.problem.Dims), nil
	}
}

// packing is a matrix of all rows while they are sorted.
type packing struct {
	linop.CSR
	rows credence.Batch // without inputs
}

// place is a row, and its first columns as digits of a number of two words.
type place struct {
	high, low uint64
	row       int
}

// merge sorts rows and makes those that are equal one.
func merge(blocks []Block, d int) *Packed {
	p := &Packed{}
	var rank []int32
	p.Order, rank = frequency(blocks, d)
	all, places := gather(blocks, rank)
	slices.SortFunc(places, func(a, b place) int {
		switch {
		case a.high != b.high:
			return cmp.Compare(a.high, b.high)
		case a.low != b.low:
			return cmp.Compare(a.low, b.low)
		}
		return cmp.Or(all.compare(a.row, b.row), cmp.Compare(a.row, b.row))
	})
	var block *Block
	last := -1
	for _, at := range places {
		i := at.row
		if last >= 0 && all.compare(last, i) == 0 {
			block.Weight[len(block.Weight)-1] += all.rows.WeightOf(i)
			continue
		}
		if block == nil || block.Rows() == credence.BlockRows {
			p.blocks = append(p.blocks, Block{Batch: new(credence.Batch), Phi: &credence.Design{Sparse: linop.CSR{Cols: d}}})
			block, last = &p.blocks[len(p.blocks)-1], -1
		}
		columns, values := all.Row(i)
		block.Phi.Sparse.AppendRow(columns, values)
		block.Phi.Dense.Rows++
		lead := 0
		if last >= 0 {
			lead = all.lead(last, i)
		}
		block.Lead = append(block.Lead, int32(lead))
		block.take(&all.rows, i)
		last = i
	}
	return p
}

// take appends what row i has beside its features, with a weight.
func (b *Block) take(from *credence.Batch, i int) {
	if b.Append(from, i, 1); b.Weight == nil {
		b.Weight = []float64{1}
	}
}

// frequency returns the columns from the most frequent on, and the place of each in that order.
func frequency(blocks []Block, d int) (from []int, rank []int32) {
	counts := make([]int, d)
	for _, b := range blocks {
		counts[0] += b.Phi.Dense.Cols * b.Rows()
		for _, j := range b.Phi.Sparse.Index {
			counts[b.Phi.Dense.Cols+int(j)]++
		}
	}
	from, rank = order.By(d, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) }), make([]int32, d)
	for c, j := range from {
		rank[j] = int32(c)
	}
	return from, rank
}

// gather puts all rows into one matrix, with columns by their rank.
func gather(blocks []Block, rank []int32) (*packing, []place) {
	count, entries := 0, 0
	for _, b := range blocks {
		count, entries = count+b.Rows(), entries+b.Rows()*b.Phi.Dense.Cols+b.Phi.Sparse.Entries()
	}
	all := &packing{CSR: linop.CSR{Cols: len(rank), Start: make([]int, 1, count+1), Index: make([]int32, 0, entries)}}
	all.rows.Target = make([]float64, 0, count)
	places := make([]place, 0, count)
	var columns []int32
	var values []float64
	digit := bits.Len(uint(len(rank)))
	word := 64 / digit // digits of one
	for _, b := range blocks {
		all.rows.Append(b.Batch, 0, b.Rows())
		for i := range b.Rows() {
			columns, values = columns[:0], values[:0]
			ones := true
			b.Phi.Each(i, func(j int, v float64) {
				if v == 0 {
					return
				}
				c, at := rank[j], len(columns)
				columns, values, ones = append(columns, c), append(values, v), ones && v == 1
				for ; at > 0 && columns[at-1] > c; at-- {
					columns[at], values[at] = columns[at-1], values[at-1]
				}
				columns[at], values[at] = c, v
			})
			at := place{row: all.Rows}
			for k, c := range columns[:min(len(columns), 2*word)] {
				if k < word {
					at.high = at.high<<digit | uint64(c+1)
				} else {
					at.low = at.low<<digit | uint64(c+1)
				}
			}
			at.high <<= digit * (word - min(len(columns), word))
			at.low <<= digit * (word - min(max(len(columns)-word, 0), word))
			places = append(places, at)
			if ones {
				all.AppendRow(columns, nil)
			} else {
				all.AppendRow(columns, values)
			}
		}
	}
	return all, places
}

// compare orders rows by their entries, one after the other, and then by all else that they have.
func (p *packing) compare(a, b int) int {
	columns, values := p.Row(a)
	others, theirs := p.Row(b)
	for k := range min(len(columns), len(others)) {
		if columns[k] != others[k] {
			return cmp.Compare(columns[k], others[k])
		}
		if x, y := linop.At(values, k), linop.At(theirs, k); x != y {
			return cmp.Compare(x, y)
		}
	}
	order := cmp.Compare(len(columns), len(others))
	for _, own := range [][]float64{p.rows.Target, p.rows.Offset, p.rows.Precision, p.rows.Trials} {
		if order == 0 && own != nil {
			order = cmp.Compare(own[a], own[b])
		}
	}
	return order
}

// lead is the number of first entries that two rows have in common.
func (p *packing) lead(a, b int) int {
	columns, values := p.Row(a)
	others, theirs := p.Row(b)
	k := 0
	for k < min(len(columns), len(others)) && columns[k] == others[k] && linop.At(values, k) == linop.At(theirs, k) {
		k++
	}
	return k
}

// Take stores x, of one number a weight, in the order of the columns.
func (p *Packed) Take(dst, x []float64) {
	for c, j := range p.Order {
		dst[c] = x[j]
	}
}

// Give stores x, of one number a column, in the order of the weights.
func (p *Packed) Give(dst, x []float64) {
	for c, j := range p.Order {
		dst[j] = x[c]
	}
}

// TakeLower stores the lower triangle, by columns of the rows, of a symmetric matrix with the upper triangle v.
func (p *Packed) TakeLower(dst, v []float64) {
	d := len(p.Order)
	for c, i := range p.Order {
		for k, j := range p.Order[:c+1] {
			dst[c*d+k] = v[min(i, j)*d+max(i, j)]
		}
	}
}

// GiveUpper stores the upper triangle, by weights, of a symmetric matrix with the lower triangle v.
func (p *Packed) GiveUpper(dst, v []float64) {
	d := len(p.Order)
	for c, i := range p.Order {
		for k, j := range p.Order[:c+1] {
			dst[min(i, j)*d+max(i, j)] = v[c*d+k]
		}
	}
}
