package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// TestGroupCoverage: of few groups of five rows, 90 % intervals hold a slope between groups, a slope within them, the
// standard deviation of the groups' effects, and the mean of a group that training does not have.
func TestGroupCoverage(t *testing.T) {
	study.OnlyCalibration(t)
	const sets, each = 500, 5
	for _, groups := range []int{6, 10} {
		for _, spread := range []float64{0, 0.3, 1, 2} {
			t.Run(fmt.Sprintf("%d groups, sd %v", groups, spread), func(t *testing.T) {
				held := map[string]float64{}
				for seed := range uint64(sets) {
					rng := rand.New(rand.NewPCG(study.Seed(33)+seed, 9))
					var g []string
					var b, w, y []float64
					for a := range groups {
						effect, between := spread*rng.NormFloat64(), rng.NormFloat64()
						for range each {
							g, b, w = append(g, fmt.Sprint("g", a)), append(b, between), append(w, rng.NormFloat64())
							y = append(y, 2+0.5*between+0.5*w[len(w)-1]+effect+rng.NormFloat64())
						}
					}
					rows := must.Value(table.New().Categories("g", g).Numbers("b", b).Numbers("w", w).Numbers("y", y).Source())(t)
					fitted := must.Value(fit.Table(t.Context(), rows, fit.Options{Formula: "y ~ b + w + (1|g)", Threads: 1}))(t)
					count := func(what string, v, lower, upper float64) {
						if v >= lower && v <= upper {
							held[what] += 1.0 / sets
						}
					}
					for _, term := range must.Value(score.Terms(fitted, score.TermOptions{}))(t) {
						if term.Name == "b" || term.Name == "w" {
							count(term.Name, 0.5, float64(term.Lower), float64(term.Upper))
						}
					}
					sd := score.GroupsOf(fitted, 0).Groups[0].SD[0]
					count("sd", spread, float64(sd.Lower), float64(sd.Upper))
					fresh := must.Value(table.New().Categories("g", []string{"new"}).Numbers("b", []float64{0}).Numbers("w", []float64{0}).Source())(t)
					scored := must.Value(must.Value(score.New(fitted, score.Options{}))(t).Table(fresh, score.IgnoreTargets))(t)
					must.Succeed(t, scored.Each(t.Context(), func(rows *score.Rows) error {
						lower, upper, err := rows.MeanIntervals()
						count("new", 2+spread*rng.NormFloat64(), lower[0], upper[0])
						return err
					}))
				}
				t.Logf("between %.3f, within %.3f, sd %.3f, new group %.3f", held["b"], held["w"], held["sd"], held["new"])
				least := map[string]float64{"b": 0.88, "w": 0.85, "sd": 0.86, "new": 0.88}
				error := 2 * math.Sqrt(0.9*0.1/sets)
				for what, share := range held {
					if what == "sd" && spread == 0 {
						continue
					}
					if share < least[what]-error {
						t.Errorf("%s is held %.3f times, want %.2f", what, share, least[what])
					}
				}
			})
		}
	}
}
