package kernel

import "unsafe"

// PrefetchBytes is the size of the chunks that Prefetch knows.
const PrefetchBytes = 1 << 20

// Prefetch has the processor fetch items from memory while it does something else. The items have 1 << shift bytes and
// stand in chunks of PrefetchBytes, so that item i begins at byte i << shift of all chunks together; there must be
// such chunks. Nothing changes by it, and nothing is done where a processor has no such instruction.
func Prefetch[C any](chunks []*C, shift uint, items []int32) {
	if len(items) > 0 {
		prefetch(len(items), unsafe.SliceData(items), unsafe.Pointer(unsafe.SliceData(chunks)), shift)
	}
}

// PrefetchNumbers is Prefetch of the numbers of a list that stand at the given places; those beyond it count for
// nothing.
func PrefetchNumbers(list []uint32, places []uint64) {
	if len(places) > 0 {
		prefetchNumbers(len(places), unsafe.SliceData(places), unsafe.SliceData(list), uint64(len(list)))
	}
}
