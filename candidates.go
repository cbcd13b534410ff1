package credence

import (
	"iter"
	"slices"
)

// Candidates returns all candidates of [EachCandidate].
func Candidates(features Features, together bool) []Block {
	return slices.AppendSeq(make([]Block, 0, features.Weights()), EachCandidate(features, together))
}

// EachCandidate goes through the runs of weights that a prior which selects has in the model or out of it, in their
// order: every weight of no intercept and of no kept block stands for itself, without a name, and those of a
// group of [Grouped] are one candidate where together is true.
func EachCandidate(features Features, together bool) iter.Seq[Block] {
	groups := map[int]Block{}
	if grouped, ok := features.(Grouped); ok && together {
		for _, g := range grouped.Groups() {
			groups[g.First] = g
		}
	}
	return func(yield func(Block) bool) {
		for _, b := range features.Blocks() {
			for j := b.First; j < b.First+b.Count && !b.Intercept && !b.Kept; {
				c, grouped := groups[j]
				if !grouped {
					c = Block{First: j, Count: 1}
				}
				if !yield(c) {
					return
				}
				j += c.Count
			}
		}
	}
}
