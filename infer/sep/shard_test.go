package sep

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/safetensors"
	"github.com/credence-ml/credence/linop"
)

// Shards: the same bytes however the rows come and after a stop, and predictions
// near those of one learner.
func TestShards(t *testing.T) {
	p := oneHotProblem(20000, []int{5, 40, 400}, 3)
	batch := batchOf(p.x, p.y)
	one := p.learned(Config{}, 1)
	best := p.logLoss(p.ofLearner(one).test)
	for _, k := range []int{2, 4} {
		whole, err := NewSharded(Config{Shards: k}, p.hyper())
		if err != nil {
			t.Fatal(err)
		}
		want := make([]float64, p.rows)
		whole.Learn(batch, want)
		pieces, _ := NewSharded(Config{Shards: k}, p.hyper())
		var got []float64
		for first := 0; first < p.rows; {
			last := min(p.rows, first+777)
			probability := make([]float64, last-first)
			pieces.Learn(part(batch, first, last), probability)
			got = append(got, probability...)
			pieces = restoredShards(t, pieces)
			first = last
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d shards: scores differ after learning in pieces", k)
		}
		whole.Finish()
		pieces.Finish()
		if !bytes.Equal(stateOf(t, whole.master), stateOf(t, pieces.master)) {
			t.Errorf("%d shards: the state differs after learning in pieces", k)
		}
		if e := &whole.master.early; e.stage != sample || e.rows.Rows != earlyRows {
			t.Errorf("%d shards: stage %d with %d early rows", k, e.stage, e.rows.Rows)
		}
		if rows := whole.master.rows; rows != int64(p.rows) {
			t.Errorf("%d shards learned %d rows", k, rows)
		}
		loss := p.logLoss(p.ofLearner(whole.master).test)
		t.Logf("%d shards: log loss %.5f, one learner %.5f", k, loss, best)
		if loss > best+0.002 {
			t.Errorf("%d shards: log loss %.5f, one learner has %.5f", k, loss, best)
		}
	}
}

// Rows without a target or a weight are scored and leave the features that only they have unseen.
func TestShardsOnlyScoreRowsWithoutTarget(t *testing.T) {
	const rows = 100 // learned, and as many again that are not
	b := &credence.Batch{X: linop.Dense{Rows: 2 * rows}}
	b.Sparse.Reset(2 * rows)
	for i := range 2 * rows {
		b.Sparse.AppendRow([]int32{int32(i)}, []float64{1})
		b.Target, b.Weight = append(b.Target, float64(i/2%2)), append(b.Weight, 1)
		switch i % 4 {
		case 1:
			b.Target[i] = math.NaN()
		case 3:
			b.Weight[i] = 0
		}
	}
	s, err := NewSharded(Config{Shards: 2}, Hyper{})
	if err != nil {
		t.Fatal(err)
	}
	s.Learn(b, make([]float64, 2*rows))
	s.Finish()
	if m := s.master; m.features != rows || m.rows != rows {
		t.Errorf("%d features in %d rows, want %d and %d", s.master.features, s.master.rows, rows, rows)
	}
}

// Shards are merged in their order: sums of gains in another order have other bits.
func TestMergeOrder(t *testing.T) {
	const shards = 4
	p := oneHotProblem(20000, []int{5, 40}, 3)
	s, err := NewSharded(Config{Shards: shards}, p.hyper())
	if err != nil {
		t.Fatal(err)
	}
	batch := batchOf(p.x, p.y)
	s.Learn(part(batch, 0, 9999), make([]float64, 9999))
	if s.rows == s.merged {
		t.Fatal("the shards have just been merged: take another number of rows")
	}
	state := func(l *Learner) (sums []float64) {
		for slot := range int32(p.features) {
			f := l.at(slot)
			sums = append(sums, f.shift[0], f.shift[1], f.lambda[0], f.lambda[1])
		}
		return append(sums, l.bias.shift[0], l.bias.shift[1], l.bias.lambda[0], l.bias.lambda[1])
	}
	inOrder := func(order ...int) []float64 {
		base := state(s.master)
		sums := slices.Clone(base)
		for _, k := range order {
			for i, v := range state(s.shards[k]) {
				sums[i] += v - base[i]
			}
		}
		return sums
	}
	want := inOrder(0, 1, 2, 3)
	if slices.Equal(want, inOrder(3, 2, 1, 0)) {
		t.Fatal("the order makes no difference: take another number of rows")
	}
	s.merge()
	if !slices.Equal(state(s.master), want) {
		t.Error("the master is not the sum of the gains in the order of the shards")
	}
}

func restoredShards(t *testing.T, s *Sharded) *Sharded {
	t.Helper()
	document, tensors, err := s.State()
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := safetensors.Write(&file, map[string]string{"state": string(document)}, tensors); err != nil {
		t.Fatal(err)
	}
	r, err := safetensors.NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	again, err := RestoreSharded([]byte(r.Metadata()["state"]), r)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

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
