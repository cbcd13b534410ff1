package score_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// gradedSet are rows of standardised columns with grades, and the cutpoints and slopes that they come from.
type gradedSet struct {
	x         [][]float64 // columns
	y         []float64
	cutpoints []float64
	slopes    []float64
}

// drawGraded draws the rows of a set with truths from the priors of a fit, or with stated ones; false where a grade
// has no row, so that a fit would know of fewer.
func drawGraded(rng *rand.Rand, n, columns int, cutpoints, slopes []float64, grades int) (s gradedSet, ok bool) {
	s = gradedSet{cutpoints: cutpoints, slopes: slopes, x: make([][]float64, columns)}
	if cutpoints == nil {
		b := likelihood.PriorTail(likelihood.Ordinal{})
		x := distuv.Beta{Alpha: 1, Beta: b, Src: rng}.Rand()
		tau := likelihood.LatentScale(likelihood.Ordinal{}) * math.Sqrt(x/(1-x)/float64(columns))
		for range columns {
			s.slopes = append(s.slopes, tau*rng.NormFloat64())
		}
		shares, total, below := make([]float64, grades), 0.0, 0.0
		for k := range shares {
			shares[k] = rng.ExpFloat64()
			total += shares[k]
		}
		for _, share := range shares[:grades-1] {
			below += share / total
			s.cutpoints = append(s.cutpoints, special.Logit(below))
		}
	}
	f := make([]float64, n)
	for j := range s.x {
		s.x[j] = make([]float64, n)
		mean, square := 0.0, 0.0
		for i := range n {
			s.x[j][i] = rng.NormFloat64()
			mean += s.x[j][i] / float64(n)
		}
		for i := range n {
			s.x[j][i] -= mean
			square += s.x[j][i] * s.x[j][i] / float64(n)
		}
		for i := range n {
			s.x[j][i] /= math.Sqrt(square)
			f[i] += s.slopes[j] * s.x[j][i]
		}
	}
	family, seen := likelihood.Ordinal{Cutpoints: param.List{Values: s.cutpoints}}, map[float64]bool{}
	for i := range n {
		s.y = append(s.y, family.Sample(rng, f[i]))
		seen[s.y[i]] = true
	}
	return s, len(seen) == len(s.cutpoints)+1
}

// fit fits the set.
func (s *gradedSet) fit(t *testing.T) *credence.Fitted {
	t.Helper()
	rows, names := table.New().Numbers("y", s.y), []string{}
	for j, x := range s.x {
		names = append(names, "x"+strconv.Itoa(j))
		rows = rows.Numbers(names[j], x)
	}
	return fitted(t, must.Value(rows.Source())(t), fit.Options{Formula: "y ~ " + strings.Join(names, " + "), Family: "ordinal", Threads: 1})
}

// TestCutpointsAreHeld: 90 % intervals of cutpoints hold the truth .86 to .94 of the time where it comes from the
// priors, and at least .84 where it is fixed.
func TestCutpointsAreHeld(t *testing.T) {
	sets, sizes := 10, []int{20, 100}
	if study.Calibration() {
		sets, sizes = 400, []int{20, 50, 100, 400, 1000}
	} else if testing.Short() {
		t.Skip("a simulation")
	}
	fixed := map[int][][2][]float64{
		3: {{{-1, 1}, {0.5, 0}}, {{1, 3}, {1, -1}}},
		5: {{{-2, -0.5, 0.5, 2}, {0.5, 0}}, {{-1, -0.8, 1, 3}, {1, -1}}},
	}
	type told struct{ held, sets float64 }
	var drawn, stated told // truths from the priors, and fixed ones
	check := func(t *testing.T, of told, least, most, errors float64) {
		t.Helper()
		share, slack := of.held/of.sets, errors*math.Sqrt(0.09/of.sets)
		if share < least-slack || share > most+slack {
			t.Errorf("%.3f of the intervals of %g sets hold", share, of.sets)
		}
	}
	for _, grades := range []int{3, 5} {
		for _, n := range sizes {
			for truth := -1; truth < len(fixed[grades]); truth++ {
				t.Run(fmt.Sprintf("%d grades, %d rows, truth %d", grades, n, truth), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(study.Seed(uint64(n)), uint64(10*grades+truth)))
					held, square, count := make([]float64, grades-1), make([]float64, grades-1), 0
					for tries := 0; count < sets && tries < 20*sets; tries++ {
						var s gradedSet
						var ok bool
						if truth < 0 {
							s, ok = drawGraded(rng, n, 2, nil, nil, grades)
						} else {
							s, ok = drawGraded(rng, n, 2, fixed[grades][truth][0], fixed[grades][truth][1], grades)
						}
						if !ok {
							continue
						}
						count++
						for k, term := range terms(t, s.fit(t), score.TermOptions{})[:grades-1] {
							if c := s.cutpoints[k]; float64(term.Lower) <= c && c <= float64(term.Upper) {
								held[k]++
							}
							z := (s.cutpoints[k] - term.Mean) / float64(term.SD)
							square[k] += z * z
						}
					}
					text, all := "", 0.0
					for k := range held {
						all += held[k] / float64(count*len(held))
						text += fmt.Sprintf(" %.3f (%.2f)", held[k]/float64(count), math.Sqrt(square[k]/float64(count)))
					}
					t.Logf("%.3f of %d sets held:%s", all, count, text)
					cell, of, least, most := told{all * float64(count), float64(count)}, &drawn, 0.86, 0.94
					if truth >= 0 {
						of, least, most = &stated, 0.84, 1.0
					}
					of.held, of.sets = of.held+cell.held, of.sets+cell.sets
					if study.Calibration() {
						check(t, cell, least, most, 2)
					}
				})
			}
		}
	}
	check(t, drawn, 0.86, 0.94, 3)
	check(t, stated, 0.84, 1, 3)
}
