package sep

import (
	"slices"
	"testing"

	"github.com/credence-ml/credence"
)

// Pruned features are gone, the others keep their state.
func TestPrune(t *testing.T) {
	p := oneHotProblem(20000, []int{20, 100}, 3)
	l, _ := NewLearner(Config{Prune: 0.1}, p.hyper())
	l.Learn(batchOf(p.x, p.y), make([]float64, p.rows))
	before := make([]credence.Marginal, p.features)
	for j := range before {
		before[j] = l.Weight(j)
	}
	seen, selected := l.features, l.selected
	kept := l.Prune()
	if len(kept) == 0 || len(kept) == p.features {
		t.Fatalf("%d of %d features stay", len(kept), p.features)
	}
	for slot, old := range kept {
		if l.Weight(slot) != before[old] {
			t.Errorf("slot %d, before %d: %+v, was %+v", slot, old, l.Weight(slot), before[old])
		}
	}
	gone := 0
	for j, w := range before {
		if !slices.Contains(kept, int32(j)) {
			gone++
			if w.Inclusion >= 0.1 {
				t.Errorf("feature %d of inclusion %g is dropped", j, w.Inclusion)
			}
		}
	}
	if nowSeen, nowSelected := l.features, l.selected; nowSeen != seen-gone || nowSelected != selected {
		t.Errorf("%d features, %d selected; before %d, %d, and %d dropped", nowSeen, nowSelected, seen, selected, gone)
	}
	if l.Prune() != nil {
		t.Error("a second pruning drops more")
	}
}
