package fit_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// TestPriorOdds: prior odds reach every engine that selects, by the names of columns and of groups, and stand in
// the model file; what is wrong with them is refused with its place.
func TestPriorOdds(t *testing.T) {
	ctx, rng := context.Background(), rand.New(rand.NewPCG(5, 9))
	const n = 40
	a, b, y, city := make([]float64, n), make([]float64, n), make([]float64, n), make([]string, n)
	for i := range n {
		a[i], b[i], city[i] = rng.NormFloat64(), rng.NormFloat64(), []string{"Basel", "Bern", "Biel"}[i%3]
		y[i] = 0.35*a[i] + 0.35*b[i] + rng.NormFloat64()
	}
	rows := must.Value(table.New().Numbers("a", a).Numbers("b", b).Categories("city", city).Numbers("y", y).Source())(t)
	list, err := fit.ReadOdds("odds.tsv", strings.NewReader("feature\todds\na\t100\nb\t0.001\ncity=Bern\t0.01\n"))
	if err != nil || len(list) != 3 || list[1] != (fit.Odds{Feature: "b", Odds: 0.001, Place: "odds.tsv:3"}) {
		t.Fatal(list, err)
	}
	for _, engine := range []string{"ep", "gibbs", "laplace"} {
		o := fit.Options{Formula: "y ~ .", Engine: engine}
		inclusions := func() map[string]float64 {
			fitted, err := fit.Select(ctx, rows, o, selection.Options{})
			if err != nil {
				t.Fatal(engine, err)
			}
			path := filepath.Join(t.TempDir(), "m.safetensors")
			must.Succeed(t, modelfile.Save(path, fitted))
			again := must.Value(modelfile.Load(path))(t)
			counts := map[float64]int{}
			for _, odds := range again.Members[0].Model.Prior.(prior.SpikeSlab).Odds {
				counts[odds]++
			}
			delete(counts, 0)
			want := map[float64]int{}
			if o.PriorOdds != nil { // of every level of the city
				want = map[float64]int{100: 1, 0.001: 1, 0.01: 3}
			}
			if !maps.Equal(counts, want) {
				t.Errorf("%s: the model file has the prior odds %v, want %v", engine, counts, want)
			}
			out := map[string]float64{}
			for _, f := range again.Selection.Features {
				out[f.Name] = f.Inclusion
			}
			return out
		}
		plain := inclusions()
		o.PriorOdds = list
		got := inclusions()
		if !(got["a"] > plain["a"] && got["a"] > 0.95 && got["b"] < plain["b"] && got["b"] < 0.1 && got["city=Bern"] < 0.1) {
			t.Errorf("%s: %v, without odds %v", engine, got, plain)
		}
		if engine != "laplace" && got["city=Bern"] != got["city=Basel"] {
			t.Errorf("%s: levels of one column differ: %v", engine, got)
		}
	}
	// s is each feature's own in laplace alone
	for engine, wanted := range map[string]bool{"laplace": true, "ep": false} {
		fitted := must.Value(fit.Select(ctx, rows, fit.Options{Formula: "y ~ .", Engine: engine, Prior: "spikeslab(inclusion_prior=[1, 3])", PriorOdds: list[:1]}, selection.Options{Moments: true}))(t)
		for _, f := range fitted.Selection.Features {
			if e := f.Inclusion; f.VarZ == nil || *f.VarZ != e*(1-e) || (f.MeanS != nil) != (wanted && f.Name != "a") || f.MeanS != nil && *f.MeanS != (1+e)/5 {
				t.Errorf("%s: %+v", engine, f)
			}
		}
	}
	for text, want := range map[string]string{
		"a,1\nc,1":                  `odds.csv:2: there is no feature "c" to select`,
		"a,1\nb,x":                  `odds.csv:2: odds "x" are not a number`,
		"a,1\nb":                    `odds.csv:2: there is a name without odds`,
		"a,1,5":                     `odds.csv:1: 3 fields stand where a name and its odds should`,
		"\n":                        `odds.csv: the file has no odds`,
		"name,odds\n":               `odds.csv: the file has no odds`,
		"a,-1":                      `odds.csv:1: prior odds -1 of "a" are not a positive number`,
		"a,1\na,2":                  `odds.csv:2: "a" has the prior odds 1 and 2`,
		"city=Bern,1\ncity=Basel,2": `odds.csv:2: "city=Basel" has the prior odds 1 and 2`,
	} {
		list, err := fit.ReadOdds("odds.csv", strings.NewReader(text))
		if err == nil {
			_, err = fit.Select(ctx, rows, fit.Options{Formula: "y ~ .", Engine: "ep", PriorOdds: list}, selection.Options{})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := fit.New(fit.Options{PriorOdds: list}); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), "use --prior spikeslab") {
		t.Errorf("with a normal prior: %v", err)
	}
}

// TestOddsOfManyFeatures: the odds of a feature beyond the first 512, which engines go through by runs, are its own and
// not those of one in the run before: a feature that tells little is in by them, with a weight of its size.
func TestOddsOfManyFeatures(t *testing.T) {
	const n, d, at = 30, 560, 550
	rng := rand.New(rand.NewPCG(8, 2))
	columns, y := make([][]float64, d), make([]float64, n)
	for j := range columns {
		for range n {
			columns[j] = append(columns[j], rng.NormFloat64())
		}
	}
	for i := range y {
		y[i] = 0.4*columns[at][i] + 0.2*rng.NormFloat64() // beside a noise of 1
	}
	source := func(first int) credence.Source { // the columns from there on, and then those before
		b := table.New().Numbers("y", y)
		for k := range d {
			j := (first + k) % d
			b.Numbers(fmt.Sprint("x", j), columns[j])
		}
		return must.Value(b.Source())(t)
	}
	odds := []fit.Odds{{Feature: fmt.Sprint("x", at), Odds: 1e9}}
	for _, engine := range []string{"laplace(starts=1)", "ep(hyper=mode)"} {
		var means [2]float64
		for k, first := range []int{0, at} {
			fitted, err := fit.Select(t.Context(), source(first), fit.Options{Formula: "y ~ .", Engine: engine, Family: "gaussian(variance=1)",
				Prior: "spikeslab(inclusion=0.01, slab=0.5)", PriorOdds: odds}, selection.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range fitted.Selection.Features {
				if own := f.Name == odds[0].Feature; own {
					means[k] = f.Mean
				} else if f.Inclusion > 0.5 {
					t.Errorf("%s: %s is in with the probability %v", engine, f.Name, f.Inclusion)
				}
			}
		}
		if !(math.Abs(means[0]-means[1]) < 0.01) || means[0] < 0.2 {
			t.Errorf("%s: the weight of x%d is %v, and %v as the first column", engine, at, means[0], means[1])
		}
	}
}
