package fit_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// TestInclusionClaims: what inclusions of normal targets claim, against what is drawn. Of noise they are .05 on average
// at most; where few of the columns matter, or as many as the prior draws, those of a bin of claims come true as often
// as the bin says; and where most matter, predictions stand in for them. docs/selection.md has the figures.
func TestInclusionClaims(t *testing.T) {
	study.OnlyCalibration(t)
	for _, c := range []struct {
		name       string
		n, p, sets int
		relevant   func(rng *rand.Rand, p int) int
		engine     string
		most       float64 // that inclusions are on average; 0: not looked at
	}{
		{"null, 50", 80, 50, 100, none, "", 0.05}, {"null, 50, ep", 80, 50, 100, none, "ep", 0.05},
		{"sparse, 50", 80, 50, 100, few, "", 0}, {"sparse, 50, ep", 80, 50, 100, few, "ep", 0},
		{"drawn, 50", 80, 50, 100, drawn, "", 0}, {"drawn, 50, ep", 80, 50, 100, drawn, "ep", 0},
		{"dense, 50", 120, 50, 100, most, "", 0}, {"dense, 50, ep", 120, 50, 100, most, "ep", 0},
		{"null, 1000", 80, 1000, 12, none, "", 0.05}, {"null, 1000, ep", 80, 1000, 30, none, "ep", 0.05},
		{"sparse, 1000", 80, 1000, 12, few, "", 0}, {"sparse, 1000, ep", 80, 1000, 30, few, "ep", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			bins := newClaims()
			var mean, rmse, false10, called, f1, warned, settled []float64
			for set := range c.sets {
				rng := rand.New(rand.NewPCG(uint64(set), study.Seed(uint64(c.n*c.p))))
				relevant := c.relevant(rng, c.p)
				w, noise := make([]float64, c.p), 1.0
				for _, j := range rng.Perm(c.p)[:relevant] {
					w[j] = 0.7 * rng.NormFloat64()
				}
				const fresh = 200
				builder, test, y, answers := table.New(), table.New(), make([]float64, c.n), make([]float64, fresh)
				for j := range c.p {
					x := make([]float64, c.n+fresh)
					for i := range x {
						x[i] = rng.NormFloat64()
						if i < c.n {
							y[i] += x[i] * w[j]
						} else {
							answers[i-c.n] += x[i] * w[j]
						}
					}
					builder.Numbers("x"+strconv.Itoa(j), x[:c.n])
					test.Numbers("x"+strconv.Itoa(j), x[c.n:])
				}
				for i := range y {
					y[i] += noise * rng.NormFloat64()
				}
				for i := range answers {
					answers[i] += noise * rng.NormFloat64()
				}
				rows, others := must.Value(builder.Numbers("y", y).Source())(t), must.Value(test.Numbers("y", answers).Source())(t)
				fitted := must.Value(fit.Select(t.Context(), rows, fit.Options{Formula: "y ~ .", Engine: c.engine}, selection.Options{Path: selection.PathNever}))(t)
				sum, right, falsely := 0.0, 0.0, 0.0
				for _, f := range fitted.Selection.Features {
					j, _ := strconv.Atoi(f.Name[1:])
					sum += f.Inclusion / float64(c.p)
					bins.add(f.Inclusion, w[j] != 0)
					if f.Selected {
						if w[j] != 0 {
							right++
						} else {
							falsely++
						}
					}
				}
				low := *fitted.Selection
				low.Call(selection.Options{FDR: 0.1})
				lowRight, lowFalse := 0.0, 0.0
				for _, f := range low.Features {
					j, _ := strconv.Atoi(f.Name[1:])
					switch {
					case !f.Selected:
					case w[j] != 0:
						lowRight++
					default:
						lowFalse++
					}
				}
				mean, called = append(mean, sum), append(called, falsely)
				false10 = append(false10, lowFalse/math.Max(1, lowRight+lowFalse))
				f1 = append(f1, 2*right/math.Max(1, right+falsely+float64(relevant)))
				warn, rest := 0.0, 1.0
				for _, text := range fitted.Report.Warnings {
					if strings.Contains(text, "did not settle") || strings.Contains(text, "chains") {
						warn = 1
					}
					if fitted.Report.Stuck {
						rest = 0
					}
				}
				warned, settled = append(warned, warn), append(settled, rest)
				e := must.Value(score.Evaluate(t.Context(), must.Value(score.New(fitted, score.Options{}))(t), others))(t)
				rmse = append(rmse, float64(e.RMSE))
			}
			tell := func(list []float64) string {
				m, s := study.MeanAndError(list)
				return strconv.FormatFloat(m, 'f', 4, 64) + " ± " + strconv.FormatFloat(s, 'f', 4, 64)
			}
			t.Logf("%d sets: mean inclusion %s, false calls %s, F1 %s, share of false ones under fdr=.1 %s, RMSE %s, warned of %s, sites at rest %s", c.sets,
				tell(mean), tell(called), tell(f1), tell(false10), tell(rmse), tell(warned), tell(settled))
			t.Log(bins)
			if average, error := study.MeanAndError(mean); c.most > 0 && average > c.most+2*error {
				t.Errorf("inclusions of noise are %.3f ± %.3f on average", average, error)
			}
			if share, error := study.MeanAndError(false10); c.p == 50 && share > 0.1+2*error {
				t.Errorf("of what --fdr 0.1 calls %.3f ± %.3f are false", share, error)
			}
			for k, n := range bins.count {
				if gap := math.Abs(bins.claimed[k]-bins.came[k]) / n; n >= 50 && strings.Contains(c.name, ", 50") && (strings.HasPrefix(c.name, "sparse") || strings.HasPrefix(c.name, "drawn")) && gap > 0.1 {
					t.Errorf("claims of %.3f come true in %.3f of %.0f", bins.claimed[k]/n, bins.came[k]/n, n)
				}
			}
		})
	}
}

func none(*rand.Rand, int) int { return 0 }

func few(rng *rand.Rand, _ int) int { return 1 + rng.IntN(10) }

func most(_ *rand.Rand, p int) int { return p * 4 / 5 }

// drawn is a number from the prior, Beta(1, 9) of π.
func drawn(rng *rand.Rand, p int) (count int) {
	pi := 1 - math.Pow(rng.Float64(), 1.0/9)
	for range p {
		if rng.Float64() < pi {
			count++
		}
	}
	return count
}

// claims counts inclusions by bins, and how many came true.
type claims struct{ claimed, came, count [10]float64 }

func newClaims() *claims { return &claims{} }

var claimEnds = [10]float64{0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 1.01}

func (c *claims) add(inclusion float64, is bool) {
	k := 0
	for inclusion >= claimEnds[k] {
		k++
	}
	c.claimed[k] += inclusion
	c.count[k]++
	if is {
		c.came[k]++
	}
}

func (c *claims) String() string {
	var s strings.Builder
	for k, n := range c.count {
		if n > 0 {
			s.WriteString(strconv.FormatFloat(c.claimed[k]/n, 'f', 3, 64) + " → " + strconv.FormatFloat(c.came[k]/n, 'f', 3, 64) + " (" + strconv.Itoa(int(n)) + ")  ")
		}
	}
	return s.String()
}
