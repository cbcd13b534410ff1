package score_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// within checks that the mean and the SD of values are those expected, to four Monte Carlo errors.
func within(t *testing.T, what string, values []float64, mean, sd float64) {
	t.Helper()
	n := float64(len(values))
	got, spread := stat.MeanStdDev(values, nil)
	if !(math.Abs(got-mean) <= 4*sd/math.Sqrt(n)+1e-9*math.Abs(mean)) {
		t.Errorf("%s: mean %v, want %v within %v", what, got, mean, 4*sd/math.Sqrt(n))
	}
	kurtosis := math.Max(1, stat.ExKurtosis(values, nil)+3) // which of two values it is, to rounding
	if sd > 0 && !(math.Abs(spread/sd-1) <= 4*math.Sqrt((kurtosis-1)/4/n)+1/n) {
		t.Errorf("%s: SD %v, want %v", what, spread, sd)
	}
}

// column returns column j of rows of a width.
func column(values []float64, width, j int) (out []float64) {
	for ; j < len(values); j += width {
		out = append(out, values[j])
	}
	return out
}

// Draws have the means and SDs that weights are told with; they add up to f of every row, whose mean and variance are
// those of predictions, as are those of E y and of y; and the interval of E y leaves out as many of them as it says. So
// for every kind of posterior.
func TestDraws(t *testing.T) {
	const n = 4000
	c := newCells(60)
	for i := range c.n {
		c.numbers["o"][i] /= 5
	}
	for _, o := range []fit.Options{
		{Formula: "y ~ a*g + b + offset(o)"}, // full, Student
		{Formula: "y ~ a + b + g:h", Prior: "normal(variance=2)", Family: "gaussian(variance=1)"},
		{Formula: "y ~ a + b + g", Engine: "svi(covariance=diagonal)"},
		{Formula: "y ~ a + b + g", Engine: "svi(components=3)"},
		{Formula: "y ~ a + b + g", Engine: "laplace"},
		{Formula: "y ~ a + b + g", Engine: "ep", Prior: "spikeslab"},
		{Formula: "y ~ a + b + g", Engine: "gibbs", Prior: "spikeslab"},
		{Formula: "y ~ a + b + g", Engine: "convex", Prior: "laplace"},
		{Formula: "y ~ a + b + g", Engine: "svi", Family: "studentt"},
		{Formula: "y ~ poly(a, d, 3) + g*h*b + d:b"},
		{Formula: "count ~ a + b + g + offset(o)", Family: "poisson"},
		{Formula: "count ~ a + b + g", Family: "negbinomial"},
		{Formula: "w ~ a + b + g", Family: "gamma"},
		{Formula: "count ~ a + b + g", Family: "ordinal"},
		{Formula: "h ~ a + b + g"},
		{Formula: "y ~ a + rbf(b, n=3)"}, // members of their own features
	} {
		t.Run(fmt.Sprint(o.Formula, " ", o.Engine, o.Family), func(t *testing.T) {
			o.Seed = 4
			source := c.source(t)
			model, err := fit.Table(t.Context(), source, o)
			if err != nil {
				t.Fatal(err)
			}
			scorer := must.Value(score.New(model, score.Options{}))(t)
			drawn := must.Value(scorer.Draw(n, 5))(t)
			stored, sampled := model.Members[0].Posterior.(*posterior.Draws)
			if sampled = sampled && stored.Mean == nil; !sampled && drawn.Count != n || sampled && drawn.Count != min(n, stored.Count) {
				t.Fatalf("%d draws", drawn.Count)
			}
			names, values, left, err := drawn.Parameters()
			must.Succeed(t, err)
			all := terms(t, model, score.TermOptions{})
			for _, term := range all {
				j := slices.Index(names, term.Name)
				if j < 0 && slices.Contains(left, term.Block) {
					continue
				}
				within(t, term.Name, column(values, len(names), j), term.Mean, float64(term.SD))
			}
			bound := must.Value(scorer.Table(source, score.UseTargets))(t)
			must.Succeed(t, bound.Each(t.Context(), func(rows *score.Rows) error {
				f, mean, y, err := drawn.Rows(rows)
				if err != nil {
					return err
				}
				copies := slices.Repeat([]int{0}, rows.Len()) // the second row twice, the third once
				copies[1], copies[2] = 2, 1
				some, err := drawn.Targets(rows, copies)
				if err != nil {
					return err
				}
				first, again, third := some[:drawn.Count], some[drawn.Count:2*drawn.Count], some[2*drawn.Count:]
				if size := drawn.Count; !slices.Equal(first, y[size:2*size]) || !slices.Equal(third, y[2*size:3*size]) || slices.Equal(first, again) {
					t.Fatal("copies of rows are not drawn as rows are, each afresh")
				}
				lower, upper, err := rows.MeanIntervals()
				if err != nil {
					return err
				}
				for i := range rows.Len() {
					at := func(x []float64) []float64 { return x[i*drawn.Count : (i+1)*drawn.Count] }
					if len(left) == 0 && scorer.Grades() == nil {
						for s, got := range at(f)[:100] {
							sum, size := rows.Batch().OffsetOf(i), 0.0
							for _, term := range all {
								x := values[s*len(names)+slices.Index(names, term.Name)] * c.column(i, term.Name)
								sum, size = sum+x, size+math.Abs(x)
							}
							if !(math.Abs(sum-got) <= 1e-9*(1+math.Abs(got))+1e-12*size) {
								t.Fatalf("row %d, draw %d: f is %v, and Σ weight × column %v", i, s, got, sum)
							}
						}
					}
					latent, variance := rows.Latent(i)
					expected, spread := rows.Moments(i)
					if !sampled { // of which predictions take 64
						within(t, fmt.Sprint("f of row ", i), at(f), latent, math.Sqrt(variance))
						within(t, fmt.Sprint("y of row ", i), at(y), expected, math.Sqrt(spread))
					}
					below, above := 0.0, 0.0
					for _, m := range at(mean) {
						if m < lower[i] {
							below++
						}
						if m > upper[i] {
							above++
						}
					}
					within := 4 * math.Sqrt(0.05*0.95/float64(drawn.Count))
					if !(math.Abs(below/float64(drawn.Count)-0.05) <= within) || !(math.Abs(above/float64(drawn.Count)-0.05) <= within) {
						t.Fatalf("row %d: of E y %v are below, and %v above the interval from %v to %v", i, below, above, lower[i], upper[i])
					}
				}
				return nil
			}))
			again := must.Value(must.Value(score.New(model, score.Options{Threads: 1}))(t).Draw(n, 5))(t)
			_, same, _, _ := again.Parameters()
			_, other, _, _ := must.Value(scorer.Draw(n, 6))(t).Parameters()
			if !slices.Equal(values, same) || slices.Equal(values, other) && !sampled {
				t.Error("draws are not those of the seed")
			}
		})
	}
}

// The parameter of a family has the distribution that the fit tells, and is as correlated with the weights.
func TestDrawsOfFamily(t *testing.T) {
	const n = 20_000
	c := newCells(60)
	for i := range c.n {
		c.numbers["count"][i] *= math.Round(math.Exp(0.2 * (c.numbers["a"][i] - 30)))
	}
	source := c.source(t)
	model := fitted(t, source, fit.Options{Formula: "count ~ a", Family: "negbinomial"})
	family := model.Family
	if family == nil {
		t.Fatal("the size has no posterior")
	}
	scorer := must.Value(score.New(model, score.Options{}))(t)
	names, values, _, err := must.Value(scorer.Draw(n, 1))(t).Parameters()
	must.Succeed(t, err)
	sizes := column(values, len(names), slices.Index(names, "size"))
	axes := must.Value(score.DrawFamily(model, n, 0))(t)
	own := must.Value(model.Members[0].Model.Features.(ability.Rescaled).OwnUnits())(t)
	free := make([]float64, n)
	for s := range free {
		free[s] = family.Coordinates[0].Free(sizes[s])
	}
	sd := 0.0
	for k := range axes.SD {
		sd = math.Hypot(sd, family.Root[k]*axes.SD[k])
	}
	within(t, "log size", free, stat.Mean(free, nil), sd)
	for i, col := range own.Columns {
		want := 0.0
		for j, v := range own.Map.Each(i) {
			for k, s := range axes.SD {
				want += v * family.Slopes[j*len(axes.SD)+k] * s * s * family.Root[k]
			}
		}
		w := column(values, len(names), slices.Index(names, col.Name))
		want /= sd * stat.StdDev(w, nil)
		if got := stat.Correlation(w, free, nil); !(math.Abs(got-want) <= 4/math.Sqrt(n)) {
			t.Errorf("%s and size: correlation %v, want %v", col.Name, got, want)
		}
	}
	// of 60 rows y is a t, of 2,000 as good as normal
	for engine, rows := range map[string]int{"auto": 60, "exact": 2000, "svi(covariance=full)": 2000, "convex": 2000} {
		c := newCells(rows)
		model := fitted(t, c.source(t), fit.Options{Formula: "y ~ a", Engine: engine})
		noise := model.Members[0].Model.Likelihood.(likelihood.Gaussian)
		names, values, _, err = must.Value(must.Value(score.New(model, score.Options{}))(t).Draw(n, 1))(t).Parameters()
		must.Succeed(t, err)
		variance, sd := noise.NoiseVariance.Value, math.Sqrt(2/float64(rows-6))
		if rows < 200 {
			sd = math.Sqrt(2 / (noise.PredictiveDF - 4))
		}
		within(t, fmt.Sprint("noise variance of ", rows, " by ", engine), column(values, len(names), slices.Index(names, "noise_variance")), variance, variance*sd)
	}
}

// Names are made different by their blocks, and the interval of the mean of a normal f is that of f.
func TestDrawsNamed(t *testing.T) {
	c := newCells(40)
	c.numbers["size"] = c.numbers["a"]
	source := must.Value(tableOf(&c, "size", "count", "y"))(t)
	model := fitted(t, source, fit.Options{Formula: "count ~ size", Family: "negbinomial"})
	names, _, _, err := must.Value(must.Value(score.New(model, score.Options{}))(t).Draw(10, 1))(t).Parameters()
	must.Succeed(t, err)
	if want := []string{"(intercept)", "linear.size", "family.size"}; !slices.Equal(names, want) {
		t.Errorf("named %q, want %q", names, want)
	}
	model = fitted(t, source, fit.Options{Formula: "count ~ size", Family: "poisson", Prior: "normal(variance=1)"})
	scorer := must.Value(score.New(model, score.Options{Interval: 0.8}))(t)
	z := special.NormalQuantile(0.9)
	bound := must.Value(scorer.Table(source, score.IgnoreTargets))(t)
	must.Succeed(t, bound.Each(t.Context(), func(rows *score.Rows) error {
		lower, upper, err := rows.MeanIntervals()
		for i := range rows.Len() {
			mean, variance := rows.Latent(i)
			if low, high := math.Exp(mean-z*math.Sqrt(variance)), math.Exp(mean+z*math.Sqrt(variance)); !near(lower[i], low) || !near(upper[i], high) {
				t.Fatalf("row %d: from %v to %v, want %v to %v", i, lower[i], upper[i], low, high)
			}
		}
		return err
	}))
}

// tableOf is a table of some numbers.
func tableOf(c *cells, names ...string) (credence.Source, error) {
	rows := table.New()
	for _, name := range names {
		rows.Numbers(name, c.numbers[name])
	}
	return rows.Source()
}

// What cannot be drawn is refused.
func TestDrawsRefuse(t *testing.T) {
	c := newCells(40)
	scorer := must.Value(score.New(fitted(t, c.source(t), fit.Options{Formula: "y ~ a"}), score.Options{}))(t)
	if _, err := (*score.Scorer)(nil).Draw(10, 1); err == nil {
		t.Error("nothing draws")
	}
	for _, n := range []int{0, 1 << 26} {
		if _, err := scorer.Draw(n, 1); err == nil {
			t.Errorf("%d draws are made", n)
		}
	}
	// Of draws that the fit has made some are taken, evenly spread over the chains.
	model := fitted(t, c.source(t), fit.Options{Formula: "y ~ a", Engine: "gibbs(flips=200)", Prior: "spikeslab"})
	stored := model.Members[0].Posterior.(*posterior.Draws)
	drawn := must.Value(must.Value(score.New(model, score.Options{}))(t).Draw(5, 1))(t)
	some := drawn.Members[0].Weights
	for k, w := range some {
		if want := stored.Values[k/2*stored.Count/5*2+k%2]; len(some) != 10 || w != want {
			t.Fatalf("draw %d of 5 is %v, and of those stored %v", k/2, w, want)
		}
	}
	names, _, _, err := drawn.Parameters()
	if fixed := drawn.Fixed(); err != nil || !slices.Equal(fixed, []string{"noise_variance"}) || slices.Contains(names, fixed[0]) {
		t.Errorf("a noise variance without a posterior is no column: %q of %q, %v", fixed, names, err)
	}
}

// A level that training did not have varies as its prior says, in every row by itself, and rows that lack a value have
// no draws.
func TestDrawsOfUnseenLevels(t *testing.T) {
	const n = 20_000
	c := newCells(60)
	model := fitted(t, c.source(t), fit.Options{Formula: "y ~ a + g", Family: "gaussian(variance=1)", Missing: "drop"})
	scorer := must.Value(score.New(model, score.Options{Unseen: "prior", Lacking: true}))(t)
	rows := table.New().Numbers("a", []float64{30, 31, math.NaN()}).Categories("g", []string{"new", "u", "v"})
	drawn := must.Value(scorer.Draw(n, 2))(t)
	bound := must.Value(scorer.Table(must.Value(rows.Source())(t), score.IgnoreTargets))(t)
	must.Succeed(t, bound.Each(t.Context(), func(rows *score.Rows) error {
		f, mean, y, err := drawn.Rows(rows)
		for i := range 2 {
			m, v := rows.Latent(i)
			within(t, fmt.Sprint("f of row ", i), f[i*n:(i+1)*n], m, math.Sqrt(v))
			within(t, fmt.Sprint("y of row ", i), y[i*n:(i+1)*n], m, math.Sqrt(v+1))
		}
		if lacks := f[2*n] + mean[2*n] + y[2*n]; lacks == lacks || rows.Len() != 3 {
			t.Errorf("a row that lacks a value has draws: %v", lacks)
		}
		return err
	}))
}
