package segments

import "testing"

// span is the rows [first, end).
type span struct{ first, end int }

func (s span) Plus(later span) span { return span{s.first, later.end} }

// Positions make the same tree whatever the order in which they come, and gaps are found.
func TestTree(t *testing.T) {
	leaf := func(k, rows int) Node[span] { return Node[span]{Position: k, Sum: span{10 * k, 10*k + rows}} }
	leaves := []Node[span]{leaf(4, 3), leaf(1, 10), leaf(0, 10), leaf(3, 10), leaf(2, 10)}
	var nodes []Node[span]
	for k := range leaves {
		if got := Overlap(nodes, leaves[k:]); got != -1 {
			t.Errorf("leaf %d is there already, at %d", k, got)
		}
		nodes = Join(append(nodes, leaves[k]))
	}
	if len(nodes) != 2 || nodes[0] != (Node[span]{0, 2, span{0, 40}}) || nodes[1] != leaves[0] {
		t.Errorf("five positions make %v", nodes)
	}
	if got := Overlap(nodes, leaves[4:]); got != 2 {
		t.Errorf("position 2 is found as %d", got)
	}
	if total, _, lacking := Total(nodes); total != (span{0, 43}) || lacking != 0 {
		t.Errorf("all rows are %v, lacking up to %d", total, lacking)
	}
	if _, from, to := Total([]Node[span]{leaves[2], leaves[3]}); from != 1 || to != 3 {
		t.Errorf("positions [%d, %d) are lacking, want [1, 3)", from, to)
	}
	for _, n := range []Node[span]{{Position: -1}, {Position: 1, Height: 1}, {Height: -1}, {Height: 40}} {
		if n.Sound() {
			t.Errorf("%v has a place in a tree", n)
		}
	}
}
