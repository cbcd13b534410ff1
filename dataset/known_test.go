package dataset

import (
	"math/rand/v2"
	"strings"
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
			// A file that was gone on with is told as one that was read at once is.
			if file := k.file(&credence.Position{}); file != digest(content[:knownBytes])[:shortDigest] {
				t.Fatalf("blocks of up to %d bytes from %d on: the file is told by %q", most, start, file)
			}
		}
	}
	for _, start := range []int{0, 10, 40} { // in a file of 40 bytes
		k := known{beginning: digest(content[:start])}
		if start < 40 {
			block := text.Block{Before: content[:start], Data: content[start:40]}
			block.Offset, block.End = int64(start), 40
			k.begin(&block)
			k.end()
		}
		want := digest(content[:40])[:shortDigest]
		for _, c := range []struct {
			at   credence.Position
			want string
		}{
			{credence.Position{}, want}, {credence.Position{Files: 1, Read: "0123456789abcdef"}, "0123456789abcdef" + want},
			{credence.Position{Files: 2, Read: "0123456789abcdef"}, ""}, {credence.Position{Files: mostTold, Read: strings.Repeat("0", mostTold*shortDigest)}, ""},
		} {
			if file := k.file(&c.at); file != c.want {
				t.Errorf("from %d on, behind %d files: the files are told by %q, not %q", start, c.at.Files, file, c.want)
			}
		}
	}
	if file := new(known).file(&credence.Position{}); file != "" {
		t.Errorf("a file of which nothing was seen is told by %q", file)
	}
}
