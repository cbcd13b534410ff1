package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// inspected returns the terms of inspect --json by name, and the object.
func inspected(t *testing.T, args ...string) (map[string]map[string]any, map[string]any) {
	t.Helper()
	object := decode(t, must(t, append(append([]string{"inspect"}, args...), "--json")...))
	terms := map[string]map[string]any{}
	for _, term := range object["terms"].([]any) {
		term := term.(map[string]any)
		terms[term["name"].(string)] = term
	}
	return terms, object
}

// latentOf returns f_mean and f_sd of every row.
func latentOf(t *testing.T, model, path string) (mean, sd []float64) {
	t.Helper()
	out := sure(csv.NewReader(strings.NewReader(must(t, "predict", model, path, "--latent"))).ReadAll())(t)
	last := len(out[0])
	for _, row := range out[1:] {
		mean, sd = append(mean, parse(t, row[last-2])), append(sd, parse(t, row[last-1]))
	}
	return mean, sd
}

// Differences of levels are differences of predictions, the intercept is the prediction for the base where every
// column is 0, and the weight of a slope is that of the base.
func TestInspectBase(t *testing.T) {
	train, model := file(t, "train.csv", houses(120)), filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", train, "-f", "price ~ size*zip + garden", "-o", model)
	points := file(t, "points.csv", "size,zip,garden\n0,south,false\n1,south,false\n0,north,false\n1,north,false\n")
	f, sd := latentOf(t, model, points)
	terms, _ := inspected(t, model, "--base", "zip=south")
	for name, want := range map[string]float64{
		"(intercept)": f[0], "size": f[1] - f[0], "zip=north": f[2] - f[0], "size:zip=north": f[3] - f[2] - (f[1] - f[0]), "zip=south": 0,
	} {
		if got := number(t, terms[name], "mean"); !(math.Abs(got-want) <= 1e-8*(1+math.Abs(want))) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got := number(t, terms["(intercept)"], "sd"); !(math.Abs(got-sd[0]) <= 1e-8) {
		t.Errorf("the intercept has sd %v, and f of that row %v", got, sd[0])
	}
	if base := terms["zip=south"]; base["base"] != true || number(t, base, "sd") != 0 || terms["zip=north"]["base"] != nil {
		t.Errorf("the base is %v", base)
	}
	plain, _ := inspected(t, model)
	if all, contrast := number(t, plain["zip=north"], "sd"), number(t, terms["zip=north"], "sd"); !(contrast < all) {
		t.Errorf("the difference has sd %v and the level %v", contrast, all)
	}
	mean, _ := inspected(t, model, "--base", "mean")
	sum := number(t, mean["zip=north"], "mean") + number(t, mean["zip=south"], "mean") + number(t, mean["zip=west"], "mean")
	if !(math.Abs(sum) <= 1e-8) {
		t.Errorf("differences from the mean of the levels add up to %v", sum)
	}
	if text := must(t, "inspect", model, "--base", "zip=south"); !strings.Contains(text, "base") {
		t.Error(text)
	}
}

func TestInspectExp(t *testing.T) {
	train, model := file(t, "train.csv", houses(60)), filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", train, "-f", "log(price) ~ size + zip", "-o", model)
	terms, _ := inspected(t, model, "--exp", "--interval", "0.5", "--base", "zip=west")
	for _, name := range []string{"size", "zip=north", "zip=west"} {
		exp := terms[name]["exp"].(map[string]any)
		for of, key := range map[string]string{"mean": "estimate", "lower": "lower", "upper": "upper"} {
			if got, want := number(t, exp, key), math.Exp(number(t, terms[name], of)); !(math.Abs(got-want) <= 1e-12*want) {
				t.Errorf("%s: %s %v, want %v", name, key, got, want)
			}
		}
	}
	if text := must(t, "inspect", model, "--exp"); !strings.Contains(text, "exp") || strings.Contains(text, "  mean") {
		t.Error(text)
	}
	if text := must(t, "inspect", model, "--exp", "--base", "zip=west"); !strings.Contains(strings.Join(strings.Fields(text), " "), "zip=west 1 base") {
		t.Error(text)
	}
	for _, target := range []string{"price", "sqrt(price)"} {
		must(t, "fit", train, "-f", target+" ~ size", "-o", model)
		if o := invoke(t, "", "inspect", model, "--exp"); o.code != exitFailed || !strings.Contains(o.err, "log link") {
			t.Errorf("%s: exit %d: %s", target, o.code, o.err)
		}
	}
}

func TestInspectRefusals(t *testing.T) {
	train, model := file(t, "train.csv", houses(40)), filepath.Join(t.TempDir(), "m")
	must(t, "fit", train, "-f", "price ~ size:zip", "-o", model)
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{exitMisuse, "--base south names no level", []string{"--base", "south"}},
		{exitMisuse, "--interval 1", []string{"--interval", "1"}},
		{exitMisuse, "tables are written as", []string{"-o", "weights.doc"}},
		{exitMisuse, "would be overwritten", []string{"-o", model}},
		{exitMisuse, "once for each column", []string{"--base", "zip,size"}},
		{exitFailed, "write --base zip=south --base zip=mean", []string{"--base", "zip=south,zip=mean"}},
		{exitFailed, "zip has no such level: the levels are north, south, west", []string{"--base", "zip=east"}},
		{exitFailed, "size, the other factor, is no term of its own", []string{"--base", "zip=south"}},
	} {
		if o := invoke(t, "", append([]string{"inspect", model}, c.args...)...); o.code != c.code || !strings.Contains(o.err, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, o.code, o.err)
		}
	}
}

// A file of weights has them all, in full, with intervals of 90 %, nearly normal, about the means.
func TestInspectWritesWeights(t *testing.T) {
	train, model := file(t, "train.csv", houses(60)), filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", train, "-f", "price ~ size + poly(size, 20) + zip", "-o", model)
	path := filepath.Join(t.TempDir(), "weights.csv")
	must(t, "inspect", model, "-o", path)
	text := sure(os.ReadFile(path))(t)
	records := sure(csv.NewReader(strings.NewReader(string(text))).ReadAll())(t)
	_, object := inspected(t, model)
	terms := object["terms"].([]any)
	if len(records) != 1+len(terms) || strings.Join(records[0], ",") != "block,name,mean,sd,lower,upper" {
		t.Fatalf("%d records, the first %v; %d terms", len(records), records[0], len(terms))
	}
	for i, record := range records[1:] {
		term := terms[i].(map[string]any)
		if record[0] != term["block"] || record[1] != term["name"] || parse(t, record[2]) != term["mean"] || parse(t, record[3]) != term["sd"] || parse(t, record[4]) != term["lower"] || parse(t, record[5]) != term["upper"] {
			t.Errorf("%v is written for %v", record, term)
		}
		mean, sd, lower, upper := parse(t, record[2]), parse(t, record[3]), parse(t, record[4]), parse(t, record[5])
		// Student's t of 3 degrees or more
		if wide := (upper - lower) / (2 * 1.645 * sd); !(math.Abs(lower+upper-2*mean) <= 1e-6*sd) || !(wide > 0.85 && wide < 1.01) {
			t.Errorf("%s: from %v to %v about %v ± %v", record[1], lower, upper, mean, sd)
		}
	}
}

// A block without an effect is named, in JSON too; not where intervals are not told.
func TestInspectNoEffect(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("x,noise,y\n")
	for i := range 90 {
		rows.WriteString(strings.Join([]string{fmt.Sprint(i % 13), fmt.Sprint(math.Sin(float64(i * i))), fmt.Sprint(3*float64(i%13) + math.Cos(float64(7*i)))}, ",") + "\n")
	}
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", file(t, "t.csv", rows.String()), "-f", "y ~ x + poly(noise, 2)", "-o", model)
	if out := must(t, "inspect", model); strings.Count(out, "no effect found in") != 1 || !strings.Contains(out, "no effect found in poly(noise, 2): ") {
		t.Error(out)
	}
	_, object := inspected(t, model)
	blocks := object["blocks"].([]any)
	for i, want := range []map[string]any{{"block": "linear", "effect": true}, {"block": "poly(noise, 2)", "effect": false}} {
		for key, value := range want {
			if got := blocks[i].(map[string]any)[key]; got != value {
				t.Errorf("block %d: %s is %v, want %v", i, key, got, value)
			}
		}
	}
	rows.Reset()
	rows.WriteString("x,noise,y\n")
	for i := range 90 {
		fmt.Fprintf(&rows, "%d,%v,%d\n", i%13, math.Sin(float64(i*i)), b2i(float64(i%13)+3*math.Cos(float64(7*i)) > 6))
	}
	classes := file(t, "c.csv", rows.String())
	for engine, count := range map[string]int{"svi(hyper=heldout)": 0, "svi(hyper=mode)": 1} {
		must(t, "fit", classes, "-f", "y ~ x + poly(noise, 2)", "--family", "bernoulli", "--engine", engine, "-o", model)
		if out := must(t, "inspect", model); strings.Count(out, "no effect found in poly(noise, 2): ") != count {
			t.Errorf("%s: %s", engine, out)
		}
	}
}

// The order and the number of weights that are shown.
func TestInspectSortsAndCuts(t *testing.T) {
	train, model := file(t, "train.csv", houses(60)), filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", train, "--target", "price", "-o", model)
	names := func(args ...string) (names []string) {
		for _, term := range decode(t, must(t, append([]string{"inspect", model, "--json"}, args...)...))["terms"].([]any) {
			names = append(names, term.(map[string]any)["name"].(string))
		}
		return names
	}
	byName := names("--sort", "name")
	if !slices.IsSorted(byName) || len(byName) != 6 {
		t.Errorf("by name: %v", byName)
	}
	if first := names("--sort", "abs", "--top", "1"); len(first) != 1 || first[0] != "size" {
		t.Errorf("the largest is %v", first)
	}
	if text := must(t, "inspect", model, "--top", "2"); !strings.Contains(text, "… and 4 more; --top 6 shows all") {
		t.Error(text)
	}
}

// Numbers have the digits that three digits of their standard deviation leave.
func TestDigitsFollowTheSpread(t *testing.T) {
	for _, c := range []struct {
		x, sd float64
		want  string
	}{
		{120350, 6083.6, "120350"}, {-27.1634, 27.87, "-27.2"}, {0.112624, 0.008878, "0.11262"}, {3.5, 0, "3.5"}, {1.23456e-9, 1e-10, "1.2346e-09"},
	} {
		if got := toSpread(c.x, c.sd); got != c.want {
			t.Errorf("%v ± %v is %s, want %s", c.x, c.sd, got, c.want)
		}
	}
}

// Cutpoints have the spread of a joint posterior, by levels and in exponentials too, which a saved file keeps; a fit at
// the mode of its hyper-parameters does not know it, and says so.
func TestInspectCutpoints(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("x,g,grade\n")
	for i := range 200 {
		x := math.Sin(float64(i * i))
		fmt.Fprintf(&rows, "%g,%s,%d\n", 5+x, []string{"a", "b"}[i%2], int(min(4, max(0, math.Floor(2+x+1.5*math.Cos(float64(7*i)))))))
	}
	data, model := file(t, "t.csv", rows.String()), filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", data, "-f", "grade ~ x + g", "--family", "ordinal", "-o", model)
	for _, flags := range [][]string{nil, {"--exp"}, {"--base", "g=a", "--exp"}} {
		terms, _ := inspected(t, append([]string{model}, flags...)...)
		before := math.Inf(-1)
		for _, name := range []string{"0|1", "1|2", "2|3", "3|4"} {
			term := terms[name]
			mean, sd, lower := number(t, term, "mean"), number(t, term, "sd"), number(t, term, "lower")
			// x lies 7 SD from 0, so that its slope alone, of about .2, moves a cutpoint by 1.
			if !(sd > 0.3 && sd < 3) || !(lower < mean && mean < number(t, term, "upper")) || !(lower > before) {
				t.Errorf("%v: %s is %v", flags, name, term)
			}
			before = lower
			if flags != nil {
				if got := number(t, term["exp"].(map[string]any), "upper"); !(math.Abs(got/math.Exp(number(t, term, "upper"))-1) <= 1e-12) {
					t.Errorf("%v: %s is %v", flags, name, term)
				}
			}
		}
	}
	if text := must(t, "inspect", model); strings.Contains(text, "no intervals") {
		t.Error(text)
	}
	must(t, "fit", data, "-f", "grade ~ x + g", "--family", "ordinal", "--engine", "svi(covariance=full, hyper=mode)", "-o", model)
	if text := must(t, "inspect", model); !strings.Contains(text, "the cutpoints have no intervals: this model file does not say how uncertain they are") || !strings.Contains(text, "  -  ") {
		t.Error(text)
	}
	terms, _ := inspected(t, model)
	if _, has := terms["0|1"]["sd"]; has || number(t, terms["x"], "sd") <= 0 {
		t.Errorf("%v", terms)
	}
	for _, args := range [][]string{{"evaluate", model, data, "--loo"}, {"compare", model, model, data, "--loo"}} {
		if text := must(t, args...); !strings.Contains(text, "not made: the model file does not say how uncertain the learned parameters of its family are") {
			t.Error(text)
		}
	}
}
