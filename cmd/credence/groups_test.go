package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// schools is a table of 8 schools of two teachers each.
func schools() string {
	var b strings.Builder
	b.WriteString("school,teacher,x,y\n")
	for i := range 120 {
		s, k := i%8, i/8%2
		x := math.Mod(float64(i)*0.618, 1) * 4
		fmt.Fprintf(&b, "s%d,t%d,%g,%g\n", s, 2*s+k, x, 2+x*(1+0.4*math.Cos(float64(5*s)))+math.Sin(float64(3*s))+0.5*math.Cos(float64(7*(2*s+k)))+0.3*math.Sin(float64(i*i)))
	}
	return b.String()
}

// What inspect tells of groups, by text and in JSON, and what predict does of them.
func TestGroups(t *testing.T) {
	data := file(t, "t.csv", schools())
	model := fitted(t, data, "-f", "y ~ x + (x || school) + (1 | school:teacher)")
	_, object := inspected(t, model)
	groups := object["groups"].([]any)
	text := must(t, "inspect", model)
	for k, want := range []string{"(1 | school) (intercept) 8 levels", "(0 + x | school) x 8 levels", "(1 | school:teacher) (intercept) 16 levels"} {
		g := groups[k].(map[string]any)
		sd := g["sd"].([]any)[0].(map[string]any)
		if got := fmt.Sprintf("%v %v %v levels", g["term"], sd["name"], g["levels"]); got != want || number(t, g, "rows") != 120 || g["unseen"] != "prior" {
			t.Errorf("group %d is %v", k+1, g)
		}
		lower, mean, upper := number(t, sd, "lower"), number(t, sd, "mean"), number(t, sd, "upper")
		if icc := number(t, g, "icc"); !(0 < lower && lower < mean && mean < upper && 0 < icc && icc < 1) {
			t.Errorf("%v: %v", g["term"], g)
		}
		row := fmt.Sprintf("%v  ", g["term"])
		if at := strings.Index(text, "groups: standard deviations"); at < 0 || !strings.Contains(text[at:], row) {
			t.Errorf("the table has no row of %s:\n%s", row, text)
		}
	}
	marginal, conditional := number(t, object, "r2_marginal"), number(t, object, "r2_conditional")
	if !(0 < marginal && marginal < conditional && conditional < 1) || !strings.Contains(text, fmt.Sprintf("R² %.3f without effects of groups (marginal), %.3f with them", marginal, conditional)) {
		t.Errorf("R² %v and %v:\n%s", marginal, conditional, text)
	}
	if _, of := inspected(t, model, "--block", "(1|school)"); len(of["terms"].([]any)) != 8 {
		t.Errorf("--block has %d weights", len(of["terms"].([]any)))
	}
	if o := invoke(t, "", "inspect", model, "--block", "school"); o.code != exitFailed || !strings.Contains(o.err, "the model has no block school: it has (intercept), linear, (1 | school)") {
		t.Errorf("exit %d, %s", o.code, o.err)
	}

	fresh := file(t, "new.csv", "school,teacher,x\ns1,t2,1\ns1,new,1\n,t2,1\nnew,new,1\n")
	whole := invoke(t, "", "predict", model, fresh, "--latent")
	if whole.code != exitDone || !strings.Contains(whole.err, "4 values of groups not seen in training, or missing, drawn from the law of the groups") {
		t.Errorf("exit %d, %s", whole.code, whole.err)
	}
	latent := func(out string) (mean, sd []float64) { return columnOf(t, out, "f_mean"), columnOf(t, out, "f_sd") }
	allMean, allSD := latent(whole.out)
	noneMean, noneSD := latent(must(t, "predict", model, fresh, "--latent", "--groups", "none"))
	someMean, someSD := latent(must(t, "predict", model, fresh, "--latent", "--groups", "school,(1 | school:teacher)"))
	for i := range allMean {
		if someMean[i] != allMean[i] || someSD[i] != allSD[i] || !(math.Abs(noneMean[i]-allMean[3]) <= 1e-9) || !(noneSD[i] < allSD[3]) {
			t.Errorf("row %d: all %v ± %v, none %v ± %v, some %v ± %v", i+1, allMean[i], allSD[i], noneMean[i], noneSD[i], someMean[i], someSD[i])
		}
	}
	if o := invoke(t, "", "predict", model, fresh, "--groups", "teacher"); o.code != exitMisuse || !strings.Contains(o.err, "--groups teacher is no term of the model: write none, or some of (1 | school), (0 + x | school), (1 | school:teacher)") {
		t.Errorf("exit %d, %s", o.code, o.err)
	}
	if o := invoke(t, "", "predict", model, fresh, "--unseen", "error"); o.code != exitFailed || !strings.Contains(o.err, "not seen in training") {
		t.Errorf("exit %d, %s", o.code, o.err)
	}
}

// What a formula says wrong of groups is misuse, found before any file is opened; what the rows say is a failure.
func TestGroupRefusals(t *testing.T) {
	data := file(t, "t.csv", "g,h,x,y\na,p,1,2\na,q,2,3\na,p,3,5\na,q,4,4\n")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitMisuse, "sd cannot be 0", []string{"fit", "gone.csv", "-f", "y ~ (1 | g, sd=0)"}},
		{exitMisuse, "a | stands within another", []string{"fit", "gone.csv", "-f", "y ~ ((1 | g) | h)"}},
		{exitMisuse, "| is not an operator here", []string{"fit", "gone.csv", "-f", "y ~ x | g"}},
		{exitMisuse, "does not vary by group", []string{"fit", "gone.csv", "-f", "y ~ (rbf(x) | g)"}},
		{exitMisuse, "no columns have the correlations 1", []string{"fit", "gone.csv", "-f", "y ~ (1 + x | g, cor=1)"}},
		{exitMisuse, "9 columns vary together by group", []string{"fit", "gone.csv", "-f", "y ~ (a + b + c + d + e + f + h + i | g)"}},
		{exitMisuse, "engine convex does not fit effects of groups", []string{"fit", "gone.csv", "-f", "y ~ (1 | g)", "--engine", "convex"}},
		{exitMisuse, "engine svi does not fit effects of groups", []string{"fit", "gone.csv", "-f", "y ~ (1 | g)", "--engine", "svi"}},
		{exitMisuse, "select takes features in or leaves them out", []string{"select", "gone.csv", "-f", "y ~ (1 | g)"}},
		{exitMisuse, "effects of groups, (1 | g), are normal", []string{"fit", "gone.csv", "-f", "y ~ (1 | g)", "--prior", "spikeslab"}},
		{exitFailed, "(1 | g): g has one level in training, g=a: leave the term out", []string{"fit", data, "-f", "y ~ x + (1 | g)"}},
		{exitMisuse, "learned with all rows at hand", []string{"stream", data, "-f", "y ~ x + (1 | h)", "-o", filepath.Join(t.TempDir(), "m.safetensors")}},
	} {
		o := invoke(t, "", c.args...)
		if o.code != c.code || !strings.Contains(o.err, c.want) || strings.Count(strings.TrimSpace(o.err), "\n") > 2 {
			t.Errorf("%s: exit %d, want %d: %s", strings.Join(c.args, " "), o.code, c.code, o.err)
		}
	}
}

// inspect has a column of correlations beside a term of several columns, as VarCorr has, and JSON has them with their
// ends.
func TestCorrelationsOfGroups(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m")
	data := file(t, "t.csv", schools())
	said := must(t, "fit", data, "-f", "y ~ x + (1 + x | school)", "-o", model)
	var value, low, high float64 // as fit tells it: the ends are as far from it by inverse hyperbolic tangents
	if _, line, told := strings.Cut(said, "correlation."); !told {
		t.Errorf("fit tells no correlation:\n%s", said)
	} else if _, err := fmt.Sscanf(line[strings.LastIndex(line[:strings.Index(line, " to ")], ".x ")+2:], "%g%g to%g,", &value, &low, &high); err != nil {
		t.Errorf("%q: %v", line, err)
	}
	if middle := math.Tanh((math.Atanh(low) + math.Atanh(high)) / 2); !(math.Abs(middle-value) <= 0.02) || math.Abs(math.Tanh(value)-value) < 0.04 {
		t.Errorf("a correlation of %v, %v to %v, whose middle is %v", value, low, high, middle)
	}
	_, object := inspected(t, model)
	group := object["groups"].([]any)[0].(map[string]any)
	cor := group["cor"].([]any)[0].(map[string]any)
	lower, mean, upper := number(t, cor, "lower"), number(t, cor, "mean"), number(t, cor, "upper")
	if !(-1 < lower && lower < mean && mean < upper && upper < 1) || cor["name"] != "(intercept), x" {
		t.Errorf("%v", cor)
	}
	far := ""
	for line := range strings.Lines(schools()) { // in a unit whose squares are beyond numbers
		cells := strings.Split(line, ",")
		if v, err := strconv.ParseFloat(cells[2], 64); err == nil {
			cells[2] = fmt.Sprint(v * 1e300)
		}
		far += strings.Join(cells, ",")
	}
	_, object = inspected(t, fitted(t, file(t, "far.csv", far), "-f", "y ~ x + (1 + x | school)"))
	if got := number(t, object["groups"].([]any)[0].(map[string]any)["cor"].([]any)[0].(map[string]any), "mean"); !(math.Abs(got-mean) <= 1e-6) {
		t.Errorf("the correlation is %v, and %v where x is in another unit", mean, got)
	}
	text := must(t, "inspect", model)
	for _, want := range []string{"  cor  levels  rows", fmt.Sprintf("%.2f (%.2f to %.2f)", mean, lower, upper), "  (1 + x | school)  (intercept)  "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q:\n%s", want, text)
		}
	}
}
