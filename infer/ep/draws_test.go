package ep

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestDraws: where one cluster holds all candidates, what is left of q without their sites is the likelihood, and
// draws have the inclusions of enumeration, though those of the sites have not. A cluster of one has its own
// inclusion, and is drawn apart from others.
func TestDraws(t *testing.T) {
	for _, c := range []struct {
		n, p        int
		correlation float64
		groups      bool
		odds        []float64
	}{{30, 8, 0.9, false, nil}, {6, 8, 0.9, false, nil}, {14, 13, 0.95, false, nil}, {30, 9, 0.9, true, nil}, {7, 9, 0.9, true, nil}, {40, 8, 0, false, nil},
		{30, 8, 0.9, false, []float64{3, 0, 0.1, 0, 10, 0, 0, 0.3}}} {
		s := conform.NewSelection(c.n, c.p, 3, c.correlation, 1, 0.5, false, 8)
		if c.groups {
			f := s.Features.(conform.Columns)
			f.Together = []credence.Block{{First: 1, Count: 3}}
			s.Features = f
		}
		p0 := held(0.3, 1)
		if s.Odds = c.odds; c.odds != nil {
			p0.Odds = s.WeightOdds()
		}
		fitted := fitOf(t, s, likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, p0, Config{})
		q, draws := fitted.Members[0].Posterior.(credence.Selector), fitted.Inclusions
		mean, sd := location(s)
		want, _, _ := s.Enumerate(0.3, 1, 0.5, mean, 100*sd*sd)
		for k, j := range draws.Weights {
			share := 0.0
			for i := range draws.Count {
				if draws.In[i*len(draws.Weights)+k] {
					share += 1 / float64(draws.Count)
				}
			}
			tolerance := 0.01 // each model has a whole number of draws
			if c.p > enumerated {
				tolerance = 0.06
			}
			if c.correlation == 0 {
				want[j-1] = q.InclusionProbability(j)
			}
			if !(math.Abs(share-want[j-1]) <= tolerance) {
				t.Errorf("%+v: weight %d is in %.4f of the draws, and should be in %.4f", c, j, share, want[j-1])
			}
			for other := 0; c.correlation == 0 && other < k; other++ {
				both, others := 0.0, 0.0
				for i := range draws.Count {
					in := draws.In[i*len(draws.Weights):]
					if in[other] {
						others++
						if in[k] {
							both++
						}
					}
				}
				// six standard errors of how often both are in, of samples without replacement
				n := float64(draws.Count)
				if expected := others * share; !(math.Abs(both-expected) <= 1+6*math.Sqrt(expected*(1-share)*(1-others/n))) {
					t.Errorf("weights %d and %d are both in %v draws, and should be in %.1f", draws.Weights[other], j, both, expected)
				}
			}
		}
	}
}
