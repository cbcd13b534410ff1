package gibbs

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestAllOdds: where all columns have odds of their own, a further one has the inclusion of its prior, and may be in.
func TestAllOdds(t *testing.T) {
	s := conform.NewSelection(30, 4, 2, 0, 1, 0.5, false, 5)
	s.Odds = []float64{0.5, 0.5, 2, 1}
	fitted := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{InclusionPrior: [2]float64{1, 4}, Slab: param.Hold(1), Odds: s.WeightOdds()}, Config{Flips: 2000, Draws: 100})
	if got := fitted.Members[0].Model.Prior.(prior.SpikeSlab).UnseenVariance(credence.Block{}); !(math.Abs(got-0.2) <= 1e-12) {
		t.Errorf("a further weight has the prior variance %v, want 0.2", got)
	}
}

// TestPriorOdds: with odds of their own for some columns the inclusions are those of all models, with the
// inclusion of the others integrated under its Beta prior by the midpoint rule, and with it held; a group's
// are those of its first column. What is told of the inclusion is its mean under that prior, given the others alone.
func TestPriorOdds(t *testing.T) {
	const p = 7
	s := conform.NewSelection(30, p, 3, 0.4, 1, 0.5, false, 5)
	s.Odds = []float64{0.01, 0, 20, 0, 0, 1, 0}
	for _, c := range []struct {
		held bool
		pair bool
	}{{true, false}, {false, false}, {true, true}, {false, true}} {
		columns := conform.Columns{Dense: p, Intercept: true}
		if c.pair {
			s.Odds[6] = 3
			columns.Together = []credence.Block{{First: 5, Count: 2}} // of which the odds 3 do not count
		}
		s.Features = columns
		spikeSlab := prior.SpikeSlab{InclusionPrior: [2]float64{1, 4}, Slab: param.Hold(1), Odds: s.WeightOdds()}
		grid := []float64{0.3}
		if c.held {
			spikeSlab.InclusionPrior, spikeSlab.Inclusion = [2]float64{}, param.Hold(0.3)
		} else {
			grid = nil
			for k := range 25 {
				grid = append(grid, (float64(k)+0.5)/25)
			}
		}
		total, mean, square, inclusion := 0.0, 0.0, 0.0, 0.0
		for _, y := range s.Target {
			mean += y / 30
		}
		for _, y := range s.Target {
			square += (y - mean) * (y - mean) / 30
		}
		want := make([]float64, p)
		var evidences []float64
		var lists [][]float64
		for _, pi := range grid {
			list, _, evidence := s.Enumerate(pi, 1, 0.5, mean, 100*square)
			if !c.held {
				evidence += 3 * math.Log(1-pi)
			}
			evidences, lists = append(evidences, evidence), append(lists, list)
		}
		for k, list := range lists {
			w := math.Exp(evidences[k] - evidences[0])
			total += w
			inclusion += w * grid[k]
			for j, v := range list {
				want[j] += w * v
			}
		}
		fitted := fitOf(t, s, likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, spikeSlab, Config{Flips: 20_000, Draws: 100})
		if got := fitted.Report.Hyper.Of("inclusion", math.NaN()); !(math.Abs(got-inclusion/total) <= 0.01) {
			t.Errorf("%+v: the inclusion is %.4f, by enumeration %.4f", c, got, inclusion/total)
		}
		for j, got := range inclusions(fitted) {
			if !(math.Abs(got-want[j]/total) <= 0.01) {
				t.Errorf("%+v: inclusion of column %d is %.4f, by enumeration %.4f", c, j+1, got, want[j]/total)
			}
		}
	}
}
