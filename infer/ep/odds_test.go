package ep

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestShutOut: candidates whose own odds shut them out, or that are in whatever the rows say and hardly move f, leave
// others as if their columns were not there, whether the odds that these share are at their mode or integrated over.
func TestShutOut(t *testing.T) {
	const p, out = 6, 4
	s := conform.NewSelection(40, p+out, 3, 0.2, 1, 0.5, false, 5)
	family := likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}
	for _, c := range []struct {
		treatment  param.Treatment
		odds, size float64
	}{{param.Mode, 1e-300, 1}, {param.Integrate, 1e-300, 1}, {param.Mode, 1e300, 1e-6}, {param.Integrate, 1e300, 1e-6}} {
		treatment := c.treatment
		var inclusions [2][p]float64
		var shared [2]float64
		for k, d := range []int{p, p + out} {
			x := s.Batch
			s.Features = conform.Columns{Dense: d, Intercept: true}
			spike := prior.SpikeSlab{Slab: param.Hold(1)}
			if d == p {
				x.X = linop.NewDense(s.X.Rows, p)
				for i := range x.X.Rows {
					copy(x.X.Row(i), s.X.Row(i))
				}
			} else {
				spike.Odds = make([]float64, 1+d)
				x.X = linop.NewDense(s.X.Rows, d)
				for i := range x.X.Rows {
					copy(x.X.Row(i), s.X.Row(i))
				}
				for j := range out {
					spike.Odds[1+p+j] = c.odds
					for i := range x.X.Rows {
						x.X.Row(i)[p+j] *= c.size
					}
				}
			}
			part := *s
			part.Batch = x
			fitted := fitOf(t, &part, family, spike, Config{Hyper: treatment})
			for j, name := range fitted.Report.Hyper {
				if name.Name == "inclusion" {
					shared[k] = fitted.Report.Hyper[j].Value
				}
			}
			q := fitted.Members[0].Posterior.(interface{ InclusionProbability(j int) float64 })
			for j := range p {
				inclusions[k][j] = q.InclusionProbability(1 + j)
			}
		}
		if !(shared[0] > 0) || !(math.Abs(shared[1]/shared[0]-1) <= 1e-4) {
			t.Errorf("%s, own odds %v: the shared inclusion is %v, and %v without their columns", treatment, c.odds, shared[1], shared[0])
		}
		for j, want := range inclusions[0] {
			if !(math.Abs(inclusions[1][j]-want) <= 1e-4) {
				t.Errorf("%s, own odds %v: inclusion of column %d is %v, and %v without their columns", treatment, c.odds, j, inclusions[1][j], want)
			}
		}
	}
}

// TestBlockOfOne: the covariance of one weight is its variance.
func TestBlockOfOne(t *testing.T) {
	var got [1]float64
	s := &diagonal{lambda: make([]float64, 3)}
	for j, want := range []float64{2, 3, 5} {
		if s.block(&normal{variance: []float64{2, 3, 5}}, []int{j}, got[:]); got[0] != want {
			t.Errorf("weight %d: %v, want %v", j, got[0], want)
		}
	}
}
