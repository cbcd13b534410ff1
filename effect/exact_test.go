package effect_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// TestOffsets: averages of f and of E y hold the offsets of the rows.
func TestOffsets(t *testing.T) {
	d := draw(200, 31, poisson)
	scorer := fitted(t, d, fit.Options{Formula: "y ~ x + city + offset(log(expo))", Family: "poisson"})
	rows := d.with(func(d *data, i int) { d.expo[i] *= 20 })
	e := of(t, scorer, rows, effect.Options{What: effect.Predictions, Draws: 4000})[0]
	near(t, "E y", float64(e.Estimate), moments(t, scorer, rows), 4*float64(e.MCSE))
	want := 0.0
	a, offset, _ := features(t, scorer, 0, rows)
	mean, variance := make([]float64, a.Cols), make([]float64, a.Cols)
	scorer.Fitted().Members[0].Posterior.(credence.Joint).Marginals(mean, variance)
	for i := range rows.x {
		want += offset[i] / 200
		for j, v := range a.Row(i) {
			want += v * mean[j] / 200
		}
	}
	near(t, "f", float64(of(t, scorer, rows, effect.Options{What: effect.Predictions, Link: true})[0].Estimate), want, 1e-9)
}

// TestShares: members of unequal shares and of weights far apart count as often as their shares say, in closed form.
func TestShares(t *testing.T) {
	d := draw(50, 32, poisson)
	model, err := fit.Table(t.Context(), d.source(t), fit.Options{Formula: "y ~ x", Family: "poisson"})
	if err != nil {
		t.Fatal(err)
	}
	first := model.Members[0]
	count := first.Posterior.Weights()
	means, variance, shares := []float64{0, 1}, 0.01, []float64{0.85, 0.15}
	model.Members = nil
	for k, m := range means {
		first.Posterior = &posterior.Diagonal{Mean: slices.Repeat([]float64{m}, count), Variance: slices.Repeat([]float64{variance}, count)}
		first.Weight = shares[k]
		model.Members = append(model.Members, first)
	}
	scorer, err := score.New(model, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one := d.some(func(i int) int { return max(0, 1-i) })
	a, _, _ := features(t, scorer, 0, one)
	var sum, length, mean, square float64
	for _, v := range a.Row(0) {
		sum, length = sum+v, length+v*v
	}
	for k, m := range means {
		mean += shares[k] * math.Exp(m*sum+variance*length/2)
		square += shares[k] * math.Exp(2*m*sum+2*variance*length)
	}
	e := of(t, scorer, one, effect.Options{What: effect.Predictions, Draws: 10_000})[0]
	sd := math.Sqrt(square - mean*mean)
	near(t, "E y", float64(e.Estimate), mean, 4*float64(e.MCSE))
	near(t, "its SD", float64(e.StdError)/sd, 1, 0.03)
}

// normal fits a model and gives its weights a normal distribution of SD .2 about their means.
func normal(t testing.TB, d *data, options fit.Options) *score.Scorer {
	t.Helper()
	model, err := fit.Table(t.Context(), d.source(t), options)
	if err != nil {
		t.Fatal(err)
	}
	m := &model.Members[0]
	count := m.Posterior.Weights()
	q := &posterior.Diagonal{Mean: make([]float64, count), Variance: make([]float64, count)}
	m.Posterior.(credence.Joint).Marginals(q.Mean, q.Variance)
	for j := range q.Variance {
		q.Variance[j] = 0.04
	}
	m.Posterior = q
	scorer, err := score.New(model, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return scorer
}

// TestNumbers: the probability of a sign, the error of a ratio and that of its draws, and central intervals, in closed
// form and by the spread over seeds.
func TestNumbers(t *testing.T) {
	d := draw(40, 33, poisson)
	scorer := normal(t, d, fit.Options{Formula: "y ~ x + city", Family: "poisson"})
	link := of(t, scorer, d, effect.Options{Link: true, Interval: 0.5})
	ratios := of(t, scorer, d, effect.Options{Ratio: true, Interval: 0.5})
	const count = 10_000
	for k, e := range of(t, scorer, d, effect.Options{Draws: count}) {
		mean, sd := float64(link[k].Estimate), float64(link[k].StdError)
		side := special.NormalCDF(math.Abs(mean) / sd)
		near(t, "sign", float64(link[k].Direction), side, 1e-9)
		near(t, "sign by draws", float64(e.Direction), side, 4*math.Sqrt(side*(1-side)/count)+1.0/count)
		near(t, "upper end", float64(link[k].High), mean+special.NormalQuantile(0.75)*sd, 1e-9)
		near(t, "sign of a ratio", float64(ratios[k].Direction), side, 1e-9)
		near(t, "ratio", float64(ratios[k].Estimate), math.Exp(mean), 1e-9)
		near(t, "error of a ratio", float64(ratios[k].StdError), math.Exp(mean)*sd, 1e-9)
		near(t, "lower end of a ratio", float64(ratios[k].Low), math.Exp(mean+special.NormalQuantile(0.25)*sd), 1e-9)
	}
	for _, o := range []effect.Options{{Link: true}, {}} { // what is 0 for certain has no sign
		o.Hypotheses = []string{"b1 - b1 = 0"}
		near(t, "sign of nothing", float64(of(t, scorer, d, o)[0].Direction), 0.5, 0)
	}
	gap := of(t, scorer, d, effect.Options{What: effect.Predictions, Columns: []string{"city"}, Hypotheses: []string{"b1 - b2"}})[0]
	near(t, "sign of a difference of predictions", float64(gap.Direction), special.NormalCDF(math.Abs(float64(gap.Estimate/gap.StdError))), 0.05)
	scorer = normal(t, d, fit.Options{Formula: "y ~ x*city", Family: "poisson"})
	for _, ratio := range []bool{false, true} {
		const seeds = 300
		var first, second, mcse float64
		for seed := range uint64(seeds) {
			e := of(t, scorer, d, effect.Options{Columns: []string{"x"}, Step: "2", Ratio: ratio, Draws: 100, Seed: seed})[0]
			first += float64(e.Estimate) / seeds
			second += float64(e.Estimate) * float64(e.Estimate) / seeds
			mcse += float64(e.MCSE) / seeds
		}
		near(t, fmt.Sprint("Monte Carlo error, ratio ", ratio), mcse/math.Sqrt(second-first*first), 1, 0.15)
	}
}

// TestRatioToMean: the ratio to the mean of all levels is that to the average of E y, in one row as in the average of
// one.
func TestRatioToMean(t *testing.T) {
	d := draw(60, 34, poisson)
	scorer := fitted(t, d, fit.Options{Formula: "y ~ x + city", Family: "poisson"})
	o := effect.Options{Columns: []string{"city"}, Bases: []string{"city=mean"}, Ratio: true}
	one := d.some(func(i int) int { return max(0, 1-i) })
	want := of(t, scorer, one, o)
	o.Rows = true
	for k, e := range of(t, scorer, one, o) {
		near(t, e.Contrast, float64(e.Estimate), float64(want[k].Estimate), 1e-9)
		near(t, e.Contrast+": SD", float64(e.StdError), float64(want[k].StdError), 1e-9)
		if e.Method != "draws" {
			t.Errorf("%s by %s", e.Contrast, e.Method)
		}
	}
}

// TestOrder: levels stand against the most frequent, wherever it stands, and groups of numbers by their size.
func TestOrder(t *testing.T) {
	d := draw(120, 35, gaussian)
	d = d.with(func(d *data, i int) {
		if i == 0 {
			d.city[i] = "Chur"
		} else if d.city[i] == "Basel" {
			d.city[i] = "Zug"
		}
		d.w[i] = []float64{10, 9, 100}[i%3]
	})
	scorer := fitted(t, d, fit.Options{Formula: "y ~ x + city"})
	find(t, of(t, scorer, d, effect.Options{}), "city", "Bern - Zug")
	var groups []string
	for _, e := range of(t, scorer, d, effect.Options{Columns: []string{"x"}, By: []string{"w"}}) {
		groups = append(groups, e.By.String())
	}
	if got := strings.Join(groups, "; "); got != "w 9; w 10; w 100" {
		t.Errorf("groups are %s", got)
	}
}

// TestMissing: rows that lack a number do not count where it changes, and count as predictions have them elsewhere.
func TestMissing(t *testing.T) {
	d := draw(300, 36, poisson)
	d = d.with(func(d *data, i int) {
		if i%3 == 0 {
			d.x[i] = math.NaN()
		}
	})
	scorer := fitted(t, d, fit.Options{Formula: "y ~ x*flag + city", Family: "poisson", Missing: "mean"})
	known := d.some(func(i int) int { return map[bool]int{true: 1}[i%3 > 0] })
	for _, link := range []bool{false, true} {
		for _, o := range []effect.Options{{}, {What: effect.Slopes}, {Step: "sd"}, {Step: "iqr"}} {
			o.Link, o.Columns = link, []string{"x"}
			got, want := of(t, scorer, d, o), of(t, scorer, known, o)
			near(t, o.Step, float64(got[0].Estimate), float64(want[0].Estimate), 1e-9)
			near(t, o.Step+": SD", float64(got[0].StdError), float64(want[0].StdError), 1e-9)
		}
	}
	e := of(t, scorer, d, effect.Options{What: effect.Predictions, Draws: 4000})[0]
	near(t, "all rows", float64(e.Estimate), moments(t, scorer, d), 4*float64(e.MCSE))
	result, err := effect.Of(t.Context(), scorer, d.source(t), effect.Options{Columns: []string{"x", "city"}})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(result.Remarks, "; "); got != "100 of 300 rows lack x and do not count where it changes" || result.Rows != 300 {
		t.Errorf("%q of %d rows", got, result.Rows)
	}
}

// TestFurtherGroups: the average prediction of rows of groups that training did not have is that of their predictions,
// by draws and by the delta method, of counts and of classes; and the ratio that a column of fixed effect makes is that
// of groups of training, in closed form.
func TestFurtherGroups(t *testing.T) {
	for family, sample := range map[string]func(rng *rand.Rand, f float64) float64{"poisson": poisson, "bernoulli": bernoulli} {
		rng := rand.New(rand.NewPCG(2, 2))
		rows := func(groups, each int, name string) credence.Source {
			var x, y []float64
			var g []string
			for k := range groups {
				b := rng.NormFloat64()
				for range each {
					v := rng.NormFloat64()
					x, g, y = append(x, v), append(g, fmt.Sprint(name, k)), append(y, sample(rng, 0.5+0.3*v+b))
				}
			}
			return must.Value(table.New().Numbers("x", x).Categories("g", g).Numbers("y", y).Source())(t)
		}
		known, further := rows(40, 10, "g"), rows(50, 1, "new")
		model := must.Value(fit.Table(t.Context(), known, fit.Options{Formula: "y ~ x + (1 | g)", Family: family}))(t)
		scorer := must.Value(score.New(model, score.Options{}))(t)
		want := 0.0
		bound := must.Value(scorer.Table(further, score.IgnoreTargets))(t)
		must.Succeed(t, bound.Each(t.Context(), func(r *score.Rows) error {
			for i := range r.Len() {
				mean, _ := r.Moments(i)
				want += mean / 50
			}
			return nil
		}))
		for _, o := range []effect.Options{{Draws: 4000}, {Work: 1}} {
			o.What = effect.Predictions
			result := must.Value(effect.Of(t.Context(), scorer, further, o))(t)
			e, tolerance := result.Effects[0], 0.01*want // of a posterior of few scales of its tails
			if e.Method == "draws" {
				tolerance = 4 * float64(e.MCSE)
			}
			near(t, family+" by "+e.Method, float64(e.Estimate), want, tolerance)
			if told := strings.Join(result.Remarks, " "); !strings.Contains(told, "training did not have: effects are averaged") {
				t.Errorf("%s: remarks %q", family, told)
			}
		}
		if family == "poisson" {
			ratio := effect.Options{Columns: []string{"x"}, Ratio: true}
			a := must.Value(effect.Of(t.Context(), scorer, known, ratio))(t).Effects[0]
			b := must.Value(effect.Of(t.Context(), scorer, further, ratio))(t).Effects[0]
			near(t, "ratio by "+b.Method, float64(b.Estimate), float64(a.Estimate), 1e-9)
			near(t, "its SD", float64(b.StdError), float64(a.StdError), 1e-9)
		}
	}
}

// TestAt: a slope is taken where the rows are said to be.
func TestAt(t *testing.T) {
	d := draw(80, 37, poisson)
	scorer := fitted(t, d, fit.Options{Formula: "y ~ x*flag + city", Family: "poisson"})
	o := effect.Options{What: effect.Slopes, Columns: []string{"x"}}
	want := of(t, scorer, d.with(func(d *data, i int) { d.flag[i] = true }), o)[0]
	o.At = []string{"flag=yes"}
	got := of(t, scorer, d, o)[0]
	near(t, "slope", float64(got.Estimate), float64(want.Estimate), 1e-9)
	near(t, "its SD", float64(got.StdError), float64(want.StdError), 1e-9)
	o.At = []string{"x=1.5"} // the slope there, by E y at both sides of it
	got = of(t, scorer, d, o)[0]
	high := of(t, scorer, d.with(func(d *data, i int) { d.x[i] = 1.501 }), effect.Options{What: effect.Predictions})[0]
	low := of(t, scorer, d.with(func(d *data, i int) { d.x[i] = 1.499 }), effect.Options{What: effect.Predictions})[0]
	near(t, "slope at 1.5", float64(got.Estimate), float64(high.Estimate-low.Estimate)/0.002, 1e-4*math.Abs(float64(got.Estimate)))
}

// TestBalancedData: a balanced grid of data has the means of the data, and not those of training.
func TestBalancedData(t *testing.T) {
	d := draw(200, 38, poisson)
	scorer := fitted(t, d, fit.Options{Formula: "y ~ x + city", Family: "poisson"})
	some := d.some(func(i int) int { return map[bool]int{true: 1}[d.x[i] > 0.5] })
	mean := 0.0
	for _, x := range some.x {
		mean += x / float64(len(some.x))
	}
	made := d.some(func(i int) int { return map[bool]int{true: 1}[i < 3] }).with(func(d *data, i int) { d.x[i], d.city[i] = mean, []string{"Basel", "Bern", "Chur"}[i] })
	for _, link := range []bool{false, true} {
		got := of(t, scorer, some, effect.Options{Link: link, Balanced: true, What: effect.Predictions})
		want := of(t, scorer, made, effect.Options{Link: link, What: effect.Predictions})
		near(t, "balanced", float64(got[0].Estimate), float64(want[0].Estimate), 1e-9)
		near(t, "balanced: SD", float64(got[0].StdError), float64(want[0].StdError), 1e-9)
	}
}

// TestSparse: columns of a sparse segment change where a row has an entry and where it has none, as in a table changed
// by hand.
func TestSparse(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 39))
	type entries [3]float64
	var rows []entries
	var labels []float64
	for i := range 150 {
		var e entries
		e[i%3] = rng.NormFloat64()
		e[(i/3)%3] = 1 + rng.Float64()
		rows = append(rows, e)
		labels = append(labels, poisson(rng, 0.2+0.5*e[0]-0.3*e[1]+0.2*e[2]))
	}
	source := func(change func(e *entries)) credence.Source {
		var x linop.CSR
		x.Reset(3)
		for _, e := range rows {
			change(&e)
			var at []int32
			var values []float64
			for j, v := range e {
				if v != 0 {
					at, values = append(at, int32(j)), append(values, v)
				}
			}
			x.AppendRow(at, values)
		}
		s, err := table.Sparse(labels, x)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	as := source(func(*entries) {})
	model, err := fit.Table(t.Context(), as, fit.Options{Formula: "label ~ . + x1:x2", Family: "poisson"})
	if err != nil {
		t.Fatal(err)
	}
	scorer, err := score.New(model, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	predicted := func(s credence.Source, link bool) float64 {
		result, err := effect.Of(t.Context(), scorer, s, effect.Options{What: effect.Predictions, Link: link})
		if err != nil {
			t.Fatal(err)
		}
		return float64(result.Effects[0].Estimate)
	}
	for _, link := range []bool{false, true} {
		for j, name := range []string{"x1", "x2", "x3"} {
			want := predicted(source(func(e *entries) { e[j]++ }), link) - predicted(as, link)
			result, err := effect.Of(t.Context(), scorer, as, effect.Options{Columns: []string{name}, Link: link})
			if err != nil {
				t.Fatal(err)
			}
			near(t, name, float64(result.Effects[0].Estimate), want, 1e-9)
			result, err = effect.Of(t.Context(), scorer, as, effect.Options{What: effect.Predictions, At: []string{name + "=0.7"}, Link: link})
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+" at 0.7", float64(result.Effects[0].Estimate), predicted(source(func(e *entries) { e[j] = 0.7 }), link), 1e-9)
		}
	}
}

// TestMissingLevel: levels of a column that lacked values in training stand against one of them, and not against none.
func TestMissingLevel(t *testing.T) {
	d := draw(120, 40, gaussian)
	d = d.with(func(d *data, i int) {
		if i%4 == 0 {
			d.city[i] = ""
		}
	})
	scorer := fitted(t, d, fit.Options{Formula: "y ~ x + city", Missing: "indicator"})
	for _, rows := range []*data{d, nil} {
		list := of(t, scorer, rows, effect.Options{Columns: []string{"city"}})
		if len(list) != 2 {
			t.Fatalf("%v", list)
		}
		high, low := d.with(func(d *data, i int) { d.city[i] = "Chur" }), d.with(func(d *data, i int) { d.city[i] = "Basel" })
		mean, variance := linear(t, scorer, 0, high, low, ones(len(d.x)))
		e := find(t, list, "city", "Chur - Basel")
		near(t, "Chur - Basel", float64(e.Estimate), mean, 1e-9)
		near(t, "Chur - Basel: SD", float64(e.StdError), math.Sqrt(variance), 1e-7)
	}
}

// TestTrials: E y of k of n trials is that of predictions, with n of each row as with one n, by draws and by the delta
// method.
func TestTrials(t *testing.T) {
	d := draw(2001, 41, func(rng *rand.Rand, f float64) float64 { return bernoulli(rng, f) + bernoulli(rng, f) })
	d = d.with(func(d *data, i int) { d.w[i] += 2 })
	for _, family := range []string{"binomial(trials=w)", "binomial(trials=5)"} {
		scorer := fitted(t, d, fit.Options{Formula: "y ~ x + city", Family: family})
		want := moments(t, scorer, d.with(func(d *data, i int) { d.x[i]++ })) - moments(t, scorer, d)
		o := effect.Options{Columns: []string{"x"}}
		byDraws := of(t, scorer, d, o)[0]
		near(t, family, float64(byDraws.Estimate), want, 4*float64(byDraws.MCSE))
		o.Draws = effect.MostDraws // which are too many for so many rows
		byDelta := of(t, scorer, d, o)[0]
		near(t, family+" by "+byDelta.Method, float64(byDelta.Estimate), want, 1e-5)
		near(t, family+": SD", float64(byDelta.StdError/byDraws.StdError), 1, 0.08)
	}
}

// TestDeltaGradient: the delta method takes E[μ′(f)]φ as the gradient, in closed form of normal f under a log link.
func TestDeltaGradient(t *testing.T) {
	d := draw(2001, 42, poisson)
	scorer := normal(t, d, fit.Options{Formula: "y ~ x + city", Family: "poisson"})
	a, _, _ := features(t, scorer, 0, d)
	q := scorer.Fitted().Members[0].Posterior.(*posterior.Diagonal)
	gradient, mean, square := make([]float64, a.Cols), 0.0, 0.0
	for i := range a.Rows {
		f, v := 0.0, 0.0
		for j, phi := range a.Row(i) {
			f, v = f+phi*q.Mean[j], v+phi*phi*q.Variance[j]
		}
		mu := math.Exp(f+v/2) / float64(a.Rows)
		mean += mu
		for j, phi := range a.Row(i) {
			gradient[j] += mu * phi
		}
	}
	for j, g := range gradient {
		square += g * g * q.Variance[j]
	}
	e := of(t, scorer, d, effect.Options{What: effect.Predictions, Draws: effect.MostDraws})[0]
	near(t, "E y", float64(e.Estimate), mean, 1e-9)
	near(t, "its SD", float64(e.StdError), math.Sqrt(square), 1e-9)
}

// TestHypothesisOfRatio: of ratios that are exact, a hypothesis has the mean of a lognormal variable.
func TestHypothesisOfRatio(t *testing.T) {
	d := draw(60, 43, poisson)
	scorer := normal(t, d, fit.Options{Formula: "y ~ x + city", Family: "poisson"})
	link := of(t, scorer, d, effect.Options{Columns: []string{"x"}, Link: true})[0]
	mean, variance := float64(link.Estimate), float64(link.StdError)*float64(link.StdError)
	e := of(t, scorer, d, effect.Options{Columns: []string{"x"}, Ratio: true, Hypotheses: []string{"b1 = 1"}, Draws: 10_000})[0]
	near(t, "b1 − 1", float64(e.Estimate), math.Exp(mean+variance/2)-1, 4*float64(e.MCSE))
	near(t, "its SD", float64(e.StdError), math.Exp(mean+variance/2)*math.Sqrt(math.Expm1(variance)), 0.04*float64(e.StdError))
}

// TestStoredDraws: fewer draws than are stored are spread over all of them.
func TestStoredDraws(t *testing.T) {
	d := draw(60, 44, gaussian)
	model, err := fit.Table(t.Context(), d.source(t), fit.Options{Formula: "y ~ x"})
	if err != nil {
		t.Fatal(err)
	}
	const count = 1000
	q := &posterior.Draws{Count: count}
	m := model.Members[0]
	for s := range count {
		q.Values = append(q.Values, slices.Repeat([]float64{float64(max(0, s-100)) / count}, m.Posterior.Weights())...)
	}
	m.Posterior, m.Weight = q, 1
	model.Members = []credence.Member{m}
	scorer, err := score.New(model, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := of(t, scorer, d, effect.Options{Draws: count})[0]
	some := of(t, scorer, d, effect.Options{Draws: 100})[0]
	near(t, "sign, where a tenth has none", float64(all.Direction), 0.899, 1e-12)
	near(t, "fewer draws", float64(some.Estimate/all.Estimate), 1, 0.02)
	near(t, "fewer draws: SD", float64(some.StdError/all.StdError), 1, 0.02)
}
