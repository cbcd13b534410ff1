package ep

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// TestTree: where rows and weights make a tree, belief propagation has the variances and the integral
// that the full covariance has.
func TestTree(t *testing.T) {
	const d = 9
	rng := rand.New(rand.NewPCG(4, 4))
	for _, sparse := range []bool{false, true} {
		s := &conform.Selection{Features: conform.Columns{Dense: d}}
		if sparse {
			s.Features = conform.Columns{Sparse: d}
		}
		s.X = linop.NewDense(d+4, d)
		for i := range d + 4 {
			switch {
			case i == 0:
				s.X.Row(0)[0] = 1.3
			case i < d:
				s.X.Row(i)[i], s.X.Row(i)[(i-1)/2] = rng.NormFloat64(), rng.NormFloat64()
			default:
				s.X.Row(i)[d-1-(i-d)] = rng.NormFloat64()
			}
			s.Target, s.Weight = append(s.Target, rng.NormFloat64()), append(s.Weight, float64(1+i%2))
		}
		model := credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}
		table := must.Value(candidates.Load(context.Background(), credence.NewWorkspace(1), "ep", model, conform.Memory{All: &s.Batch}))(t)
		weights, rows := make([]site, d), make([]site, d+4)
		for j := range weights {
			weights[j] = site{0.5 + rng.Float64(), rng.NormFloat64()}
		}
		for i := range rows {
			rows[i] = site{0.5 + rng.Float64(), rng.NormFloat64()}
		}
		full, tree := newNormal(table, credence.NewWorkspace(1), Full), newNormal(table, credence.NewWorkspace(1), Diagonal)
		for range 10 { // passes end where they change little
			must.Succeed(t, tree.take(weights, rows, true))
		}
		must.Succeed(t, full.take(weights, rows, true))
		for j := range d {
			if !(math.Abs(full.mean[j]-tree.mean[j]) <= 1e-6) || !(math.Abs(full.variance[j]-tree.variance[j]) <= 1e-9) {
				t.Errorf("sparse %t, weight %d: %g ± %g, with the full covariance %g ± %g", sparse, j, tree.mean[j], tree.variance[j], full.mean[j], full.variance[j])
			}
		}
		if a, b := tree.integral(tree), full.integral(full); !(math.Abs(a-b) <= 1e-9) {
			t.Errorf("sparse %t: integral %g, with the full covariance %g", sparse, a, b)
		}
	}
}

// TestDiagonal compares inclusions and evidence without covariances with those of all models, where
// columns are nearly uncorrelated.
func TestDiagonal(t *testing.T) {
	const p = 9
	for _, sparse := range []bool{false, true} {
		s := conform.NewSelection(60, p, 4, 0, 1, 0.5, sparse, 31)
		mean, sd := location(s)
		inclusion, _, evidence := s.Enumerate(0.3, 1, 0.5, mean, 100*sd*sd)
		fitted := fitOf(t, s, likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, held(0.3, 1), Config{Covariance: Diagonal})
		q, square := fitted.Members[0].Posterior.(credence.Selector), 0.0
		for j := range p {
			gap := q.InclusionProbability(j+1) - inclusion[j]
			square += gap * gap / p
		}
		if math.Sqrt(square) > 0.05 || !(math.Abs(*fitted.Report.EvidenceEstimate-evidence) <= 0.5) {
			t.Errorf("sparse %t: inclusions are off by %.3f (root mean square), evidence %.3f of %.3f", sparse, math.Sqrt(square), *fitted.Report.EvidenceEstimate, evidence)
		}
		t.Log(math.Sqrt(square), *fitted.Report.EvidenceEstimate-evidence, fitted.Report.Iterations)
	}
}

// TestDiagonalClasses: without covariances the classes of many uncorrelated columns are told as with
// all of them.
func TestDiagonalClasses(t *testing.T) {
	s := conform.NewSelection(300, 60, 8, 0, 1, 0.1, true, 6)
	s.Divide(0.7)
	full := fitOf(t, s, likelihood.Bernoulli{}, prior.SpikeSlab{}, Config{Hyper: "mode"}).Members[0].Posterior
	got := fitOf(t, s, likelihood.Bernoulli{}, prior.SpikeSlab{}, Config{Covariance: Diagonal, Hyper: "mode"}).Members[0].Posterior
	m1, v1, m2, v2 := make([]float64, 61), make([]float64, 61), make([]float64, 61), make([]float64, 61)
	full.Marginals(m1, v1)
	got.Marginals(m2, v2)
	for j := range 60 {
		a, b := full.(credence.Selector).InclusionProbability(j+1), got.(credence.Selector).InclusionProbability(j+1)
		if !(math.Abs(a-b) <= 0.15) || !(math.Abs(m1[j+1]-m2[j+1]) <= 0.5*math.Sqrt(v1[j+1])+0.02) {
			t.Errorf("weight %d: inclusion %.3f and mean %.3f, with all covariances %.3f and %.3f", j, b, m2[j+1], a, m1[j+1])
		}
	}
}

// TestDiagonalShifted: a constant that is added to the columns leaves f as sure as it was.
func TestDiagonalShifted(t *testing.T) {
	sd := func(by float64) float64 {
		s := conform.NewSelection(200, 5, 2, 0, 1, 0.5, false, 3)
		s.Shift(by)
		return s.LatentSD(fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{Covariance: Diagonal}).Members[0].Posterior)
	}
	want := sd(0)
	for _, by := range []float64{3, 1000} {
		if got := sd(by); !(math.Abs(got/want-1) <= 0.01) {
			t.Errorf("columns + %v: f has a standard deviation of %.4g, of %.4g as they were", by, got, want)
		}
	}
}

// TestDiagonalUnits: a target in units of a 64th has weights of 64 times the mean and 64² times the variance, with the
// same inclusions, where no covariances are known as where they are.
func TestDiagonalUnits(t *testing.T) {
	const p, times = 9, 64.0
	for _, covariance := range []Covariance{Diagonal, ""} {
		var m, v [2][p + 1]float64
		var inclusion [2][p]float64
		for k, unit := range []float64{1, times} {
			s := conform.NewSelection(60, p, 4, 0, 1, 0.5, false, 31)
			for i := range s.Target {
				s.Target[i] = unit * (s.Target[i] + 3)
			}
			q := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{Covariance: covariance, Hyper: "mode"}).Members[0].Posterior
			if _, apart := q.(*posterior.SpikeSlab); apart != (covariance == Diagonal) {
				t.Fatalf("covariance %q: the posterior is a %T", covariance, q)
			}
			q.Marginals(m[k][:], v[k][:])
			for j := range p {
				inclusion[k][j] = q.(credence.Selector).InclusionProbability(j + 1)
			}
		}
		for j := range p + 1 {
			if !(math.Abs(m[1][j]-times*m[0][j]) <= 1e-9*times) || !(math.Abs(v[1][j]/(times*times*v[0][j])-1) <= 1e-9) {
				t.Errorf("covariance %q: weight %d is %g ± %g, want %g times %g ± %g", covariance, j, m[1][j], math.Sqrt(v[1][j]), times, m[0][j], math.Sqrt(v[0][j]))
			}
			if j < p && !(math.Abs(inclusion[1][j]-inclusion[0][j]) <= 1e-9) {
				t.Errorf("covariance %q: column %d is in by %g, and %g in other units", covariance, j+1, inclusion[0][j], inclusion[1][j])
			}
		}
	}
}
