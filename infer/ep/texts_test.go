package ep

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// TestTexts: classes of many rows of rare words settle without covariances, say so, and find the words that matter.
func TestTexts(t *testing.T) {
	const n, d, relevant = fullTextSide + 100, fullTextSide + 200, 4
	rng := rand.New(rand.NewPCG(8, 9))
	s := &conform.Selection{Features: conform.Columns{Sparse: d, Intercept: true}}
	s.X = linop.NewDense(n, d)
	for i := range n {
		f := -1.0
		for range 20 {
			j := int(d * rng.Float64() * rng.Float64())
			s.X.Row(i)[j] = 1
		}
		for j := range relevant {
			f += 4 * s.X.Row(i)[5*j+2]
		}
		y := 0.0
		if rng.Float64() < 1/(1+math.Exp(-f)) {
			y = 1
		}
		s.Target = append(s.Target, y)
	}
	fitted := fitOf(t, s, likelihood.Bernoulli{}, prior.SpikeSlab{}, Config{})
	if r := fitted.Report; r.Status != credence.Converged || r.Iterations > 300 {
		t.Errorf("%s after %d sweeps", r.Status, r.Iterations)
	}
	if !slices.ContainsFunc(fitted.Report.Warnings, func(w string) bool { return strings.Contains(w, "covariances of 1801 weights are not kept") }) {
		t.Errorf("nothing is said of covariances: %q", fitted.Report.Warnings)
	}
	q := fitted.Members[0].Posterior.(credence.Selector)
	for j := range d {
		if in, true := q.InclusionProbability(j+1) > 0.5, j%5 == 2 && j < 5*relevant; in != true {
			t.Errorf("word %d: inclusion %.3f", j, q.InclusionProbability(j+1))
		}
	}
	stated := fitOf(t, s, likelihood.Bernoulli{}, prior.SpikeSlab{}, Config{Covariance: Diagonal, MaxIterations: 5})
	for _, w := range stated.Report.Warnings {
		if strings.Contains(w, "not kept") {
			t.Errorf("the stated form is warned of: %s", w)
		}
	}
}

// TestPace: steps in one direction grow up to a limit, and shrink where they turn back.
func TestPace(t *testing.T) {
	p, x := new(pace), 0.0
	for range 100 { // a maximum at 3, to which expectation maximisation goes by hundredths
		step := p.stretch(0.01 * (3 - x))
		if !(math.Abs(step) <= longestStep) {
			t.Fatalf("a step of %v", step)
		}
		x += step
	}
	if !(math.Abs(x-3) <= 0.01) {
		t.Errorf("after 100 steps at %v of 3", x)
	}
}

// TestSweeps: steps are shortened where sites turn back and nowhere else, so that sites settle soon.
func TestSweeps(t *testing.T) {
	total := 0
	for seed := range uint64(4) {
		s := conform.NewSelection(80, 600, 10, 0, 1, 0.1, false, seed)
		fitted := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{Hyper: "mode"})
		if fitted.Report.Status != credence.Converged {
			t.Errorf("seed %d: %s", seed, fitted.Report.Status)
		}
		total += fitted.Report.Iterations
	}
	if t.Log(total); total > 360 {
		t.Errorf("four fits took %d sweeps", total)
	}
}
