package sep

import (
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Where ever new features come, those that occur least go, of equals the oldest, and the others keep their
// state; those that stay predict as they did.
func TestFeaturesAreBounded(t *testing.T) {
	const most, common = 400, 20
	l, err := NewLearner(Config{Features: most}, Hyper{Inclusion: held(0.5), Slab: held(1)})
	if err != nil || l.PruneEvery() != CrowdEvery {
		t.Fatal(err, l.PruneEvery())
	}
	rng := rand.New(rand.NewPCG(1, 2))
	slots := common
	var last []int32 // slots of the newest features
	for range 5 {
		b := &credence.Batch{Sparse: linop.CSR{}}
		for range 150 {
			j := rng.IntN(common)
			b.Sparse.Cols = slots + 1
			b.Sparse.AppendRow([]int32{int32(j), int32(slots)}, nil)
			b.Target = append(b.Target, float64(j%2))
			slots++
		}
		b.Sparse.Cols = slots
		l.Learn(b, make([]float64, 150))
		before := make([]credence.Marginal, slots)
		for slot := range before {
			before[slot] = l.Weight(slot)
		}
		kept := l.Prune()
		if (kept != nil) != (slots > most) {
			t.Fatalf("%d of %d features are kept", len(kept), slots)
		}
		if kept == nil {
			continue
		}
		if len(kept) != 3*most/4 || l.slots != len(kept) || l.features != len(kept) {
			t.Fatalf("%d features are kept, %d counted, want %d", len(kept), l.features, 3*most/4)
		}
		for k, slot := range kept {
			if l.Weight(k) != before[slot] {
				t.Fatalf("feature %d has become %v, was %v", slot, l.Weight(k), before[slot])
			}
			if k < common != (int(slot) < common) || k >= common && int(slot) != slots-len(kept)+k {
				t.Fatalf("feature %d stays in place %d: common ones and then the newest are to stay", slot, k)
			}
		}
		selected := 0
		for k := range kept {
			if l.Weight(k).Inclusion > 0.5 {
				selected++
			}
		}
		if l.Selected(len(kept)) != selected {
			t.Errorf("%d features count as selected, %d are", l.Selected(len(kept)), selected)
		}
		slots, last = len(kept), kept
	}
	if last == nil {
		t.Error("nothing was dropped")
	}
}
