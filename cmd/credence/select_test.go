package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSelectCommand reads what scripts rely on, and writes the columns that are called.
func TestSelectCommand(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	var csv strings.Builder
	csv.WriteString("y,a,b,c,d,e,zip\n")
	for i := range 60 {
		x := make([]float64, 5)
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		fmt.Fprintf(&csv, "%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,z%d\n", 1+2*x[1]-x[3]+0.3*rng.NormFloat64(), x[0], x[1], x[2], x[3], x[4], i%3)
	}
	path := file(t, "genes.csv", csv.String())
	model, columns := filepath.Join(t.TempDir(), "m.safetensors"), filepath.Join(t.TempDir(), "selected.csv")
	e := decode(t, must(t, "select", path, "--target", "y", "--json", "-o", model, "--write-selected", columns, "--null-check", "1"))
	if number(t, e, "selected") < 2 || number(t, e, "threshold") != 0.5 || number(t, e, "expected_false") < 0 {
		t.Errorf("selected %v, threshold %v", e["selected"], e["threshold"])
	}
	if len(e["path"].([]any)) == 0 {
		t.Error("a small table has no path")
	}
	if without := decode(t, must(t, "select", path, "--target", "y", "--json", "--path=never")); len(without["path"].([]any)) > 0 {
		t.Errorf("a path that nobody wants: %v", without["path"])
	}
	if o := invoke(t, "", "select", path, "--target", "y", "--path", "never"); o.code != exitMisuse || !strings.Contains(o.err, "write --path=never") {
		t.Errorf("a value behind a space: exit %d: %s", o.code, o.err)
	}
	if o := invoke(t, "", "select", path, "--target", "y", "--path=often"); o.code != exitMisuse || !strings.Contains(o.err, "--path often is neither always nor never") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	for _, key := range []string{"features", "sets", "path", "null_check", "model", "warnings", "hyper", "r_hat"} {
		if _, ok := e[key]; !ok {
			t.Errorf("no %s in %v", key, e)
		}
	}
	first := e["features"].([]any)[0].(map[string]any)
	for _, key := range []string{"name", "inclusion", "mean", "sd", "lower", "upper", "selected"} {
		if _, ok := first[key]; !ok {
			t.Errorf("a feature has no %s: %v", key, first)
		}
	}
	text, err := os.ReadFile(columns)
	if err != nil || !strings.HasPrefix(string(text), "y,b,d") || strings.Count(string(text), "\n") != 61 {
		t.Errorf("%q, %v", string(text)[:min(40, len(text))], err)
	}
	odds := file(t, "odds.csv", "feature,odds\na,0.001\nf,1\n")
	if o := invoke(t, "", "select", path, "--target", "y", "--prior-odds", odds); o.code != exitFailed || !strings.Contains(o.err, `odds.csv:3: there is no feature "f" to select`) {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	odds = file(t, "odds.csv", "a,100000\n")
	e = decode(t, must(t, "select", path, "--target", "y", "--json", "--engine", "ep", "--prior-odds", odds, "--moments", "--path=never"))
	for _, f := range e["features"].([]any) {
		f := f.(map[string]any)
		if number(t, f, "var_z") > 0.25 || f["name"] == "a" && number(t, f, "inclusion") < 0.9 {
			t.Errorf("%v", f)
		}
	}
	must(t, "predict", model, path)
	piped := filepath.Join(t.TempDir(), "piped.csv")
	if o := invoke(t, csv.String(), "select", "-", "--target", "y", "--engine", "ep", "--write-selected", piped); o.code != 0 {
		t.Errorf("from a pipe: %s", o.err)
	} else if again, err := os.ReadFile(piped); err != nil || !strings.HasPrefix(string(again), "y,b,d") {
		t.Errorf("from a pipe: %v", err)
	}
	if out := must(t, "select", path, "--target", "y", "--fdr", "0.1", "--engine", "ep"); !strings.Contains(out, "of 6 features selected (at most 0.1 of them expected to be false)") {
		t.Error(out)
	}
	kept := decode(t, must(t, "select", path, "--formula", "y ~ . + keep(e, zip)", "--engine", "ep", "--json", "-o", model))
	if len(kept["features"].([]any)) != 4 || number(t, kept["hyper"].(map[string]any), "prior_variance.keep(e, zip)") <= 0 {
		t.Errorf("of kept columns: %v", kept)
	}
	for _, term := range decode(t, must(t, "inspect", model, "--json"))["terms"].([]any) {
		term := term.(map[string]any)
		if _, has := term["inclusion"]; has != (term["block"] == "linear") {
			t.Errorf("inclusion: %v", term)
		}
	}
	grouped := decode(t, must(t, "select", path, "--formula", "y ~ . + group(b, c)", "--engine", "ep", "--json"))
	names := map[string]int{}
	for _, f := range grouped["features"].([]any) {
		if name, ok := f.(map[string]any)["group"].(string); ok {
			names[name]++
		}
	}
	if names["group(b, c)"] != 2 || names["zip"] != 3 || number(t, grouped, "selected") != 2 { // the group and d
		t.Errorf("groups %v, %v selected", names, grouped["selected"])
	}
	for _, args := range [][]string{{"--formula", "y ~ . + a + keep(a)"}, {"--fdr", "2"}, {"--threshold", "0.4", "--fdr", "0.1"}, {"--prior", "normal"}, {"--top", "-1"}, {"--null-check", "-1"}} {
		if o := invoke(t, "", append([]string{"select", "gone.csv", "--target", "y"}, args...)...); o.code != exitMisuse || strings.Contains(o.err, "gone") {
			t.Errorf("%v: exit %d: %s", args, o.code, o.err)
		}
	}
}

// TestSelectTellsItsPercentages: percentages of the text are those of the flags.
func TestSelectTellsItsPercentages(t *testing.T) {
	var b strings.Builder
	b.WriteString("a,twin,c,y\n")
	for i := range 80 {
		a := math.Sin(float64(i * i))
		fmt.Fprintf(&b, "%g,%g,%g,%g\n", a, a+.001*math.Cos(float64(7*i)), math.Cos(float64(3*i)), 3*a+.3*math.Sin(float64(11*i)))
	}
	data := file(t, "t.csv", b.String())
	for percentages, flags := range map[[2]string][]string{{"95", "90"}: nil, {"80", "60"}: {"--coverage", "0.8", "--interval", "0.6"}} {
		out := must(t, append([]string{"select", data, "--target", "y", "--engine", "gibbs(draws=200)", "--path=never"}, flags...)...)
		for k, want := range []string{"matters with %s %% probability", "lower and upper are %s %% intervals"} {
			if want = fmt.Sprintf(want, percentages[k]); !strings.Contains(out, want) {
				t.Errorf("%v: no %q in\n%s", flags, want, out)
			}
		}
	}
}
