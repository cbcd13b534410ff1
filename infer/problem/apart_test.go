package problem

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
)

// TestAddedSums: sums over parts of rows add up to those over all, in any order, with parts of no weight among them,
// and go through numbers.
func TestAddedSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	var all Sums
	var parts []Sums
	for k, rows := range []int{70, 1, 0, 300, 12} {
		b := &credence.Batch{}
		for range rows {
			b.Target = append(b.Target, float64(rng.IntN(9)))
			b.Offset = append(b.Offset, 3*rng.NormFloat64()-float64(40*k))
			b.Weight = append(b.Weight, float64(rng.IntN(3)))
			b.Precision = append(b.Precision, .5+rng.Float64())
		}
		var part Sums
		part.Add(likelihood.Poisson{}, b)
		all.Add(likelihood.Poisson{}, b)
		parts = append(parts, part)
	}
	for _, order := range [][]int{{0, 1, 2, 3, 4}, {2, 4, 3, 1, 0}} {
		sum := new(Sums).Numbers()
		for _, k := range order {
			(&Question{What: AskSizes}).Add(sum, parts[k].Numbers())
		}
		for i, want := range all.Numbers() {
			if !(math.Abs(sum[i]-want) <= 1e-12*math.Abs(want)) {
				t.Errorf("order %v: number %d is %v, want %v", order, i, sum[i], want)
			}
		}
		var back Sums
		back.Take(sum)
		got, _ := back.Location(likelihood.Poisson{})
		if want, _ := all.Location(likelihood.Poisson{}); !(math.Abs(got-want) <= 1e-12*math.Abs(want)) || back.MeanOffset() == 0 || back.Residual.Variance() == 0 {
			t.Errorf("order %v: f is about %v, want %v", order, got, want)
		}
	}
	// Of a pass statistics add up, and moments behind them merge.
	sum, other := append([]float64{1, 2, 3}, all.Target.Numbers()...), append([]float64{10, 20, 30}, parts[0].Target.Numbers()...)
	(&Question{What: AskPass}).Add(sum, other)
	merged := all.Target
	merged.Merge(parts[0].Target)
	for i, want := range append([]float64{11, 22, 33}, merged.Numbers()...) {
		if sum[i] != want {
			t.Errorf("number %d of a pass is %v, want %v", i, sum[i], want)
		}
	}
}
