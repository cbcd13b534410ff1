package lbfgs

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// rosenbrock is Σ 100 (x_{i+1} − x_i²)² + (1 − x_i)², least at ones.
func rosenbrock(x, g []float64) (float64, error) {
	clear(g)
	sum := 0.0
	for i := range len(x) - 1 {
		a, b := x[i+1]-x[i]*x[i], 1-x[i]
		sum += 100*a*a + b*b
		g[i] += -400*a*x[i] - 2*b
		g[i+1] += 200 * a
	}
	return sum, nil
}

func TestRosenbrock(t *testing.T) {
	for _, n := range []int{2, 10} {
		x := make([]float64, n)
		for i := range x {
			x[i] = []float64{-1.2, 1}[i%2]
		}
		result, err := Minimise(x, rosenbrock, Config{Tolerance: 1e-14})
		if err != nil || !result.Converged {
			t.Fatalf("n = %d: %+v, %v", n, result, err)
		}
		for i, v := range x {
			// f is flat to 1e-14 within about 1e-7·√(condition 2,500) of the minimum.
			if !(math.Abs(v-1) <= 1e-5) {
				t.Errorf("n = %d: x[%d] is %v, want 1 (%+v)", n, i, v, result)
			}
		}
		if result.Evaluations > 2*result.Iterations+5 {
			t.Errorf("n = %d: %d evaluations for %d iterations", n, result.Evaluations, result.Iterations)
		}
	}
}

// TestBoundedQuadratic checks the conditions of Karush, Kuhn and Tucker, which
// are necessary and sufficient for a convex quadratic in a box.
func TestBoundedQuadratic(t *testing.T) {
	for _, copies := range []int{1, 25} { // by loops, and by kernels
		boundedQuadratic(t, copies)
	}
}

func boundedQuadratic(t *testing.T, copies int) {
	// f = ½ Σ k_i (x_i − c_i)² + ½ (Σ x_i)²
	k := slices.Repeat([]float64{1, 10, 100, 1000}, copies)
	c := slices.Repeat([]float64{3, -2, 0.5, 0.1}, copies)
	lower, upper := slices.Repeat([]float64{-1, -1, -1, math.Inf(-1)}, copies), slices.Repeat([]float64{1, 1, 0.3, math.Inf(1)}, copies)
	objective := func(x, g []float64) (float64, error) {
		total, f := 0.0, 0.0
		for _, v := range x {
			total += v
		}
		for i, v := range x {
			f += k[i] * (v - c[i]) * (v - c[i]) / 2
			g[i] = k[i]*(v-c[i]) + total
		}
		return f + total*total/2, nil
	}
	for _, curvature := range [][]float64{nil, k} {
		x := make([]float64, len(k))
		result, err := Minimise(x, objective, Config{Memory: 3, Lower: lower, Upper: upper, Curvature: curvature, Tolerance: 1e-13})
		if err != nil || !result.Converged {
			t.Fatalf("%+v, %v", result, err)
		}
		g := make([]float64, len(k))
		_, _ = objective(x, g)
		for i := range x {
			inside := x[i] > lower[i] && x[i] < upper[i]
			switch {
			case x[i] < lower[i] || x[i] > upper[i],
				inside && math.Abs(g[i]) > 1e-5,
				x[i] == lower[i] && g[i] < 0, x[i] == upper[i] && g[i] > 0:
				t.Errorf("x = %v with gradient %v violates the optimality conditions at %d", x, g, i)
			}
		}
	}
}

func TestStepsBackFromOutsideTheDomain(t *testing.T) {
	// −log x + x is least at 1 and undefined below 0; the first step overshoots.
	objective := func(x, g []float64) (float64, error) {
		if x[0] <= 0 {
			return math.NaN(), nil
		}
		g[0] = 1 - 1/x[0]
		return x[0] - math.Log(x[0]), nil
	}
	x := []float64{40}
	result, err := Minimise(x, objective, Config{Curvature: []float64{1e-6}, Tolerance: 1e-15})
	if err != nil || !(math.Abs(x[0]-1) <= 1e-6) {
		t.Fatalf("ended at %v, %+v, %v", x, result, err)
	}
}

func TestLimitsAndErrors(t *testing.T) {
	x := []float64{-1.2, 1}
	calls := 0
	result, err := Minimise(x, rosenbrock, Config{MaxIterations: 3, Each: func(int, float64) { calls++ }})
	if err != nil || result.Converged || result.Iterations != 3 || calls != 3 {
		t.Fatalf("three iterations ended with %+v after %d calls, %v", result, calls, err)
	}
	stop := errors.New("stop")
	_, err = Minimise(x, func(x, g []float64) (float64, error) { return 0, stop }, Config{})
	if !errors.Is(err, stop) {
		t.Fatalf("the error of the objective came back as %v", err)
	}
	result, err = Minimise(nil, func(x, g []float64) (float64, error) { return 7, nil }, Config{})
	if err != nil || !result.Converged || result.F != 7 {
		t.Fatalf("nothing to minimise: %+v, %v", result, err)
	}
	y := []float64{0}
	_, err = Minimise(y, func(x, g []float64) (float64, error) { g[0] = -1; return -x[0], nil },
		Config{MaxIterations: 1, MaxStep: 0.25, Lower: []float64{-1}, Upper: []float64{9}})
	if err != nil || y[0] != 0.25 {
		t.Fatalf("a step limited to 0.25 went to %v, %v", y[0], err)
	}
}

// Where f is far more coarsely rounded than its gradient, a line search ends when what its bracket leaves to gain no
// longer counts, and does not halve it down to its own rounding.
func TestCoarselyRounded(t *testing.T) {
	const grain = 0.1
	x := []float64{1, 1}
	result, err := Minimise(x, func(x, g []float64) (float64, error) {
		g[0], g[1] = x[0], 100*x[1]
		f := (x[0]*x[0] + 100*x[1]*x[1]) / 2
		return f + grain*math.Sin(1e9*(x[0]+x[1])), nil
	}, Config{Tolerance: 0.01})
	if err != nil || !result.Converged || result.Evaluations > 12*(result.Iterations+2) || x[0]*x[0]+100*x[1]*x[1] > 4*grain {
		t.Fatalf("%+v, at %v, %v", result, x, err)
	}
}

// A search that knows the corrections of a neighbour's needs fewer evaluations: a quadratic of ten
// curvatures from 1 to 1,000 whose optimum has moved.
func TestKnownPairs(t *testing.T) {
	const n = 10
	quadratic := func(centre float64) Objective {
		return func(x, g []float64) (float64, error) {
			f := 0.0
			for i := range x {
				c := math.Pow(10, 3*float64(i)/(n-1))
				gap := x[i] - centre
				f += c * gap * gap / 2
				g[i] = c * gap
			}
			return f, nil
		}
	}
	first, err := Minimise(make([]float64, n), quadratic(1), Config{})
	if err != nil {
		t.Fatal(err)
	}
	evaluations := func(known []Pair) int {
		x := make([]float64, n)
		got, err := Minimise(x, quadratic(0.5), Config{Known: known, Memory: len(first.Pairs), Tolerance: 1e-8})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range x {
			if !(math.Abs(v-0.5) <= 1e-3) {
				t.Errorf("variable %d ends at %v", i, v)
			}
		}
		return got.Evaluations
	}
	for k, pair := range first.Pairs[1:] {
		if slices.Equal(pair.Step, first.Pairs[k].Step) {
			t.Errorf("corrections %d and %d are one", k, k+1)
		}
	}
	kept := slices.Clone(first.Pairs[0].Step)
	cold, warm := evaluations(nil), evaluations(first.Pairs)
	if !slices.Equal(first.Pairs[0].Step, kept) {
		t.Error("the search wrote into the corrections that it was given")
	}
	if warm > cold/2 {
		t.Errorf("%d evaluations with known corrections, %d without", warm, cold)
	}
	if backwards := evaluations([]Pair{{Step: first.Pairs[0].Step, Change: make([]float64, n)}}); backwards > cold {
		t.Errorf("a correction without curvature costs %d evaluations for %d", backwards, cold)
	}
}
