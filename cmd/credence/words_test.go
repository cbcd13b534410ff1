package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
)

// wordsTable is 160 rows of a count that x explains, beside z, which explains nothing.
func wordsTable(t *testing.T) string {
	var text strings.Builder
	text.WriteString("x,z,visits\n")
	for i := range 160 {
		x := float64(i%16)/8 - 1
		fmt.Fprintf(&text, "%g,%d,%d\n", x, i*37%11, int(math.Exp(1+math.Sin(2*x))+float64(i*29%7)/3))
	}
	return file(t, "visits.csv", text.String())
}

// TestCountsAreSaidFirst: what a target looks like stands in the second line of a fit that states no family, in JSON,
// and in inspect.
func TestCountsAreSaidFirst(t *testing.T) {
	path, model := wordsTable(t), filepath.Join(t.TempDir(), "m.safetensors")
	out := must(t, "fit", path, "--target", "visits", "-o", model)
	second := strings.Split(out, "\n")[1]
	if !strings.HasPrefix(second, "target  column visits, fitted as gaussian: whole numbers from ") || !strings.Contains(second, "counts; --family ") {
		t.Errorf("the second line is %q", second)
	}
	if shown := must(t, "inspect", model); !strings.Contains(shown, second+"\n") {
		t.Errorf("inspect lacks %q:\n%s", second, shown)
	}
	if shown := must(t, "inspect", model, "--interval", "0.8", "--sort", "name"); !strings.Contains(shown, "\nweights in the order of their names\nlower and upper are 80 % intervals\n") {
		t.Errorf("inspect does not say the order and the level:\n%s", shown)
	}
	look, ok := decode(t, must(t, "fit", path, "--target", "visits", "--json"))["target_look"].(map[string]any)
	if !ok || look["like"] != "counts" || !strings.Contains(second, fmt.Sprint(look["text"])) {
		t.Errorf("JSON has %v", look)
	}
	if out := must(t, "fit", path, "--target", "visits", "--family", "poisson"); strings.Contains(out, "target  ") {
		t.Errorf("a stated family is doubted:\n%s", out)
	}
}

// TestCalibrationInALine: evaluate tells the calibration of counts in one line, whose figures are those of JSON,
// whether the targets vary less than the family allows or more.
func TestCalibrationInALine(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.safetensors")
	counts, drawn := string(sure(os.ReadFile(wordsTable(t)))(t)), strings.Builder{}
	drawn.WriteString("x,visits\n")
	for rng, i := rand.New(rand.NewPCG(7, 7)), 0; i < 400; i++ {
		x := rng.NormFloat64()
		fmt.Fprintf(&drawn, "%g,%g\n", x, likelihood.Poisson{}.Sample(rng, 0.5+0.5*x))
	}
	for text, fits := range map[string]string{
		counts: "beyond",
		regexp.MustCompile(`(?m),(\d+)$`).ReplaceAllString(counts, ",${1}0"): "beyond",
		drawn.String(): "within",
	} {
		path := file(t, "counts.csv", text)
		must(t, "fit", path, "--target", "visits", "--family", "poisson", "-o", model)
		out := must(t, "evaluate", model, path)
		e := decode(t, must(t, "evaluate", model, path, "--json"))
		verdict, held, within := "within", []string{}, []string{}
		for _, level := range []string{"0.5", "0.8", "0.9", "0.95"} {
			covered := number(t, e["coverage"].(map[string]any), level)
			claimed := parse(t, level)
			reach := 2.5 * math.Sqrt(claimed*(1-claimed)/number(t, e, "rows"))
			if within = append(within, fmt.Sprintf("%.1f", 100*reach)); !(math.Abs(covered-claimed) <= reach) {
				verdict = "beyond"
			}
			held = append(held, fmt.Sprintf("%.1f", 100*covered))
		}
		want := fmt.Sprintf("\ncalibration  the central 50, 80, 90, 95 %% of the predictions hold %s %% of the targets: %s chance (± %s for %.0f independent rows)", strings.Join(held, ", "), verdict, strings.Join(within, ", "), number(t, e, "rows"))
		if verdict != fits {
			t.Errorf("%s chance, not %s:\n%s", verdict, fits, out)
		}
		if !strings.Contains(out, want) || strings.Contains(out, "coverage of") {
			t.Errorf("%s\nlacks %s", out, want)
		}
	}
}

// TestSmoothsInALine: inspect shows a smooth term in one line, as JSON has it, and none of its weights, which stand in
// JSON and files.
func TestSmoothsInALine(t *testing.T) {
	path, model := wordsTable(t), filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", path, "--formula", "visits ~ z + rbf(x, n=6)", "--family", "poisson", "-o", model)
	out := must(t, "inspect", model)
	line := regexp.MustCompile(`(?m)^rbf\(x\)  12 weights; along x from -1 to 0\.875: lowest (\S+) ± (\S+) at (\S+), highest (\S+) ± (\S+) at (\S+)$`).FindStringSubmatch(out)
	if line == nil || strings.Contains(out, "cos 1") || !strings.Contains(out, "  z  ") {
		t.Fatalf("%s", out)
	}
	e := decode(t, must(t, "inspect", model, "--json"))
	smooth := e["smooths"].([]any)[0].(map[string]any)
	for k, end := range []string{"lowest", "highest"} {
		at := smooth[end].(map[string]any)
		for i, name := range []string{"mean", "sd", "at"} {
			if shown := parse(t, line[1+3*k+i]); !(math.Abs(shown-number(t, at, name)) <= 0.01*math.Abs(shown)+0.01) {
				t.Errorf("%s %s is %v, and %v in JSON", end, name, shown, at[name])
			}
		}
	}
	factor := must(t, "inspect", model, "--exp")
	if want := fmt.Sprintf("highest %.4g at", math.Exp(number(t, smooth["highest"].(map[string]any), "mean"))); !strings.Contains(factor, want) {
		t.Errorf("%s\nlacks %s", factor, want)
	}
	if terms := e["terms"].([]any); len(terms) != 14 {
		t.Errorf("JSON has %d weights", len(terms))
	}
	straight := filepath.Join(t.TempDir(), "s.safetensors") // whose line stands with the term alone
	must(t, "fit", path, "--formula", "visits ~ z + s(x)", "--family", "poisson", "-o", straight)
	if out := must(t, "inspect", straight); !strings.Contains(out, " weights and a line; along x from ") || !strings.Contains(out, "  z  ") || strings.Contains(out, "  x  ") {
		t.Errorf("%s", out)
	}
	weights := filepath.Join(t.TempDir(), "w.csv")
	must(t, "inspect", model, "-o", weights)
	if text := string(sure(os.ReadFile(weights))(t)); strings.Count(text, "\n") != 15 || !strings.Contains(text, "cos 1") {
		t.Errorf("the file has %s", text)
	}
}

// TestNoneSelected: a selection that selects nothing says so in a sentence, and shows the likeliest ten.
func TestNoneSelected(t *testing.T) {
	var text strings.Builder
	text.WriteString("y")
	for j := range 14 {
		fmt.Fprintf(&text, ",x%d", j)
	}
	for i := range 40 {
		fmt.Fprintf(&text, "\n%g", math.Sin(float64(i*i)))
		for j := range 14 {
			fmt.Fprintf(&text, ",%g", math.Cos(float64(i*(j+3)*(j+2))))
		}
	}
	out := must(t, "select", file(t, "noise.csv", text.String()+"\n"), "--target", "y", "--engine", "ep", "--threshold", "0.99")
	if !strings.Contains(out, "\nnone of 14 features selected (inclusion above 0.99); the likeliest first\n") || strings.Contains(out, "expected to be false") ||
		!strings.Contains(out, "… and 4 more; --top 14 shows all\nlower and upper are 90 % intervals of the weights\n") {
		t.Error(out)
	}
}

// TestNarrowIntervalsAreHidden: intervals of a stream's weights, which hold few of them, are not shown; JSON has them
// beside the share that they hold.
func TestNarrowIntervalsAreHidden(t *testing.T) {
	var text strings.Builder
	text.WriteString("y,a,b\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "%d,%c,%c\n", b2i(i%4 < 2), 'p'+rune(i%4), 'u'+rune(i*7%5))
	}
	path, model := file(t, "s.csv", text.String()), filepath.Join(t.TempDir(), "m.safetensors")
	out := must(t, "stream", path, "--formula", "y ~ .", "-o", model)
	e := decode(t, must(t, "inspect", model, "--json"))
	share, known := e["weight_coverage"].(float64)
	if !known || share >= 0.8 {
		t.Skipf("the intervals hold %v", e["weight_coverage"])
	}
	shown := must(t, "inspect", model)
	for _, text := range []string{out, shown} {
		if !strings.Contains(text, "weights to rank features by, and no estimates: their intervals are too narrow and are not shown; credence select has intervals, by ep or gibbs") || strings.Contains(text, "90 %") {
			t.Error(text)
		}
	}
	if !strings.Contains(shown, "\ntarget  y: the positive class is 1\n") || !strings.Contains(shown, "\nweights in the order of their inclusion, the largest first\n") {
		t.Error(shown)
	}
	if strings.Contains(shown, "lower") || strings.Contains(shown, " sd ") || !strings.Contains(shown, "inclusion") {
		t.Error(shown)
	}
	for line := range strings.Lines(shown) {
		if cells := strings.Fields(line); strings.HasPrefix(line, "  ") && len(cells) > 1 && cells[0] == "linear" && len(cells) != 4 {
			t.Errorf("a weight has the cells %q", cells)
		}
	}
	if first := e["terms"].([]any)[0].(map[string]any); first["lower"] == nil || first["sd"] == nil {
		t.Errorf("%v", first)
	}
}

// TestNarrowIntervalsOfSelect: what a selection by sep says is not shown is not shown.
func TestNarrowIntervalsOfSelect(t *testing.T) {
	var text strings.Builder
	text.WriteString("y,a,b\n")
	for i := range 3000 {
		fmt.Fprintf(&text, "%d,%c,%c\n", b2i(i%4 < 2), 'p'+rune(i%4), 'u'+rune(i*7%5))
	}
	sep := must(t, "select", file(t, "s.csv", text.String()), "--target", "y", "--engine", "sep")
	ep := must(t, "select", file(t, "h.csv", houses(60)), "--target", "price", "--engine", "ep")
	for out, told := range map[string]bool{sep: false, ep: true} {
		if strings.Contains(out, "are not shown") == told || strings.Contains(out, "lower") != told || strings.Contains(out, " sd ") != told {
			t.Error(out)
		}
	}
}

// TestRemediesNameColumns: a remedy that names a column of two words can be typed as it stands.
func TestRemediesNameColumns(t *testing.T) {
	var text strings.Builder
	text.WriteString("y,the id,a day,two-valued,w+1\n")
	for i := range 60 {
		fmt.Fprintf(&text, "%d.5,id%d,2024-%02d-%02d,%d,%d.25\n", i*i%17, i, 1+i%12, 1+i%28, i%2, 1+i%7)
	}
	path := file(t, "s.csv", text.String())
	out := invoke(t, "", "fit", path, "--target", "y").err
	for _, remedy := range []string{"- `the id`", "+ onehot(weekday(`a day`))"} {
		if !strings.Contains(out, strings.TrimPrefix(remedy, "+ ")) {
			t.Errorf("%s is not in %s", remedy, out)
		}
		must(t, "fit", path, "--formula", "y ~ . "+remedy)
	}
	for formula, remedies := range map[string][]string{
		"s(log1p(`two-valued`))":                  {"log1p(`two-valued`)", "onehot(`two-valued`)"},
		"spectral(`two-valued`)":                  {"`two-valued`", "onehot(`two-valued`)"},
		"log(`two-valued`)":                       {"`two-valued`"},
		"weight(`w+1`)":                           {"precision(`w+1`)"},
		"(1 | `two-valued`) + weight(`w+1` > 99)": {"weight((`w+1` > 99))"},
	} {
		out := invoke(t, "", "fit", path, "--formula", "y ~ "+formula).err
		for _, remedy := range remedies {
			if !strings.Contains(out, remedy) {
				t.Errorf("%s: %s is not in %s", formula, remedy, out)
			}
			if !strings.HasPrefix(remedy, "weight") { // which is to be left out
				must(t, "fit", path, "--formula", "y ~ "+remedy)
			}
		}
	}
	for engine, remedy := range map[string]string{"lasso": "onehot(`two-valued`)", "sep": "onehot(`two-valued`)"} {
		if out := invoke(t, "", "fit", path, "--formula", "y ~ (1 | `two-valued`)", "--engine", engine).err; !strings.Contains(out, remedy) {
			t.Errorf("%s: %s is not in %s", engine, remedy, out)
		}
	}
}

// b2i is 1 of what holds.
func b2i(holds bool) int {
	if holds {
		return 1
	}
	return 0
}

// TestFactorsThatSayNothing: how far a hyper-parameter may be off is left out where its digits say nothing.
func TestFactorsThatSayNothing(t *testing.T) {
	value := func(sd float64) credence.Values { return credence.Values{{Name: "noise_variance", Value: sd}} }
	for sd, told := range map[float64]bool{0.004: false, 0.02: true} {
		out := strings.Builder{}
		p := &program{streams: streams{out: &out}}
		r := score.Summary{Report: credence.Report{Hyper: value(2), HyperSD: value(sd)}}
		if p.printFit(&r); strings.Contains(out.String(), "give or take a factor of") != told {
			t.Errorf("%v: %s", sd, out.String())
		}
	}
}

// TestComparedGap: a gap of the evidence that its bound does not show is left out, as one that is a least value.
func TestComparedGap(t *testing.T) {
	for _, c := range []struct {
		gap   float64
		least bool
		want  string
	}{{-0.1, false, "≥ -3.25  "}, {0.004, false, "≥ -3.25  "}, {0.006, false, "≥ -3.25 (+ 0.006)  "}, {1.234, false, "≥ -3.25 (+ 1.2)  "}, {1.234, true, "≥ -3.25  "}} {
		out, bound := strings.Builder{}, -3.25
		p := &program{streams: streams{out: &out}}
		if p.printCompared([]score.Compared{{ELBO: &bound, EvidenceGap: &c.gap, EvidenceGapLeast: c.least}}, false); !strings.Contains(out.String(), c.want) {
			t.Errorf("%+v: %s", c, out.String())
		}
	}
}

// TestHowAFitEnded: a fit that did not converge says so and not that a limit was reached, which a loop inside may have
// ended before; one whose sites do not settle says that, and sep, which goes through the rows again and again, of what.
func TestHowAFitEnded(t *testing.T) {
	for want, report := range map[string]credence.Report{
		"fit     ep, not converged after 477 iterations: ":                               {Engine: "ep", Status: credence.IterationLimit, Iterations: 477},
		"fit     ep, stopped after 477 iterations, for the sites do not settle: ":        {Engine: "ep", Status: credence.IterationLimit, Iterations: 477, Stuck: true},
		"fit     sep, stopped after 200 passes, of which the last still moved weights: ": {Engine: "sep", Status: credence.IterationLimit, Iterations: 200},
		"fit     svi, converged after 1 iteration: ":                                     {Engine: "svi", Status: credence.Converged, Iterations: 1},
	} {
		out := strings.Builder{}
		p := &program{streams: streams{out: &out}}
		if p.printFit(&score.Summary{Report: report}); !strings.HasPrefix(out.String(), want) {
			t.Errorf("%q does not begin with %q", out.String(), want)
		}
	}
}

// TestFiguresHaveMeaning: evaluate tells the error of a prediction without columns and its unit, inspect the formula
// and the unit of a weight, compare which model is best, and select the unit of its means.
func TestFiguresHaveMeaning(t *testing.T) {
	path, folder := wordsTable(t), t.TempDir()
	plain, none := filepath.Join(folder, "m.safetensors"), filepath.Join(folder, "z.safetensors")
	must(t, "fit", path, "--formula", "log(visits) ~ x", "-o", plain)
	must(t, "fit", path, "--formula", "log(visits) ~ z", "-o", none)
	e := decode(t, must(t, "evaluate", plain, path, "--json"))
	base := number(t, e, "rmse") / math.Sqrt(number(t, e, "smse"))
	out := must(t, "evaluate", plain, path)
	for _, want := range []string{"\nbaseline  the mean of these targets for every row: rmse " + significant(base) + ", in units of log(visits), and a normal curve ", "\n          these shares are ", "\nrmse      " + fmt.Sprintf("%-12s", significant(number(t, e, "rmse"))) + " root of the mean squared error, in the target's units\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nlacks %s", out, want)
		}
	}
	for held, told := range map[float64]bool{0.5: false, 0.9: true} { // by intervals of 50 %
		var text bytes.Buffer
		p := &program{streams: streams{out: &text}}
		p.printScores(&evaluated{Evaluation: &metric.Evaluation{Rows: 1000, RegressionResult: &metric.RegressionResult{}, IntervalsResult: &metric.IntervalsResult{Coverage: map[string]float64{"0.5": held}}}})
		if strings.HasSuffix(text.String(), "; credence calibrate makes intervals that hold on such rows\n") != told {
			t.Errorf("%v held of .5: %s", held, text.String())
		}
		text.Reset()
		p.printScores(&evaluated{Evaluation: &metric.Evaluation{Training: true, Rows: 1000, RegressionResult: &metric.RegressionResult{}, IntervalsResult: &metric.IntervalsResult{Coverage: map[string]float64{"0.5": held}}}})
		if strings.HasSuffix(text.String(), "; of the rows of a fit they hold more than of others\n") != told {
			t.Errorf("%v held of .5 in training: %s", held, text.String())
		}
	}
	out = must(t, "inspect", plain)
	for _, want := range []string{"\n        log(visits) ~ x   gaussian, normal prior\n", "\na linear weight is what a unit of its column, or being in its level, adds to the mean of log(visits)\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nlacks %s", out, want)
		}
	}
	worse := filepath.Join(folder, "w.safetensors")
	must(t, "fit", path, "--formula", "log(visits) ~ 0 + z", "-o", worse)
	for _, order := range [][]string{{plain, none}, {none, plain}, {none, plain, worse}, {worse, none, plain}} {
		out = must(t, append(append([]string{"compare"}, order...), path)...)
		if !regexp.MustCompile(`\nbest      m gains \d\.\d+ on [wz], \d+\.\d standard errors, more than chance gives; lower nlpd and rmse are better\n`).MatchString(out) {
			t.Error(out)
		}
	}
	if out = must(t, "compare", plain, plain, path); strings.Contains(out, "best  ") {
		t.Errorf("a model is better than itself:\n%s", out)
	}
	if out = must(t, "select", path, "--target", "visits"); !strings.Contains(out, "\nmean is what a unit of the feature adds to visits, with 0 where it is left out\n") {
		t.Error(out)
	}
	classes := strings.Builder{}
	classes.WriteString("x,y\n")
	for i := range 200 {
		fmt.Fprintf(&classes, "%g,%d\n", math.Sin(float64(i)), b2i(i%4 == 0))
	}
	path = file(t, "classes.csv", classes.String())
	must(t, "fit", path, "--target", "y", "--family", "bernoulli", "-o", plain)
	if out = must(t, "evaluate", plain, path); !strings.Contains(out, "\nbaseline  the share of each class for every row: accuracy 0.75, log_loss 0.56234, auc 0.5, brier 0.1875\n") {
		t.Error(out)
	}
	if out = must(t, "inspect", plain); !strings.Contains(out, "adds to the log odds that y is 1: --exp shows by what it multiplies the odds\n") {
		t.Error(out)
	}
}
