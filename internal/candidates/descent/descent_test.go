package descent

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// load makes a problem of simulated rows; classes are targets above 0.7.
func load(t *testing.T, s *conform.Selection, classes bool, alpha float64) *Problem {
	t.Helper()
	var family credence.Likelihood = likelihood.Gaussian{}
	if classes {
		s.Divide(0.7)
		family = likelihood.Bernoulli{}
	}
	model := credence.Model{Features: s.Features, Likelihood: family, Prior: prior.SpikeSlab{}}
	table := must.Value(candidates.Load(context.Background(), credence.NewWorkspace(1), "test", model, conform.Memory{All: &s.Batch}))(t)
	p := &Problem{Table: table, Classes: classes, Alpha: alpha, Tolerance: 1e-13}
	if p.Target = table.Held.Target; !classes {
		table.Units.Scale = 1
		p.Target = table.Units.Targets(table.Held, table.Unit())
	}
	return p
}

// path returns the weights at eight points down to a twentieth of the largest λ, and those points.
func path(t *testing.T, p *Problem) (lambdas []float64, weights [][]float64) {
	t.Helper()
	ws := credence.NewWorkspace(1)
	largest, err := p.Largest(context.Background(), ws)
	must.Succeed(t, err)
	for k := range 8 {
		lambdas = append(lambdas, largest*math.Pow(0.05, float64(k)/7))
	}
	err = p.Path(context.Background(), ws, lambdas, func(_ int, s *Solution) bool {
		weights = append(weights, append([]float64(nil), s.Weights...))
		return true
	})
	must.Succeed(t, err)
	return lambdas, weights
}

// cases are dense and sparse, weighted, with rows left out, normal targets and classes.
func cases(t *testing.T, alpha float64, do func(name string, s *conform.Selection, p *Problem)) {
	for _, classes := range []bool{false, true} {
		for _, sparse := range []bool{false, true} {
			s := conform.NewSelection(40, 60, 5, 0.3, 1, 0.3, sparse, 3)
			for i := range s.Target {
				s.Weight = append(s.Weight, float64(1+i%3))
			}
			p := load(t, s, classes, alpha)
			p.Out = make([]bool, 40)
			for i := 0; i < 40; i += 7 {
				p.Out[i] = true
			}
			name := map[bool]string{false: "normal ", true: "classes "}[classes] + map[bool]string{false: "dense", true: "sparse"}[sparse]
			do(name, s, p)
		}
	}
}

// TestConditions checks the conditions of a minimum, from the rows as they were drawn: the slope of the loss in
// every weight is that of the penalty, or within its bounds at 0, and none in the intercept.
func TestConditions(t *testing.T) {
	for _, alpha := range []float64{1, 0.5, 0} {
		cases(t, alpha, func(name string, s *conform.Selection, p *Problem) {
			lambdas, weights := path(t, p)
			for k, b := range weights {
				total, slopes := 0.0, make([]float64, 61)
				mean := p.Units.Centre
				for i := range s.Target {
					if p.Out[i] {
						continue
					}
					f := b[0]
					for j := range 60 {
						f += b[j+1] * (s.X.Row(i)[j] - p.Means[j+1])
					}
					gap := s.Target[i] - mean - f
					if p.Classes {
						gap = s.Target[i] - special.Sigmoid(f)
					}
					total += s.Weight[i]
					slopes[0] += s.Weight[i] * gap
					for j := range 60 {
						slopes[j+1] += s.Weight[i] * gap * s.X.Row(i)[j]
					}
				}
				if !(math.Abs(slopes[0]) <= 1e-5*total) {
					t.Errorf("%s, alpha %v, point %d: the slope in the intercept is %g", name, alpha, k, slopes[0])
				}
				for j := 1; j < 61; j++ {
					slope := slopes[j]/total - lambdas[k]*(1-alpha)*b[j]
					off := math.Abs(slope) - alpha*lambdas[k]
					if b[j] != 0 {
						off = math.Abs(slope - alpha*lambdas[k]*math.Copysign(1, b[j]))
					}
					if off > 1e-5*math.Max(1, lambdas[k]) {
						t.Fatalf("%s, alpha %v, point %d: weight %d = %g is off by %g", name, alpha, k, j, b[j], off)
					}
				}
			}
		})
	}
}

// TestScreening compares the path with the one that goes through all columns.
func TestScreening(t *testing.T) {
	cases(t, 0.9, func(name string, _ *conform.Selection, p *Problem) {
		_, screened := path(t, p)
		p.Unscreened = true
		_, all := path(t, p)
		for k := range all {
			for j := range all[k] {
				if !(math.Abs(all[k][j]-screened[k][j]) <= 1e-5) {
					t.Fatalf("%s: point %d, weight %d: %g, unscreened %g", name, k, j, screened[k][j], all[k][j])
				}
			}
		}
	})
}

// TestAdmission sees columns that no rule let in come in where the conditions of a minimum want them.
func TestAdmission(t *testing.T) {
	cases(t, 1, func(name string, _ *conform.Selection, p *Problem) {
		lambdas, all := path(t, p)
		s, err := p.start(context.Background(), credence.NewWorkspace(1))
		if err == nil {
			err = s.point(context.Background(), lambdas[5])
		}
		must.Succeed(t, err)
		for j, w := range all[5] {
			if !(math.Abs(w-s.Weights[j]) <= 1e-5) {
				t.Errorf("%s: weight %d is %g, along the path %g", name, j, s.Weights[j], w)
			}
		}
	})
}

// TestOrthogonal compares with the closed form on columns that are orthogonal to each other and to ones.
func TestOrthogonal(t *testing.T) {
	const n = 16
	s := conform.NewSelection(n, 4, 4, 0, 1, 0.1, false, 9)
	for i := range n {
		for j := range 4 {
			s.X.Row(i)[j] = 1 - 2*float64(i>>j&1) // Walsh functions
		}
	}
	for _, alpha := range []float64{1, 0.5} {
		p := load(t, s, false, alpha)
		lambdas, weights := path(t, p)
		for j := range 4 {
			u := 0.0
			for i, y := range s.Target {
				u += y * s.X.Row(i)[j] / n
			}
			for k, lambda := range lambdas {
				want := math.Copysign(math.Max(math.Abs(u)-alpha*lambda, 0), u) / (1 + (1-alpha)*lambda)
				if !(math.Abs(weights[k][j+1]-want) <= 1e-9) {
					t.Errorf("alpha %v, λ %g: weight %g, want %g", alpha, lambda, weights[k][j+1], want)
				}
			}
		}
	}
}

// TestMonotone sees the loss fall and the sum of absolute weights rise as the penalty falls, from none
// at the largest.
func TestMonotone(t *testing.T) {
	cases(t, 1, func(name string, _ *conform.Selection, p *Problem) {
		lambdas, _ := path(t, p)
		loss, size := math.Inf(1), -1.0
		err := p.Path(context.Background(), credence.NewWorkspace(1), lambdas, func(k int, s *Solution) bool {
			sum := 0.0
			for j, b := range s.Weights {
				if j != p.Intercept {
					sum += math.Abs(b)
				}
			}
			if k == 0 && (sum > 1e-9 || s.Loss < s.Null*(1-1e-9)) {
				t.Errorf("%s: weights of %g at the largest λ", name, sum)
			}
			if s.Loss > loss || sum < size {
				t.Errorf("%s, point %d: loss %g after %g, weights %g after %g", name, k, s.Loss, loss, sum, size)
			}
			loss, size = s.Loss, sum
			return true
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestCapped compares the step of one weight with a search over a grid.
func TestCapped(t *testing.T) {
	for _, end := range []float64{0.2, 1, 3} {
		for u := -5.0; u <= 5; u += 0.37 {
			cost := func(w float64) float64 { return (w-u)*(w-u)/2 + 0.8*math.Min(math.Abs(w), end) }
			best := math.Inf(1)
			for w := -6.0; w <= 6; w += 1e-4 {
				best = math.Min(best, cost(w))
			}
			if got := capped(u, 0.8, end); cost(got) > best+1e-6 {
				t.Errorf("u = %g, end %g: %g costs %g, at best %g", u, end, got, cost(got), best)
			}
		}
	}
}

// TestCapStays: where the penalty of a weight ends is known once its column is let in, and goes by the penalty alone.
func TestCapStays(t *testing.T) {
	cases(t, 1, func(name string, _ *conform.Selection, p *Problem) {
		lambdas, _ := path(t, p)
		p.Cap = 2
		s := must.Value(p.start(context.Background(), credence.NewWorkspace(1)))(t)
		known := make([]float64, len(s.entry))
		for k, lambda := range lambdas {
			must.Succeed(t, s.point(context.Background(), lambda))
			for j, was := range known {
				if was > 0 && s.entry[j] != was {
					t.Fatalf("%s, point %d: the end of the penalty of weight %d goes by %g, and went by %g", name, k, j, s.entry[j], was)
				}
			}
			copy(known, s.entry)
		}
	})
}

// TestNotANumber: from a target that is no number no sweep leads back, and few are made.
func TestNotANumber(t *testing.T) {
	s := conform.NewSelection(20, 10, 3, 0, 1, 0.3, false, 3)
	p := load(t, s, false, 1)
	lambdas, _ := path(t, p)
	p.Target[3] = math.NaN()
	err := p.Path(context.Background(), credence.NewWorkspace(1), lambdas[4:5], func(_ int, s *Solution) bool {
		if s.Sweeps > 5 {
			t.Errorf("%d sweeps", s.Sweeps)
		}
		return true
	})
	if err != nil {
		t.Error(err)
	}
}
