package dataset

import (
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
)

// TestKnownBlocks: whatever the blocks in which a file comes, those of a pipe being as short as what was written at
// once, a place is told by the first 64 KB and the last 64 KB before it, cut there, or by what there is of them.
func TestKnownBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 1))
	content := make([]byte, 3*knownBytes)
	for i := range content {
		content[i] = byte(rng.Uint32())
	}
	for _, most := range []int{50, 3000, knownBytes / 2, knownBytes + 1, 3 * knownBytes} {
		for _, start := range []int{0, knownBytes - 1, knownBytes, 2*knownBytes + 5} {
			var k known
			if start >= knownBytes {
				k.beginning = digest(content[:knownBytes])
			}
			before, tried := lastOf(content[:start]), 0
			for from := start; from < len(content); {
				to := min(len(content), from+1+rng.IntN(most))
				block := text.Block{Before: before, Data: content[from:to]}
				block.Offset, block.End = int64(from), int64(to)
				k.begin(&block)
				for i, at := range []int{from, from + (to-from)/2, to, to} {
					if i == 3 { // the place behind the last run of a block is told once its memory is gone
						k.end()
					}
					if tried++; most < knownBytes && tried%397 > 3 && (from > knownBytes || to < knownBytes) {
						continue
					}
					place := credence.Position{Offset: int64(at)}
					k.mark(&place)
					ending := digest(content[max(0, at-knownBytes):at])
					beginning := ending
					if at >= knownBytes {
						beginning = digest(content[:knownBytes])
					}
					if place.Ending != ending || place.Beginning != beginning {
						t.Fatalf("blocks of up to %d bytes from %d on: at %d the beginning is right %v, the ending %v", most, start, at, place.Beginning == beginning, place.Ending == ending)
					}
				}
				from, before = to, nil
			}
		}
	}
}
