package active

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"gonum.org/v1/gonum/mat"
)

// TestErrorReduction: the score is the mean entropy of labels of the rows of validation less what is expected
// of it after including the row with either label, each posterior factored afresh; of numbers half the
// logarithm of the ratio of predictive variances. The first is taken after another row was included.
func TestErrorReduction(t *testing.T) {
	const n, noise = 25, 0.3
	for _, family := range []credence.Likelihood{likelihood.Bernoulli{Link: likelihood.Logit}, likelihood.Bernoulli{Link: likelihood.Probit}, likelihood.Gaussian{NoiseVariance: param.Hold(noise)}} {
		_, classes := family.(likelihood.Bernoulli)
		rows, validation := poolOf(n), poolOf(3*n)
		a, b := mat.NewSymDense(inputs, nil), []float64{0.3, -0.2, 0.1, 0.4}
		for j := range inputs {
			a.SetSym(j, j, 1+0.2*float64(j))
		}
		include := func(a *mat.SymDense, b []float64, x []float64, offset, shift, precision float64) (*mat.SymDense, []float64) {
			after, to := mat.NewSymDense(inputs, nil), append([]float64(nil), b...)
			after.SymRankOne(a, precision, mat.NewVecDense(inputs, x))
			for j := range to {
				to[j] += (shift - precision*offset) * x[j]
			}
			return after, to
		}
		loss := func(a *mat.SymDense, b []float64) float64 {
			s := must.Value(NewScorer(gaussianOf(t, family, a, b), Information, 0, 1))(t)
			mean, variance, sum := make([]float64, 3*n), make([]float64, 3*n), 0.0
			must.Succeed(t, s.Latent(mean, variance, validation))
			for v := range mean {
				if classes {
					sum += s.link.entropy(mean[v], variance[v]) / (3 * n)
				} else {
					sum += math.Log(variance[v]+noise) / 2 / (3 * n)
				}
			}
			return sum
		}
		s := must.Value(NewScorer(gaussianOf(t, family, a, b), ErrorReduction, 0, 1))(t)
		must.Succeed(t, s.Validate(validation))
		block := blockOf(t, s, rows)
		first := block.Next()
		mean, variance := block.Latent(first)
		shift, precision := s.site(1, mean, variance)
		block.Include(first, 1)
		a, b = include(a, b, rows.X.Row(first), rows.Offset[first], shift, precision)
		for i := range n {
			mean, variance := block.Latent(i)
			want := loss(a, b)
			if classes {
				p := s.Probability(mean, variance)
				for _, c := range []struct{ label, chance float64 }{{1, p}, {-1, 1 - p}} {
					shift, precision := s.link.include(c.label, mean, variance)
					after, to := include(a, b, rows.X.Row(i), rows.Offset[i], shift, precision)
					want -= c.chance * loss(after, to)
				}
			} else {
				after, to := include(a, b, rows.X.Row(i), rows.Offset[i], mean/noise, 1/noise)
				want -= loss(after, to)
			}
			if got := block.Score(i); math.Abs(got-want) > 2e-6 { // of the table of entropies
				t.Errorf("%T: row %d scores %v, want %v", family, i, got, want)
			}
		}
	}
}

// TestAudit: as many rows as asked for are by chance and evenly spread among the picks, none is picked twice,
// and over many seeds every row is as likely to be one.
func TestAudit(t *testing.T) {
	const n, picks, seeds = 40, 10, 300
	rows := poolOf(n)
	fitted := convexFit(t, rows)
	counts := make([]float64, n)
	for seed := range uint64(seeds) {
		s := must.Value(NewScorer(fitted, Information, seed, 1))(t)
		own := blockOf(t, s, rows)
		pool := s.NewPool(picks, 0.2)
		for i := range n {
			pool.Add(rows, i, i, own.mean[i], own.variance[i], 1)
		}
		got, err := pool.Picks(picks)
		if err != nil || len(got) != picks {
			t.Fatalf("%v: %d picks", err, len(got))
		}
		seen := map[int]bool{}
		for k, c := range got {
			if seen[c.Place] || c.Audit != (k%5 == 4) {
				t.Fatalf("pick %d is row %d, by chance %v", k, c.Place, c.Audit)
			}
			if seen[c.Place] = true; c.Audit {
				counts[c.Place]++
			}
		}
	}
	square, want := 0.0, 2.0*seeds/n
	for _, c := range counts {
		square += (c - want) * (c - want) / want
	}
	if square > n-1+5*math.Sqrt(2*(n-1)) { // five standard deviations of χ²
		t.Errorf("χ² %v of rows by chance: %v", square, counts)
	}
}
