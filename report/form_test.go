package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// rowsOf are n rows of numbers, a boolean, categories, and targets of each kind. Every tenth row lacks x and city where
// lacking, and is of another group.
func rowsOf(t testing.TB, n int, seed uint64, lacking bool) (credence.Source, []map[string]string) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	numbers := map[string][]float64{}
	names := []string{"x", "z", "size", "trials", "w", "y", "cost", "count", "class", "wins", "grade"}
	var flag []bool
	var city, group []string
	var texts []map[string]string
	for i := range n {
		row := map[string]float64{"x": rng.NormFloat64(), "z": 5 + 10*rng.Float64(), "size": math.Exp(rng.NormFloat64()), "trials": float64(1 + rng.IntN(9)), "w": .5 + rng.Float64()}
		c, g := rng.IntN(4), rng.IntN(12)
		f := .4 + .6*row["x"] - .05*row["z"] + .3*float64(c%3) + .2*math.Sin(3*row["x"]) + .1*float64(g%5)
		row["y"] = f + .5*rng.NormFloat64()/math.Sqrt(row["w"])
		row["cost"] = math.Exp(f + .3*rng.NormFloat64())
		row["count"] = math.Floor(math.Exp(f+.7*rng.NormFloat64())*row["size"] + rng.Float64())
		for range int(row["trials"]) {
			if rng.Float64() < 1/(1+math.Exp(-f)) {
				row["wins"]++
			}
		}
		if rng.Float64() < 1/(1+math.Exp(-2*f)) {
			row["class"] = 1
		}
		row["grade"] = 1 + math.Floor(max(0, min(3.9, 2+f+rng.NormFloat64())))
		flag, city, group = append(flag, c == 1), append(city, []string{"Basel", "Basel", "Bern", "Chur"}[c]), append(group, fmt.Sprint("g", g))
		if lacking && i%10 == 3 {
			row["x"], city[i], group[i] = math.NaN(), "", "other"
		} else if lacking && i%10 == 7 { // far outside
			row["x"], row["z"], group[i] = -4, 40, "new"
		}
		text := map[string]string{"flag": fmt.Sprint(flag[i]), "city": city[i], "group": group[i]}
		for _, name := range names {
			numbers[name] = append(numbers[name], row[name])
			if v := row[name]; v == v {
				text[name] = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
		texts = append(texts, text)
	}
	b := table.New().Booleans("flag", flag).Categories("city", city).Categories("group", group)
	for _, name := range names {
		b.Numbers(name, numbers[name])
	}
	return must.Value(b.Source())(t), texts
}

// answer is what form.js says of a row.
type answer struct {
	Mean, SD, Lower, Upper, Probability *float64
	Probabilities, Band, Original       []float64
	Error                               string
}

// answers runs form.js, which needs node.
func answers(t testing.TB, f *form, rows []map[string]string) (list []answer) {
	t.Helper()
	model, numbers, err := f.parts()
	must.Succeed(t, err)
	input := must.Value(json.Marshal(map[string]any{"model": json.RawMessage(model), "numbers": numbers, "rows": rows}))(t)
	const run = `const {model, numbers, rows} = JSON.parse(require('fs').readFileSync(0));
const form = require('./form.js')(model, Uint8Array.from(Buffer.from(numbers, 'base64')).buffer);
if (process.env.DUMP) require("fs").writeFileSync(process.env.DUMP, JSON.stringify({model, numbers, rows}));
console.log(JSON.stringify(rows.map(r => { try { return form.predict(r); } catch (e) { return {error: e.message}; } })));`
	cmd := exec.CommandContext(t.Context(), node(t), "-e", run)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, errs.String())
	}
	must.Succeed(t, json.Unmarshal(out.Bytes(), &list))
	return list
}

func node(t testing.TB) string {
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed, by which the arithmetic of the page is run; the module bench runs a part of it without")
	}
	return path
}

// TestForm: the form gives the numbers of predict, whatever the family, the posterior and the features.
func TestForm(t *testing.T) {
	train, _ := rowsOf(t, 200, 1, false)
	test, texts := rowsOf(t, 16, 2, false)
	holed, holes := rowsOf(t, 100, 3, true)
	links := conform.Links(t)
	for _, c := range []struct {
		options fit.Options
		within  float64 // relative to a standard deviation
	}{
		{fit.Options{Formula: "y ~ x + z + flag + city"}, 1e-9},
		{fit.Options{Formula: "y ~ x*city + poly(z, 3) + precision(w)"}, 1e-9},
		{fit.Options{Formula: "log(cost) ~ rbf(x, z, n=20) + hsgp(z, m=8) + periodic(x, period=2)"}, 1e-9},
		{fit.Options{Formula: "y ~ s(x, k=6) + s(z, period=5) + radial(x, z, centres=5) + sigmoid(x, centres=3)"}, 1e-9},
		{fit.Options{Formula: "y ~ city:group + hash(city, group) + clip(x, -1, 1) + (z > 9)"}, 1e-9},
		{fit.Options{Formula: "y ~ x + (1 + x | group)"}, 1e-9},
		{fit.Options{Formula: "y ~ x + (1 | group) + (1 | city)"}, 1e-9},
		{fit.Options{Formula: "y ~ x + (1 + x | group) + s(z, k=5)", Missing: "mean"}, 1e-9},
		{fit.Options{Formula: "class ~ x + (1 | group)", Family: "bernoulli", Missing: "mean"}, 1e-9},
		{fit.Options{Formula: "y ~ x + z + city", Missing: "indicator", Prior: "normal(ard=true)"}, 1e-9},
		{fit.Options{Formula: "y ~ . - cost - count - class - wins - grade - trials", Engine: "svi(components=2)"}, 1e-9},
		{fit.Options{Formula: "y ~ x + z + city", Prior: "laplace"}, 1e-9},
		{fit.Options{Formula: "y ~ x + z + city", Prior: "spikeslab"}, 1e-9},
		{fit.Options{Formula: "y ~ x + flag + city", Prior: "spikeslab", Engine: "laplace"}, 1e-9}, // with a centre
		{fit.Options{Formula: "y ~ x + z + city", Engine: "lasso"}, 1e-9},
		{fit.Options{Formula: "y ~ x + z + city", Engine: "convex"}, 1e-9},
		{fit.Options{Formula: "y ~ x + z + city", Engine: "gibbs(sweeps=100)", Prior: "horseshoe"}, 1e-9},
		{fit.Options{Formula: "class ~ x + z + city", Family: "bernoulli"}, 1e-9},
		{fit.Options{Formula: "class ~ x + z + (1 | group)", Family: "bernoulli(link=probit)"}, 1e-9},
		{fit.Options{Formula: "class ~ x + z", Family: "bernoulli(link=cloglog)"}, 1e-9},
		{fit.Options{Formula: "wins ~ x + z", Family: "binomial(trials=trials)"}, 1e-9},
		{fit.Options{Formula: "count ~ x + city + offset(log(size))", Family: "poisson"}, 1e-9},
		{fit.Options{Formula: "count ~ x + city", Family: "poisson(link=softplus)"}, 1e-9},
		{fit.Options{Formula: "count ~ x + city + offset(log(size))", Family: "negbinomial"}, 1e-9},
		{fit.Options{Formula: "grade ~ x + z", Family: "ordinal"}, 1e-9},
		{fit.Options{Formula: "cost ~ x + city", Family: "gamma"}, 1e-6},
		{fit.Options{Formula: "y ~ x + city", Family: "studentt"}, 1e-6},
		{fit.Options{Formula: "y ~ hsgp(x, z, m=18)"}, 1e-3},
	} {
		t.Run(c.options.Formula+" "+c.options.Family+c.options.Engine+c.options.Prior, func(t *testing.T) {
			rows, data := test, texts
			source := train
			if c.options.Missing != "" {
				rows, data = holed, holes
			}
			if c.options.Missing == "indicator" { // there are none of what training does not lack
				source = holed
			}
			fitted := must.Value(fit.Table(t.Context(), source, c.options))(t)
			delete(links, fmt.Sprint(fitted.Members[0].Model.Likelihood))
			checkForm(t, fitted, rows, data, c.within)
		})
	}
	for text := range links {
		t.Errorf("%s stands in no row", text)
	}
	// Calibrated by groups, and classes of few probabilities, which are those of the calibration.
	held, texts := rowsOf(t, 400, 4, false)
	for _, o := range []fit.Options{{Formula: "y ~ x + z"}, {Formula: "class ~ flag", Family: "bernoulli"}, {Formula: "grade ~ x + z", Family: "ordinal"}} {
		calibrated := must.Value(score.Calibrate(t.Context(), must.Value(fit.Table(t.Context(), train, o))(t), held, "city"))(t)
		checkForm(t, calibrated, held, texts, 1e-9)
	}
}

// TestRanges: ends are those of all rows, percentiles those of the rows that are looked at.
func TestRanges(t *testing.T) {
	numbers := func(count, by int) credence.Source {
		x := make([]float64, count)
		for i := range x {
			x[i] = float64(by * i)
		}
		return must.Value(table.New().Numbers("x", x).Source())(t)
	}
	r := must.Value(rangesOf(numbers(101, 1), numbers(1201, -1)))(t)["x"]
	if r.from != 1 || r.middle != 50 || r.to != 99 || r.low != -1200 || r.high != 100 && r.high != 0 {
		t.Errorf("%+v", r)
	}
}

// checkForm compares the answers of the form with those of predict.
func checkForm(t *testing.T, fitted *credence.Fitted, rows credence.Source, texts []map[string]string, within float64) {
	t.Helper()
	scorer := must.Value(score.New(fitted, score.Options{Lacking: true}))(t)
	f, err := newForm(scorer, 0.9, must.Value(rangesOf(rows, rows))(t))
	if err != nil {
		t.Fatal(err)
	}
	if f.rounded != (within == 1e-3) {
		t.Errorf("rounded %v", f.rounded)
	}
	checkAnswers(t, fitted, rows, answers(t, f, texts), within)
	t.Logf("%d bytes of numbers, %d members of %d sets, %T", 8*len(f.wide)+2*len(f.short), len(f.Members), len(f.sets), fitted.Members[0].Posterior)
}

// checkAnswers compares answers with predictions.
func checkAnswers(t *testing.T, fitted *credence.Fitted, rows credence.Source, got []answer, within float64) {
	t.Helper()
	scorer, worst := must.Value(score.New(fitted, score.Options{Lacking: true}))(t), 0.0
	q, drawn := fitted.Members[0].Posterior.(*posterior.Draws)
	drawn = drawn && q.Mean == nil || scorer.Grades() != nil
	must.Succeed(t, must.Value(scorer.Table(rows, score.IgnoreTargets))(t).Each(t.Context(), func(scored *score.Rows) error {
		low, high, err := scored.MeanIntervals()
		must.Succeed(t, err)
		for i := range scored.Len() {
			want, a := scored.Predict(i), got[scored.SourceRow(i)]
			if a.Error != "" {
				t.Fatalf("row %d: %s, want %+v", i, a.Error, want)
			}
			unit := want.SD
			if scorer.Binary() {
				unit = 1
			}
			for k, pair := range [][2]float64{{*a.Mean, want.Mean}, {*a.SD, want.SD}, {*a.Lower, want.Lower}, {*a.Upper, want.Upper}, {a.Band[0], low[i]}, {a.Band[1], high[i]}} {
				gap := math.Abs(pair[0]-pair[1]) / unit
				if k < 4 {
					worst = max(worst, gap)
				} else if drawn { // by predict's own draws, of a Monte Carlo error of .03 standard deviations
					continue
				}
				if !(gap <= within) {
					t.Fatalf("row %d, number %d: %.12g, want %.12g (sd %g)", i, k, pair[0], pair[1], unit)
				}
			}
			if scorer.Binary() && !(math.Abs(*a.Probability-want.Probability) <= within) {
				t.Errorf("row %d: probability %v, want %v", i, *a.Probability, want.Probability)
			}
			if !scorer.Binary() && len(a.Probabilities) != len(scorer.Grades()) {
				t.Fatalf("row %d: probabilities %v of grades %v", i, a.Probabilities, scorer.Grades())
			}
			for k, p := range a.Probabilities {
				if of := scored.Probabilities(nil, i)[k]; !(math.Abs(p-of) <= within) {
					t.Errorf("row %d: probability %v of grade %d, want %v", i, p, k, of)
				}
			}
		}
		return nil
	}))
	t.Logf("within %.1e", worst)
}

// TestRangeText: forms begin with a round number near the middle of the data.
func TestRangeText(t *testing.T) {
	for want, r := range map[string]columnRange{
		"185.7": {from: 120, middle: 185.7000001, to: 219}, "0": {from: 0, middle: 0, to: 140}, "1234600": {from: 0, middle: 1234567, to: 99999}, "0.00123": {from: 0.0011, middle: 0.0012345, to: 0.0111},
	} {
		if got := r.text(); got != want {
			t.Errorf("%+v: %s, want %s", r, got, want)
		}
	}
}

// TestFarCount: a count that is beyond all that is known has no interval, and the page does not hang.
func TestFarCount(t *testing.T) {
	train, _ := rowsOf(t, 100, 1, false)
	f := must.Value(newForm(scorerOf(t, train, fit.Options{Formula: "count ~ x", Family: "poisson"}), 0.9, nil))(t)
	for x, told := range map[string]bool{"1000": false, "1": true} {
		a := answers(t, f, []map[string]string{{"x": x}})[0]
		if a.Error != "" || (a.Upper != nil) != told || (a.Mean != nil) != told && told {
			t.Errorf("x = %s: %+v", x, a)
		}
	}
}

// TestRoundedFactors: the factors of several members lie one behind the other, each to half a unit of its rows.
func TestRoundedFactors(t *testing.T) {
	const d = exactWeights + 1
	f := &form{numbers: numbers{known: map[*float64]any{}}}
	rng := rand.New(rand.NewPCG(3, 4))
	for _, shape := range []string{"full", "lower", "upper"} {
		out, rows := map[string]any{}, make([]float64, d*d)
		if shape != "full" {
			rows = rows[:d*(d+1)/2]
		}
		for i := range rows {
			rows[i] = rng.NormFloat64()
		}
		f.addFactor(out, shape, d, rows)
		at, units := out["factor"].(map[string][2]int)["h"], out["units"].(map[string][2]int)["f"]
		if at[1] != len(rows) || units[1] != d {
			t.Fatalf("%s: %d numbers in %d rows", shape, at[1], units[1])
		}
		stored := f.short[at[0] : at[0]+at[1]]
		for k, unit := range f.wide[units[0] : units[0]+d] {
			for range map[string]int{"full": d, "lower": k + 1, "upper": d - k}[shape] {
				if !(math.Abs(float64(stored[0])*unit-rows[0]) <= unit/2*(1+1e-9)) {
					t.Fatalf("%s: row %d has %v for %v", shape, k, float64(stored[0])*unit, rows[0])
				}
				stored, rows = stored[1:], rows[1:]
			}
		}
	}
}
