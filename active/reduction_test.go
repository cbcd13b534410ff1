package active

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
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
			s, err := NewScorer(gaussianOf(t, family, a, b), Information, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			mean, variance, sum := make([]float64, 3*n), make([]float64, 3*n), 0.0
			if err := s.Latent(mean, variance, validation); err != nil {
				t.Fatal(err)
			}
			for v := range mean {
				if classes {
					sum += s.link.entropy(mean[v], variance[v]) / (3 * n)
				} else {
					sum += math.Log(variance[v]+noise) / 2 / (3 * n)
				}
			}
			return sum
		}
		s, err := NewScorer(gaussianOf(t, family, a, b), ErrorReduction, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(validation); err != nil {
			t.Fatal(err)
		}
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
		s, err := NewScorer(fitted, Information, seed, 1)
		if err != nil {
			t.Fatal(err)
		}
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

// TestResume: a simulation that is stopped in its third run goes on from its checkpoint to the result that it
// has in one go, on another number of threads; that of other options is refused.
func TestResume(t *testing.T) {
	rows := poolOf(300)
	s := &simulation{model: modelOfPool()}
	o := Options{Pool: 150, Initial: 20, Block: 5, Labels: 60, Every: 20, Repeats: 2, Scores: []Score{ErrorReduction, Random}, Audit: 0.2, Threads: 1}
	want, err := Simulate(context.Background(), s.model, conform.Memory{All: rows}, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.Checkpoint = t.TempDir() + "/runs"
	points := 0
	o.Progress = func(credence.Progress) {
		if points++; points == 7 {
			cancel()
		}
	}
	if _, err := Simulate(ctx, s.model, conform.Memory{All: rows}, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("stopped with %v", err)
	}
	points, o.Threads = 0, 2
	got, err := Simulate(context.Background(), s.model, conform.Memory{All: rows}, o)
	if err != nil || points != 6 {
		t.Fatalf("%v after %d more points", err, points)
	}
	for score, curves := range want.Repeats {
		for k, curve := range curves {
			for j, at := range curve {
				other := got.Repeats[score][k][j]
				if at.Error != other.Error || at.LogLoss != other.LogLoss || (at.Audit != nil && *at.Audit != *other.Audit) {
					t.Errorf("%s, repeat %d: %v, in one go %v", score, k, other, at)
				}
			}
			if last := curve[len(curve)-1]; last.Audit == nil || last.Audit.Rows != 8 {
				t.Errorf("%s: audit %v of 40 labels at 0.2", score, last.Audit)
			}
		}
	}
	if *got.Stop != *want.Stop || got.Full != want.Full {
		t.Errorf("stop %v and full %v, in one go %v and %v", got.Stop, got.Full, want.Stop, want.Full)
	}
	heavier := *rows
	heavier.Weight = slices.Repeat([]float64{2}, 300)
	if _, err := Simulate(context.Background(), s.model, conform.Memory{All: &heavier}, o); err == nil {
		t.Error("a checkpoint of rows of other weights is taken")
	}
	o.Block = 4
	if _, err := Simulate(context.Background(), s.model, conform.Memory{All: rows}, o); err == nil {
		t.Error("a checkpoint of other options is taken")
	}
}
