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
	if chunks[1][len(chunks[1])-1][31] != 7 || chunks[0][0] != [32]byte{} {
		t.Error("an item has changed")
	}
}
