package newton

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
)

// TestMix: a step that draws on three earlier points of an affine map in three dimensions, which overshoots in one of
// them and creeps in another, ends at the fixed point, however long the step; with none it is the plain step.
func TestMix(t *testing.T) {
	const d = 3
	rng := rand.New(rand.NewPCG(2, 7))
	slope := [3]float64{-1.5, 0.95, 0.4}
	fixed := [3]float64{2, 0.3, -0.7}
	n := New(&problem.Problem{Workspace: credence.NewWorkspace(2), Dims: d})
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
	at := &Point{Mean: []float64{0.5, -1, 2}, Psi: []float64{0.1, 3, 1}}
	for _, rho := range []float64{1, 0.3} {
		var x mixture
		last := random()
		for earlier := range 4 {
			sites, h := make([]float64, d*d), make([]float64, d)
			n.mix(x, sites, h, point(last), at, rho)
			got := [3]float64{sites[0], sites[1*d+2], h[2] + sites[1*d+2]*at.Mean[1]}
			for k, v := range got {
				plain := last[k] + rho*(slope[k]-1)*(last[k]-fixed[k])
				if earlier == 0 && !(math.Abs(v-plain) <= 1e-12) {
					t.Errorf("the plain step of length %g goes to %g, want %g", rho, v, plain)
				}
				if earlier == 3 && !(math.Abs(v-fixed[k]) <= 1e-9) {
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
	if kept := Depth(d); kept != d+2 || len(x) != kept || x[0].sites[0] != 2*deepest-1 || x[kept-1].sites[0] != float64(2*deepest-kept) {
		t.Errorf("%d points are kept, from %g to %g", len(x), x[0].sites[0], x[len(x)-1].sites[0])
	}
	// Points that a climb goes on from at another place are as far from it as they were from its end.
	end := point([3]float64{1, 2, 3})
	rest := point([3]float64{4, -1, 0.5})
	rest.pull = slices.Clone(rest.shift) // whose step is none
	x = mixture{end, point([3]float64{4, -1, 0.5}), rest}
	far, to := point([3]float64{7, 7, 7}), x[1]
	gap := func(a, b natural) [4]float64 {
		return [4]float64{a.sites[0] - b.sites[0], a.curvature[5] - b.curvature[5], a.shift[2] - b.shift[2], a.pull[2] - b.pull[2]}
	}
	before := gap(to, end)
	if x = x.moved(far, []float64{1, 1, 1}); len(x) != 1 {
		t.Fatalf("%d points are left", len(x))
	}
	for k, v := range gap(x[0], far) {
		if !(math.Abs(v-before[k]) <= 1e-12) {
			t.Errorf("part %d is %g from the place, was %g", k, v, before[k])
		}
	}
}

// TestShares: shares make the residual least in the metric of q: its square, summed from the definition over all
// elements of a full matrix, has no slope there.
func TestShares(t *testing.T) {
	const d = 4
	rng := rand.New(rand.NewPCG(3, 1))
	n := New(&problem.Problem{Workspace: credence.NewWorkspace(2), Dims: d})
	numbers := func(count int) []float64 {
		x := make([]float64, count)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		return x
	}
	upper := func() []float64 {
		x := numbers(d * d)
		for i := range d {
			for j := range i {
				x[i*d+j] = 0
			}
		}
		return x
	}
	random := func() natural { return natural{upper(), upper(), numbers(d), numbers(d)} }
	at, p, x := &Point{Mean: numbers(d), Psi: []float64{0.2, 3, 1, 0.7}}, random(), mixture{random(), random(), random()}
	square := func(gamma []float64) float64 {
		matrix, b := make([]float64, d*d), make([]float64, d)
		add := func(share float64, p natural) {
			for i := range d {
				b[i] += share * (p.pull[i] - p.shift[i])
				for j := range d {
					e := min(i, j)*d + max(i, j)
					matrix[i*d+j] += share * (p.curvature[e] - p.sites[e])
				}
			}
		}
		own := 1.0
		for k, g := range gamma {
			add(g, x[k])
			own -= g
		}
		add(own, p)
		sum := 0.0
		for i := range d {
			u := b[i]
			for j := range d {
				r := matrix[i*d+j]
				u -= r * at.Mean[j]
				sum += at.Psi[i] * at.Psi[j] * r * r / 2
			}
			sum += at.Psi[i] * u * u
		}
		return sum
	}
	gamma := n.shares(x, p, at)
	if len(gamma) != len(x) {
		t.Fatal(gamma)
	}
	for k := range gamma {
		moved := func(by float64) float64 {
			g := append([]float64{}, gamma...)
			g[k] += by
			return square(g)
		}
		if slope, bend := moved(1)-moved(-1), moved(1)+moved(-1)-2*square(gamma); !(math.Abs(slope) <= 1e-6*bend) {
			t.Errorf("along share %d the residual has the slope %v, and its curvature is %v", k, slope/2, bend)
		}
	}
}

// TestNatural: where the curvature is that of the sites, what a step changes of b is the slope in the mean.
func TestNatural(t *testing.T) {
	groups := []base.Group{{First: 0, Count: 1}, {First: 1, Count: 2}}
	n := New(&problem.Problem{Workspace: credence.NewWorkspace(1), Dims: 3, Groups: groups})
	sites := []float64{2, 0.5, -0.3, 0, 1, 0.2, 0, 0, 3}
	at := &Point{Mean: []float64{0.5, -1, 2}, Prior: []float64{4, 0.1}, Sites: sites}
	s := &Statistics{Curvature: sites, Gradient: []float64{0.3, 1, -2}}
	p := n.natural(at, s)
	for j, m := range at.Mean {
		want := s.Gradient[j] - m/at.Prior[min(j, 1)]
		if !(math.Abs(p.pull[j]-p.shift[j]-want) <= 1e-12) {
			t.Errorf("b of weight %d changes by %v, want %v", j, p.pull[j]-p.shift[j], want)
		}
	}
}

// TestStateFits: a state of other weights, or with half a point that steps draw on, is refused.
func TestStateFits(t *testing.T) {
	whole := func() *State {
		p := func() natural {
			return natural{make([]float64, 4), make([]float64, 4), make([]float64, 2), make([]float64, 2)}
		}
		return &State{at: Point{Mean: make([]float64, 2), Sites: make([]float64, 4), Prior: make([]float64, 1)}, numbers: make([]float64, 2), mixed: mixture{p(), p(), {}}}
	}
	n := New(&problem.Problem{Workspace: credence.NewWorkspace(1), Dims: 2, Groups: make([]base.Group, 1)})
	if !n.Fits(whole(), 0) {
		t.Error("a state does not fit its own weights")
	}
	for name, damage := range map[string]func(s *State){
		"mean": func(s *State) { s.at.Mean = nil }, "about": func(s *State) { s.about = make([]float64, 1) }, "parameters": func(s *State) { s.at.Free = make([]float64, 1) }, "sites": func(s *State) { s.at.Sites = s.at.Sites[1:] }, "prior": func(s *State) { s.at.Prior = nil },
		"step": func(s *State) { s.numbers = s.numbers[1:] }, "mixed sites": func(s *State) { s.mixed[1].sites = s.mixed[1].sites[1:] },
		"mixed curvature": func(s *State) { s.mixed[0].curvature = nil }, "mixed shift": func(s *State) { s.mixed[1].shift = nil }, "mixed pull": func(s *State) { s.mixed[1].pull = nil },
	} {
		s := whole()
		if damage(s); n.Fits(s, 0) {
			t.Errorf("%s: a damaged state fits", name)
		}
	}
}
