package effect_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// data are rows of two numbers, a boolean, a city, weights and exposures.
type data struct {
	x, z, w, expo, y []float64
	flag             []bool
	city             []string
}

// draw draws n rows, whose targets family draws at f.
func draw(n int, seed uint64, family func(rng *rand.Rand, f float64) float64) *data {
	rng := rand.New(rand.NewPCG(seed, 7))
	d := &data{}
	for range n {
		x, z, flag, city := rng.NormFloat64(), 1+rng.Float64(), rng.IntN(2) == 1, []string{"Basel", "Basel", "Bern", "Chur"}[rng.IntN(4)]
		f := 0.3 + 0.5*x - 0.4*math.Log(z) + map[string]float64{"Bern": 0.4, "Chur": -0.3}[city]
		if flag {
			f += 0.2 * x
		}
		d.x, d.z, d.flag, d.city = append(d.x, x), append(d.z, z), append(d.flag, flag), append(d.city, city)
		d.w, d.expo = append(d.w, float64(1+rng.IntN(3))), append(d.expo, 0.5+rng.Float64())
		d.y = append(d.y, family(rng, f))
	}
	return d
}

// some returns rows for which keep says so, each so many times.
func (d *data) some(times func(i int) int) *data {
	out := &data{}
	for i := range d.x {
		for range times(i) {
			out.x, out.z, out.w, out.expo, out.y = append(out.x, d.x[i]), append(out.z, d.z[i]), append(out.w, d.w[i]), append(out.expo, d.expo[i]), append(out.y, d.y[i])
			out.flag, out.city = append(out.flag, d.flag[i]), append(out.city, d.city[i])
		}
	}
	return out
}

// source is their table, whose first column is the weights.
func (d *data) source(t testing.TB) credence.Source {
	t.Helper()
	s, err := table.New().Numbers("w", d.w).Numbers("x", d.x).Numbers("z", d.z).Booleans("flag", d.flag).Categories("city", d.city).Numbers("expo", d.expo).Numbers("y", d.y).Source()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func gaussian(rng *rand.Rand, f float64) float64 { return f + 0.5*rng.NormFloat64() }

func poisson(rng *rand.Rand, f float64) float64 {
	y, p := 0.0, rng.Float64()
	for p > math.Exp(-math.Exp(f)) {
		p *= rng.Float64()
		y++
	}
	return y
}

func bernoulli(rng *rand.Rand, f float64) float64 {
	if rng.Float64() < 1/(1+math.Exp(-f)) {
		return 1
	}
	return 0
}

// fitted fits a model to rows.
func fitted(t testing.TB, d *data, options fit.Options) *score.Scorer {
	t.Helper()
	model, err := fit.Table(t.Context(), d.source(t), options)
	if err != nil {
		t.Fatal(err)
	}
	scorer, err := score.New(model, score.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return scorer
}

// of returns effects over rows, nil of none.
func of(t testing.TB, scorer *score.Scorer, d *data, options effect.Options) []effect.Effect {
	t.Helper()
	var rows credence.Source
	if d != nil {
		rows = d.source(t)
	}
	result, err := effect.Of(t.Context(), scorer, rows, options)
	if err != nil {
		t.Fatal(err)
	}
	return result.Effects
}

// find returns the effect of a term and a contrast.
func find(t testing.TB, list []effect.Effect, term, contrast string) effect.Effect {
	t.Helper()
	k := slices.IndexFunc(list, func(e effect.Effect) bool { return e.Term == term && e.Contrast == contrast })
	if k < 0 {
		t.Fatalf("no effect %s %s in %v", term, contrast, list)
	}
	return list[k]
}

func near(t testing.TB, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s is %v, want %v within %v", what, got, want, within)
	}
}

// features returns Φ of rows under a member, dense, and the offsets.
func features(t testing.TB, scorer *score.Scorer, member int, d *data) (*linop.Dense, []float64, *credence.Design) {
	t.Helper()
	return featuresOf(t, scorer, member, d.source(t))
}

func featuresOf(t testing.TB, scorer *score.Scorer, member int, rows credence.Source) (*linop.Dense, []float64, *credence.Design) {
	t.Helper()
	bound, err := scorer.Frame().Bind(rows, frame.IgnoreTargets)
	if err != nil {
		t.Fatal(err)
	}
	var batch credence.Batch
	if err := bound.Read(&batch, 0, bound.Rows()); err != nil {
		t.Fatal(err)
	}
	var phi credence.Design
	scorer.Fitted().Members[member].Model.Features.Transform(credence.NewWorkspace(1), &phi, &batch)
	n, p := phi.Dims()
	dense := linop.NewDense(n, p)
	for i := range n {
		phi.Each(i, func(j int, v float64) { dense.Row(i)[j] += v })
	}
	return &dense, slices.Clone(batch.Offset), &phi
}

// with returns the rows with a change.
func (d *data) with(change func(d *data, i int)) *data {
	out := d.some(func(int) int { return 1 })
	for i := range out.x {
		change(out, i)
	}
	return out
}

// linear is the mean and the SD, by dense algebra, of the average difference of f between two tables under a member.
func linear(t testing.TB, scorer *score.Scorer, member int, high, low *data, weight []float64) (mean, variance float64) {
	t.Helper()
	return linearOf(t, scorer, member, high.source(t), low.source(t), weight)
}

func linearOf(t testing.TB, scorer *score.Scorer, member int, high, low credence.Source, weight []float64) (mean, variance float64) {
	t.Helper()
	a, aoff, phi := featuresOf(t, scorer, member, high)
	b, boff, _ := featuresOf(t, scorer, member, low)
	g, total, constant := make([]float64, a.Cols), 0.0, 0.0
	for i := range a.Rows {
		for j := range g {
			g[j] += weight[i] * (a.Row(i)[j] - b.Row(i)[j])
		}
		if aoff != nil {
			constant += weight[i] * (aoff[i] - boff[i])
		}
		total += weight[i]
	}
	q := scorer.Fitted().Members[member].Posterior.(credence.Joint)
	m, v := make([]float64, len(g)), make([]float64, len(g))
	q.Marginals(m, v)
	cov := posterior.CovarianceOf(credence.NewWorkspace(1), q, phi.Dense.Cols)
	mean = constant / total
	for i := range g {
		mean += g[i] / total * m[i]
		for j := range g {
			variance += g[i] / total * g[j] / total * cov.Row(i)[j]
		}
	}
	return mean, variance
}

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// TestLinear compares effects on f with dense algebra: of every kind of posterior that is exact, and of averaged
// members.
func TestLinear(t *testing.T) {
	d := draw(700, 1, gaussian) // more than a block
	for name, options := range map[string]fit.Options{
		"full":     {Formula: "y ~ x*flag + log(z) + city"},
		"diagonal": {Formula: "y ~ x*flag + log(z) + city", Engine: "svi(covariance=diagonal)"},
		"members":  {Formula: "y ~ city + rbf(x, n=20)"},
		"mixture":  {Formula: "y ~ x*flag + log(z) + city", Engine: "svi(components=3)"},
		"dual":     {Formula: "y ~ city + rbf(x, n=400)", Engine: "exact(starts=1, draws=1)"},
		"poisson":  {Formula: "y ~ x*flag + city + offset(log(expo))", Family: "poisson"},
	} {
		t.Run(name, func(t *testing.T) {
			d := d
			if options.Family != "" {
				d = draw(700, 1, poisson)
			}
			scorer := fitted(t, d, options)
			got := of(t, scorer, d, effect.Options{Link: true})
			check := func(term, contrast string, high, low *data, per float64) {
				t.Helper()
				mean, square := 0.0, 0.0
				for k := range scorer.Fitted().Members {
					m, v := linear(t, scorer, k, high, low, ones(len(d.x)))
					mean += scorer.Fitted().Share(k) * m
					square += scorer.Fitted().Share(k) * (v + m*m)
				}
				e := find(t, got, term, contrast)
				sd := math.Sqrt(square - mean*mean)
				near(t, term+" "+contrast, float64(e.Estimate), mean*per, 1e-9*(1+math.Abs(mean)))
				near(t, term+" "+contrast+": SD", float64(e.StdError), sd*per, 1e-7*sd*per)
				if e.Method != "exact" {
					t.Errorf("%s by %s", term, e.Method)
				}
				if !(e.Low < e.Estimate && e.Estimate < e.High) || !(e.Direction >= 0.5 && e.Direction <= 1) {
					t.Errorf("%+v", e)
				}
			}
			check("x", "+1", d.with(func(d *data, i int) { d.x[i]++ }), d, 1)
			base := d.with(func(d *data, i int) { d.city[i] = "Basel" })
			check("city", "Bern - Basel", d.with(func(d *data, i int) { d.city[i] = "Bern" }), base, 1)
			if strings.Contains(options.Formula, "flag") {
				check("flag", "true - false", d.with(func(d *data, i int) { d.flag[i] = true }), d.with(func(d *data, i int) { d.flag[i] = false }), 1)
			}
			if name == "full" { // a mean over levels, a slope, steps
				got = of(t, scorer, d, effect.Options{Columns: []string{"city"}, Bases: []string{"city=mean"}})
				mean := 0.0
				for _, city := range []string{"Basel", "Bern", "Chur"} {
					m, _ := linear(t, scorer, 0, d.with(func(d *data, i int) { d.city[i] = "Chur" }), d.with(func(d *data, i int) { d.city[i] = city }), ones(len(d.x)))
					mean += m / 3
				}
				near(t, "Chur - mean", float64(find(t, got, "city", "Chur - mean").Estimate), mean, 1e-9)
				got = of(t, scorer, d, effect.Options{What: effect.Slopes, Columns: []string{"z"}})
				m, _ := linear(t, scorer, 0, d.with(func(d *data, i int) { d.z[i] += 1e-5 }), d.with(func(d *data, i int) { d.z[i] -= 1e-5 }), ones(len(d.x)))
				near(t, "slope", float64(got[0].Estimate), m/2e-5, 1e-6*math.Abs(m/2e-5))
			}
		})
	}
}

// TestDraws compares averages of E y over draws with quadrature: of one row, and in the mean of many.
func TestDraws(t *testing.T) {
	for name, c := range map[string]struct {
		family func(*rand.Rand, float64) float64
		fit.Options
	}{
		"poisson":   {poisson, fit.Options{Formula: "y ~ x + city", Family: "poisson"}},
		"bernoulli": {bernoulli, fit.Options{Formula: "y ~ x + city", Family: "bernoulli"}},
		"probit":    {bernoulli, fit.Options{Formula: "y ~ x + city", Family: "bernoulli(link=probit)"}},
		"rbf":       {poisson, fit.Options{Formula: "y ~ rbf(x, n=20)", Family: "poisson"}},
		"horseshoe": {gaussian, fit.Options{Formula: "y ~ x + city + z", Prior: "horseshoe"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := draw(120, 3, c.family)
			scorer := fitted(t, d, c.Options)
			rows := d.some(func(i int) int { return i % 2 })
			want := 0.0
			bound, err := scorer.Table(rows.source(t), score.IgnoreTargets)
			if err != nil {
				t.Fatal(err)
			}
			if err := bound.Each(t.Context(), func(r *score.Rows) error {
				for i := range r.Len() {
					m, _ := r.Moments(i)
					want += m / float64(len(rows.x))
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			e := of(t, scorer, rows, effect.Options{What: effect.Predictions, Draws: 4000})[0]
			if name == "horseshoe" { // predictions take 64 of its stored draws
				e.MCSE = e.StdError / 8
			}
			near(t, "average prediction", float64(e.Estimate), want, 4*float64(e.MCSE))
			if e.Method != "draws" {
				t.Errorf("by %s", e.Method)
			}
			// of one row, whose f is normal
			one := rows.some(func(i int) int { return max(0, 1-i) })
			bound, _ = scorer.Table(one.source(t), score.IgnoreTargets)
			var square, first float64
			if err := bound.Each(t.Context(), func(r *score.Rows) error {
				m, v := r.Latent(0)
				scales := []quad.Scale{{Factor: 1, Weight: 1}}
				if t, ok := scorer.Fitted().Members[0].Posterior.(credence.LatentDF); ok && t.LatentDF() > 0 {
					scales = quad.Scales(t.LatentDF())
				}
				for _, s := range scales {
					for k := -4000; k <= 4000; k++ {
						z := float64(k) / 500
						p := s.Weight * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / 500
						mu := scorer.Fitted().Members[0].Model.Likelihood.Mean(m + z*math.Sqrt(s.Factor*v))
						first += p * mu
						square += p * mu * mu
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if len(scorer.Fitted().Members) == 1 && name != "horseshoe" {
				e = of(t, scorer, one, effect.Options{What: effect.Predictions, Draws: 20_000})[0]
				near(t, "prediction", float64(e.Estimate), first, 4*float64(e.MCSE))
				near(t, "its SD", float64(e.StdError), math.Sqrt(square-first*first), 0.03*float64(e.StdError))
			}
		})
	}
}

// TestDelta: the delta method has nearly the spread of draws, and its estimate is the average prediction.
func TestDelta(t *testing.T) {
	for name, family := range map[string]func(*rand.Rand, float64) float64{"poisson": poisson, "bernoulli": bernoulli, "negbinomial": poisson, "gamma": func(rng *rand.Rand, f float64) float64 { return math.Exp(f) * (0.05 - math.Log(1-rng.Float64())) }} {
		t.Run(name, func(t *testing.T) {
			d := draw(2001, 5, family)
			scorer := fitted(t, d, fit.Options{Formula: "y ~ x*flag + city", Family: name})
			for _, o := range []effect.Options{{}, {Ratio: true}, {By: []string{"city"}, Columns: []string{"x"}}} {
				o.Draws = 4000
				byDraws := of(t, scorer, d, o)
				if o.Ratio {
					byDraws = slices.DeleteFunc(byDraws, func(e effect.Effect) bool { return e.Method == "exact" })
				}
				o.Draws = effect.MostDraws // which are too many for so many rows
				byDelta := of(t, scorer, d, o)
				for _, want := range byDraws {
					k := slices.IndexFunc(byDelta, func(e effect.Effect) bool {
						return e.Term == want.Term && e.Contrast == want.Contrast && fmt.Sprint(e.By) == fmt.Sprint(want.By)
					})
					got := byDelta[k]
					what := fmt.Sprint(want.Term, " ", want.Contrast, " ", want.By)
					if got.Method != "delta" || want.Method != "draws" {
						t.Errorf("%s: %s and %s", what, got.Method, want.Method)
					}
					near(t, what, float64(got.Estimate), float64(want.Estimate), 4*float64(want.MCSE)+0.05*float64(want.StdError))
					near(t, what+": SD", float64(got.StdError/want.StdError), 1, 0.04)
				}
			}
		})
	}
}

// TestDeltaWhereNothingIsDrawn: of a posterior whose weights cannot be drawn together, effects are those of the delta
// method, as they are where draws would take too long.
func TestDeltaWhereNothingIsDrawn(t *testing.T) {
	d := draw(150, 5, poisson)
	model := must.Value(fit.Table(t.Context(), d.source(t), fit.Options{Formula: "y ~ x*flag + city", Family: "poisson", Prior: "normal(variance=1)"}))(t)
	for _, o := range []effect.Options{{Columns: []string{"x"}}, {Ratio: true, Columns: []string{"flag"}}, {Columns: []string{"x"}, Rows: true}} {
		few := o
		o.Work, few.Work = 1, 0
		want := of(t, must.Value(score.New(model, score.Options{}))(t), d, o)
		apart := *model
		apart.Members = slices.Clone(model.Members)
		apart.Members[0].Posterior = struct{ credence.Posterior }{model.Members[0].Posterior}
		got := of(t, must.Value(score.New(&apart, score.Options{}))(t), d, few)
		if len(want) == 0 || want[0].Method != "delta" || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v: %+v, want %+v", o, got, want)
		}
	}
}

// TestRatio: without interactions a ratio under a log link is the exponential of a weight, as inspect tells it.
func TestRatio(t *testing.T) {
	d := draw(300, 6, poisson)
	scorer := fitted(t, d, fit.Options{Formula: "y ~ x + city + offset(log(expo))", Family: "poisson"})
	got := of(t, scorer, d, effect.Options{Ratio: true})
	terms, err := score.Terms(scorer.Fitted(), score.TermOptions{Exp: true, Bases: []string{"city=Basel"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, term := range terms {
		contrast := "ratio +1"
		if strings.HasPrefix(term.Name, "city=") {
			contrast = strings.TrimPrefix(term.Name, "city=") + " / Basel"
		}
		if term.Base || term.Name == "(intercept)" {
			continue
		}
		e := find(t, got, map[bool]string{true: "city", false: "x"}[strings.Contains(contrast, "/")], contrast)
		near(t, contrast, float64(e.Estimate), term.Exp.Estimate, 1e-9)
		near(t, contrast+": lower", float64(e.Low), float64(term.Exp.Lower), 1e-6)
		near(t, contrast+": upper", float64(e.High), float64(term.Exp.Upper), 1e-6)
		if low, high := e.Half(); !(float64(e.Low) < low && low < float64(e.Estimate) && float64(e.Estimate) < high && high < float64(e.High)) {
			t.Errorf("%s: half of the probability lies between %v and %v, and %g %% between %v and %v", contrast, low, high, 90.0, e.Low, e.High)
		}
		if e.Method != "exact" {
			t.Errorf("%s by %s", contrast, e.Method)
		}
	}
	// With an interaction a ratio differs from row to row, and is that of averages.
	scorer = fitted(t, d, fit.Options{Formula: "y ~ x*city", Family: "poisson"})
	e := find(t, of(t, scorer, d, effect.Options{Ratio: true, Draws: 20_000}), "x", "ratio +1")
	high := of(t, scorer, d.with(func(d *data, i int) { d.x[i]++ }), effect.Options{What: effect.Predictions, Draws: 20_000})[0]
	low := of(t, scorer, d, effect.Options{What: effect.Predictions, Draws: 20_000})[0]
	near(t, "ratio of averages", float64(e.Estimate), float64(high.Estimate/low.Estimate), 0.02)
	if e.Method != "draws" {
		t.Errorf("a ratio that differs by %s", e.Method)
	}
	// In one row it is one exponential again.
	for _, e := range of(t, scorer, d, effect.Options{Ratio: true, Rows: true, Columns: []string{"x"}})[:5] {
		if e.Method != "exact" {
			t.Errorf("the ratio of a row by %s", e.Method)
		}
	}
}

// TestRows: averages weigh rows by weight(), groups are the rows of each value, and each row alone is a table of one.
func TestRows(t *testing.T) {
	d := draw(560, 8, poisson)
	for _, link := range []bool{true, false} {
		scorer := fitted(t, d, fit.Options{Formula: "y ~ x*flag + city + offset(log(expo)) + weight(w)", Family: "poisson"})
		o := effect.Options{Link: link, Columns: []string{"x", "city"}}
		same := func(what string, got, want []effect.Effect) {
			t.Helper()
			if len(got) != len(want) {
				t.Fatalf("%s: %d effects, want %d", what, len(got), len(want))
			}
			for k := range got {
				near(t, fmt.Sprint(what, " ", want[k].Term, want[k].Contrast), float64(got[k].Estimate), float64(want[k].Estimate), 1e-9)
				near(t, what+": SD", float64(got[k].StdError), float64(want[k].StdError), 1e-9)
				near(t, what+": low", float64(got[k].Low), float64(want[k].Low), 1e-9)
			}
		}
		copies := d.some(func(i int) int { return int(d.w[i]) })
		for i := range copies.w {
			copies.w[i] = 1
		}
		all := of(t, scorer, d, o)
		same("weights", all, of(t, scorer, copies, o))
		o.By = []string{"flag"}
		byFlag := of(t, scorer, d, o)
		o.By = nil
		for _, flag := range []bool{false, true} {
			part := of(t, scorer, d.some(func(i int) int { return map[bool]int{flag: 1}[d.flag[i]] }), o)
			var of []effect.Effect
			for _, e := range byFlag {
				if e.By[0].Value == fmt.Sprint(flag) {
					of = append(of, e)
				}
			}
			same(fmt.Sprint("flag ", flag), of, part)
		}
		o.Columns, o.Rows = []string{"x"}, true
		alone := of(t, scorer, d, o)
		for _, i := range []int{0, 3, 511, 512, 559} {
			want := of(t, scorer, d.some(func(k int) int { return map[bool]int{true: 1}[k == i] }), o)
			if want[0].Row != 1 || alone[i].Row != i+1 {
				t.Errorf("row %d is called %d", i+1, alone[i].Row)
			}
			same(fmt.Sprint("row ", i+1), alone[i:i+1], want)
		}
		o.Rows, o.At = false, []string{"city=Chur", "city=Bern", "flag=true"}
		at := of(t, scorer, d, o)
		same("at", at, append(of(t, scorer, d.with(func(d *data, i int) { d.city[i], d.flag[i] = "Chur", true }), effect.Options{Link: link, Columns: []string{"x"}}),
			of(t, scorer, d.with(func(d *data, i int) { d.city[i], d.flag[i] = "Bern", true }), effect.Options{Link: link, Columns: []string{"x"}})...))
		if got := fmt.Sprint(at[1].By); got != "city Bern, flag true" {
			t.Errorf("at %s", got)
		}
	}
}

// TestSteps: numbers move by what is stated, and by what the rows say.
func TestSteps(t *testing.T) {
	d := draw(101, 9, gaussian)
	scorer := fitted(t, d, fit.Options{Formula: "y ~ x"})
	slope := float64(of(t, scorer, d, effect.Options{})[0].Estimate)
	sorted := slices.Clone(d.x)
	slices.Sort(sorted)
	mean, sd := 0.0, 0.0
	for _, x := range sorted {
		mean += x / 101
	}
	for _, x := range sorted {
		sd += (x - mean) * (x - mean) / 100
	}
	for step, want := range map[string]float64{"10": 10, "-2.5": -2.5, "sd": math.Sqrt(sd), "2sd": 2 * math.Sqrt(sd), "iqr": sorted[75] - sorted[25], "minmax": sorted[100] - sorted[0]} {
		near(t, step, float64(of(t, scorer, d, effect.Options{Step: step})[0].Estimate), slope*want, 1e-9)
	}
	near(t, "slope", float64(of(t, scorer, d, effect.Options{What: effect.Slopes})[0].Estimate), slope, 1e-8)
}

// TestTypical: without data there is one row, of training means and bases, and a balanced grid has every combination of
// levels.
func TestTypical(t *testing.T) {
	d := draw(200, 10, poisson)
	scorer := fitted(t, d, fit.Options{Formula: "y ~ x + log(z) + flag + city + offset(log(expo))", Family: "poisson"})
	mean, logarithm := 0.0, 0.0
	for i, x := range d.x {
		mean, logarithm = mean+x/200, logarithm+math.Log(d.z[i])/200
	}
	typical := d.some(func(i int) int { return map[bool]int{true: 1}[i < 3] })
	for i := range typical.x {
		typical.x[i], typical.z[i], typical.city[i], typical.expo[i] = mean, math.Exp(logarithm), []string{"Basel", "Bern", "Chur"}[i], 1
	}
	got := of(t, scorer, nil, effect.Options{Link: true, What: effect.Predictions, At: []string{"flag=false"}})
	one := typical.some(func(i int) int { return max(0, 1-i) }).with(func(d *data, i int) { d.flag[i] = false })
	near(t, "typical", float64(got[0].Estimate), float64(of(t, scorer, one, effect.Options{Link: true, What: effect.Predictions})[0].Estimate), 1e-9)
	got = of(t, scorer, nil, effect.Options{Link: true, What: effect.Predictions, At: []string{"flag=false"}, Balanced: true})
	three := typical.with(func(d *data, i int) { d.flag[i] = false })
	near(t, "balanced", float64(got[0].Estimate), float64(of(t, scorer, three, effect.Options{Link: true, What: effect.Predictions})[0].Estimate), 1e-9)
}

// TestHypotheses: combinations of effects are those of the weights behind them, and intervals that hold together are
// wider.
func TestHypotheses(t *testing.T) {
	d := draw(300, 11, gaussian)
	for _, family := range []string{"gaussian", "poisson"} {
		d := d
		if family == "poisson" {
			d = draw(300, 11, poisson)
		}
		scorer := fitted(t, d, fit.Options{Formula: "y ~ x + city", Family: family})
		o := effect.Options{Columns: []string{"city"}}
		levels := of(t, scorer, d, o)
		o.Hypotheses = []string{"b2 - b1 = 0", "2*b1 - 0.5 b2 = 0.25", "pairwise", "reference", "sequential"}
		got := of(t, scorer, d, o)
		if len(got) != 5 {
			t.Fatalf("%d hypotheses", len(got))
		}
		other := of(t, scorer, d, effect.Options{Columns: []string{"city"}, Bases: []string{"city=Bern"}})
		want := find(t, other, "city", "Chur - Bern")
		for _, k := range []int{0, 2, 3, 4} {
			near(t, got[k].Contrast, float64(got[k].Estimate), float64(want.Estimate), 1e-9)
			near(t, got[k].Contrast, float64(got[k].StdError), float64(want.StdError), 1e-9)
		}
		near(t, "2 b1 − b2/2", float64(got[1].Estimate), 2*float64(levels[0].Estimate)-0.5*float64(levels[1].Estimate)-0.25, 1e-9)
		o.Hypotheses, o.Simultaneous = nil, true
		wide := of(t, scorer, d, o)
		for k := range wide {
			if ratio := (wide[k].High - wide[k].Low) / (levels[k].High - levels[k].Low); !(ratio > 1.05 && ratio < 1.35) {
				t.Errorf("intervals that hold together are %v times as wide", ratio)
			}
		}
		o.Columns = []string{"x"} // one interval is as wide as alone
		one, alone := of(t, scorer, d, o)[0], of(t, scorer, d, effect.Options{Columns: []string{"x"}})[0]
		near(t, "one together", float64((one.High-one.Low)/(alone.High-alone.Low)), 1, 0.08)
	}
}

// TestNoRows: a group without weight has no numbers, and takes none from others.
func TestNoRows(t *testing.T) {
	d := draw(90, 14, poisson)
	for i := range d.w {
		if d.flag[i] {
			d.w[i] = 0
		}
	}
	scorer := fitted(t, d, fit.Options{Formula: "y ~ x + city + weight(w)", Family: "poisson"})
	for _, link := range []bool{true, false} {
		o := effect.Options{Columns: []string{"x"}, By: []string{"flag"}, Link: link, Simultaneous: !link}
		list := of(t, scorer, d, o)
		if len(list) != 2 || !list[0].Estimate.Defined() || list[1].Estimate.Defined() || list[1].StdError.Defined() || list[1].High.Defined() || list[1].Direction.Defined() {
			t.Errorf("%+v", list)
		}
		o.Hypotheses = []string{"b1", "b1 - b2"}
		if list = of(t, scorer, d, o); !list[0].Estimate.Defined() || list[1].Estimate.Defined() {
			t.Errorf("%+v", list)
		}
	}
}

// TestRefusals: what cannot be answered says what can.
func TestRefusals(t *testing.T) {
	d := draw(80, 12, gaussian)
	scorer := fitted(t, d, fit.Options{Formula: "y ~ log(z) + city + flag"})
	for want, o := range map[string]effect.Options{
		"does not use a column \"x\"":           {Columns: []string{"x"}},
		"did you mean city":                     {Columns: []string{"citi"}},
		"a category, which has no slope":        {What: effect.Slopes, Columns: []string{"city"}},
		"true or false, which has no slope":     {What: effect.Slopes, Columns: []string{"flag"}},
		"may be 0 or less, so that it has no":   {Ratio: true},
		"f may be 0 or less":                    {Ratio: true, Link: true},
		"no level \"Rome\"":                     {At: []string{"city=Rome"}},
		"no level \"Paris\"":                    {Bases: []string{"city=Paris"}},
		"has no levels, so that it has no base": {Bases: []string{"z=1"}},
		"is no number":                          {At: []string{"z=many"}},
		"with z at -1":                          {At: []string{"z=-1"}},
		"with z moved by -9":                    {Step: "-9", Columns: []string{"z"}},
		"no levels to predict at":               {What: effect.Predictions, Columns: []string{"z"}},
		"names no value":                        {At: []string{"z"}},
		"the effects are b1 to b2":              {Columns: []string{"city"}, Hypotheses: []string{"b3 = 0"}},
		"is no sum of effects":                  {Columns: []string{"city"}, Hypotheses: []string{"b1 * b2"}},
		"there is no column \"where\"":          {By: []string{"where"}},
		"neither a number":                      {Step: "large"},
		"there are no \"guesses\"":              {What: "guesses"},
	} {
		_, err := effect.Of(t.Context(), scorer, d.source(t), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an error about %q", o, err, want)
		}
	}
	if _, err := effect.Of(t.Context(), scorer, nil, effect.Options{Rows: true}); err == nil {
		t.Error("rows of no data")
	}
	d = draw(700, 12, gaussian)
	weighted := fitted(t, d, fit.Options{Formula: "y ~ x + weight(w)"})
	d.w[600] = -1 // in another block than the first
	if _, err := effect.Of(t.Context(), weighted, d.source(t), effect.Options{}); err == nil || !strings.Contains(err.Error(), "row 601: the weight of the row is -1") {
		t.Errorf("a negative weight: %v", err)
	}
}

// TestThreads: the same bytes at any number of threads, and by the same seed.
func TestThreads(t *testing.T) {
	d := draw(1300, 13, bernoulli)
	scorer := fitted(t, d, fit.Options{Formula: "y ~ x*flag + city", Family: "bernoulli"})
	first := fmt.Sprint(of(t, scorer, d, effect.Options{Threads: 1}))
	if fmt.Sprint(of(t, scorer, d, effect.Options{Threads: 4})) != first {
		t.Error("threads change effects")
	}
	if fmt.Sprint(of(t, scorer, d, effect.Options{Threads: 1, Seed: 5})) == first {
		t.Error("the seed changes nothing")
	}
}

func Example() {
	rng := rand.New(rand.NewPCG(1, 2))
	var area, price []float64
	var city []string
	for i := range 60 {
		city = append(city, []string{"Basel", "Bern"}[i%2])
		area = append(area, 50+float64(i))
		price = append(price, 3*area[i]+20*float64(i%2)+rng.NormFloat64())
	}
	rows, err := table.New().Numbers("area", area).Categories("city", city).Numbers("price", price).Source()
	if err != nil {
		log.Fatal(err)
	}
	model, err := fit.Table(context.Background(), rows, fit.Options{Formula: "price ~ area + city"})
	if err != nil {
		log.Fatal(err)
	}
	scorer, err := score.New(model, score.Options{})
	if err != nil {
		log.Fatal(err)
	}
	result, err := effect.Of(context.Background(), scorer, rows, effect.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range result.Effects {
		fmt.Printf("%s %s: %.1f\n", e.Term, e.Contrast, e.Estimate)
	}
	// Output:
	// area +1: 3.0
	// city Bern - Basel: 19.8
}
