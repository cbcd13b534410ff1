package refit

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
)

// weighted are rows of more than a block, of weights and precisions of their own.
func weighted(columns int) *credence.Batch {
	rng := rand.New(rand.NewPCG(1, 2))
	n := credence.BlockRows + 100
	b := &credence.Batch{X: linop.NewDense(n, columns), Target: make([]float64, n), Weight: make([]float64, n), Precision: make([]float64, n)}
	for i := range n {
		b.Weight[i], b.Precision[i] = float64(rng.IntN(3)), 1+rng.Float64()
		common := rng.NormFloat64()
		for j, row := 0, b.X.Row(i); j < columns; j++ {
			row[j] = float64(j)*common + rng.NormFloat64() + 2
		}
	}
	return b
}

// TestExplainedByDraws: of draws the variance explained is, of classes, that of every draw's f beside the variance of
// the link, by weights and precisions.
func TestExplainedByDraws(t *testing.T) {
	all := weighted(3)
	draws := &posterior.Draws{Count: 20}
	for i := range draws.Count * 3 {
		draws.Values = append(draws.Values, math.Sin(float64(i*i)))
	}
	weights := make([]float64, len(all.Weight))
	for i, w := range all.Weight {
		weights[i] = w * all.Precision[i]
	}
	for link, noise := range map[likelihood.Link]float64{likelihood.Logit: math.Pi * math.Pi / 3, likelihood.Probit: 1} {
		shares, mean := make([]float64, draws.Count), 0.0
		for k := range shares {
			f := make([]float64, len(weights))
			for i := range f {
				for j, v := range all.X.Row(i) {
					f[i] += v * draws.Values[3*k+j]
				}
			}
			_, spread := stat.PopMeanVariance(f, weights)
			shares[k] = spread / (spread + noise)
			mean += shares[k] / float64(draws.Count)
		}
		slices.Sort(shares)
		fitted := &credence.Fitted{Members: []credence.Member{{
			Model: credence.Model{Features: conform.Columns{Dense: 3}, Likelihood: likelihood.Bernoulli{Link: link}}, Posterior: draws,
		}}}
		got, err := (&Base{Data: conform.Memory{All: all}}).explained(t.Context(), fitted, 0.5)
		if err != nil || !(math.Abs(got.Mean-mean) <= 1e-9) || !(math.Abs(got.Lower-shares[4]) <= 1e-9) || !(math.Abs(got.Upper-shares[15]) <= 1e-9) {
			t.Errorf("%v: %+v, want %v in %v to %v: %v", link, got, mean, shares[4], shares[15], err)
		}
	}
}

// TestCorrelations: of the columns asked for, in their order, by weights.
func TestCorrelations(t *testing.T) {
	all, places := weighted(4), []int{3, 1, 2}
	between, err := (&Base{Data: conform.Memory{All: all}}).correlations(t.Context(), conform.Columns{Dense: 4}, places)
	if err != nil {
		t.Fatal(err)
	}
	column := func(j int) (values []float64) {
		for i := range all.Rows() {
			values = append(values, all.X.Row(i)[j])
		}
		return values
	}
	for a, j := range places {
		for b, k := range places {
			if want := stat.Correlation(column(j), column(k), all.Weight); !(math.Abs(between(a, b)-want) <= 1e-9) {
				t.Errorf("columns %d and %d: %v, want %v", j, k, between(a, b), want)
			}
		}
	}
}

// TestInclusionDraws: draws of weights, and those beside a posterior, of more weights than the candidates, in another
// order, say the same of each candidate; one that they do not have is never in.
func TestInclusionDraws(t *testing.T) {
	order := []credence.Block{{First: 2, Count: 1}, {First: 0, Count: 1}}
	in := [][3]bool{{true, false, true}, {false, true, false}, {true, true, false}} // of weights 0, 1 and 2
	values, beside := &posterior.Draws{Count: 3}, &credence.InclusionDraws{Count: 3, Weights: []int{0, 1, 2}}
	for _, draw := range in {
		for _, is := range draw {
			values.Values = append(values.Values, map[bool]float64{true: 1.5}[is])
			beside.In = append(beside.In, is)
		}
	}
	for what, fitted := range map[string]*credence.Fitted{
		"of weights": {Members: []credence.Member{{Posterior: values}}},
		"beside":     {Members: []credence.Member{{Posterior: &posterior.SpikeSlab{}}}, Inclusions: beside},
	} {
		draws := inclusionDraws(fitted, order)
		for s := range in {
			for k, c := range order {
				if draws.Count != 3 || draws.In(s, k) != in[s][c.First] {
					t.Errorf("%s: draw %d has candidate %d: %v", what, s, k, draws.In(s, k))
				}
			}
		}
	}
	other := &credence.Fitted{Members: []credence.Member{{Posterior: &posterior.SpikeSlab{}}}, Inclusions: beside}
	if draws := inclusionDraws(other, []credence.Block{{First: 0, Count: 1}, {First: 7, Count: 1}}); !draws.In(0, 0) || draws.In(0, 1) {
		t.Error("a candidate of no draw is in")
	}
}

// TestOptions: what no rows could mend is refused.
func TestOptions(t *testing.T) {
	for _, o := range []Options{{Folds: 2}, {Split: 1e-9}, {Split: 0.999}, {Folds: 2, Group: "g"}, {Split: 0.2, Time: "t"}} {
		if err := o.Validate(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, o := range []Options{{}, {Folds: 1}, {Folds: -2}, {Split: 1}, {Split: -0.2}, {Split: math.NaN()}, {Folds: 2, Split: 0.2}, {Folds: 2, Group: "g", Time: "t"}} {
		if o.Validate() == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// TestWithout: a refit sees the rows of other folds, those left out of none among them, and under times none of later
// ones, by the rows of the table.
func TestWithout(t *testing.T) {
	weights, row := []float64{1, 2, 3, 4, 5}, func(i int) int { return 4 - i }
	for time, want := range map[string][]float64{"": {1, 0, 3, 0, 5}, "t": {0, 0, 3, 0, 5}} {
		f := &Folds{Options: Options{Folds: 3, Time: time}, of: []int{-1, 1, 0, 1, 2}}
		if got := f.without(1, weights, row); !slices.Equal(got, want) || weights[1] != 2 {
			t.Errorf("time %q: weights %v, want %v", time, got, want)
		}
	}
}
