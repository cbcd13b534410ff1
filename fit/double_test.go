package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/table"
)

// ragged is a table of a rough function of a, through a hundred random points, and a smooth one of b; c has 60 values
// of a, g is normal and y a count.
func ragged(t *testing.T, rows int, noise float64) credence.Source {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 26))
	var points [101]float64
	for k := range points {
		points[k] = rng.NormFloat64()
	}
	rough := func(a float64) float64 {
		k := int(a * 100)
		return points[k] + (a*100-float64(k))*(points[k+1]-points[k])
	}
	var a, b, c, g, h, y []float64
	for i := range rows {
		x, z := rng.Float64(), rng.Float64()
		a, b, c = append(a, x), append(b, z), append(c, math.Floor(60*x)/60)
		g = append(g, rough(x)+math.Sin(3*z)+noise*rng.NormFloat64())
		h = append(h, rough(c[i])+noise*rng.NormFloat64())
		y = append(y, likelihood.Poisson{}.Sample(rng, 2+rough(x)))
	}
	return must.Value(table.New().Numbers("a", a).Numbers("b", b).Numbers("c", c).Numbers("g", g).Numbers("h", h).Numbers("y", y).Source())(t)
}

// Twice as many frequencies are drawn while the evidence gains, of the terms that do: the evidence is then above that
// of the first number by more than what doubling asks for, and a curve for which the first number suffices has that of
// the number stated.
func TestFrequenciesDoubleWhileTheEvidenceGains(t *testing.T) {
	rows := ragged(t, 600, 0.1)
	for _, c := range []struct {
		formula, family, prior, engine string
		stated                         string // the same with the first numbers stated
		least, most                    []float64
	}{
		// 100 to 200 gain 3.7 nats, to 400 they lose .5
		{"g ~ rbf(a, lengthscale=0.08) + rbf(b)", "", "", "exact(starts=1)", "g ~ rbf(a, n=50, lengthscale=0.08) + rbf(b, n=50)", []float64{200, 50}, []float64{200, 50}},
		{"y ~ rbf(a, lengthscale_prior=none)", "poisson", "", "svi(covariance=full, hyper=mode)", "y ~ rbf(a, n=50, lengthscale_prior=none)", []float64{100}, []float64{500}},
		{"h ~ rbf(c, lengthscale=0.03)", "", "", "", "h ~ rbf(c, n=50, lengthscale=0.03)", []float64{60}, []float64{60}},
		{"g ~ b + rbf(a, n=30)", "", "", "", "", []float64{30}, []float64{30}},
		{"b ~ rbf(g)", "", "", "", "b ~ rbf(g, n=50)", []float64{50}, []float64{50}},
		{"g ~ rbf(a, lengthscale=0.1)", "", "spikeslab", "ep", "", []float64{50}, []float64{50}},
	} {
		rows := rows
		if c.family == "poisson" {
			if testing.Short() {
				continue // seconds
			}
			rows = ragged(t, 200, 0.1)
		}
		options := Options{Formula: c.formula, Family: c.family, Prior: c.prior, Engine: c.engine, Threads: 1}
		fitted := must.Value(Table(t.Context(), rows, options))(t)
		doubled := false
		for k, n := range fitted.Report.Frequencies {
			if n.Value < c.least[k] || n.Value > c.most[k] {
				t.Errorf("%s: %s draws %v, want %v to %v", c.formula, n.Name, n.Value, c.least[k], c.most[k])
			}
			doubled = doubled || n.Value > 50
		}
		if c.stated == "" {
			continue
		}
		options.Formula = c.stated
		stated := must.Value(Table(t.Context(), rows, options))(t)
		gain := evidence(&fitted.Report) - evidence(&stated.Report)
		if doubled != (gain > 3) {
			t.Errorf("%s: the evidence gains %v", c.formula, gain)
		}
		if !doubled && !reflect.DeepEqual(weightsOf(fitted), weightsOf(stated)) {
			t.Errorf("%s: the model is another than with the number stated", c.formula)
		}
	}
}

// weightsOf are the means of all weights of all members.
func weightsOf(f *credence.Fitted) (all []float64) {
	for _, m := range f.Members {
		mean := make([]float64, m.Posterior.Weights())
		m.Posterior.Marginals(mean, make([]float64, len(mean)))
		all = append(all, mean...)
	}
	return all
}

// What is drawn does not depend on threads, nor on whether a checkpoint is written.
func TestDoublingDoesNotDependOnThreads(t *testing.T) {
	rows := ragged(t, 600, 0.1)
	var means [][]float64
	for _, o := range []Options{{Threads: 1}, {Threads: 2}, {Threads: 1, Checkpoint: t.TempDir() + "/c"}} {
		o.Formula, o.Family = "y ~ rbf(c, lengthscale=0.03)", "poisson"
		fitted := must.Value(Table(t.Context(), rows, o))(t)
		means = append(means, weightsOf(fitted))
		if fitted.Report.Frequencies[0].Value != 60 {
			t.Fatalf("%v frequencies are too few for the test", fitted.Report.Frequencies)
		}
	}
	if !reflect.DeepEqual(means[0], means[1]) || !reflect.DeepEqual(means[0], means[2]) {
		t.Error("the weights differ")
	}
}

// No number is doubled beyond what has a full covariance, and none that is stated.
func TestTwice(t *testing.T) {
	rows := ragged(t, 600, 0.1)
	for _, c := range []struct {
		formula string
		want    []int // nil where none may be doubled
	}{
		{"g ~ rbf(a) + rbf(b, n=40) + rbf(c) + rbf(a, b)", []int{100, 40, 60, 200}},
		{"g ~ rbf(a) + rbf(b, n=851)", []int{100, 851}},
		{"g ~ rbf(a) + rbf(b, n=900)", nil},
		{"g ~ rbf(a, b, c)", nil},
		{"g ~ rbf(a, n=50)", nil},
	} {
		job := must.Value(New(Options{Formula: c.formula}))(t)
		p := must.Value(job.Prepare(t.Context(), rows))(t)
		more, terms := p.twice(p.drawn, nil)
		if len(more) != len(c.want) {
			t.Errorf("%s: %+v, want %v", c.formula, more, c.want)
			continue
		}
		for k, n := range c.want {
			if more[k].Count != n {
				t.Errorf("%s: %+v, want %v", c.formula, more, c.want)
			}
		}
		if c.want == nil {
			continue
		}
		first := p.drawn[0].Term
		if only, one := p.twice(p.drawn, func(term string) bool { return term == first }); len(one) != 1 || one[0] != first || only[len(only)-1].Count != p.drawn[len(only)-1].Count {
			t.Errorf("%s: of %s alone %+v", c.formula, first, only)
		}
		for _, term := range terms {
			if term == "rbf(b)" {
				t.Errorf("%s: %v may be doubled", c.formula, terms)
			}
		}
	}
	p := must.Value(must.Value(New(Options{Formula: "g ~ rbf(a)"}))(t).Prepare(t.Context(), rows))(t)
	for n := []formula.Frequencies{p.drawn[0]}; n[0].Count < 500; {
		more, _ := p.twice(n, nil)
		if more == nil || more[0].Count != min(2*n[0].Count, 500) {
			t.Fatalf("%+v is doubled to %+v", n, more)
		}
		n = more
	}
}

// The evidence of a trial is that of a fit with the numbers stated: its rows have the weights, offsets and precisions
// of the fit's, its prior is that of the fit, and its frequencies are those of the seed.
func TestTrialsAreFits(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 26))
	var a, y, o, w []float64
	for i := range 300 {
		a, o, w = append(a, rng.Float64()), append(o, 3*rng.NormFloat64()), append(w, float64(1+i%3))
		y = append(y, o[i]+math.Sin(30*a[i])+0.3*rng.NormFloat64())
	}
	rows := must.Value(table.New().Numbers("a", a).Numbers("y", y).Numbers("o", o).Numbers("w", w).Source())(t)
	for _, role := range []string{"weight", "precision"} {
		of := func(n string) Options {
			return Options{Formula: "y ~ rbf(a" + n + ", lengthscale=0.1) + offset(o) + " + role + "(w)", Prior: "normal(variance=0.02)", Engine: "exact(starts=1, hyper=mode)", Seed: 7, Threads: 1}
		}
		p := must.Value(must.Value(New(of("")))(t).Prepare(t.Context(), rows))(t)
		d := &doubling{Prepared: p, rows: must.Value(p.some(t.Context(), trialRows))(t), family: p.model.Likelihood}
		twice, _ := p.twice(p.drawn, nil)
		for n, drawn := range map[string][]formula.Frequencies{", n=50": p.drawn, ", n=100": twice} {
			got := must.Value(d.evidence(t.Context(), p.model.Features.(*feature.Set), drawn))(t)
			fitted := must.Value(Table(t.Context(), rows, of(n)))(t)
			// Both end where 1e-6 nats a row are left.
			if want := evidence(&fitted.Report); !(math.Abs(got-want) <= 1e-3) {
				t.Errorf("%s%s: the evidence of a trial is %v, of the fit %v", role, n, got, want)
			}
		}
		// Fewer rows are runs of the fit's, spread over it, with all that they have.
		some := must.Value(p.some(t.Context(), 64))(t)
		var all, few credence.Batch
		must.Succeed(t, p.data.Read(&all, 0, p.data.Rows()))
		must.Succeed(t, some.Read(&few, 3, some.Rows()-3))
		if n := few.Rows(); n < 40 || n > 80 {
			t.Fatalf("%d rows", n)
		}
		next := 0
		for i := range few.Rows() {
			for next < all.Rows() && (all.X.Row(next)[0] != few.X.Row(i)[0] || all.Target[next] != few.Target[i] || all.Offset[next] != few.Offset[i] ||
				all.WeightOf(next) != few.WeightOf(i) || all.PrecisionOf(next) != few.PrecisionOf(i)) {
				next++
			}
		}
		if next >= all.Rows() || next < all.Rows()*3/4 {
			t.Errorf("%s: the rows end at row %d of %d", role, next, all.Rows())
		}
	}
}

// A trial begins at half the lengthscales of the terms whose frequencies it doubles; those of other terms, and what is
// stated, stay.
func TestTrialsAtHalfLengthscales(t *testing.T) {
	rows := ragged(t, 200, 0.3)
	p := must.Value(must.Value(New(Options{Formula: "g ~ rbf(a) + rbf(b) + rbf(c, lengthscale=0.3)", Engine: "exact(starts=1, hyper=mode)"}))(t).Prepare(t.Context(), rows))(t)
	features := p.model.Features.(*feature.Set).WithHyper([]float64{0.7, 0.5, 0.3}).(*feature.Set)
	drawn, _ := p.twice(p.drawn, func(term string) bool { return term != p.drawn[1].Term })
	half := (&doubling{Prepared: p}).halved(features, drawn).Hyper()
	for k, h := range features.Hyper() {
		if want := h.Value * []float64{0.5, 1, 1}[k]; !(math.Abs(half[k].Value-want) <= 1e-12*want) || len(half) != 3 {
			t.Errorf("%s of %v begins at %v in a trial, not at %v", h.Name, h.Value, half[k].Value, want)
		}
	}
}

// What a trial of another family says twice as many frequencies gain is what a fit of the same rows with the numbers
// stated gains, with their weights, offsets, trials and precisions: little where enough are drawn, and much where not.
func TestTrialsOfOtherFamilies(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 26))
	var a, o, w, k, count, amount, share, tailed []float64
	for i := range 500 {
		x := rng.Float64()
		f := 1.5 * math.Sin(200*x) // more waves than 50 frequencies of such a lengthscale reach
		a, o, w, k = append(a, x), append(o, rng.NormFloat64()/2), append(w, float64(1+i%3)), append(k, float64(3+i%5))
		count = append(count, likelihood.Poisson{}.Sample(rng, 1+f+o[i]))
		amount = append(amount, likelihood.Gamma{Shape: param.Hold(2 * w[i])}.Sample(rng, f+o[i]))
		share = append(share, likelihood.Binomial{Trials: k[i]}.Sample(rng, f+o[i]))
		tailed = append(tailed, likelihood.StudentT{DegreesOfFreedom: param.Hold(4), Scale: param.Hold(1)}.Sample(rng, f+o[i]))
	}
	rows := must.Value(table.New().Numbers("a", a).Numbers("o", o).Numbers("w", w).Numbers("k", k).
		Numbers("count", count).Numbers("amount", amount).Numbers("share", share).Numbers("tailed", tailed).Source())(t)
	for _, c := range []struct{ formula, family string }{
		{"count ~ rbf(a%s, lengthscale=0.01) + offset(o) + weight(w)", "poisson"},
		{"amount ~ rbf(a%s, lengthscale=0.01) + offset(o) + precision(w)", "gamma(shape=2)"},
		{"share ~ rbf(a%s, lengthscale=0.01) + offset(o)", "binomial(trials=k)"},
		{"tailed ~ rbf(a%s, lengthscale=0.01) + offset(o)", "studentt(df=4, scale=1)"},
		{"tailed ~ rbf(a%s, lengthscale=0.3) + offset(o)", "studentt(df=4, scale=1)"},
	} {
		of := func(n string) Options {
			return Options{Formula: fmt.Sprintf(c.formula, n), Family: c.family, Engine: "svi(covariance=full, starts=1, hyper=mode)", Seed: 7, Threads: 1}
		}
		p := must.Value(must.Value(New(of("")))(t).Prepare(t.Context(), rows))(t)
		first := must.Value(p.engine.Fit(t.Context(), p.data))(t)
		d := must.Value(p.doubling(first, must.Value(p.some(t.Context(), trialRows))(t)))(t)
		features := p.model.Features.(*feature.Set)
		twice, _ := p.twice(p.drawn, nil)
		told := must.Value(d.evidence(t.Context(), features, twice))(t) - must.Value(d.evidence(t.Context(), features, p.drawn))(t)
		gained := evidence(&must.Value(Table(t.Context(), rows, of(", n=100")))(t).Report) - evidence(&must.Value(Table(t.Context(), rows, of(", n=50")))(t).Report)
		if !(math.Abs(told-gained) <= 0.1+0.15*math.Abs(gained)) {
			t.Errorf("%s: twice as many gain %.3f in a trial, %.3f in a fit", fmt.Sprintf(c.formula, ""), told, gained)
		}
	}
}

// A fit whose frequencies were doubled has those of the seed and of the number that it tells, as if that had been
// stated.
func TestDoubledFrequenciesAreThoseOfTheSeed(t *testing.T) {
	rows := ragged(t, 600, 0.1)
	for _, seed := range []uint64{0, 7} {
		o := Options{Formula: "g ~ rbf(a, lengthscale=0.035)", Engine: "exact(starts=1)", Seed: seed, Threads: 1}
		doubled := must.Value(Table(t.Context(), rows, o))(t)
		n := int(doubled.Report.Frequencies[0].Value)
		o.Formula = fmt.Sprintf("g ~ rbf(a, lengthscale=0.035, n=%d)", n)
		stated := must.Value(Table(t.Context(), rows, o))(t)
		frequencies := func(f *credence.Fitted) []float64 {
			return f.Members[0].Model.Features.(*feature.Set).Terms()[1].(*feature.RandomFourier).Frequencies
		}
		if got := frequencies(doubled); n == 50 || len(got) != n || !slices.Equal(got, frequencies(stated)) {
			t.Errorf("seed %d: %d frequencies of %d are not those that are drawn where n=%d is stated", seed, len(got), n, n)
		}
	}
}
