package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The four commands on one table: what goes in with noise of variance 14 comes
// out with intervals that hold it.
func TestFitPredictEvaluateInspect(t *testing.T) {
	train := file(t, "train.csv", houses(120))
	model := filepath.Join(t.TempDir(), "m.safetensors")
	fit := decode(t, must(t, "fit", train, "--target", "price", "-o", model, "--json"))
	if fit["engine"] != "exact" || fit["family"] != "gaussian" || fit["prior"] != "normal" || fit["status"] != "converged" || fit["model"] != model {
		t.Errorf("fit says %v", fit)
	}
	if number(t, fit, "rows") != 120 || number(t, fit, "inputs") != 3 {
		t.Errorf("fit says %v rows and %v inputs", fit["rows"], fit["inputs"])
	}
	hyper := fit["hyper"].(map[string]any)
	// i*29%13-6 takes each value of -6…6 about as often: variance 14.
	if noise := number(t, hyper, "noise_variance"); !(math.Abs(noise-14) <= 4) {
		t.Errorf("noise variance %g, want about 14", noise)
	}

	evaluation := decode(t, must(t, "evaluate", model, train, "--json"))
	if rmse := number(t, evaluation, "rmse"); !(math.Abs(rmse-math.Sqrt(14)) <= 0.6) {
		t.Errorf("rmse %g, want about %g", rmse, math.Sqrt(14))
	}
	for _, key := range []string{"rows", "nlpd", "mae", "smse", "msll", "r2"} {
		number(t, evaluation, key)
	}
	for level, want := range map[string]float64{"0.5": 0.5, "0.8": 0.8, "0.9": 0.9, "0.95": 0.95} {
		// Uniform noise under Gaussian intervals: inside a band of 0.15 around the level.
		if got := number(t, evaluation["coverage"].(map[string]any), level); !(math.Abs(got-want) <= 0.15) {
			t.Errorf("coverage at %s is %g", level, got)
		}
		number(t, evaluation["interval_width"].(map[string]any), level)
	}

	output := filepath.Join(t.TempDir(), "p.csv")
	must(t, "predict", model, train, "--keep", "zip,size", "--latent", "--density", "--samples", "2", "-o", output)
	text := sure(os.ReadFile(output))(t)
	records := sure(csv.NewReader(bytes.NewReader(text)).ReadAll())(t)
	if got := strings.Join(records[0], ","); got != "zip,size,mean,sd,lower,upper,f_mean,f_sd,log_density,sample_1,sample_2" {
		t.Errorf("columns %s", got)
	}
	if len(records) != 121 || records[1][0] != "north" || records[2][0] != "south" || records[2][1] != "148" {
		t.Errorf("%d records, the first %v %v", len(records), records[1], records[2])
	}

	inspection := decode(t, must(t, "inspect", model, "--json"))
	weights := map[string]map[string]any{}
	for _, entry := range inspection["terms"].([]any) {
		weight := entry.(map[string]any)
		weights[weight["name"].(string)] = weight
	}
	for name, want := range map[string]float64{"size": 3, "garden": 20} {
		w := weights[name]
		if w == nil || w["block"] != "linear" {
			t.Fatalf("no weight %s in block linear: %v", name, weights)
		}
		// Five posterior standard deviations.
		if mean, sd := number(t, w, "mean"), number(t, w, "sd"); !(math.Abs(mean-want) <= 5*sd) {
			t.Errorf("%s has weight %g ± %g, want %g", name, mean, sd, want)
		}
	}
	for _, name := range []string{"zip=north", "zip=south", "zip=west", "(intercept)"} {
		if weights[name] == nil {
			t.Errorf("no weight %s", name)
		}
	}
}

// The intercept on the data's own scale is the prediction where every column is
// zero there.
func TestInterceptOnOwnScale(t *testing.T) {
	train := file(t, "train.csv", "x,y\n101,11\n102,12.5\n103,12.7\n104,14.6\n105,14.9\n106,16.3\n")
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", train, "--target", "y", "-o", model)
	zero := file(t, "zero.csv", "x\n0\n")
	out := must(t, "predict", model, zero, "--latent")
	records := sure(csv.NewReader(strings.NewReader(out)).ReadAll())(t)
	inspection := decode(t, must(t, "inspect", model, "--json"))
	intercept := inspection["terms"].([]any)[0].(map[string]any)
	for column, key := range map[int]string{4: "mean", 5: "sd"} {
		if want := parse(t, records[1][column]); !(math.Abs(number(t, intercept, key)-want) <= 1e-8*math.Abs(want)) {
			t.Errorf("intercept %s %v, want %v", key, intercept[key], want)
		}
	}
}

// A prediction is due for every row in order, also for those without a target, which
// a fit under drop leaves out; what is kept stands beside its own row.
func TestDensityKeepsEveryRow(t *testing.T) {
	var b strings.Builder
	b.WriteString("id,x,w,y\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%d,1,%g\n", i, i, 2*float64(i)+float64(i*7%5))
	}
	data := file(t, "data.csv", b.String())
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", data, "-f", "y ~ x + weight(w)", "--missing", "drop", "-o", model)
	some := file(t, "some.csv", "id,x,y\n7,7,15\n8,8,\n9,9,19\n6,6,1e200\n") // the last impossible
	plain := strings.Split(must(t, "predict", model, some, "--keep", "id"), "\n")
	scored := strings.Split(must(t, "predict", model, some, "--keep", "id", "--density"), "\n")
	if len(scored) != len(plain) || len(scored) != 6 {
		t.Fatalf("%d lines with densities and %d without", len(scored), len(plain))
	}
	for i := 1; i < 5; i++ {
		before, density, _ := strings.Cut(strings.TrimPrefix(scored[i], plain[i]), ",")
		if before != "" || (density == "") != (i == 2 || i == 4) {
			t.Errorf("line %d is %q, without a density %q", i, scored[i], plain[i])
		}
	}
	if told := invoke(t, "", "predict", model, some, "--density").err; !strings.Contains(told, "the target of 1 row is beyond what the model holds possible") {
		t.Errorf("of a density that is 0 is told: %s", told)
	}
}

func TestLinksAreTold(t *testing.T) {
	data := file(t, "data.csv", houses(60))
	for _, c := range []struct{ target, family, want string }{
		{"price", "gaussian", "identity"}, {"garden", "bernoulli", "logit"}, {"garden", "bernoulli(link=probit)", "probit"},
		{"size", "poisson", "log"}, {"size", "binomial(trials=300)", "logit"},
	} {
		fit := decode(t, must(t, "fit", data, "-f", c.target+" ~ zip", "--family", c.family, "--json"))
		if fit["link"] != c.want {
			t.Errorf("%s has link %v, want %s", c.family, fit["link"], c.want)
		}
	}
}

func TestUnseenCategories(t *testing.T) {
	train := file(t, "train.csv", houses(60))
	test := file(t, "test.csv", "size,zip,garden\n100,north,true\n100,moon,true\n")
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", train, "--target", "price", "-o", model)
	o := invoke(t, "", "predict", model, test)
	if o.code != exitFailed || !strings.Contains(o.err, "moon") || !strings.Contains(o.err, "--unseen prior") {
		t.Errorf("exit %d, message %q", o.code, o.err)
	}
	o = invoke(t, "", "predict", model, test, "--unseen", "prior")
	if o.code != exitDone || strings.Count(o.out, "\n") != 3 || !strings.Contains(o.err, "not seen in training") {
		t.Errorf("exit %d, message %q, output %q", o.code, o.err, o.out)
	}
}

func TestDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("the demonstration takes seconds")
	}
	folder := filepath.Join(t.TempDir(), "kept")
	told := invoke(t, "", "demo", "--keep", folder)
	out := told.out
	for _, want := range []string{"$ credence fit train.csv", "coverage of  90% intervals", "engine  exact", "engine  svi", "engine sep", "engine  gibbs",
		"engine  ep", "engine  laplace", "engine  convex", "lasso", "ridge", "information", "The files are in " + folder} {
		if !strings.Contains(out, want) {
			t.Errorf("the demonstration lacks %q", want)
		}
	}
	if told.code != exitDone || strings.Contains(told.err, os.TempDir()) || strings.Count(out, os.TempDir()) != 1 {
		t.Errorf("exit %d, or the demonstration shows its folder: %s", told.code, told.err)
	}
	if o := invoke(t, "", "demo", "--keep", folder); o.code != exitFailed || !strings.Contains(o.err, "the folder is not empty") {
		t.Errorf("exit %d, message %q", o.code, o.err)
	}
	if page, err := os.ReadFile(filepath.Join(folder, "report.html")); err != nil || strings.Contains(string(page), folder) {
		t.Errorf("the demonstration keeps no report, or one that shows its folder: %v", err)
	}
	if _, err := os.Stat("report.html"); err == nil {
		t.Error("the demonstration leaves a report outside its folder")
	}
	// What is kept can be typed again, with the same answer, and so can the commands of the pages.
	root := sure(filepath.Abs("../.."))(t)
	t.Chdir(folder)
	typedPages(t, root, told)
	if again := must(t, "inspect", "linear.safetensors"); !strings.Contains(out, again) {
		t.Errorf("the demonstration did not print\n%s", again)
	}
}

// Where no folder can be made, the demonstration says what to do.
func TestDemoHasNoFolder(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if o := invoke(t, "", "demo"); o.code != exitFailed || !strings.Contains(o.err, "name a new folder by --keep") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}

// For scripts the demonstration is a list of commands and results, and its seed reaches each of them: where
// features are drawn, the evidence is another.
func TestDemoForScripts(t *testing.T) {
	defer func(all []demoPart) { demoParts = all }(demoParts)
	concrete, mushrooms := demoParts[0], demoParts[2]
	concrete.steps = append(concrete.steps[:2:2], demoStep{"", "fit train.csv --formula 'strength ~ rbf(age, n=10)' -o age.safetensors"})
	mushrooms.steps = mushrooms.steps[:2]
	demoParts = []demoPart{concrete, mushrooms}
	var tours [2]struct {
		Steps []struct {
			Command []string
			Result  map[string]any
		}
	}
	for seed := range tours {
		if err := json.Unmarshal([]byte(must(t, "demo", "--seed", fmt.Sprint(seed), "--json")), &tours[seed]); err != nil {
			t.Fatal(err)
		}
		if n := len(tours[seed].Steps); n != 5 {
			t.Fatalf("%d steps, not 5", n)
		}
	}
	for k, step := range tours[0].Steps {
		if len(step.Command) == 0 || len(step.Result) == 0 {
			t.Errorf("a step without command or result: %v", step)
		}
		drawn := strings.Contains(strings.Join(step.Command, " "), "rbf")
		if evidence, other := step.Result["evidence"], tours[1].Steps[k].Result["evidence"]; (evidence != other) != drawn {
			t.Errorf("%v: the evidence is %v, and %v under another seed", step.Command, evidence, other)
		}
	}
}

// A column that the formula takes out is not read, and the model is that of a file without it.
func TestColumnsTakenOut(t *testing.T) {
	var with, without strings.Builder
	with.WriteString("y,id,x,z,u\n")
	without.WriteString("y,x,z,u\n")
	for i := range 40 {
		x, z, u := i%7, i*i%11, i%5
		fmt.Fprintf(&with, "%d,k%d,%d,%d,%d\n", 3*x-z+i%3, i, x, z, u)
		fmt.Fprintf(&without, "%d,%d,%d,%d\n", 3*x-z+i%3, x, z, u)
	}
	evidence := func(text, formula string) float64 {
		return number(t, decode(t, must(t, "fit", file(t, "t.csv", text), "--formula", formula, "--json")), "evidence")
	}
	if got, want := evidence(with.String(), "y ~ . - id"), evidence(without.String(), "y ~ ."); got != want {
		t.Errorf("evidence %v without the column, %v where the file has none", got, want)
	}
	if got, want := evidence(with.String(), "y ~ x - id - u:z"), evidence(without.String(), "y ~ x"); got != want {
		t.Errorf("evidence %v without product and column, %v where the formula names neither", got, want)
	}
	if o := invoke(t, "", "fit", file(t, "t.csv", with.String()), "--formula", "y ~ . - ident"); o.code != 1 || !strings.Contains(o.err, `there is no column "ident"`) {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}

// Weights of a penalised fit are 0 or not: there is no probability that one is.
func TestPenalisedWeights(t *testing.T) {
	data := file(t, "t.csv", houses(60))
	if out := must(t, "fit", data, "--target", "price", "--engine", "lasso"); !strings.Contains(out, "not zero") || strings.Contains(out, "inclusion") {
		t.Error(out)
	}
	if out := must(t, "fit", data, "--target", "price", "--engine", "ep"); !strings.Contains(out, "selected (inclusion above 0.") {
		t.Error(out)
	}
}

// sure is the value of a call that does not fail.
func sure[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestManyGradesAreTold: of many grades people are told how many there are, and ten gaps between cutpoints; JSON has
// all.
func TestManyGradesAreTold(t *testing.T) {
	data := file(t, "t.csv", "y,x\n"+repeat("", 66, func(i int) string { return fmt.Sprintf("%d,%d\n", i/3, (i*7+i/3)%31) }))
	args := []string{"fit", data, "-f", "y ~ x", "--family", "ordinal", "-o", filepath.Join(t.TempDir(), "m")}
	out := invoke(t, "", args...)
	for text, want := range map[string]bool{"gap10 ": true, "gap11 ": false, "and 10 gaps more": true, "y has 22 grades, 3 rows each on average": true} {
		if said := out.out + out.err; strings.Contains(said, text) != want {
			t.Errorf("%q is told: %v\n%s", text, !want, said)
		}
	}
	if all := must(t, append(args, "--json")...); !strings.Contains(all, `"gap20"`) {
		t.Errorf("no gap20 in %s", all)
	}
}
