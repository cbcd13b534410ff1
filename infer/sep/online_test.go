package sep

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/linop"
)

// A row that would take the state beyond finite numbers is scored and not learned, in every form of
// the learner: the weights are those of the rows without it.
func TestRowsBeyondNumbersAreRefused(t *testing.T) {
	p := oneHotProblem(300, []int{4, 9}, 5)
	for name, cfg := range map[string]Config{"sequential": {}, "mini-batches": {Batch: 20}, "forgetting": {Forget: 500}} {
		for what, spoil := range map[string]func(b *credence.Batch, i int){
			"value":  func(b *credence.Batch, i int) { b.Sparse.Value[b.Sparse.Start[i]] = 1e160 },
			"weight": func(b *credence.Batch, i int) { b.Weight[i] = 1e300 },
			"offset": func(b *credence.Batch, i int) { b.Offset[i] = -1e308 },
		} {
			good, bad := batchOf(p.x, p.y), batchOf(p.x, p.y)
			for _, b := range []*credence.Batch{good, bad} {
				b.Weight, b.Offset = slices.Repeat([]float64{1}, 300), make([]float64, 300)
				b.Sparse.Value = slices.Repeat([]float64{1}, len(b.Sparse.Index))
			}
			good.Weight[170] = 0 // the row is scored alone
			spoil(bad, 170)
			var weights [2][]credence.Marginal
			for i, b := range []*credence.Batch{good, bad} {
				l := must.Value(NewOnline(cfg, Hyper{}))(t)
				refused := l.Learn(b, make([]float64, 300))
				if want := [][]int{nil, {170}}[i]; !slices.Equal(refused, want) {
					t.Fatalf("%s, %s: rows %v are refused, want %v", name, what, refused, want)
				}
				l.Finish()
				for slot := -1; slot < b.Sparse.Cols; slot++ {
					weights[i] = append(weights[i], l.Weight(slot))
				}
			}
			if !slices.Equal(weights[0], weights[1]) {
				t.Errorf("%s, %s: the refused row changed weights", name, what)
			}
		}
	}
}

// Large rows that leave a finite state are learned.
func TestLargeRowsAreLearned(t *testing.T) {
	l := must.Value(NewOnline(Config{}, Hyper{}))(t)
	b := &credence.Batch{
		X: linop.Dense{Rows: 1}, Target: []float64{1}, Weight: []float64{1e7},
		Sparse: linop.CSR{Rows: 1, Cols: 1, Start: []int{0, 1}, Index: []int32{0}, Value: []float64{1e8}},
	}
	if refused := l.Learn(b, make([]float64, 1)); refused != nil {
		t.Fatal("the row is refused")
	}
	l.Finish()
	w := l.Weight(0)
	if !(w.Mean > 0) || math.IsInf(w.Mean, 0) || !(w.Variance > 0) {
		t.Errorf("weight %+v", w)
	}
	document, _, err := l.State()
	if err != nil || bytes.Contains(document, []byte("NaN")) {
		t.Errorf("state %s, %v", document, err)
	}
}
