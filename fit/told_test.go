package fit_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/relation"
	"github.com/credence-ml/credence/table"
)

// told are fits by an engine, with options that each make another answer, and others than each other.
var told = []struct {
	command, formula, family, prior, engine string
	options                                 []string
}{
	{"fit", "y ~ z + rbf(x, n=6)", "gaussian", "normal", "exact", []string{"starts=1", "draws=3", "iterations=1", "tolerance=0.1", "screen=30", "polish=30", "hyper=mode", "hyper=ml"}},
	{"fit", "count ~ x + z + city", "poisson", "normal", "svi", []string{"covariance=full", "covariance=full, hyper=mode", "components=2", "components=2, starts=1", "iterations=2", "tolerance=0.5", "hyper=heldout", "hyper=ml", "diagnostics=0"}},
	{"fit", "b ~ rbf(x, n=6)", "bernoulli", "normal", "svi", []string{"screen=30"}},
	{"fit", "count ~ x + z", "poisson", "normal", "svi(batch=40, epochs=2", []string{"batch=30, epochs=2", "epochs=3", "optimiser=adagrad", "optimiser=adadelta", "optimiser=momentum", "optimiser=sgd", "estimator=sample", "estimator=sample, samples=4", "rate=0.3"}},
	{"select", "y ~ x + z + u + city", "gaussian", "spikeslab", "ep", []string{"hyper=mode", "covariance=diagonal", "iterations=1", "tolerance=0.5"}},
	{"select", "y ~ x + z + u + city + garden + n + p + o + e + count + grade", "gaussian", "spikeslab(inclusion=0.5)", "gibbs(draws=20", []string{"chains=2", "flips=400", "draws=30", "start=empty"}},
	{"fit", "y ~ x + z + u", "gaussian", "horseshoe", "gibbs(sweeps=40", []string{"sweeps=60"}},
	{"fit", "count ~ x + z + city", "poisson", "normal", "laplace", []string{"iterations=1", "tolerance=5", "hyper=mode", "hyper=ml", "diagnostics=0"}},
	{"select", "b ~ x + z + u + city", "bernoulli", "spikeslab", "laplace", []string{"method=gist", "variances=nystrom", "variances=nystrom, columns=2", "variances=nystrom, columns=2, sets=1", "variances=random", "starts=1", "anneal=true", "iterations=2", "tolerance=0.5"}},
	{"fit", "b ~ x + z + city", "bernoulli", "laplace", "convex", []string{"hyper=mode", "hyper=ml", "steps=1", "tolerance=0.1", "variances=lanczos", "variances=lanczos, k=2", "variances=sample", "variances=sample, k=20", "variances=xdiag", "variances=combined"}},
	{"fit", "b ~ x + z + city", "bernoulli", "normal", "convex", []string{"hyper=heldout"}},
	{"select", "b ~ x + z + city", "bernoulli(link=probit)", "spikeslab", "sep", []string{"known_counts=true"}},
	{"stream", "b ~ x + z + hash(city)", "", "", "sep", []string{"batch=2", "batch=2, prior_every=2", "passes=2", "positive_weight=2", "negative_weight=2", "forget=20"}},
	{"stream", "b ~ x + z", "", "", "ftrl", []string{"alpha=1", "alpha=1, beta=3", "l1=0", "l2=3", "passes=2"}},
	{"stream", "b ~ x + z", "", "", "adpredictor", []string{"variance=3", "beta=3"}},
	{"stream", "b ~ x + z", "", "", "sgd", []string{"rate=0.3", "l2=0.3", "passes=2"}},
	{"fit", "y ~ x + z + u + city", "gaussian", "", "lasso", []string{"lambda=0.3", "rule=one_se", "folds=3", "points=4"}},
	{"fit", "y ~ x + z + u + city", "gaussian", "", "elasticnet", []string{"lambda=0.3", "rule=one_se", "folds=3", "points=4", "alpha=0.2"}},
	{"fit", "y ~ x + z + u + city", "gaussian", "", "ridge", []string{"lambda=0.3", "rule=one_se", "folds=3", "points=4"}},
	{"fit", "y ~ x + z + u + city", "gaussian", "", "cappedl1", []string{"lambda=0.3", "rule=one_se", "folds=3", "points=4", "lambda=0.3, cap=9"}},
}

// quiet are options of many rows, of many columns or of times, and one of which one value alone is taken.
var quiet = []string{"svi polish", "laplace vectors", "sep prune", "sep features", "sep half_life", "adpredictor passes"}

// TestEveryOptionTells: each option of an engine, and each other value of it, makes another answer.
func TestEveryOptionTells(t *testing.T) {
	met := map[string]bool{}
	for _, c := range told {
		name, _, more := strings.Cut(c.engine, "(")
		answers := map[string]relation.Answer{}
		for _, option := range append([]string{""}, c.options...) {
			for part := range strings.SplitSeq(option, ", ") {
				key, _, _ := strings.Cut(part, "=")
				met[name+" "+key] = true
			}
			engine := c.engine + map[bool]string{true: ", ", false: "("}[more] + option + ")"
			if option == "" {
				engine = c.engine + map[bool]string{true: ")"}[more]
			} else if key, _, _ := strings.Cut(option, "="); strings.Contains(c.engine, key+"=") {
				engine = name + "(" + option + ")"
			}
			job := relation.Job{Command: c.command, Rows: relation.Data(60, 1), Probe: relation.Data(2, 2),
				Options: fit.Options{Formula: c.formula, Family: c.family, Prior: c.prior, Engine: engine, Seed: 3}}
			a, err := runFit(t.Context(), job)
			if err != nil {
				t.Errorf("%s of %s: %v", engine, c.formula, err)
				continue
			}
			for other, b := range answers {
				if maps.EqualFunc(a, b, func(v, w float64) bool { return math.Float64bits(v) == math.Float64bits(w) }) {
					t.Errorf("%s of %s answers as with %q", engine, c.formula, other)
				}
			}
			answers[option] = a
		}
	}
	for _, e := range fit.Default().Engines {
		for _, o := range e.Options() {
			if place := fmt.Sprint(e.Name, " ", o.Key); !met[place] && !slices.Contains(quiet, place) {
				t.Errorf("%s= has no line here", place)
			}
		}
	}
}

// TestConstantTargetsInOtherUnits: a constant target in another unit has the same fit in that unit.
func TestConstantTargetsInOtherUnits(t *testing.T) {
	type row struct{ X, Y float64 }
	scale := func(y float64) float64 {
		rows := make([]row, 40)
		for i := range rows {
			rows[i] = row{math.Sin(float64(i)), y}
		}
		fitted := must.Value(fit.Table(t.Context(), must.Value(table.Structs(rows))(t), fit.Options{Formula: "Y ~ X", Family: "studentt(df=4)"}))(t)
		return fitted.Report.Hyper.Of("scale", math.NaN())
	}
	if five, more := scale(5), scale(5*1024); !(math.Abs(more/five-1024) <= 1e-6*1024) {
		t.Errorf("scales are %v of 5, and %v of 1024 times 5", five, more)
	}
}
