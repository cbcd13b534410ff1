package gibbs

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// TestKept: columns that are kept are in every model, under a variance of their own that is drawn.
func TestKept(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	s := conform.NewSelection(12, 8, 4, 0.3, 1, 0.5, false, 5)
	s.Features = conform.Columns{Dense: 8, Intercept: true, Kept: 2}
	l, p := likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, prior.SpikeSlab{Inclusion: param.Hold(0.3), Slab: param.Hold(1)}
	c := must.Value(New(credence.Model{Features: s.Features, Likelihood: l, Prior: p}, Config{}))(t).testChain(t, s)
	block := c.KeptBlocks[0]
	density := func(u float64) float64 { v, _, _ := block.Prior.At(u); return v }
	enumerated := func(density func(u float64) float64) (inclusion, weights []float64, evidence float64) {
		return s.EnumerateKept(0.3, 1, 0.5, c.Units.Centre, 100*c.Units.Scale*c.Units.Scale, density, block.Start, c.Units.Scale)
	}
	want, weights, evidence := enumerated(density)
	_, _, squares := enumerated(func(u float64) float64 { return density(u) + 2*u })
	fitted := fitOf(t, s, l, p, Config{Flips: 40_000, Draws: 4000})
	// The mean of a square is the ratio of evidences under the prior times the square, and under the prior.
	law := c.Units.Scale * c.Units.Scale * math.Exp(squares-evidence)
	for name, variance := range fitted.Members[0].Model.Prior.(prior.SpikeSlab).Kept {
		if !(math.Abs(math.Log(variance/law)) <= 0.1) {
			t.Errorf("the prior variance of %s is %.4g, by enumeration %.4g", name, variance, law)
		}
	}
	m, v := make([]float64, 9), make([]float64, 9)
	fitted.Members[0].Posterior.Marginals(m, v)
	for j, got := range inclusions(fitted) {
		if !(math.Abs(got-want[j]) <= 0.012) || j < 2 && got < 1-1e-12 {
			t.Errorf("inclusion of column %d is %.4f, by enumeration %.4f", j+1, got, want[j])
		}
		if !(math.Abs(m[j+1]-weights[j]) <= 0.05) {
			t.Errorf("weight %d is %.4f, by enumeration %.4f", j+1, m[j+1], weights[j])
		}
	}
}
