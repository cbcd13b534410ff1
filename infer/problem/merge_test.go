package problem_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
)

// rowsOf are drawn rows of few different values with every role; different says that inputs all differ.
func rowsOf(n int, different bool) *problem.Memory {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	m := &problem.Memory{}
	b := &m.All
	b.X = linop.NewDense(n, 2)
	b.Sparse.Reset(9)
	for i := range n {
		b.X.Row(i)[0], b.X.Row(i)[1] = float64(rng.IntN(3)), float64(rng.IntN(2))
		if different {
			b.X.Row(i)[0] = rng.NormFloat64()
		}
		b.Sparse.AppendRow([]int32{int32(rng.IntN(9))}, []float64{float64(1 + rng.IntN(2))})
		b.Target = append(b.Target, float64(rng.IntN(2)))
		b.Offset = append(b.Offset, float64(rng.IntN(2)))
		b.Weight = append(b.Weight, float64(rng.IntN(3)))
		b.Precision = append(b.Precision, float64(1+rng.IntN(2)))
		b.Trials = append(b.Trials, float64(2+rng.IntN(2)))
		b.Unseen = append(b.Unseen, float64(i%40/39))
	}
	return m
}

// Sums of weights by what a row is are the same before and after, whatever differs; no two rows are equal; the order is
// that of first places.
func TestMerge(t *testing.T) {
	model := credence.Model{Likelihood: likelihood.Gaussian{}}
	type row struct{ a, b, y, offset, precision, trials, unseen, column, value float64 }
	weights := func(data credence.Data) (sums map[row]float64, order []row) {
		sums = map[row]float64{}
		for first, count := range credence.Blocks(data.Rows()) {
			var batch credence.Batch
			must.Succeed(t, data.Read(&batch, first, count))
			for i := range count {
				r := row{a: batch.X.Row(i)[0], b: batch.X.Row(i)[1], y: batch.Target[i], offset: batch.Offset[i], precision: batch.Precision[i], trials: batch.Trials[i], unseen: batch.Unseen[i]}
				for c, v := range batch.Sparse.Each(i) {
					r.column, r.value = float64(c), v
				}
				if _, seen := sums[r]; !seen {
					order = append(order, r)
				}
				sums[r] += batch.WeightOf(i)
			}
		}
		return sums, order
	}
	for _, weighted := range []bool{true, false} {
		all := rowsOf(20_000, false)
		all.All.X.Row(17)[0] = math.Copysign(0, -1) // which is 0
		if !weighted {
			all.All.Weight = nil
		}
		merged := must.Value(problem.Merge(t.Context(), "test", model, all))(t)
		before, places := weights(all)
		after, order := weights(merged)
		if merged.Rows() != len(before) || len(after) != len(before) {
			t.Fatalf("%d rows, of which %d differ, are %d", all.Rows(), len(before), merged.Rows())
		}
		for i, r := range places {
			if after[r] != before[r] || order[i] != r {
				t.Fatalf("row %+v has weight %v, want %v; in its place is %+v", r, after[r], before[r], order[i])
			}
		}
	}
	for _, same := range []*problem.Memory{rowsOf(20_000, true), rowsOf(4000, false)} {
		if got := must.Value(problem.Merge(t.Context(), "test", model, same))(t); got != credence.Data(same) {
			t.Errorf("%d rows are %d", same.Rows(), got.Rows())
		}
	}
	bad := rowsOf(20_000, false)
	bad.All.Target[19_999] = math.NaN()
	if _, err := problem.Merge(t.Context(), "test", model, bad); err == nil {
		t.Error("a target that is no number is merged")
	}
}
