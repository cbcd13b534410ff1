package newton

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/problem"
)

// TestMix: a step that draws on three earlier points of an affine map in three dimensions, which overshoots in one of
// them and creeps in another, ends at the fixed point, however long the step; with none it is the plain step.
func TestMix(t *testing.T) {
	const d = 3
	rng := rand.New(rand.NewPCG(2, 7))
	slope := [3]float64{-1.5, 0.95, 0.4}
	fixed := [3]float64{2, 0.3, -0.7}
	n := New(&problem.Problem{Workspace: credence.NewWorkspace(2), Dims: d}, nil)
	point := func(x [3]float64) natural {
		to := x
		for k := range to {
			to[k] = fixed[k] + slope[k]*(x[k]-fixed[k])
		}
		put := func(x [3]float64) (sites, shift []float64) {
			sites, shift = make([]float64, d*d), make([]float64, d)
			sites[0], sites[1*d+2], shift[2] = x[0], x[1], x[2]
			return sites, shift
		}
		var p natural
		p.sites, p.shift = put(x)
		p.curvature, p.pull = put(to)
		return p
	}
	random := func() [3]float64 { return [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()} }
	at := &Point{Mean: []float64{0.5, -1, 2}, psi: []float64{0.1, 3, 1}}
	for _, rho := range []float64{1, 0.3} {
		var x mixture
		last := random()
		for earlier := range 4 {
			sites, h := make([]float64, d*d), make([]float64, d)
			n.mix(x, sites, h, point(last), at, rho)
			got := [3]float64{sites[0], sites[1*d+2], h[2] + sites[1*d+2]*at.Mean[1]}
			for k, v := range got {
				plain := last[k] + rho*(slope[k]-1)*(last[k]-fixed[k])
				if earlier == 0 && math.Abs(v-plain) > 1e-12 {
					t.Errorf("the plain step of length %g goes to %g, want %g", rho, v, plain)
				}
				if earlier == 3 && math.Abs(v-fixed[k]) > 1e-9 {
					t.Errorf("a step of length %g ends at %g, want %g", rho, v, fixed[k])
				}
			}
			x.keep(point(last))
			last = random()
		}
	}
	var x mixture
	for k := range 2 * deepest {
		x.keep(point([3]float64{float64(k), 0, 0}))
	}
	if len(x) != deepest || x[0].sites[0] != 2*deepest-1 || x[deepest-1].sites[0] != deepest {
		t.Errorf("%d points are kept, from %g to %g", len(x), x[0].sites[0], x[len(x)-1].sites[0])
	}
}
