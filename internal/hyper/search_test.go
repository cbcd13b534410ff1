package hyper

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/internal/conform/must"
)

// toy is a log density of θ with its gradient, whose moments are those of a weight for every coordinate: mean θ,
// variance 1 + θ².
type toy struct {
	density func(theta []float64) (value float64, gradient []float64)
	hessian func(theta []float64) *mat.SymDense // nil: by differences
	order   func(sets int) []int                // of the evaluations of a set
	counts  [4]int                              // of evaluations, by what they are for
	memory  Point
	silent  bool // calls nothing
}

func (m *toy) moments(theta []float64) {
	m.memory.Mean, m.memory.Variance, m.memory.Linear = m.memory.Mean[:0], m.memory.Variance[:0], m.memory.Linear[:0]
	for _, v := range theta {
		m.memory.Mean, m.memory.Variance, m.memory.Linear = append(m.memory.Mean, v), append(m.memory.Variance, 1+v*v), append(m.memory.Linear, v)
	}
}

func (m *toy) Evaluate(ctx context.Context, from *Evaluation, thetas [][]float64, to Precision, do func(int, *Evaluation) error) error {
	order := make([]int, len(thetas))
	for k := range order {
		order[k] = k
	}
	if m.order != nil {
		order = m.order(len(thetas))
	}
	for _, k := range order {
		if err := ctx.Err(); err != nil {
			return err
		}
		if m.silent {
			continue
		}
		m.counts[to]++
		e := &Evaluation{}
		m.moments(thetas[k])
		e.Point = m.memory
		if e.LogDensity, e.Gradient = m.density(thetas[k]); to == ForNode {
			e.Gradient = nil
		} else {
			e.Linear = nil
		}
		if err := do(k, e); err != nil {
			return err
		}
		for _, list := range [][]float64{e.Mean, e.Variance, e.Linear} { // used again
			for j := range list {
				list[j] = math.NaN()
			}
		}
	}
	return nil
}

func (m *toy) curvature(_ context.Context, at *Evaluation) (*mat.SymDense, Slopes, error) {
	p := len(at.Theta)
	s := Slopes{Mean: make([]float64, p*p), Variance: make([]float64, p*p)}
	for k, v := range at.Theta {
		s.Mean[k*p+k], s.Variance[k*p+k] = 1, 2*v
	}
	return m.hessian(at.Theta), s, nil
}

func (m *toy) from(theta ...float64) *Evaluation {
	e := &Evaluation{Theta: theta}
	e.LogDensity, e.Gradient = m.density(theta)
	return e
}

// spreads has no covariance to add to.
func spreads([]float64, float64, []float64) {}

var rules = Rules{Weights: 200, Steps: 30, Width: 0.02, Near: 0.05, Enough: 1e-7, Spread: spreads}

// quadratic is −½ (θ − at)ᵀ H (θ − at).
func parabola(at []float64, h *mat.SymDense) func([]float64) (float64, []float64) {
	return func(theta []float64) (float64, []float64) {
		gap, slope := mat.NewVecDense(len(at), nil), mat.NewVecDense(len(at), nil)
		for k, v := range theta {
			gap.SetVec(k, v-at[k])
		}
		slope.MulVec(h, gap)
		slope.ScaleVec(-1, slope)
		return mat.Dot(slope, gap) / 2, slope.RawVector().Data
	}
}

// banana is x ~ N(0, 0.3²), y | x ~ N(x², 0.5²), with the constant of neither.
func banana(theta []float64) (float64, []float64) {
	x, y := theta[0]/0.09, (theta[1]-theta[0]*theta[0])/0.25
	return -theta[0]*x/2 - (theta[1]-theta[0]*theta[0])*y/2, []float64{-x + 2*theta[0]*y, -y}
}

// hills are two normal ones of standard deviation 1, that at 0 lower than that at apart.
func hills(apart, higher float64) func([]float64) (float64, []float64) {
	return func(theta []float64) (float64, []float64) {
		u := theta[0]
		a, b := math.Exp(-u*u/2), math.Exp(higher-(u-apart)*(u-apart)/2)
		return math.Log(a + b), []float64{(-u*a - (u-apart)*b) / (a + b)}
	}
}

func searched(t *testing.T, r Rules, m *toy, from ...float64) (*Maximum, *Integrated) {
	t.Helper()
	if m.hessian != nil {
		r.Curvature = m.curvature
	}
	top := must.Value(r.Mode(context.Background(), m, m.from(from...)))(t)
	all := must.Value(r.Integrate(context.Background(), m, top))(t)
	return top, all
}

// TestNormal: of a normal density mode, curvature and axes are found in closed form and by differences, from near by
// and from afar by steps that begin at one and a half standard deviations and double, and the sums are its moments.
func TestNormal(t *testing.T) {
	h := mat.NewSymDense(2, []float64{5, 2, 2, 4})
	var inverse mat.Dense
	must.Succeed(t, inverse.Inverse(h))
	at := []float64{0.7, -1.2}
	for _, closed := range []bool{false, true} {
		for _, far := range []float64{0, 0.01, 6} {
			m, visited := &toy{}, [][]float64(nil)
			m.density = func(theta []float64) (float64, []float64) {
				visited = append(visited, slices.Clone(theta))
				return parabola(at, h)(theta)
			}
			if closed {
				m.hessian = func([]float64) *mat.SymDense { return h }
			}
			top, all := searched(t, rules, m, at[0]+far, at[1]-far/2)
			evidence, within := math.Log(2*math.Pi)-math.Log(16)/2, 0.0
			if !closed && far == 0.01 {
				within = 0.02 // what is taken by differences near the mode stays
			}
			for k := range at {
				near(t, "mode", top.At.Theta[k], at[k], 1e-8)
				near(t, "SD", top.Axes.SD(k), math.Sqrt(inverse.At(k, k)), 1e-8)
				near(t, "mean", all.Mean[k], at[k], 1e-8)
				near(t, "linear number", all.Linear[k], at[k], 1e-8)
				near(t, "variance", all.Variance[k], 1+at[k]*at[k]+2*inverse.At(k, k), 1e-8) // E(1 + θ²) + var θ
				near(t, "slope of a mean", top.Slopes.Mean[k*2+k], 1, 1e-8)
				near(t, "slope of a variance", top.Slopes.Variance[k*2+k], 2*at[k], 1e-8+within)
				near(t, "slope of another", top.Slopes.Mean[k*2+1-k], 0, 1e-8)
			}
			near(t, "log evidence", all.LogDensity, evidence, 1e-8)
			near(t, "Laplace", top.Axes.Laplace(), evidence, 1e-8)
			if all.Outcome != Summed || all.Dropped != 0 || all.Mode != top || top.Left > rules.Enough {
				t.Errorf("%+v", all)
			}
			if far == 0 && m.counts[ForMode] != 0 || m.counts[ForNode] != 9 || !closed && far == 0 && m.counts[ForDifferences] != 4 {
				t.Errorf("closed %t, %v away: %v evaluations", closed, far, m.counts)
			}
			if closed && far == 6 {
				for k, want := range []float64{1.5, 3} {
					v, _ := parabola(visited[k], h)(visited[k+1])
					near(t, "step", math.Sqrt(-2*v), want, 1e-9)
				}
			}
		}
	}
}

// TestBanana: the mode of a curved density is found from its tail, and its mass by the axes; the curvature of
// differences stays near the mode, and one in closed form is that of the mode.
func TestBanana(t *testing.T) {
	for _, closed := range []bool{false, true} {
		m := &toy{density: banana}
		if closed {
			m.hessian = func(theta []float64) *mat.SymDense {
				x, y := theta[0], theta[1]
				return mat.NewSymDense(2, []float64{1/0.09 + (12*x*x-4*y)/0.25/2, -2 * x / 0.25, -2 * x / 0.25, 4})
			}
		}
		top, all := searched(t, rules, m, 1, -1.5)
		near(t, "x", top.At.Theta[0], 0, 1e-7)
		near(t, "y", top.At.Theta[1], 0, 1e-7)
		near(t, "log evidence", all.LogDensity, math.Log(2*math.Pi*0.3*0.5), 0.04)
		near(t, "SD of x", top.Axes.SD(0), 0.3, map[bool]float64{true: 1e-6, false: 0.02}[closed])
	}
}

// TestTwoModes: from a node that is more likely than the mode the search goes on, as often as the rules allow; without
// a climb such nodes are left out.
func TestTwoModes(t *testing.T) {
	m := &toy{density: hills(4, 3)}
	r := rules
	climbs, wanted := 0, []int{1} // no coordinate of the first mode
	r.Marginals = func() []int { return wanted }
	r.Climb = func(_ context.Context, _ *Evaluation, theta []float64) (*Evaluation, error) {
		climbs++
		wanted = []int{0}
		return m.from(theta...), nil
	}
	low, all := searched(t, r, m, -0.1)
	if len(all.Marginals) != 1 || all.Marginals[0].Coordinate != 0 {
		t.Errorf("marginals %+v of the mode where the climb ended", all.Marginals)
	}
	r.Marginals = nil
	if near(t, "the lower mode", low.At.Theta[0], 0.03, 0.05); climbs != 1 || all.Outcome != Summed || !(all.Mode.At.LogDensity > low.At.LogDensity+2) {
		t.Errorf("%d climbs, %+v", climbs, all)
	}
	near(t, "the higher mode", all.Mode.At.Theta[0], 4, 0.01)
	near(t, "log evidence", all.LogDensity, math.Log(math.Sqrt(2*math.Pi)*(1+math.Exp(3))), 0.1)

	climbs, r.Climb = 0, func(context.Context, *Evaluation, []float64) (*Evaluation, error) { climbs++; return m.from(-0.1), nil }
	_, all = searched(t, r, m, -0.1)
	if climbs != 3 || all.Outcome != AtMode || !strings.Contains(all.Why, "more than one mode") || all.Mode.At.Theta[0] > 1 {
		t.Errorf("%d climbs, %+v", climbs, all)
	}
	wrong := errors.New("no way up")
	r.Climb = func(context.Context, *Evaluation, []float64) (*Evaluation, error) { return nil, wrong }
	if _, err := r.Integrate(context.Background(), m, low); !errors.Is(err, wrong) {
		t.Error(err)
	}

	r.Climb = nil
	_, all = searched(t, r, m, -0.1)
	if all.Outcome != Summed || all.Dropped != 2 || all.Mode.At.Theta[0] > 1 || !(math.Abs(all.Mean[0]) < 1) {
		t.Errorf("%+v", all)
	}
}

// TestBounds: a step beyond where the density is a number is halved, and nodes there weigh nothing.
func TestBounds(t *testing.T) {
	m := &toy{density: func(theta []float64) (float64, []float64) {
		if theta[0] <= 0 {
			return math.NaN(), []float64{math.NaN()}
		}
		return 2*math.Log(theta[0]) - 10*theta[0], []float64{2/theta[0] - 10} // Gamma(3, 10): mode 0.2, SD √2/10 there
	}}
	top, all := searched(t, rules, m, 0.9) // the first step would end at −0.06
	near(t, "mode", top.At.Theta[0], 0.2, 1e-6)
	if all.Outcome != Summed || all.Dropped != 1 || math.IsNaN(all.Mean[0]) || math.IsNaN(all.LogDensity) {
		t.Errorf("%+v", all)
	}
	near(t, "log evidence", all.LogDensity, math.Log(2e-3), 0.05)
}

// TestOrder: in whatever order a set is evaluated, the bytes are the same.
func TestOrder(t *testing.T) {
	orders := map[string]func(int) []int{
		"backward": func(n int) []int {
			out := make([]int, n)
			for k := range out {
				out[k] = n - 1 - k
			}
			return out
		},
		"by threes": func(n int) (out []int) {
			for from := range 3 {
				for k := from; k < n; k += 3 {
					out = append(out, k)
				}
			}
			return out
		},
	}
	wantTop, want := searched(t, rules, &toy{density: banana}, 0.4, -0.5)
	for name, order := range orders {
		gotTop, got := searched(t, rules, &toy{density: banana, order: order}, 0.4, -0.5)
		for what, pair := range map[string][2][]float64{
			"mode": {gotTop.At.Theta, wantTop.At.Theta}, "slopes": {gotTop.Slopes.Variance, wantTop.Slopes.Variance},
			"mean": {got.Mean, want.Mean}, "variance": {got.Variance, want.Variance}, "linear numbers": {got.Linear, want.Linear},
			"fourth cumulants": {got.Fourth, want.Fourth}, "evidence": {{got.LogDensity}, {want.LogDensity}},
		} {
			if !slices.Equal(pair[0], pair[1]) {
				t.Errorf("%s: the %s is %v, in order %v", name, what, pair[0], pair[1])
			}
		}
	}
}

// TestNoAnswer: an interruption ends the search and the sums, and so does a curvature that is not finite, or a model
// that leaves values out.
func TestNoAnswer(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	m := &toy{density: banana}
	top := must.Value(rules.Mode(ctx, m, m.from(0.4, -0.5)))(t)
	cancel()
	if _, err := rules.Mode(ctx, m, m.from(0.4, -0.5)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := rules.Integrate(ctx, m, top); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	m = &toy{density: func([]float64) (float64, []float64) { return 0, []float64{math.NaN()} }}
	if _, err := rules.Mode(context.Background(), m, m.from(0)); err == nil || !strings.Contains(err.Error(), "not finite") {
		t.Error(err)
	}
	m = &toy{density: banana, silent: true}
	if _, err := rules.Mode(context.Background(), m, m.from(0.4, -0.5)); err == nil || !strings.Contains(err.Error(), "0 of 4 values") {
		t.Error(err)
	}
}

// TestStepsEnd: no more steps are taken than the rules have, and the axes are those of where they end; one step is
// taken at the mode where its evaluation is finer; with no hyper-parameters there is nothing to do.
func TestStepsEnd(t *testing.T) {
	h := mat.NewSymDense(1, []float64{1})
	m := &toy{density: parabola([]float64{0}, h)}
	r := rules
	r.Steps = 3
	top, _ := searched(t, r, m, 20) // by 1.5, 3 and 6
	near(t, "θ", top.At.Theta[0], 9.5, 1e-8)
	near(t, "what is left", top.Left, 9.5, 1e-8)
	near(t, "θ of the axes", top.Axes.Theta[0], 9.5, 1e-8)
	near(t, "density of the axes", top.Axes.LogDensity, -9.5*9.5/2, 1e-8)

	m = &toy{density: parabola([]float64{0}, h)}
	r.Polish, r.Weights = true, 301
	searched(t, r, m, 0)
	// three nodes of many weights, one of them the mode
	if m.counts != [4]int{ForDifferences: 2, ForMode: 1, ForNode: 3} {
		t.Errorf("%v evaluations", m.counts)
	}

	m = &toy{density: func([]float64) (float64, []float64) { return 7, nil }}
	_, all := searched(t, rules, m)
	if all.Outcome != Skipped || all.LogDensity != 7 {
		t.Errorf("%+v", all)
	}
}

// TestOutcomes: integration is left out where it changes next to nothing, is done by slopes where there are many
// hyper-parameters, and by sums where slopes are not known.
func TestOutcomes(t *testing.T) {
	at := make([]float64, ThreeNodeLimit+1)
	h := mat.NewSymDense(len(at), nil)
	for k := range at {
		at[k] = float64(k) / 50
		h.SetSym(k, k, 4+float64(k%3))
		h.SetSym(k, (k+1)%len(at), 0.5)
	}
	var inverse mat.Dense
	must.Succeed(t, inverse.Inverse(h))
	m := &toy{density: parabola(at, h)}
	_, all := searched(t, rules, m, at...)
	if all.Outcome != Expanded || m.counts[ForNode] != 1 {
		t.Errorf("outcome %v, %v evaluations", all.Outcome, m.counts)
	}
	for k, v := range at {
		near(t, "variance", all.Variance[k], 1+v*v+inverse.At(k, k), 1e-8)
		near(t, "fourth cumulant", all.Fourth[k], 3*4*v*v*inverse.At(k, k), 1e-8)
	}
	near(t, "log evidence", all.LogDensity, all.Mode.Axes.Laplace(), 1e-15)
	r := rules
	r.Weights = 0 // slopes of none
	if _, all = searched(t, r, m, at...); all.Outcome != Summed {
		t.Errorf("outcome %v", all.Outcome)
	}

	m = &toy{density: parabola([]float64{0.3}, mat.NewSymDense(1, []float64{1e6}))}
	if _, all = searched(t, rules, m, 0.3); all.Outcome != Skipped || m.counts[ForNode] != 1 {
		t.Errorf("outcome %v, %v evaluations", all.Outcome, m.counts)
	}
	near(t, "variance", all.Variance[0], 1.09, 1e-12)
}

// TestDifferences: central differences of the gradient of a quadratic are its matrix, those of a cubic term vanish, and
// every coordinate is moved by the width alone, up and then down.
func TestDifferences(t *testing.T) {
	want, theta := mat.NewSymDense(3, []float64{2, -0.5, 0.3, -0.5, 1, 0.7, 0.3, 0.7, 4}), []float64{0.4, -1, 2}
	var visited [][]float64
	m := &toy{density: func(at []float64) (float64, []float64) {
		visited = append(visited, slices.Clone(at))
		slope := mat.NewVecDense(3, nil)
		slope.MulVec(want, mat.NewVecDense(3, at))
		slope.ScaleVec(-1, slope)
		for i, x := range at {
			slope.SetVec(i, slope.AtVec(i)+(x-theta[i])*(x-theta[i]))
		}
		return 0, slope.RawVector().Data
	}}
	from := m.from(theta...)
	got, _, err := rules.Differences(context.Background(), m, from)
	must.Succeed(t, err)
	for i, at := range visited[1:] {
		for j, x := range at {
			moved := 0.0
			if j == i/2 {
				moved = rules.Width * float64(1-2*(i%2))
			}
			near(t, "coordinate", x, theta[j]+moved, 1e-15)
			near(t, "curvature", got.At(j, i/2), want.At(j, i/2), 1e-12)
		}
	}
}

// TestLaw: expectations of squares are those of a normal density where θ is summed over, expanded in or left out, there
// is none without a law, and a mean of exponentials is not below that at the mean.
func TestLaw(t *testing.T) {
	squares := func(theta []float64) (law []float64) {
		for _, u := range theta {
			law = append(law, u*u)
		}
		return append(law, 7)
	}
	many := make([]float64, ThreeNodeLimit+2)
	wide := mat.NewSymDense(len(many), nil)
	for k := range many {
		many[k] = float64(k) / 50
		wide.SetSym(k, k, 4)
		wide.SetSym(k, (k+1)%len(many), 0.5)
	}
	for _, c := range []struct {
		at   []float64
		h    *mat.SymDense
		want Outcome
	}{
		{[]float64{0.7, -1.2}, mat.NewSymDense(2, []float64{5, 2, 2, 4}), Summed},
		{many, wide, Expanded},
		{[]float64{0.3}, mat.NewSymDense(1, []float64{1e6}), Skipped},
	} {
		r := rules
		if _, all := searched(t, r, &toy{density: parabola(c.at, c.h)}, c.at...); all.Law != nil {
			t.Errorf("a law of nothing: %v", all.Law)
		}
		r.Law = squares
		_, all := searched(t, r, &toy{density: parabola(c.at, c.h)}, c.at...)
		var inverse mat.Dense
		must.Succeed(t, inverse.Inverse(c.h))
		if all.Outcome != c.want || len(all.Law) != len(c.at)+1 {
			t.Fatalf("outcome %v, %d expectations", all.Outcome, len(all.Law))
		}
		for k, v := range c.at {
			near(t, "mean square", all.Law[k], v*v+inverse.At(k, k), 1e-8)
		}
		near(t, "constant", all.Law[len(c.at)], 7, 1e-12)
		near(t, "linear number", all.Mean[0], c.at[0], 1e-8)
	}
	r := rules
	r.Law = func(theta []float64) []float64 { return []float64{math.Exp(2 * theta[0])} }
	_, all := searched(t, r, &toy{density: banana}, 0.1, 0.1)
	if least := math.Exp(2 * all.Theta[0]); all.Law[0] < least {
		t.Errorf("the mean %v of exponentials is below %v", all.Law[0], least)
	}
}
