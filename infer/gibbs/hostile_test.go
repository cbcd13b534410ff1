package gibbs

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

func noiseOf(fitted *credence.Fitted) float64 {
	return fitted.Members[0].Model.Likelihood.(likelihood.Gaussian).NoiseVariance.Value
}

// TestStrongColumns: where every column is in for certain, by odds beyond what a number holds, the noise
// is that of a regression, whose mean is Σ residual²/(n − p − 2), nearly; targets without any noise have
// the least.
func TestStrongColumns(t *testing.T) {
	const n, p = 3000, 4
	s := conform.NewSelection(n, p, p, 0, 1, 1, false, 2)
	for i := range s.Target {
		f := 0.0
		for _, x := range s.X.Row(i) {
			f += x
		}
		noise := math.Sqrt2 * math.Sin(float64(i)) // of mean square 1, and nearly orthogonal to all columns
		s.Target[i] = f + noise
	}
	got := noiseOf(fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{Flips: 4000}))
	if !(math.Abs(got-1) <= 0.02) {
		t.Errorf("noise variance is %.4f, want 1", got)
	}
	square := 0.0
	for i := range s.Target {
		s.Target[i] = 2 * s.X.Row(i)[0]
		square += s.Target[i] * s.Target[i] / n
	}
	fitted := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{Flips: 4000})
	if share := noiseOf(fitted) / square / math.Exp(2*hyper.LeastLogNoise); !(share > 0.99 && share < 2) {
		t.Errorf("without noise its variance is %g times the least", share)
	}
	if list := inclusions(fitted); list[0] < 0.999 {
		t.Errorf("the column that is the target has the inclusion %v", list[0])
	}
}

// TestFar: far out PG(1, f) is at 1/2f, with a relative spread of √(2/f).
func TestFar(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, f := range []float64{1e3, -1e8, 1e200} {
		if got := polyaGamma(rng, f) * 2 * math.Abs(f); !(math.Abs(got-1) < 6*math.Sqrt(2/math.Abs(f))) && !(math.Abs(got-1) <= 1e-9) {
			t.Errorf("PG(1, %g) is %g of its mean", f, got)
		}
	}
}

// TestRejectedRenewal: where a renewal of the rows of classes is rejected, the rows have their targets and their noise
// from before it.
func TestRejectedRenewal(t *testing.T) {
	s := conform.NewSelection(40, 6, 3, 0, 1, 0.5, false, 4)
	s.Divide(0.7)
	e := must.Value(New(credence.Model{Features: s.Features, Likelihood: likelihood.Bernoulli{}, Prior: prior.SpikeSlab{}}, Config{}))(t)
	c := e.testChain(t, s)
	c.probabilities()
	rejected := 0
	for range 100 {
		y, noise := slices.Clone(c.y), slices.Clone(c.noise)
		must.Succeed(t, c.renew())
		if slices.Equal(c.y, y) {
			if rejected++; !slices.Equal(c.noise, noise) {
				t.Fatal("the rows keep the noise of a renewal that was rejected")
			}
		}
	}
	if rejected == 0 || rejected == 100 {
		t.Errorf("%d of 100 renewals are rejected", rejected)
	}
}

// TestRefusals: what would never end, or end in no number, is refused with what to do.
func TestRefusals(t *testing.T) {
	s := conform.NewSelection(20, 3, 1, 0, 1, 0.5, false, 4)
	s.Divide(0.7)
	model := credence.Model{Features: s.Features, Likelihood: likelihood.Bernoulli{}, Prior: prior.SpikeSlab{}}
	e := must.Value(New(model, Config{Flips: 100}))(t)
	for weight, want := range map[float64]string{2.5: "row 1 has weight 2.5", 1e12: "whole numbers up to 10000"} {
		s.Weight = make([]float64, 20)
		for i := range s.Weight {
			s.Weight[i] = weight
		}
		if _, err := e.Fit(context.Background(), conform.Memory{All: &s.Batch}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("weight %g: %v", weight, err)
		}
	}
	s.Weight = nil
	if err := e.testChain(t, s).drawRows([]float64{math.Inf(1), 0, 0, 0}); err != errNoNumbers {
		t.Errorf("an infinite weight: %v", err)
	}
	f := &fit{Setting: &candidates.Setting{}, records: []*record{{total: 1, states: []state{{weight: 1, logDensity: math.NaN()}}}}}
	if _, err := f.fitted(); err != errNoDensity {
		t.Errorf("no chain with a density: %v", err)
	}
	f.records = append(f.records, &record{total: 1, states: []state{{weight: 1}}})
	if f.judge(); len(f.kept) != 1 || f.kept[0] != 1 {
		t.Errorf("of a chain without a density and another, %v are kept", f.kept)
	}
}
