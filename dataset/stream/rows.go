package stream

import (
	"errors"
	"math"

	"github.com/credence-ml/credence"
)

// Rows collects parsed rows: for each, the label, the weight, the offset, and
// the keys and values of its features. Memory is reused by Reset.
type Rows struct {
	Start  []int     // entries of row i are [Start[i], Start[i+1])
	Keys   []uint64  // distinct within a row
	Value  []float64 // finite
	Target []float64 // 1 or 0; NaN where the row has none
	Weight []float64 // finite, not negative
	Offset []float64 // finite
	// Ones says that every value is 1, Plain that every weight is 1 and every offset 0.
	Ones, Plain bool

	// named says that the parser gives the text of every entry: text holds them
	// one after the other, ends where each ends.
	named bool
	text  []byte
	ends  []int

	kept     []byte // texts of the columns that are kept, one after the other
	keptEnds []int  // where each ends

	stamps [stampCount]uint32 // last row that had a key with these bits
	stamp  uint32
}

// stampCount is a power of two well above the usual number of features in a row,
// and small enough for the table to stay in the first-level cache.
const stampCount = 1 << 11

// Reset empties the rows.
func (r *Rows) Reset() {
	r.Start = append(r.Start[:0], 0)
	r.Keys, r.Value = r.Keys[:0], r.Value[:0]
	r.Target, r.Weight, r.Offset = r.Target[:0], r.Weight[:0], r.Offset[:0]
	r.text, r.ends = r.text[:0], r.ends[:0]
	r.kept, r.keptEnds = r.kept[:0], r.keptEnds[:0]
	r.Ones, r.Plain = true, true
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.Target) }

// end closes a row whose entries have been appended.
func (r *Rows) end(target, weight, offset float64) {
	r.Start = append(r.Start, len(r.Keys))
	r.Target = append(r.Target, target)
	r.Weight = append(r.Weight, weight)
	r.Offset = append(r.Offset, offset)
	if weight != 1 || offset != 0 {
		r.Plain = false
	}
}

// undo drops the entries of a row that was not closed.
func (r *Rows) undo() {
	n := r.Start[len(r.Start)-1]
	r.Keys, r.Value = r.Keys[:n], r.Value[:n]
	if r.named {
		r.ends = r.ends[:n]
		r.text = r.text[:r.textEnd()]
	}
}

// textEnd returns where the text of the last entry ends.
func (r *Rows) textEnd() int {
	if len(r.ends) == 0 {
		return 0
	}
	return r.ends[len(r.ends)-1]
}

// entry appends a feature whose key the open row may have already, in which case
// the values add up. Entries of zero are left out. It returns whether there is a
// new entry, whose text is to be given by name where rows are named.
func (r *Rows) entry(key uint64, value float64) bool {
	slot := &r.stamps[key%stampCount]
	if *slot == r.stamp && r.stamp != 0 {
		// Perhaps the same key: rare enough to look through the row.
		for k := r.Start[len(r.Start)-1]; k < len(r.Keys); k++ {
			if r.Keys[k] == key {
				r.Value[k] += value
				r.Ones = false
				return false
			}
		}
	}
	*slot = r.stamp
	if value != 1 {
		if value == 0 {
			return false
		}
		r.Ones = false
	}
	r.Keys = append(r.Keys, key)
	r.Value = append(r.Value, value)
	return true
}

// name ends the text of the entry that entry has just made: what has been appended
// to text since the one before.
func (r *Rows) name() { r.ends = append(r.ends, len(r.text)) }

// begin opens a row for entry.
func (r *Rows) begin() {
	r.stamp++
	if r.stamp == 0 { // after 2³² rows the old stamps could be taken for new ones
		clear(r.stamps[:])
		r.stamp = 1
	}
}

// merge adds up the entries of equal keys in the open row.
func (r *Rows) merge() {
	first := r.Start[len(r.Start)-1]
	n := len(r.Keys)
	r.Keys, r.Value = r.Keys[:first], r.Value[:first]
	r.begin()
	for k := first; k < n; k++ {
		r.entry(r.Keys[:n][k], r.Value[:n][k])
	}
}

// finite says whether every value of the open row is finite: sums of finite
// values may not be.
func (r *Rows) finite() bool {
	for _, v := range r.Value[r.Start[len(r.Start)-1]:] {
		if math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// Parser reads one row of text. An error says what is wrong with the row, which
// then has left nothing in rows; the caller knows where it stood.
type Parser interface {
	// Parse appends the row that text holds, without its line end. Text may be
	// overwritten after the call. A row that is no data (blank, comment) appends
	// nothing.
	Parse(rows *Rows, text []byte) error
}

// errNotFinite is the complaint about a sum of values beyond all numbers.
var errNotFinite = errors.New("the values of one feature add up to infinity: correct the row")

// Slots looks up the features of rows and fills dst, whose sparse columns are
// slots of the index. Entries of unknown features go to the column unseen if the
// index is not to grow; their number is returned. Columns of a row are distinct
// but not sorted, other than the unseen one, which may occur several times.
// names, if not nil, gets the texts of new features.
func (r *Rows) Slots(dst *credence.Batch, index *Index, names *Names, grow bool, unseen int) (unknown int) {
	n := r.Len()
	s := &dst.Sparse
	s.Rows = n
	s.Start = append(s.Start[:0], r.Start...)
	if cap(s.Index) < len(r.Keys) {
		s.Index = make([]int32, len(r.Keys)+len(r.Keys)/2)
	}
	s.Index = s.Index[:len(r.Keys)]
	if grow {
		index.addAll(s.Index, r.Keys)
		s.Cols = index.Len()
		if names != nil && r.named {
			for k, slot := range s.Index {
				if int(slot) != names.Len() {
					continue
				}
				first := 0
				if k > 0 {
					first = r.ends[k-1]
				}
				names.append(r.text[first:r.ends[k]])
			}
		}
	} else {
		for k, key := range r.Keys {
			slot := index.Find(key)
			if slot < 0 {
				slot = unseen
				unknown++
			}
			s.Index[k] = int32(slot)
		}
		s.Cols = max(index.Len(), unseen+1)
	}
	s.Value = nil
	if !r.Ones {
		s.Value = r.Value
	}
	dst.X.Rows = n
	dst.Target = r.Target
	dst.Weight, dst.Offset = nil, nil
	if !r.Plain {
		dst.Weight, dst.Offset = r.Weight, r.Offset
	}
	return unknown
}
