package svi

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/newton"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
)

// TestNodesUnseen: where many rows stand behind a normal likelihood, the posterior at hyper-parameters near their mode
// is known without a look at the rows, to the tolerance of a node, and far from it rows are looked at.
func TestNodesUnseen(t *testing.T) {
	ctx := context.Background()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	data := draw(t, likelihood.Bernoulli{}, 6000, 20, 4)
	g := integrated(t, credence.Model{Features: plain{p: 20, intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: normal}, data)
	if !g.quadratic || len(g.moves) != len(g.theta) {
		t.Fatal("the rows are too few for the test")
	}
	farthest := 0.999 * math.Sqrt(nodeTolerance/(2*g.moves[0].missed))
	if farthest < 0.1 {
		t.Errorf("the rows are looked at from a step of %v on", farthest)
	}
	for _, step := range []float64{-farthest, -farthest / 3, farthest / 2, farthest} {
		theta := slices.Clone(g.theta)
		theta[0] += step
		near, err := g.at(gone, theta, nodeTolerance)
		if err != nil {
			t.Fatalf("a step of %v needs the rows: %v", step, err)
		}
		exact := must.Value(g.from(ctx, theta, g.mode.Point, g.mode.Shift, fineTolerance))(t)
		if gap := math.Abs(near.LogDensity - exact.LogDensity); gap > 1e-3 || math.Abs(exact.LogDensity-g.mode.LogDensity) < 10*gap {
			t.Errorf("a step of %v: density %.9g, with the rows %.9g, at the mode %.9g", step, near.LogDensity, exact.LogDensity, g.mode.LogDensity)
		}
		if !(math.Abs(near.Gradient[0]-exact.Gradient[0]) <= 3e-3*math.Abs(exact.Gradient[0])) {
			t.Errorf("a step of %v: slope %v, with the rows %v", step, near.Gradient[0], exact.Gradient[0])
		}
		for j, v := range exact.Psi {
			if gap := math.Abs(near.Mean[j]-exact.Mean[j]) / math.Sqrt(v); gap > nodeTolerance {
				t.Errorf("a step of %v: the mean of weight %d is off by %v standard deviations", step, j, gap)
			}
			if gap := math.Abs(math.Log(near.Psi[j] / v)); gap > nodeTolerance {
				t.Errorf("a step of %v: the variance of weight %d is off by a share of %v", step, j, gap)
			}
		}
	}
	far := slices.Clone(g.theta)
	far[0] += 1.01 * farthest
	if _, err := g.at(gone, far, nodeTolerance); err == nil {
		t.Errorf("a step of %v needs no rows", 1.01*farthest)
	}
}

// Parameters of the likelihood have slopes of their own, for which the rows are looked at.
func TestParametersAreSeen(t *testing.T) {
	data := draw(t, likelihood.NegativeBinomial{}, 2500, 20, 4)
	g := integrated(t, credence.Model{Features: plain{p: 20, intercept: true}, Likelihood: likelihood.NegativeBinomial{}, Prior: normal}, data)
	if g.operations() < cheapOperations || len(g.mode.Free) != 1 || len(g.mode.Gradient) != 2 {
		t.Fatalf("%v operations, %d parameters, %d slopes", g.operations(), len(g.mode.Free), len(g.mode.Gradient))
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	theta := slices.Clone(g.theta)
	theta[0] += 1e-3
	if _, err := g.at(gone, theta, nodeTolerance); err == nil {
		t.Error("the rows are not looked at")
	}
}

// Where a pass costs much, nodes ask the rows for their density alone: it is theirs at the posterior that is known to
// the tolerance of a node, and farther away a climb goes on.
func TestNodesAreValued(t *testing.T) {
	ctx := context.Background()
	data := draw(t, likelihood.NegativeBinomial{}, 2500, 20, 4)
	g := integrated(t, credence.Model{Features: plain{p: 20, intercept: true}, Likelihood: likelihood.NegativeBinomial{}, Prior: normal}, data)
	if g.valued {
		t.Fatal("a pass over 2,500 rows of 21 weights is said to cost much")
	}
	g.valued = true
	for k := range g.theta {
		farthest := 0.999 * math.Sqrt(nodeTolerance/float64(len(g.theta))/(2*g.moves[k].missed))
		for _, share := range []float64{-1, 0.5, 1} {
			theta, step := slices.Clone(g.theta), share*farthest
			theta[k] += step
			g.stats.Curvature[0] = math.NaN() // of which nothing is asked
			near := must.Value(g.at(ctx, theta, nodeTolerance))(t)
			if !math.IsNaN(g.stats.Curvature[0]) && g.stats.Curvature[0] != 0 {
				t.Errorf("parameter %d, a step of %v: the rows' products are added up", k, step)
			}
			exact := must.Value(g.from(ctx, theta, g.mode.Point, g.mode.Shift, fineTolerance))(t)
			if gap := math.Abs(near.LogDensity - exact.LogDensity); gap > 1e-3 {
				t.Errorf("parameter %d, a step of %v: density %.9g, of a climb %.9g, at the mode %.9g", k, step, near.LogDensity, exact.LogDensity, g.mode.LogDensity)
			}
			for j, v := range exact.Psi {
				if gap := math.Abs(near.Mean[j]-exact.Mean[j]) / math.Sqrt(v); gap > nodeTolerance {
					t.Errorf("parameter %d, a step of %v: the mean of weight %d is off by %v standard deviations", k, step, j, gap)
				}
			}
		}
	}
	far := slices.Clone(g.theta)
	far[0] += 3
	near := must.Value(g.at(ctx, far, nodeTolerance))(t)
	exact := must.Value(g.from(ctx, far, g.mode.Point, g.mode.Shift, fineTolerance))(t)
	if !(math.Abs(near.LogDensity-exact.LogDensity) <= 1e-3) {
		t.Errorf("far away: density %v, of a climb %v", near.LogDensity, exact.LogDensity)
	}
}

// One row on the wrong side, in any block, is enough for the classes not to be separated.
func TestSeparatedInParts(t *testing.T) {
	ctx, m := context.Background(), &memory{x: linop.NewDense(5000, 1)}
	for i := range m.x.Rows {
		m.x.Data[i] = float64(2*(i%2)-1) + float64(i)/1e5
		m.y = append(m.y, float64(i%2))
	}
	for _, wrong := range []int{-1, 0, 700, 4999} {
		if wrong >= 0 {
			m.y[wrong] = 1 - m.y[wrong]
		}
		r := newFit(t, credence.Model{Features: plain{p: 1}, Likelihood: likelihood.Bernoulli{}, Prior: normal}, Config{Covariance: Full}, m)
		s := must.Value(r.Start(ctx, r.All(), r.All()))(t)
		n := newton.New(r.Problem)
		stats := n.NewStatistics(0)
		must.Succeed(t, n.Pass(ctx, r.All(), stats, []float64{1}, nil, s.Family))
		if stats.Separated != (wrong < 0) {
			t.Errorf("row %d on the wrong side: separated is %v", wrong, stats.Separated)
		}
		if wrong >= 0 {
			m.y[wrong] = 1 - m.y[wrong]
		}
	}
}

// TestFarNodes: a node that weighs little is known without a look at the rows from farther away, as long as its
// distance from the posterior, times its weight and how much wider it is, is that of a node at the mode.
func TestFarNodes(t *testing.T) {
	ctx := context.Background()
	gone, cancel := context.WithCancel(ctx)
	cancel()
	data := draw(t, likelihood.Bernoulli{}, 1500, 30, 4)
	g := integrated(t, credence.Model{Features: plain{p: 30, intercept: true}, Likelihood: likelihood.Bernoulli{}, Prior: normal}, data)
	if tolerance := g.toleranceOf(g.theta); !(math.Abs(tolerance/nodeTolerance-1) <= 1e-3) {
		t.Errorf("at the mode the tolerance is %v", tolerance)
	}
	beyond := 0
	for _, z := range g.top.Axes.Nodes() {
		step := z * g.top.Axes.SD(0)
		theta := []float64{g.theta[0] + step}
		tolerance := g.toleranceOf(theta)
		weight := math.Exp(2*math.Abs(step) - z*z/2)
		if tolerance > farTolerance || tolerance*weight > 1.001*math.Max(nodeTolerance, nodeTolerance*weight) {
			t.Errorf("node %v: the tolerance is %v at a weight of %v", z, tolerance, weight)
		}
		if within(g.moves[0].missed, step, nodeTolerance) || !within(g.moves[0].missed, step, tolerance) {
			continue
		}
		beyond++
		near, err := g.at(gone, theta, tolerance)
		if err != nil {
			t.Fatalf("node %v needs the rows: %v", z, err)
		}
		exact := must.Value(g.from(ctx, theta, g.mode.Point, g.mode.Shift, fineTolerance))(t)
		if gap := math.Abs(near.LogDensity - exact.LogDensity); gap*weight > nodeTolerance {
			t.Errorf("node %v: the density is %v, with the rows %v", z, near.LogDensity, exact.LogDensity)
		}
		for j, v := range exact.Psi {
			if gap := math.Abs(near.Mean[j]-exact.Mean[j]) / math.Sqrt(v); gap*weight > nodeTolerance {
				t.Errorf("node %v: the mean of weight %d is off by %v standard deviations, which count %v", z, j, gap, gap*weight)
			}
		}
	}
	if beyond == 0 {
		t.Error("no node is beyond the tolerance of one at the mode")
	}
}
