package fit_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/infer/penalised"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// sourceOf is the table of a matrix, whose column j is called x and j from 1 on, and a target y.
func sourceOf(t *testing.T, x *linop.Dense, y []float64) credence.Source {
	t.Helper()
	b := table.New().Numbers("y", y)
	for j := range x.Cols {
		column := make([]float64, x.Rows)
		for i := range column {
			column[i] = x.Row(i)[j]
		}
		b.Numbers(fmt.Sprintf("x%d", j+1), column)
	}
	source := must.Value(b.Source())(t)
	return source
}

// columnOf is the place of a column that sourceOf named.
func columnOf(t *testing.T, name string) (j int) {
	t.Helper()
	if _, err := fmt.Sscanf(name, "x%d", &j); err != nil {
		t.Fatal(err)
	}
	return j - 1
}

// knockoffs returns the columns called with at most the given expected share of false ones by the knockoff+ filter of
// Candès, Fan, Janson & Lv (2018) under the known law of the columns, N(0, Σ) with one correlation ρ of any two: the
// copies are equicorrelated, s = min(1, 2(1 − ρ)), and the statistic is the difference of the absolute weights of the
// lasso, cross-validated, on columns and copies. With Σ⁻¹ = (I − c 11ᵀ)/(1 − ρ), c = ρ/(1 + (p − 1)ρ), the copies are X
// − sXΣ⁻¹ and noise of the covariance 2sI − s²Σ⁻¹.
func knockoffs(t *testing.T, s *conform.Selection, correlation, share float64, rng *rand.Rand) []int {
	n, p := s.X.Rows, s.X.Cols
	c := correlation / (1 + float64(p-1)*correlation)
	step := min(1, 2*(1-correlation))
	own, common := 2*step-step*step/(1-correlation), step*step*c/(1-correlation)
	both := credence.Batch{X: linop.NewDense(n, 2*p), Target: s.Target}
	for i := range n {
		row, total, shared := s.X.Row(i), 0.0, rng.NormFloat64()
		for _, x := range row {
			total += x
		}
		copy(both.X.Row(i), row)
		for j, x := range row {
			both.X.Row(i)[p+j] = x - step*(x-c*total)/(1-correlation) + math.Sqrt(math.Max(0, own))*rng.NormFloat64() + math.Sqrt(common)*shared
		}
	}
	lasso := must.Value(penalised.New(credence.Model{Features: conform.Columns{Dense: 2 * p, Intercept: true}, Likelihood: likelihood.Gaussian{}, Prior: prior.Normal{}}, penalised.Config{Alpha: 1}))(t)
	fitted := must.Value(lasso.Fit(context.Background(), conform.Memory{All: &both}))(t)
	mean, variance := make([]float64, 2*p+1), make([]float64, 2*p+1)
	fitted.Members[0].Posterior.Marginals(mean, variance)
	difference, thresholds := make([]float64, p), []float64{}
	for j := range difference {
		difference[j] = math.Abs(mean[1+j]) - math.Abs(mean[1+p+j])
		thresholds = append(thresholds, math.Abs(difference[j]))
	}
	slices.Sort(thresholds)
	for _, threshold := range thresholds {
		var called []int
		below := 1.0
		for j, w := range difference {
			if w >= threshold {
				called = append(called, j)
			} else if w <= -threshold {
				below++
			}
		}
		if threshold > 0 && below <= share*float64(max(1, len(called))) {
			return called
		}
	}
	return nil
}

// TestFDR: the share of false ones among the features that --fdr 0.1 calls by default, and of those that matter the
// share that is called, beside knockoffs on the same sets.
func TestFDR(t *testing.T) {
	study.OnlyCalibration(t)
	const n, p, relevant, sets = 200, 100, 20, 100
	for _, correlation := range []float64{0, 0.5} {
		t.Run(fmt.Sprintf("correlation %v", correlation), func(t *testing.T) {
			var figures [3][]float64 // false share and power, and that of knockoffs less it
			var others [2][]float64
			for seed := range uint64(sets) {
				s := conform.NewSelection(n, p, relevant, correlation, 0.1, 1, false, study.Seed(7000)+seed)
				fitted, err := fit.Select(context.Background(), sourceOf(t, &s.X, s.Target), fit.Options{Formula: "y ~ .", Threads: 1},
					selection.Options{FDR: 0.1, Path: selection.PathNever})
				if err != nil {
					t.Fatal(err)
				}
				var called []int
				for _, name := range fitted.Selection.Names() {
					called = append(called, columnOf(t, name))
				}
				rate := func(called []int) (false_, power float64) {
					for _, j := range called {
						if s.Weights[j] == 0 {
							false_ += 1 / float64(len(called))
						} else {
							power += 1.0 / relevant
						}
					}
					return false_, power
				}
				wrong, power := rate(called)
				otherWrong, otherPower := rate(knockoffs(t, s, correlation, 0.1, rand.New(rand.NewPCG(study.Seed(7000)+seed, 3))))
				for k, v := range []float64{wrong, power, power - otherPower} {
					figures[k] = append(figures[k], v)
				}
				others[0], others[1] = append(others[0], otherWrong), append(others[1], otherPower)
				if (seed+1)%5 == 0 {
					text := fmt.Sprintf("%d sets:", seed+1)
					for k, name := range []string{"false share", "power", "power less that of knockoffs"} {
						m, e := study.MeanAndError(figures[k])
						text += fmt.Sprintf(" %s %.3f ± %.3f,", name, m, e)
					}
					a, b := study.MeanAndError(others[0])
					c, d := study.MeanAndError(others[1])
					t.Logf("%s knockoffs: false share %.3f ± %.3f, power %.3f ± %.3f", text, a, b, c, d)
				}
			}
			if wrong, e := study.MeanAndError(figures[0]); wrong > 0.12+2*e {
				t.Errorf("the mean false share is %.3f ± %.3f", wrong, e)
			}
			if gain, e := study.MeanAndError(figures[2]); gain < -2*e {
				t.Errorf("power less that of knockoffs %.3f ± %.3f", gain, e)
			}
		})
	}
}
