package ability

import (
	"iter"
	"slices"

	"github.com/credence-ml/credence"
)

// Filed is implemented by sources and data that know their files: Files returns the first row of each, in their order.
// A file without rows has that of the next one.
type Filed interface{ Files() []int }

// Files returns where the files of rows begin, and their number of rows behind these: [0, n] where rows do not tell of
// files, or are no more than a block, whose sums are the same in any files.
func Files(rows interface{ Rows() int }) []int {
	var begins []int
	if f, ok := rows.(Filed); ok && rows.Rows() > credence.BlockRows {
		begins = f.Files()
	}
	if len(begins) == 0 {
		begins = []int{0}
	}
	return append(slices.Clip(begins), rows.Rows())
}

// FileBlocks yields the first row and the number of rows of the blocks of a file that has rows [begin, end).
func FileBlocks(begin, end int) iter.Seq2[int, int] {
	return func(yield func(first, count int) bool) {
		for first, count := range credence.Blocks(end - begin) {
			if !yield(begin+first, count) {
				return
			}
		}
	}
}
