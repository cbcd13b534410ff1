package score_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// setOf are rows of two columns and a target, without one row, -1 for all.
func setOf(t *testing.T, x, z, y []float64, without int) credence.Source {
	t.Helper()
	less := func(v []float64) []float64 {
		if without < 0 {
			return v
		}
		return slices.Concat(v[:without], v[without+1:])
	}
	return must.Value(table.New().Numbers("x", less(x)).Numbers("z", less(z)).Numbers("y", less(y)).Source())(t)
}

// TestLeaveOneOutIsRefittingWithParameters: with learned parameters of the family, the mean density of rows given all
// others is that of fits without each row, to .01 nat a row in the mean over sets, unless the set is marked, which one
// in ten at most is.
func TestLeaveOneOutIsRefittingWithParameters(t *testing.T) {
	study.OnlyCalibration(t)
	for _, c := range []struct {
		family string
		draw   func(rng *rand.Rand, f float64) float64
	}{
		{"studentt", func(rng *rand.Rand, f float64) float64 { return f + distuv.StudentsT{Sigma: 1, Nu: 4, Src: rng}.Rand() }},
		{"studentt of normal noise", func(rng *rand.Rand, f float64) float64 { return f + rng.NormFloat64() }},
		{"ordinal", func(rng *rand.Rand, f float64) float64 {
			return likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-1, 1}}}.Sample(rng, f)
		}},
		{"ordinal of 5", func(rng *rand.Rand, f float64) float64 {
			return likelihood.Ordinal{Cutpoints: param.List{Values: []float64{-2, -0.5, 0.5, 2}}}.Sample(rng, f)
		}},
		{"negbinomial", func(rng *rand.Rand, f float64) float64 {
			return likelihood.NegativeBinomial{Size: param.Hold(2)}.Sample(rng, 1+f)
		}},
		{"gamma", func(rng *rand.Rand, f float64) float64 {
			return likelihood.Gamma{Shape: param.Hold(2)}.Sample(rng, f)
		}},
	} {
		for _, n := range []int{25, 100} {
			sets := 500 / n
			t.Run(fmt.Sprintf("%s, %d rows", c.family, n), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(study.Seed(uint64(n)), 11))
				gaps, marked, worst, square := 0.0, 0, 0.0, 0.0
				for done := 0; done < sets; {
					var x, z, y []float64
					count := map[float64]int{}
					for range n {
						x, z = append(x, rng.NormFloat64()), append(z, rng.NormFloat64())
						y = append(y, c.draw(rng, 0.7*x[len(x)-1]-0.3*z[len(z)-1]))
						count[y[len(y)-1]]++
					}
					options := fit.Options{Formula: "y ~ x + z", Threads: 1}
					fmt.Sscan(c.family, &options.Family)
					least := 2
					for _, k := range count {
						least = min(least, k)
					}
					if options.Family == "ordinal" && least < 2 { // the fit without that row knows of fewer grades
						continue
					}
					done++
					all := setOf(t, x, z, y, -1)
					got := must.Value(score.LeaveOneOut(t.Context(), scorer(t, fitted(t, all, options)), all))(t)
					want := 0.0
					for i := range n {
						one := must.Value(table.New().Numbers("x", x[i:i+1]).Numbers("z", z[i:i+1]).Numbers("y", y[i:i+1]).Source())(t)
						each(t, fitted(t, setOf(t, x, z, y, i), options), one, func(rows *score.Rows, i int) {
							want -= rows.LogDensity(i, rows.Target(i)) / float64(n)
						})
					}
					gap := float64(got.NLPD) - want
					t.Logf("told %.4f, refits %.4f, k %.2f, unreliable %d", got.NLPD, want, got.ParetoK, got.Unreliable)
					if got.Marked {
						marked++
						continue
					}
					gaps += gap
					square += gap * gap
					if !(math.Abs(gap) <= math.Abs(worst)) {
						worst = gap
					}
				}
				made := float64(sets - marked)
				t.Logf("gap %.4f, root mean square %.4f, worst %.4f, %d of %d marked", gaps/made, math.Sqrt(square/made), worst, marked, sets)
				if !(math.Abs(gaps/made) <= 0.01+2*math.Sqrt(square/made/made)) || 10*marked > sets {
					t.Errorf("gap of %.4f nats a row, %d of %d sets marked", gaps/made, marked, sets)
				}
			})
		}
	}
}
