package credence

import (
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// locatedModels are models of families of location, of five members that differ in their parameters and their weights,
// under an f that is normal or Student-t. One member has no weight.
func locatedModels() map[string]*Fitted {
	models := map[string]*Fitted{}
	for _, df := range []float64{0, 8} {
		for k, family := range []likelihood.Parametric{
			likelihood.StudentT{DegreesOfFreedom: param.From(5), Scale: param.From(0.5)}, likelihood.StudentT{DegreesOfFreedom: param.From(1.3), Scale: param.From(20)},
			likelihood.Gamma{Shape: param.From(3)}, likelihood.Gamma{Shape: param.From(0.6)}, likelihood.Gamma{Shape: param.From(400)},
		} {
			f := &Fitted{}
			for m := range 5 {
				var values []float64
				for _, p := range family.Parameters() {
					values = append(values, p.Value*math.Exp(0.2*float64(m-2)))
				}
				f.Members = append(f.Members, Member{
					Model:     Model{Features: identity{1}, Likelihood: family.WithParameters(values)},
					Posterior: tailed{point{[]float64{0.5 + 0.1*float64(m)}, []float64{0.2, 1e-3, 0}[k%3]}, df}, Weight: []float64{0.1, 0.3, 0.25, 0.35, 0}[m],
				})
			}
			models[fmt.Sprintf("%v, %v degrees of freedom of f", family, df)] = f
		}
	}
	return models
}

// What is looked up is what is integrated: distribution functions to 1e-9 and quantiles to a millionth of the width of
// the 90 % interval, or of |y| in the tails, on several goroutines that make the tables together.
func TestSharedTables(t *testing.T) {
	rows := batchOf(1, -2)
	probabilities := []float64{0.05, 1e-6, 0.3, 0.95, 0.999}
	ys := []float64{math.Inf(-1), -1e300, 0, 0.3, 1, 7, 1e300, math.Inf(1)}
	for name, f := range locatedModels() {
		exact, err := f.Distribution(NewWorkspace(1), rows)
		if err != nil {
			t.Fatal(err)
		}
		var tables Tables
		quantiles, functions := make([][4]float64, len(probabilities)), make([][4]float64, len(ys))
		var group sync.WaitGroup
		for g := range 4 {
			group.Go(func() {
				var shared Distribution
				shared.Share(&tables)
				if err := f.DistributionTo(NewWorkspace(1), &shared, rows); err != nil {
					t.Error(err)
				}
				for k, p := range probabilities {
					quantiles[k][g] = shared.Quantile(g%2, p)
				}
				for k, y := range ys {
					functions[k][g] = shared.CDF(g%2, y)
				}
			})
		}
		group.Wait()
		if all := tables.byFamily.Load(); all == nil || len(*all) != 4 {
			t.Errorf("%s: no table for each of four members of weight", name)
		}
		for i := range rows.Rows() {
			width := exact.Quantile(i, 0.95) - exact.Quantile(i, 0.05)
			for k, p := range probabilities {
				want, got := exact.Quantile(i, p), quantiles[k][i]
				at := width
				if p < 0.01 || p > 0.99 {
					at += math.Abs(want)
				}
				if !(math.Abs(got-want) <= 1e-6*at) || got != quantiles[k][i+2] {
					t.Errorf("%s, row %d: the quantile of %v is %v looked up and %v integrated; 90 %% are %v wide", name, i, p, quantiles[k], want, width)
				}
			}
			for k, y := range ys {
				want, got := exact.CDF(i, y), functions[k][i]
				// the integral has half of the error
				if !(math.Abs(got-want) <= 2e-9) || !(math.Abs(y) <= 7) && got != want {
					t.Errorf("%s, row %d: P(Y ≤ %v) is %.12g looked up and %.12g integrated", name, i, y, got, want)
				}
			}
		}
	}
}

// Rows that state their precision have a family each, and are integrated.
func TestTablesLeavePrecisionsAlone(t *testing.T) {
	rows := batchOf(1, -2)
	rows.Precision = []float64{2, 0.5}
	for name, f := range locatedModels() {
		exact, err := f.Distribution(NewWorkspace(1), rows)
		var shared Distribution
		shared.Share(new(Tables))
		if err2 := f.DistributionTo(NewWorkspace(1), &shared, rows); err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for i := range rows.Rows() {
			if got, want := shared.CDF(i, 0.7), exact.CDF(i, 0.7); got != want {
				t.Errorf("%s, row %d: %v and %v", name, i, got, want)
			}
		}
	}
}

// countModels are models of counts of five members, under an f that is normal or Student-t.
func countModels() map[string]*Fitted {
	models := map[string]*Fitted{}
	for _, df := range []float64{0, 8} {
		for _, variance := range []float64{1e-6, 0.02, 0.4, 3} {
			for _, family := range []Predictive{
				likelihood.Poisson{}, likelihood.Poisson{Link: likelihood.Softplus}, likelihood.NegativeBinomial{Size: param.From(0.3)}, likelihood.NegativeBinomial{Size: param.From(50)},
			} {
				f := &Fitted{}
				for m := range 5 {
					l := family
					if p, ok := l.(likelihood.NegativeBinomial); ok {
						l = p.WithParameters([]float64{p.Size.Value * math.Exp(0.2*float64(m-2))}).(Predictive)
					}
					f.Members = append(f.Members, Member{
						Model: Model{Features: identity{1}, Likelihood: l}, Weight: []float64{0.1, 0.3, 0.25, 0.35, 0}[m],
						Posterior: tailed{point{[]float64{1 + 0.04*float64(m)}, variance}, df},
					})
				}
				models[fmt.Sprintf("%v, variance %v and %v degrees of freedom of f", family, variance, df)] = f
			}
		}
	}
	return models
}

// Counts that are added up are those that distribution functions give: the smallest whose function, to 1e-9, reaches
// the probability, up to some hundreds, and what is beyond is searched for.
func TestAddedCounts(t *testing.T) {
	rows := batchOf(-2, 0.2, 1, 3, 4.9, 5.5, 7)
	probabilities := []float64{0.05, 0.95, 0.5, 1e-4, 0.999}
	for name, f := range countModels() {
		exact, err := f.Distribution(NewWorkspace(1), rows)
		var shared Distribution
		shared.Share(new(Tables))
		if err2 := f.DistributionTo(NewWorkspace(1), &shared, rows); err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		for i := range rows.Rows() {
			got := make([]float64, len(probabilities))
			added := shared.countQuantiles(got, i, probabilities)
			if added != (exact.CDF(i, mostCounts) >= 0.999) && !(rows.X.Data[i] > 4) {
				t.Errorf("%s, row %d: counts are added up: %v", name, i, added)
			}
			if !added {
				shared.Quantiles(got, i, probabilities)
			}
			for k, p := range probabilities {
				if upTo, below := exact.CDF(i, got[k]), exact.CDF(i, got[k]-1); !(upTo >= p-1e-9 && below < p+1e-9) {
					t.Errorf("%s, row %d: the quantile of %v is %v, up to which the probability is %.12g, and %.12g below", name, i, p, got[k], upTo, below)
				}
			}
		}
	}
}

// Quantiles of one part that all rows share are those of the row alone, at probabilities that change and change back,
// whatever the family before was.
func TestScaledQuantiles(t *testing.T) {
	rows := batchOf(1, -2, 0.3)
	var tables Tables
	for _, df := range []float64{0, 5, 30, 5} {
		family := likelihood.Gaussian{NoiseVariance: param.Hold(0.4), PredictiveDF: df}
		f := &Fitted{Members: []Member{{Model: Model{Features: identity{1}, Likelihood: family}, Posterior: point{[]float64{2}, 0.3}}}}
		var shared Distribution
		shared.Share(&tables)
		if err := f.DistributionTo(NewWorkspace(1), &shared, rows); err != nil {
			t.Fatal(err)
		}
		for _, probabilities := range [][]float64{{0.05, 0.95}, {0.025, 0.5, 0.975}, {0.05, 0.96}, {0.05, 0.95}} {
			got := make([]float64, len(probabilities))
			for i, x := range rows.X.Data {
				shared.Quantiles(got, i, probabilities)
				for k, p := range probabilities {
					if want := family.PredictiveQuantile(p, 2*x, 0.3); got[k] != want || !(math.Abs(family.PredictiveCDF(want, 2*x, 0.3)-p) <= 1e-12) {
						t.Errorf("%v degrees of freedom, row %d: the quantile of %v is %v, want %v", df, i, p, got[k], want)
					}
				}
			}
		}
	}
}
