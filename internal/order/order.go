// Package order has what package slices lacks: for values that stand in several slices their places in an order,
// runs of those that belong together, and sparse rows in the order of their columns; slices in memory that was used
// before, and the bytes of numbers where they lie.
package order

import (
	"encoding/binary"
	"iter"
	"slices"
	"unsafe"
)

// Places returns 0, 1, …, n−1.
func Places(n int) []int {
	places := make([]int, n)
	for i := range places {
		places[i] = i
	}
	return places
}

// By returns the places of n values in their order, those of equal ones as they stand.
func By(n int, compare func(a, b int) int) []int {
	places := Places(n)
	slices.SortStableFunc(places, compare)
	return places
}

// Entries sorts the columns of a sparse row, and its values with them; values are none where all are ones. Entries of
// the same column stay as they stand.
func Entries(columns []int32, values []float64) {
	if len(values) == 0 {
		slices.Sort(columns)
		return
	}
	places := make([]int64, len(columns)) // a column, and the place of its value
	for k, j := range columns {
		places[k] = int64(j)<<32 | int64(k)
	}
	slices.Sort(places)
	before := slices.Clone(values)
	for k, p := range places {
		columns[k], values[k] = int32(p>>32), before[uint32(p)]
	}
}

// Resized returns a slice of n elements with any contents, not nil, in the memory of s where that suffices.
func Resized[T any](s []T, n int) []T {
	if s == nil || cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// LittleEndian says whether numbers lie in memory as files of this house have them.
var LittleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// Bytes returns the memory of numbers.
func Bytes[T float64 | float32 | int64 | uint64 | int32 | uint8](numbers []T) []byte {
	var one T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), len(numbers)*int(unsafe.Sizeof(one)))
}

// Last returns the places of the last k of n values in their order, of which no two are equal.
func Last(n, k int, compare func(a, b int) int) []int {
	places, least := make([]int, 0, 2*k), -1
	for i := range n {
		if least >= 0 && compare(i, least) < 0 {
			continue
		}
		if places = append(places, i); len(places) == 2*k {
			slices.SortFunc(places, compare)
			places = append(places[:0], places[k:]...)
			least = places[0]
		}
	}
	slices.SortFunc(places, compare)
	return places[len(places)-k:]
}

// Runs yields where runs of n values begin, and where they end, of which each belongs with the first.
func Runs(n int, together func(first, other int) bool) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for from, to := 0, 0; from < n; from = to {
			for to = from + 1; to < n && together(from, to); to++ {
			}
			if !yield(from, to) {
				return
			}
		}
	}
}
