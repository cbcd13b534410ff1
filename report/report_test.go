package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/plot"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/table"
)

// written writes a report, twice, at one thread and at three.
func written(t *testing.T, input Input) (string, *Summary) {
	t.Helper()
	var page [2]bytes.Buffer
	var summary *Summary
	for k := range page {
		input.Threads = 1 + 2*k
		var err error
		if summary, err = Write(t.Context(), &page[k], input); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(page[0].Bytes(), page[1].Bytes()) {
		t.Error("another page at another number of threads")
	}
	return page[0].String(), summary
}

// scorerOf fits rows.
func scorerOf(t *testing.T, rows credence.Source, options fit.Options) *score.Scorer {
	t.Helper()
	return must.Value(score.New(must.Value(fit.Table(t.Context(), rows, options))(t), score.Options{}))(t)
}

// between returns what stands between two texts.
func between(t *testing.T, text, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, from)
	inside, _, found := strings.Cut(rest, to)
	if !ok || !found {
		t.Fatalf("there is no %s…%s", from, to)
	}
	return inside
}

// TestIntervalsOfWeights: intervals of weights are as wide as was asked for.
func TestIntervalsOfWeights(t *testing.T) {
	rows, _ := rowsOf(t, 60, 5, false)
	scorer := scorerOf(t, rows, fit.Options{Formula: "y ~ x + city"})
	var page bytes.Buffer
	must.Value(Write(t.Context(), &page, Input{Models: []Model{{"houses", scorer}}, Rows: rows, Interval: 0.5}))(t)
	told := between(t, page.String(), `id="weights"`, `id="commands"`)
	for _, term := range must.Value(score.Terms(scorer.Fitted(), score.TermOptions{Interval: 0.5}))(t) {
		for _, end := range []float64{float64(term.Lower), float64(term.Upper)} {
			if text := spread(end, float64(term.SD)); !strings.Contains(told, ">"+text+"<") {
				t.Errorf("no interval of %s ends at %s", term.Name, text)
			}
		}
	}
}

// TestPage: one file that asks for nothing, whose policy allows its own script and style alone, with every part; its
// figures are those of evaluate, effects and the pictures.
func TestPage(t *testing.T) {
	train, _ := rowsOf(t, 300, 5, false)
	test, _ := rowsOf(t, 200, 6, false)
	scorer := scorerOf(t, train, fit.Options{Formula: "y ~ x + z + city"})
	page, summary := written(t, Input{Models: []Model{{"houses <1>", scorer}}, Rows: test, Files: "te st.csv"})
	policy := html.UnescapeString(between(t, page, `Content-Security-Policy" content="`, `"`))
	for what, text := range map[string]string{"script-src": between(t, page, "<script>", "</script>"), "style-src": between(t, page, "<style>", "</style>")} {
		sum := sha256.Sum256([]byte(text))
		if want := what + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
			t.Errorf("the policy %s lacks %s", policy, want)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'; ") || strings.Count(page, "<style") != 1 || strings.Count(page, "<script>") != 1 {
		t.Error("more than one style or script: ", policy)
	}
	if found := regexp.MustCompile(` style=|<(link|img|iframe)|src=|@import|url\(|javascript:| on[a-z]+="`).FindString(page); found != "" {
		t.Errorf("the page has %q, which its policy forbids", found)
	}
	for _, address := range regexp.MustCompile(`[a-z]+://[^"' ]+`).FindAllString(page, -1) {
		if address != "http://www.w3.org/2000/svg" {
			t.Errorf("the page names %s", address)
		}
	}
	for _, id := range []string{"trust", "predict", "effects", "checks", "weights", "commands", "numbers"} {
		if strings.Count(page, `<section id="`+id+`"`) != 1 {
			t.Errorf("there is no section %s", id)
		}
	}
	if !strings.Contains(page, "houses &lt;1&gt;") || !strings.Contains(page, "credence effects &#39;houses &lt;1&gt;.safetensors&#39;") || strings.Index(page, `id="model-numbers"`) < strings.Index(page, "</main>") {
		t.Error("names are not escaped or quoted, or the data block stands before the page")
	}
	if headings := regexp.MustCompile(`<h[1-6]`).FindAllString(page, 3); !slices.Equal(headings, []string{"<h1", "<h2", "<h3"}) {
		t.Errorf("headings begin with %v", headings)
	}
	if labelled := regexp.MustCompile(`aria-labelledby="([^"]+)"`).FindAllStringSubmatch(page, -1); len(labelled) < 7 {
		t.Errorf("%d sections have a name", len(labelled))
	} else {
		for _, m := range labelled {
			if strings.Count(page, ` id="`+m[1]+`"`) != 1 {
				t.Errorf("%s names nothing", m[0])
			}
		}
	}
	for _, kind := range []plot.Kind{plot.Forest, plot.Predictions, plot.PPCPIT, plot.Reliability, plot.PPCDist, plot.PPCStatistics, plot.Residuals, plot.PriorPosterior} {
		if !strings.Contains(page, `aria-label="`+string(kind)+`"`) {
			t.Errorf("there is no picture %s", kind)
		}
	}
	evaluation := must.Value(score.Evaluate(t.Context(), scorer, test))(t)
	if a, b := must.Value(json.Marshal(evaluation))(t), must.Value(json.Marshal(summary.Scores))(t); !bytes.Equal(a, b) {
		t.Errorf("scores %s, want %s", b, a)
	}
	effects := must.Value(effect.Of(t.Context(), scorer, test, effect.Options{Step: effect.SD}))(t).Effects
	for k, e := range summary.Effects {
		if !slices.ContainsFunc(effects, func(o effect.Effect) bool {
			return o.Contrast == e.Contrast && o.Term == e.Term && o.Estimate == e.Estimate && o.Low == e.Low
		}) {
			t.Errorf("effect %+v is none of effects", e)
		}
		if k > 0 && !(math.Abs(float64(e.Estimate)) <= math.Abs(float64(summary.Effects[k-1].Estimate))) {
			t.Errorf("effect %d is larger than the one before", k)
		}
	}
	if top := between(t, page, `<ol class="top">`, "</ol>"); strings.Count(top, "<li>") != 3 || !strings.Contains(top, summary.Effects[0].Term) {
		t.Errorf("the largest effects are %s", top)
	}
	if len(summary.Effects) != len(effects) || !summary.Form || summary.Rounded || len(page) > 300_000 {
		t.Errorf("%d effects of %d, form %v, %d bytes", len(summary.Effects), len(effects), summary.Form, len(page))
	}
	var model form
	must.Succeed(t, json.Unmarshal([]byte(between(t, page, `id="model">`, "</script>")), &model))
	if z := model.Columns[1]; z.Name != "z" || !(*z.Low <= *z.From && *z.From < *z.To && *z.To <= *z.High) {
		t.Errorf("columns %+v", model.Columns)
	}
}

// TestHostileNames: names of columns and levels stay texts, wherever they stand, and turn no line round; the form has
// them as they are.
func TestHostileNames(t *testing.T) {
	names := []string{"</script><script>alert(1)</script>", "a\u202e\x18b", "q\"'\\`${x}{{.}}", strings.Repeat("long ", 2000), "<!--"}
	var levels []string
	var x, y []float64
	for i := range 60 {
		levels, x, y = append(levels, names[i%5]), append(x, float64(i*i%17)), append(y, float64(i%5)+float64(i%3))
	}
	rows := must.Value(table.New().Categories(names[0], levels).Numbers(names[1], x).Numbers(names[3], y).Numbers("y", y).Source())(t)
	scorer := scorerOf(t, rows, fit.Options{Target: "y"})
	page, summary := written(t, Input{Models: []Model{{names[0], scorer}}, Rows: rows, Files: names[2]})
	head, _, _ := strings.Cut(page, "<script")
	if strings.Count(page, "<script") != 3 || strings.ContainsAny(head, "\u202e\x18") || strings.Contains(page, "<!--") || !summary.Form {
		t.Errorf("%d scripts, form %v", strings.Count(page, "<script"), summary.Form)
	}
	var model form
	must.Succeed(t, json.Unmarshal([]byte(between(t, page, `id="model">`, "</script>")), &model))
	var columns []string
	for _, c := range model.Columns {
		columns = append(columns, c.Name)
	}
	if !slices.Contains(columns, names[0]) || !slices.Contains(columns, names[1]) || !slices.Contains(columns, names[3]) {
		t.Errorf("columns %.300q", columns)
	}
}

// TestLights: which figures are green, and that training rows are known and left out.
func TestLights(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		report                   credence.Report
		converged, approximation string
	}{
		{credence.Report{Engine: "exact", Status: credence.Converged}, Good, Good},
		{credence.Report{Engine: "svi", Status: credence.IterationLimit, ParetoK: number(.3), EffectiveShare: number(.9)}, Bad, Good},
		{credence.Report{Engine: "svi", Status: credence.Converged, ParetoK: number(1.2), EffectiveShare: number(.1)}, Good, Care},
		{credence.Report{Engine: "gibbs", RHat: number(1.005), EffectiveDraws: number(500), Status: credence.Converged}, Good, Good},
		{credence.Report{Engine: "gibbs", RHat: number(1.02), EffectiveDraws: number(500), Status: credence.Converged}, Care, Good},
		{credence.Report{Engine: "gibbs", RHat: number(1.005), EffectiveDraws: number(300), Status: credence.Converged}, Care, Good},
		{credence.Report{Engine: "gibbs", RHat: number(1.3), EffectiveDraws: number(300), Status: credence.Converged}, Bad, Good},
		{credence.Report{Engine: "convex", SDRatio: number(.95), Status: credence.Converged}, Good, Good},
		{credence.Report{Engine: "convex", SDRatio: number(.85), Status: credence.Converged}, Good, Care},
		{credence.Report{Engine: "laplace", WeightCoverage: number(.7), Status: credence.Converged}, Good, Care},
		// figures that are just what is wanted, and just not
		{credence.Report{Engine: "exact", Status: credence.Closed}, Good, Good},
		{credence.Report{Engine: "gibbs", RHat: number(1.01), EffectiveDraws: number(400), Status: credence.Closed}, Good, Good},
		{credence.Report{Engine: "gibbs", RHat: number(1.01), EffectiveDraws: number(399.9), Status: credence.Closed}, Care, Good},
		{credence.Report{Engine: "gibbs", RHat: number(1.1), EffectiveDraws: number(400), Status: credence.Closed}, Care, Good},
		{credence.Report{Engine: "gibbs", RHat: number(1.1001), EffectiveDraws: number(400), Status: credence.Closed}, Bad, Good},
		{credence.Report{Engine: "convex", SDRatio: number(.9), Status: credence.Closed}, Good, Good},
		{credence.Report{Engine: "laplace", WeightCoverage: number(.8), Status: credence.Closed}, Good, Good},
		{credence.Report{Engine: "sep"}, Unknown, Unknown},
		{credence.Report{Engine: "ep", Stuck: true, Status: credence.Converged}, Bad, Unknown},
	} {
		a, b := converged(&c.report), approximation(&c.report)
		if a.State != c.converged || b.State != c.approximation || (a.State != Good) != (a.Remedy != "") || (b.State != Good) != (b.Remedy != "") || a.Sign() == "" {
			t.Errorf("%+v: %+v, %+v", c.report, a, b)
		}
	}
	for warnings, want := range []string{"The checks find nothing", "read 1 warning under", "read 2 warnings under"} {
		if v := verdictOf([]Light{{State: Good}, {State: Good}, {State: Good}}, warnings); v.State != Good || !strings.Contains(v.Text, want) {
			t.Errorf("%d warnings: %+v", warnings, v)
		}
	}
	states := []string{Good, Unknown, Care, Bad} // the worse behind
	for k := range 4 * 4 * 4 {
		lights, worst := []Light{{State: states[k%4]}, {State: states[k/4%4]}, {State: states[k/16]}}, max(k%4, k/4%4, k/16)
		if v := verdictOf(lights, 1); v.State != states[worst] {
			t.Errorf("%+v of %+v", v, lights)
		}
	}
	train, _ := rowsOf(t, 300, 7, false)
	other, _ := rowsOf(t, 300, 8, false)
	for _, c := range []struct {
		options fit.Options
		rows    credence.Source
		state   string
		text    string
	}{
		{fit.Options{Formula: "y ~ x + z + city + group"}, train, Good, "300 training rows (90 ± 5.2 by chance)"},
		// as many, and others
		{fit.Options{Formula: "y ~ x + z + city + group"}, other, Good, "300 held-out rows (90 ± 5.2 by chance)"},
		{fit.Options{Formula: "count ~ x", Family: "poisson"}, other, Bad, "held-out"},
		{fit.Options{Formula: "y ~ x + z + city", Engine: "lasso"}, train, Unknown, "cannot be left out"},
	} {
		_, summary := written(t, Input{Models: []Model{{"m", scorerOf(t, train, c.options)}}, Rows: c.rows})
		if l := summary.Lights[2]; l.State != c.state || !strings.Contains(l.Text, c.text) {
			t.Errorf("%s: %+v", c.options.Formula, l)
		}
		if l, p := summary.Lights[2], summary.Scores.PITValue; strings.Contains(c.text, "held-out") && !strings.Contains(l.Text, fmt.Sprintf("p = %.2g", *p)) {
			t.Errorf("%s: evaluate has p = %g, and the light %q", c.options.Formula, *p, l.Text)
		}
		worst := Good
		for _, state := range []string{Unknown, Care, Bad} {
			if slices.ContainsFunc(summary.Lights, func(l Light) bool { return l.State == state }) {
				worst = state
			}
		}
		if summary.Verdict.State != worst {
			t.Errorf("%s: verdict %+v of %+v", c.options.Formula, summary.Verdict, summary.Lights)
		}
	}
}

// TestRowsThatCannotBeLeftOut: where more than a twentieth of the training rows alone tell a weight, the light is not
// green, and says how many.
func TestRowsThatCannotBeLeftOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	var y, x []float64
	for i := range 60 {
		x, y = append(x, rng.NormFloat64()), append(y, float64(rng.IntN(4)))
		if i%6 == 0 { // far out
			x[i], y[i] = x[i]+float64(10+i), 40+float64(i%7)
		}
	}
	rows := must.Value(table.New().Numbers("x", x).Numbers("y", y).Source())(t)
	_, summary := written(t, Input{Models: []Model{{"m", scorerOf(t, rows, fit.Options{Formula: "y ~ poly(x, 8)", Family: "poisson", Prior: "normal(variance=100)"})}}, Rows: rows})
	if l := summary.Lights[2]; l.State == Good || !strings.Contains(l.Text, "cannot be left out reliably") || l.Remedy == "" {
		t.Errorf("%+v", l)
	}
}

// TestSeveral: the comparison is that of compare, and the first model has the form.
func TestSeveral(t *testing.T) {
	train, _ := rowsOf(t, 200, 9, false)
	test, _ := rowsOf(t, 100, 10, false)
	var input Input
	for _, formula := range []string{"y ~ x", "y ~ x + city + group"} {
		scorer := scorerOf(t, train, fit.Options{Formula: formula})
		scores := score.NewScores(formula, scorer.Fitted())
		must.Succeed(t, must.Value(scorer.Table(test, score.RequireTargets))(t).Each(t.Context(), scores.Add))
		input.Models, input.Scores = append(input.Models, Model{formula, scorer}), append(input.Scores, scores)
	}
	input.Rows = test
	page, summary := written(t, input)
	want := must.Value(score.Compare(input.Scores...))(t)
	if summary.Compare.Models[1].Gain != want.Models[1].Gain || !strings.Contains(page, `<section id="comparison"`) || strings.Contains(between(t, page, `id="model">`, "</script>"), `"name":"city"`) {
		t.Error("another comparison, or a form of the second model")
	}
}

// TestRefusals: what can have no report says why, and what can have no form has a report that says so.
func TestRefusals(t *testing.T) {
	train, _ := rowsOf(t, 100, 11, false)
	scorer := scorerOf(t, train, fit.Options{Formula: "y ~ x"})
	bare := must.Value(table.New().Numbers("x", []float64{1, 2}).Source())(t)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for want, c := range map[string]struct {
		ctx   context.Context
		input Input
	}{
		"there is no scorer: make one by score.New":                         {t.Context(), Input{Rows: train}},
		"a report compares predictions with targets: give data":             {t.Context(), Input{Models: []Model{{"m", scorer}}}},
		"the data lack the target y, with which predictions are compared: ": {t.Context(), Input{Models: []Model{{"m", scorer}}, Rows: bare}},
		"context canceled": {stopped, Input{Models: []Model{{"m", scorer}}, Rows: train}},
	} {
		var out bytes.Buffer
		if _, err := Write(c.ctx, &out, c.input); err == nil || !strings.Contains(err.Error(), want) || out.Len() > 0 {
			t.Errorf("%v, want %s", err, want)
		}
	}
	numbers := make([]float64, 150)
	for i := range numbers {
		numbers[i] = float64(i % 7)
	}
	b := table.New().Numbers("y", numbers)
	for k := range mostInputs + 1 {
		column := slices.Clone(numbers)
		column[k%150] = float64(k)
		b.Numbers(fmt.Sprint("c", k), column)
	}
	wide := must.Value(b.Source())(t)
	page, summary := written(t, Input{Models: []Model{{"m", scorerOf(t, wide, fit.Options{Formula: "y ~ .", Engine: "lasso"})}}, Rows: wide})
	if summary.Form || summary.NoForm != "its 201 columns are more than 200 that a person fills in" || strings.Contains(page, `id="predict"`) || !strings.Contains(page, "credence predict predicts rows of a file") {
		t.Errorf("form %v: %s", summary.Form, summary.NoForm)
	}
}

// TestDataSection: the table of the data has each column's counts and numbers, and what looks odd with what to do.
func TestDataSection(t *testing.T) {
	text := "y,x,city,one\n"
	for i := range 40 {
		x := fmt.Sprint(i * i % 13)
		if i == 7 {
			x = ""
		}
		text += fmt.Sprintf("%d,%s,%s,4\n", i*i*i%11, x, []string{"a", "b", "c"}[i%3])
	}
	data := must.Value(dataset.Open(t.Context(), []string{"-"}, dataset.Options{Stdin: strings.NewReader(text)}))(t)
	defer data.Close()
	rows := must.Value(data.Load(t.Context(), nil))(t)
	page, _ := written(t, Input{Models: []Model{{"m", scorerOf(t, rows, fit.Options{Formula: "y ~ city"})}}, Rows: rows, Data: data})
	section := between(t, page, `<section id="data"`, "</section>")
	cells := regexp.MustCompile(`<[^>]+>`).ReplaceAllString(strings.NewReplacer("</tr>", "\n", "</td>", "|", "</th>", "|").Replace(section), "")
	for _, want := range []string{"40 rows of 4 columns.", "city|category|0|–|–|–|3|", "x|number|1|0.00|", "|12.00|–|", "one|number|0|4.00|4.00|4.00|–|"} {
		if !strings.Contains(strings.Join(strings.Fields(cells), " "), want) {
			t.Errorf("no %q in %s", want, cells)
		}
	}
	if !strings.Contains(section, `class="finding">one is 4 in every row that has a value: leave it out: - one<`) {
		t.Errorf("a constant column is not found odd: %s", section)
	}
}

// TestCommandsFitAgain: the commands have every option that the recipe keeps, quoted for a shell, and of a selection
// that of select.
func TestCommandsFitAgain(t *testing.T) {
	rows, _ := rowsOf(t, 60, 5, false)
	fitted := *scorerOf(t, rows, fit.Options{Formula: "y ~ x"}).Fitted()
	fitted.Recipe = credence.Recipe{Formula: "y ~ x + z", Family: "studentt(df=4)", Prior: "normal", Engine: "exact", Seed: 7, Missing: "drop", DropTarget: true, Unseen: "error",
		Positive: "it's", Raw: true, Types: "age=category", PriorOdds: map[string]float64{"x": 0.5}}
	read := *fitted.Frame.(*frame.Frame)
	read.Reading.Missing = []string{"n/a", "a, b"}
	fitted.Frame = &read
	for selected, command := range map[bool]string{false: "fit", true: "select"} {
		if fitted.Selection = nil; selected {
			fitted.Selection = &selection.Result{}
		}
		r := &writer{Input: Input{Models: []Model{{Name: "my model"}}, Files: "a b.csv"}, scorer: must.Value(score.New(&fitted, score.Options{}))(t)}
		var v view
		must.Succeed(t, r.addCommands(&v))
		want := "credence " + command + ` TRAIN --formula 'y ~ x + z' --family 'studentt(df=4)' --prior normal --engine exact --types age=category --missing drop` +
			` --unseen error --positive 'it'\''s' --missing n/a --missing 'text=a, b' --prior-odds ODDS --missing drop-target --raw --seed 7 -o 'my model.safetensors'
credence evaluate 'my model.safetensors' 'a b.csv'
credence effects 'my model.safetensors' 'a b.csv'
credence predict 'my model.safetensors' 'a b.csv'
credence report 'my model.safetensors' 'a b.csv' -o report.html`
		if got := v.Sections[0].Code; got != want {
			t.Errorf("commands are\n%s\nwant\n%s", got, want)
		}
	}
	fitted.Recipe, read.Reading.Missing = credence.Recipe{}, nil
	r := &writer{Input: Input{Models: []Model{{Name: "m"}}, ModelFile: "m.bin"}, scorer: must.Value(score.New(&fitted, score.Options{}))(t)}
	var v view
	must.Succeed(t, r.addCommands(&v))
	if got, _, _ := strings.Cut(v.Sections[0].Code, "\n"); got != "credence select TRAIN --seed 0 -o m.bin" && got != "credence fit TRAIN --seed 0 -o m.bin" {
		t.Errorf("the command of no options is %s", got)
	}
}

// TestComparisonOfBounds: the evidence of a model is told where it is known, a bound of it as one, and of neither a
// dash.
func TestComparisonOfBounds(t *testing.T) {
	number := func(v float64) *float64 { return &v }
	r := &writer{}
	var v view
	must.Succeed(t, r.addComparison(&v))
	if len(v.Sections) > 0 {
		t.Error("one model is compared")
	}
	r.summary.Compare = &score.Comparison{Rows: 1, Models: []score.Compared{
		{Model: "a", Evidence: number(-12.345), ELBO: number(-13)}, {Model: "b", ELBO: number(-14.5)}, {Model: "c"},
	}}
	must.Succeed(t, r.addComparison(&v))
	g := v.Sections[0].Tables[0]
	for k, want := range []string{"-12.35", "≥ -14.50", "–"} {
		if got := g.Rows[k][len(g.Head)-1]; got != want && got != "-12.34" {
			t.Errorf("the evidence of model %d reads %s, want %s", k, got, want)
		}
	}
	if !strings.HasPrefix(g.Name, "Models over 1 row;") {
		t.Error(g.Name)
	}
}

// TestOnlineModelsHaveNoReport: a model whose columns are keys is refused with the commands that tell of it.
func TestOnlineModelsHaveNoReport(t *testing.T) {
	l := must.Value(learn.New(fit.Options{Formula: "y ~ x"}))(t)
	for i := range 20 {
		must.Value(l.Row(map[string]any{"y": i % 2, "x": float64(i % 5)}))(t)
	}
	scorer := must.Value(score.New(must.Value(l.Fitted())(t), score.Options{}))(t)
	rows, _ := rowsOf(t, 20, 5, false)
	var page bytes.Buffer
	if _, err := Write(t.Context(), &page, Input{Models: []Model{{"m", scorer}}, Rows: rows}); err == nil || !strings.Contains(err.Error(), "learned online, whose columns are keys: use credence evaluate and inspect") || page.Len() > 0 {
		t.Errorf("%v", err)
	}
}

// TestProgressOfReports: the parts of the work are told in their order, each once.
func TestProgressOfReports(t *testing.T) {
	rows, _ := rowsOf(t, 60, 5, false)
	var page bytes.Buffer
	var parts []string
	must.Value(Write(t.Context(), &page, Input{Models: []Model{{"m", scorerOf(t, rows, fit.Options{Formula: "y ~ x"})}}, Rows: rows, Progress: func(part string) { parts = append(parts, part) }}))(t)
	if got := strings.Join(parts, " "); got != "evaluation calibration effects checks weights comparison data commands" {
		t.Errorf("parts are %s", got)
	}
}
