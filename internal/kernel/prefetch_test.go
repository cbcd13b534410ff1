package kernel

import "testing"

// Items of all chunks can be prefetched, the last byte among them, and stay what they are.
func TestPrefetch(t *testing.T) {
	type chunk [PrefetchBytes / 32][32]byte
	chunks := []*chunk{new(chunk), new(chunk)}
	last := int32(2*len(chunks[0]) - 1)
	chunks[1][len(chunks[1])-1][31] = 7
	Prefetch(chunks, 5, []int32{0, 1, last / 2, last/2 + 1, last})
	Prefetch(chunks, 5, nil)
	Prefetch[chunk](nil, 5, nil)
	numbers := []uint32{1, 2, 3}
	PrefetchNumbers(numbers, []uint64{0, 2, 3, 1 << 63})
	PrefetchNumbers(numbers, nil)
	PrefetchNumbers(nil, []uint64{0, 7})
	if numbers[0] != 1 || numbers[1] != 2 || numbers[2] != 3 {
		t.Error("a number has changed")
	}
	if chunks[1][len(chunks[1])-1][31] != 7 || chunks[0][0] != [32]byte{} {
		t.Error("an item has changed")
	}
}
