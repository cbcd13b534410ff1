package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// lognormals is a table of prices whose logarithms follow a line, with small noise.
func lognormals() string {
	var b strings.Builder
	b.WriteString("size,price\n")
	for i := range 60 {
		x := math.Mod(float64(i)*0.618, 1)
		fmt.Fprintf(&b, "%g,%g\n", x, math.Exp(1+2*x+0.2*math.Sin(float64(7*i))))
	}
	return b.String()
}

// TestPredictOriginal: --original takes every figure of log(price) back to price, and evaluate prints the
// density of the price; a square has no way back.
func TestPredictOriginal(t *testing.T) {
	data := file(t, "t.csv", lognormals())
	model := fitted(t, data, "-f", "log(price) ~ size", "--family", "gaussian(variance=0.02)", "--prior", "normal(variance=1)")
	written, own := must(t, "predict", model, data, "--density"), must(t, "predict", model, data, "--density", "--original")
	price := columnOf(t, strings.ReplaceAll(lognormals(), "size,price", "x,y"), "y")
	mean, sd := columnOf(t, written, "mean"), columnOf(t, written, "sd")
	for name, want := range map[string]func(i int) float64{
		"mean":        func(i int) float64 { return math.Exp(mean[i] + sd[i]*sd[i]/2) },
		"median":      func(i int) float64 { return math.Exp(mean[i]) },
		"lower":       func(i int) float64 { return math.Exp(columnOf(t, written, "lower")[i]) },
		"log_density": func(i int) float64 { return columnOf(t, written, "log_density")[i] - math.Log(price[i]) },
	} {
		for i, got := range columnOf(t, own, name) {
			if !(math.Abs(got-want(i)) <= 1e-9*(1+math.Abs(got))) {
				t.Fatalf("%s of row %d is %v, want %v", name, i+1, got, want(i))
			}
		}
	}
	e := decode(t, must(t, "evaluate", model, data, "--json"))
	sum := 0.0
	for _, v := range columnOf(t, own, "log_density") {
		sum -= v / 60
	}
	if got, ok := e["nlpd_original"].(float64); !ok || !(math.Abs(got-sum) <= 1e-9) {
		t.Errorf("nlpd_original %v, want %v", e["nlpd_original"], sum)
	}
	squares := fitted(t, data, "-f", "square(price) ~ size")
	if o := invoke(t, "", "predict", squares, data, "--original"); o.code != exitMisuse || !strings.Contains(o.err, "predictions of square(price) cannot be taken back to price") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}

// TestMomentsThatAreNone: predict and evaluate say why a mean or a variance is missing.
func TestMomentsThatAreNone(t *testing.T) {
	data := file(t, "t.csv", lognormals())
	for _, c := range []struct{ family, original, want string }{
		{"studentt(df=0.9)", "", "studentt with 0.9 degrees of freedom has neither mean nor variance: lower and upper hold"},
		{"studentt(df=1.5)", "", "studentt with 1.5 degrees of freedom has no variance"},
		{"studentt(df=3)", "", ""},
		{"studentt(df=3)", "--original", "log(price) has tails so heavy that price has neither mean nor variance"},
		{"gaussian", "--original", ""},
	} {
		model := fitted(t, data, "-f", "log(price) ~ size", "--family", c.family)
		args := [][]string{{"predict", model, data}, {"evaluate", model, data}}
		if c.original != "" {
			args = [][]string{{"predict", model, data, c.original}}
		}
		for _, a := range args {
			if o := invoke(t, "", a...); o.code != exitDone || !strings.Contains(o.err, c.want) || c.want == "" && strings.Contains(o.err, "variance") {
				t.Errorf("%s, %v: exit %d: %s", c.family, a, o.code, o.err)
			}
		}
	}
}

// TestInfiniteMeans: a mean beyond all numbers is an empty cell with a warning beside an interval that holds, for
// people and in JSON, and the remedy works.
func TestInfiniteMeans(t *testing.T) {
	few := strings.Join(strings.Split(lognormals(), "\n")[:6], "\n") + "\n"
	model := fitted(t, file(t, "t.csv", few), "-f", "price ~ size", "--family", "gamma(shape=1)", "--prior", "normal(variance=1e6)")
	o := invoke(t, "", "predict", model, file(t, "far.csv", "size\n0.5\n60\n"))
	const want = "warning: mean or sd of 1 row is beyond all numbers"
	if lower := columnOf(t, o.out, "lower"); o.code != exitDone || strings.Count(o.err, want) != 1 || !strings.Contains(o.out, "\n,,") || !(lower[1] < columnOf(t, o.out, "upper")[1]) || strings.Contains(o.out, "Inf") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.err)
	}
	targets := file(t, "far.csv", "size,price\n0.5,2\n60,3\n")
	o = invoke(t, "", "evaluate", model, targets, "--json")
	if o.code != exitDone || strings.Contains(o.out, `"r2"`) || !strings.Contains(o.out, `"nlpd"`) || !strings.Contains(o.err, want) {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.err)
	}
	if o = invoke(t, "", "compare", model, model, targets); o.code != exitDone || strings.Contains(o.out, "Inf") || strings.Contains(o.out, "NaN") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.err)
	}
	model = fitted(t, file(t, "t.csv", few), "-f", "price ~ size", "--family", "gamma(shape=1)", "--prior", "normal(variance=0.001)")
	o = invoke(t, "", "predict", model, file(t, "far.csv", "size\n0.5\n60\n"))
	if mean := columnOf(t, o.out, "mean"); o.code != exitDone || math.IsInf(mean[1], 0) {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.err)
	}
}
