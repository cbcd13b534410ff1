// Package segments adds up what the rows of a table come to as binary trees, over the segments of a file and over the
// files of the table, so that the sum of all rows does not depend on who counted which files.
package segments

import (
	"math"
	"slices"
)

// Sum is what consecutive rows add up to.
type Sum[T any] interface {
	// Plus returns the sum with that of the rows behind, and changes neither. One without rows changes no bit of the
	// other.
	Plus(later T) T
}

// Node is the sum over 2^Height positions from Position on, which is a multiple of 2^Height. A position is a file of a
// table, or a segment of a file.
type Node[T Sum[T]] struct {
	Position int `json:"position"`
	Height   int `json:"height,omitempty"`
	Sum      T   `json:"tally"`
}

// End is the position behind the node's.
func (n *Node[T]) End() int { return n.Position + 1<<n.Height }

// Sound reports whether the node has a place in a tree.
func (n *Node[T]) Sound() bool {
	return n.Position >= 0 && n.Position <= math.MaxInt32 && n.Height >= 0 && n.Height <= 30 && n.Position&(1<<n.Height-1) == 0
}

// Join returns nodes in the order of their rows, with those that are the halves of one added up.
func Join[T Sum[T]](nodes []Node[T]) []Node[T] {
	slices.SortStableFunc(nodes, func(a, b Node[T]) int { return a.Position - b.Position })
	var out []Node[T]
	for _, n := range nodes {
		for last := len(out) - 1; last >= 0; last-- {
			left := &out[last]
			if left.Height != n.Height || left.Position>>n.Height&1 == 1 || left.End() != n.Position {
				break
			}
			n = Node[T]{left.Position, n.Height + 1, left.Sum.Plus(n.Sum)}
			out = out[:last]
		}
		out = append(out, n)
	}
	return out
}

// Overlap returns the first position that is in nodes of both; -1 if there is none.
func Overlap[T Sum[T]](a, b []Node[T]) int {
	for i := range a {
		for j := range b {
			if a[i].Position < b[j].End() && b[j].Position < a[i].End() {
				return max(a[i].Position, b[j].Position)
			}
		}
	}
	return -1
}

// Total adds up joined nodes. Where positions before a node are lacking, it returns those, [from, to).
func Total[T Sum[T]](nodes []Node[T]) (total T, from, to int) {
	for i := range nodes {
		if nodes[i].Position != from {
			return total, from, nodes[i].Position
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
