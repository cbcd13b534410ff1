package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// fitted fits a model to a table and returns its file.
func fitted(t *testing.T, data string, args ...string) string {
	t.Helper()
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, append([]string{"fit", data, "-q", "-o", model}, args...)...)
	return model
}

// compared returns the objects of the models of a comparison.
func compared(t *testing.T, args ...string) []map[string]any {
	t.Helper()
	var models []map[string]any
	for _, m := range decode(t, must(t, append([]string{"compare", "--json"}, args...)...))["models"].([]any) {
		models = append(models, m.(map[string]any))
	}
	return models
}

// Rows that models read differently are not set beside each other.
func TestCompareRefusesOtherRows(t *testing.T) {
	holes := "a,b,y\n1,,2\n2,3,3\n,4,5\n4,6,7\n5,1,6\n"
	data := file(t, "holes.csv", holes)
	first, second := fitted(t, data, "-f", "y ~ a", "--missing", "drop"), fitted(t, data, "-f", "y ~ b", "--missing", "drop")
	classes := file(t, "classes.csv", "x,c\n1,u\n2,v\n3,w\n4,u\n5,v\n6,w\n7,u\n")
	u, v := fitted(t, classes, "-f", "c ~ x", "--positive", "u"), fitted(t, classes, "-f", "c ~ x", "--positive", "v")
	squares := fitted(t, data, "-f", "square(y) ~ a", "--missing", "drop")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"leave out different rows for missing values (4 and 4 rows are scored)", []string{first, second, data}},
		{"read target c differently (row 1 is 1 for the one and 0 for the other)", []string{u, v, classes}},
		{"densities of different targets cannot be compared", []string{first, squares, data}},
		{"densities of different targets cannot be compared", []string{first, squares, data, "--cv", "3"}},
	} {
		o := invoke(t, "", append([]string{"compare"}, c.args...)...)
		if o.code != exitFailed || !strings.Contains(o.err, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, o.code, o.err)
		}
	}
}

// Models of both commands leave out the same rows of a comparison, and neither leaves rows out of predictions.
func TestCompareDroppedRows(t *testing.T) {
	text := strings.Builder{}
	text.WriteString("y,x,c\n")
	for i := range 90 {
		fmt.Fprintf(&text, "%d,%s,%s\n", i*7%5/3, []string{"", "1.5", "-2", "0.3"}[i%4], []string{"u", "v", "NA"}[i%3])
	}
	data := file(t, "holes.csv", text.String())
	batch := fitted(t, data, "--target", "y", "--missing", "drop", "--engine", "sep", "--family", "bernoulli(link=probit)", "--prior", "spikeslab")
	online := filepath.Join(t.TempDir(), "online")
	must(t, "stream", data, "--target", "y", "--missing", "drop", "-o", online)
	if out := must(t, "compare", batch, online, data); !strings.HasPrefix(out, "44 rows;") {
		t.Error(out)
	}
	for _, model := range []string{batch, online} {
		o := invoke(t, "", "predict", model, data)
		if o.code != exitDone || strings.Count(o.out, "\n") != 91 || !strings.Contains(o.err, "46 of 90 rows lack a value and have no prediction") {
			t.Errorf("%s: exit %d: %s", model, o.code, o.err)
		}
	}
}

// A target that a model thinks impossible leaves figures out, and the JSON whole.
func TestCompareWithoutDensity(t *testing.T) {
	model := fitted(t, file(t, "t.csv", houses(40)), "-f", "price ~ size")
	far := file(t, "far.csv", "size,price\n60,1e200\n70,200\n")
	for _, m := range compared(t, model, model, far) {
		for _, key := range []string{"nlpd", "rmse", "gain"} {
			if value, found := m[key]; found {
				t.Errorf("%s is %v", key, value)
			}
		}
		if number(t, m, "sd_ratio") != 1 {
			t.Errorf("sd_ratio is %v", m["sd_ratio"])
		}
	}
	if out := must(t, "compare", model, model, far); strings.Contains(out, "NaN") || strings.Contains(out, "Inf") {
		t.Error(out)
	}
}

// Models of a stream are compared like others, and with others of the same target.
func TestCompareStreams(t *testing.T) {
	var b strings.Builder
	b.WriteString("y,c,x\n")
	for i := range 300 {
		fmt.Fprintf(&b, "%d,%c,%d\n", (i*7%5)/3, 'a'+rune(i*7%5), i%4)
	}
	data := file(t, "t.csv", b.String())
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "stream", data, "-f", "y ~ hash(.)", "-q", "-o", model)
	table := fitted(t, data, "--target", "y", "--prior", "normal(variance=1)")
	models := compared(t, model, table, data)
	for k, path := range []string{model, table} {
		want := number(t, decode(t, must(t, "evaluate", path, data, "--json")), "nlpd")
		if got := number(t, models[k], "nlpd"); !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("%s: nlpd %g, by evaluate %g", path, got, want)
		}
	}
}

// A density is not a probability: compare says so, and tells gains within each kind.
func TestCompareWarnsOfDensities(t *testing.T) {
	data := file(t, "t.csv", "x,y\n1,0\n2,2\n3,1\n4,4\n5,3\n6,6\n")
	normal, counts := fitted(t, data, "-f", "y ~ x"), fitted(t, data, "-f", "y ~ x", "--family", "poisson")
	o := invoke(t, "", "compare", normal, counts, data)
	want := fmt.Sprintf("%s gives probabilities of whole numbers and %s densities, and neither ranks beside the other", counts, normal)
	if o.code != exitDone || strings.Count(o.err, want) != 1 {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	if probabilities, densities := strings.Index(o.out, "\nprobabilities:\n"), strings.Index(o.out, "\ndensities:\n"); !(0 < probabilities && probabilities < densities) {
		t.Errorf("kinds stand in no tables of their own: %s", o.out)
	}
	if o := invoke(t, "", "compare", counts, counts, data); strings.Contains(o.err+o.out, "densit") && strings.Contains(o.out, "probabilities:") {
		t.Error(o.err, o.out)
	}
}

// TestLeaveOneOut: evaluate and compare print the densities of training rows given all others, and refuse
// other rows.
func TestLeaveOneOut(t *testing.T) {
	data := file(t, "t.csv", lognormals())
	line, count := fitted(t, data, "-f", "log(price) ~ size"), fitted(t, data, "-f", "price ~ size", "--family", "gamma")
	e := decode(t, must(t, "evaluate", line, data, "--loo", "--json"))
	left := e["loo"].(map[string]any)
	if nlpd := number(t, left, "nlpd"); !(nlpd > number(t, e, "nlpd")) || number(t, left, "rows") != 60 || number(t, left, "pareto_k") != 0 {
		t.Errorf("%v", e)
	}
	if out := must(t, "evaluate", count, data, "--loo"); !strings.Contains(out, "left out  nlpd ") || !strings.Contains(out, "(Pareto k up to 0.") {
		t.Errorf("%s", out)
	}
	models := compared(t, line, count, data, "--loo")
	if gain := number(t, models[1], "loo_gain"); !(math.Abs(gain-number(t, models[0]["loo"].(map[string]any), "nlpd")+number(t, models[1]["loo"].(map[string]any), "nlpd")) <= 1e-9) {
		t.Errorf("%v", models)
	}
	if out := must(t, "compare", line, count, data, "--loo"); strings.Count(out, "each row given all the others: nlpd ") != 2 {
		t.Errorf("%s", out)
	}
	fewer := file(t, "few.csv", strings.Join(strings.Split(lognormals(), "\n")[:31], "\n")+"\n")
	for _, args := range [][]string{{"evaluate", line, fewer, "--loo"}, {"compare", line, count, fewer, "--loo"}} {
		if o := invoke(t, "", args...); o.code != exitFailed || !strings.Contains(o.err, "leave-one-out needs the rows that the model was fitted to: these are 30, and it saw 60") {
			t.Errorf("exit %d: %s", o.code, o.err)
		}
	}
}
