package svi

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
)

// TestNodesUnseen: where many rows stand behind a normal likelihood, the posterior at hyper-parameters near their mode is known
// without a look at the rows, to the tolerance of a node, and far from it rows are looked at.
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
		exact, err := g.from(ctx, theta, g.mode.Point, g.mode.Shift, fineTolerance)
		if err != nil {
			t.Fatal(err)
		}
		if gap := math.Abs(near.LogDensity - exact.LogDensity); gap > 1e-3 || math.Abs(exact.LogDensity-g.mode.LogDensity) < 10*gap {
			t.Errorf("a step of %v: density %.9g, with the rows %.9g, at the mode %.9g", step, near.LogDensity, exact.LogDensity, g.mode.LogDensity)
		}
		if math.Abs(near.Gradient[0]-exact.Gradient[0]) > 3e-3*math.Abs(exact.Gradient[0]) {
			t.Errorf("a step of %v: slope %v, with the rows %v", step, near.Gradient[0], exact.Gradient[0])
		}
		for j, v := range exact.Variances() {
			if gap := math.Abs(near.Mean[j]-exact.Mean[j]) / math.Sqrt(v); gap > nodeTolerance {
				t.Errorf("a step of %v: the mean of weight %d is off by %v standard deviations", step, j, gap)
			}
			if gap := math.Abs(math.Log(near.Variances()[j] / v)); gap > nodeTolerance {
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
