package text

import (
	"math"
	"slices"
	"sort"
)

// entries finds equal keys within a row. The zero value is ready.
type entries struct {
	stamps *[stampCount]uint32 // by the low bits of a key, the last row that had such a key
	stamp  uint32
	block  *Block // while it sorts
	first  int
}

// stampCount is a power of two well above the usual number of entries in a row,
// and small enough for the table to stay in the first-level cache.
const stampCount = 1 << 11

// begin begins a row.
func (e *entries) begin() {
	if e.stamps == nil {
		e.stamps = new([stampCount]uint32)
	}
	if e.stamp++; e.stamp == 0 { // after 2³² rows the old stamps could be taken for new ones
		clear(e.stamps[:])
		e.stamp = 1
	}
}

// find returns which of the keys of the row is equal to key, or -1, in which case
// key is remembered.
func (e *entries) find(keys []uint64, key uint64) int {
	slot := &e.stamps[key%stampCount]
	if *slot == e.stamp {
		return slices.Index(keys, key) // perhaps the same: rare enough to look through the row
	}
	*slot = e.stamp
	return -1
}

// Len, Less and Swap sort the entries of the open row by key.
func (e *entries) Len() int { return len(e.block.Keys) - e.first }

// Less compares two keys.
func (e *entries) Less(i, j int) bool {
	return e.block.Keys[e.first+i] < e.block.Keys[e.first+j]
}

// Swap exchanges two entries.
func (e *entries) Swap(i, j int) {
	b := e.block
	i, j = e.first+i, e.first+j
	b.Keys[i], b.Keys[j] = b.Keys[j], b.Keys[i]
	if !b.Ones {
		b.Value[i], b.Value[j] = b.Value[j], b.Value[i]
	}
}

// order sorts the entries of the open row by key and adds up those of equal keys,
// in the order in which they stood. It reports whether all sums are finite.
func (b *Block) order() (finite bool) {
	first := b.Start[b.Count]
	b.entries.block, b.entries.first = b, first
	sort.Stable(&b.entries)
	last := first
	for k := first + 1; k < len(b.Keys); k++ {
		if b.Keys[k] == b.Keys[last] {
			b.spellOnes()
			b.Value[last] += b.Value[k]
			continue
		}
		last++
		b.Keys[last] = b.Keys[k]
		if !b.Ones {
			b.Value[last] = b.Value[k]
		}
	}
	b.Keys = b.Keys[:last+1]
	if !b.Ones {
		b.Value = b.Value[:last+1]
	}
	return b.finite()
}

// finite reports whether the values of the open row are: sums of finite values may
// not be.
func (b *Block) finite() bool {
	return b.Ones || !slices.ContainsFunc(b.Value[b.Start[b.Count]:], func(v float64) bool { return math.IsInf(v, 0) })
}

// spellOnes writes out the values that were ones so far.
func (b *Block) spellOnes() {
	if b.Ones {
		b.Ones, b.Value = false, AppendOnes(b.Value[:0], len(b.Keys))
	}
}

// AppendOnes appends n ones: what values that were left out stand for.
func AppendOnes(values []float64, n int) []float64 {
	for range n {
		values = append(values, 1)
	}
	return values
}

const notFinite = "the values of one feature add up to infinity: correct the row"
