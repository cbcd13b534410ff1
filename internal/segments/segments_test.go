package segments

import "testing"

// span is the rows [first, end).
type span struct{ first, end int }

func (s span) Plus(later span) span { return span{s.first, later.end} }
func (s span) Count() int           { return s.end - s.first }

// Segments of ten rows make the same tree whatever the order in which they come, and gaps are found.
func TestTree(t *testing.T) {
	leaf := func(k, rows int) Node[span] { return Node[span]{Segment: k, Sum: span{10 * k, 10*k + rows}} }
	leaves := []Node[span]{leaf(4, 3), leaf(1, 10), leaf(0, 10), leaf(3, 10), leaf(2, 10)}
	var nodes []Node[span]
	for k := range leaves {
		if got := Overlap(nodes, leaves[k:]); got != -1 {
			t.Errorf("leaf %d is there already, in segment %d", k, got)
		}
		nodes = Join(append(nodes, leaves[k]), 10)
	}
	if len(nodes) != 2 || nodes[0] != (Node[span]{0, 2, span{0, 40}}) || nodes[1] != leaves[0] || nodes[1].Whole(10) {
		t.Errorf("five segments make %v", nodes)
	}
	if got := Overlap(nodes, leaves[4:]); got != 2 {
		t.Errorf("segment 2 is found as %d", got)
	}
	if total, _, lacking := Total(nodes, 10); total != (span{0, 43}) || lacking != 0 {
		t.Errorf("all rows are %v, lacking up to %d", total, lacking)
	}
	if _, from, to := Total([]Node[span]{leaves[2], leaves[3]}, 10); from != 1 || to != 3 {
		t.Errorf("segments [%d, %d) are lacking, want [1, 3)", from, to)
	}
	if _, _, to := Total([]Node[span]{leaf(0, 4), leaf(1, 10)}, 10); to != 1 {
		t.Error("rows behind a short segment are not noticed")
	}
	for _, n := range []Node[span]{{Segment: -1}, {Segment: 1, Height: 1}, {Height: -1}, {Height: 40}} {
		if n.Sound() {
			t.Errorf("%v has a place in a tree", n)
		}
	}
}
