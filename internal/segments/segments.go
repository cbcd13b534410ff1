// Package segments adds up what the rows of a table come to by segments of rows, as a binary tree, so
// that the sum of all rows does not depend on the shards in which they were counted.
package segments

import (
	"math"
	"slices"
)

// Sum is what consecutive rows add up to.
type Sum[T any] interface {
	// Plus returns the sum with that of the rows behind, and changes neither.
	Plus(later T) T
	// Count returns the number of rows.
	Count() int
}

// Node is the sum over 2^Height segments from Segment on, which is a multiple of 2^Height.
type Node[T Sum[T]] struct {
	Segment int `json:"segment"`
	Height  int `json:"height,omitempty"`
	Sum     T   `json:"tally"`
}

// End is the segment behind the node's.
func (n *Node[T]) End() int { return n.Segment + 1<<n.Height }

// Whole reports whether the node has all rows of its segments, as all but the last of a table have. A
// segment has size rows.
func (n *Node[T]) Whole(size int) bool { return n.Sum.Count() == size<<n.Height }

// Sound reports whether the node has a place in a tree.
func (n *Node[T]) Sound() bool {
	return n.Segment >= 0 && n.Segment <= math.MaxInt32 && n.Height >= 0 && n.Height <= 30 && n.Segment&(1<<n.Height-1) == 0
}

// Join returns nodes in the order of their rows, with those that are the halves of one added up.
func Join[T Sum[T]](nodes []Node[T], size int) []Node[T] {
	slices.SortStableFunc(nodes, func(a, b Node[T]) int { return a.Segment - b.Segment })
	var out []Node[T]
	for _, n := range nodes {
		for last := len(out) - 1; last >= 0; last-- {
			left := &out[last]
			if left.Height != n.Height || left.Segment>>n.Height&1 == 1 || left.End() != n.Segment || !left.Whole(size) {
				break
			}
			n = Node[T]{left.Segment, n.Height + 1, left.Sum.Plus(n.Sum)}
			out = out[:last]
		}
		out = append(out, n)
	}
	return out
}

// Overlap returns the first segment that is in nodes of both; -1 if there is none.
func Overlap[T Sum[T]](a, b []Node[T]) int {
	for i := range a {
		for j := range b {
			if a[i].Segment < b[j].End() && b[j].Segment < a[i].End() {
				return max(a[i].Segment, b[j].Segment)
			}
		}
	}
	return -1
}

// Total adds up joined nodes. Where rows before a node are lacking, it returns the segments [from, to)
// that have them.
func Total[T Sum[T]](nodes []Node[T], size int) (total T, from, to int) {
	for i := range nodes {
		if nodes[i].Segment != from || i > 0 && !nodes[i-1].Whole(size) {
			return total, from, nodes[i].Segment
		}
		from = nodes[i].End()
	}
	for k, n := range slices.Backward(nodes) {
		if k == len(nodes)-1 {
			total = n.Sum
		} else {
			total = n.Sum.Plus(total)
		}
	}
	return total, 0, 0
}
