package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// grades is a table whose target has three grades, written as given.
func gradesTable(values ...string) string {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range 90 {
		fmt.Fprintf(&b, "%g,%s\n", float64(i*37%90)/20, values[min(2, (i*37%90+i*11%40)/45)])
	}
	return b.String()
}

// columnOf returns a column of predictions.
func columnOf(t *testing.T, table, name string) []float64 {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	at := -1
	for j, header := range strings.Split(lines[0], ",") {
		if header == name {
			at = j
		}
	}
	if at < 0 {
		t.Fatalf("no column %s in %s", name, lines[0])
	}
	var values []float64
	for _, line := range lines[1:] {
		values = append(values, parse(t, strings.Split(line, ",")[at]))
	}
	return values
}

// Grades are predicted in their own numbers, whatever these are: the mean and the standard deviation by
// the probabilities of the grades, which log_density gives one at a time.
func TestGradesAreThoseOfTheData(t *testing.T) {
	for _, values := range [][]string{{"0", "1", "2"}, {"1", "2", "3"}, {"1", "2", "5"}, {"-10", "0", "30"}} {
		data := file(t, "t.csv", gradesTable(values...))
		model := fitted(t, data, "-f", "y ~ x", "--family", "ordinal")
		out := must(t, "predict", model, data, "--samples", "5")
		mean, sd, lower, upper, sample := columnOf(t, out, "mean"), columnOf(t, out, "sd"), columnOf(t, out, "lower"), columnOf(t, out, "upper"), columnOf(t, out, "sample_3")
		n := len(mean)
		first, second := make([]float64, n), make([]float64, n)
		grade := map[float64]bool{}
		for _, value := range values {
			v := parse(t, value)
			grade[v] = true
			header, rows, _ := strings.Cut(gradesTable(value, value, value), "\n")
			density := columnOf(t, must(t, "predict", model, file(t, "one.csv", header+"\n"+rows), "--density"), "log_density")
			probability := columnOf(t, out, "probability_"+value)
			for i := range n {
				if !(math.Abs(probability[i]-math.Exp(density[i])) <= 1e-9) {
					t.Fatalf("%v, row %d: %s has probability %g, and density %g", values, i+1, value, probability[i], math.Exp(density[i]))
				}
				first[i] += math.Exp(density[i]) * v
				second[i] += math.Exp(density[i]) * v * v
			}
		}
		for i := range n {
			// The probabilities are quadratures good to 1e-12, the square loses three digits.
			if want := math.Sqrt(second[i] - first[i]*first[i]); !(math.Abs(mean[i]-first[i]) <= 1e-9) || !(math.Abs(sd[i]-want) <= 1e-7) {
				t.Fatalf("%v, row %d: %g ± %g, want %g ± %g", values, i+1, mean[i], sd[i], first[i], want)
			}
			if !grade[lower[i]] || !grade[upper[i]] || !grade[sample[i]] || lower[i] > upper[i] {
				t.Fatalf("%v, row %d: the interval %g to %g, or the sample %g", values, i+1, lower[i], upper[i], sample[i])
			}
		}
		e := decode(t, must(t, "evaluate", model, data, "--json"))
		square := 0.0
		for i, line := range strings.Split(strings.TrimSpace(gradesTable(values...)), "\n")[1:] {
			gap := parse(t, strings.Split(line, ",")[1]) - mean[i]
			square += gap * gap / float64(n)
		}
		if rmse := number(t, e, "rmse"); !(math.Abs(rmse-math.Sqrt(square)) <= 1e-9*rmse) {
			t.Errorf("%v: rmse %g, by the predictions %g", values, rmse, math.Sqrt(square))
		}
		if _, found := e["msll"]; found {
			t.Errorf("%v: a probability is measured against a density", values)
		}
	}
}

// Whatever is left out or filled in is reported, and nothing at all is no evaluation.
func TestMissingValuesAreReported(t *testing.T) {
	data := file(t, "t.csv", "a,y\n1,2\n,3\n3,\n4,6\n5,6\n6,8\n")
	dropping, filling := fitted(t, data, "-f", "y ~ a", "--missing", "drop"), ""
	filling = fitted(t, file(t, "u.csv", "a,y\n1,2\n,3\n3,4\n4,6\n5,6\n6,8\n"), "-f", "y ~ a", "--missing", "mean")
	rows := file(t, "rows.csv", "a,y\n1,2\n,3\n3,4\n")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"warning: 2 of 6 rows have missing values and are left out", []string{"evaluate", dropping, data}},
		{"warning: 1 missing value filled with training means", []string{"evaluate", filling, rows}},
		{"warning: 1 missing value filled with training means", []string{"predict", filling, rows, "-q"}},
	} {
		if o := invoke(t, "", c.args...); o.code != exitDone || strings.Count(o.err, c.want) != 1 {
			t.Errorf("%v: exit %d: %s", c.args, o.code, o.err)
		}
	}
	none := file(t, "none.csv", "a,y\n1,\n,3\n")
	if o := invoke(t, "", "evaluate", dropping, none); o.code != exitFailed || !strings.Contains(o.err, "none.csv: each of the 2 rows lacks the target or another value") {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.err)
	}
}

// A row that is too far from training for numbers is refused at its place, and so is one
// that no figure measures.
func TestRowsBeyondNumbers(t *testing.T) {
	train := file(t, "t.csv", "x,y\n1,2\n2,3\n3,7\n4,9\n5,16\n6,30\n7,41\n")
	for _, family := range []string{"gaussian", "poisson", "gamma", "studentt", "binomial(trials=50)"} {
		model := fitted(t, train, "-f", "y ~ x", "--family", family)
		far := file(t, "far.csv", "x,y\n1,2\n1e300,3\n")
		for _, command := range []string{"predict", "evaluate"} {
			o := invoke(t, "", command, model, far)
			if o.code != exitFailed || !strings.Contains(o.err, "far.csv:3: x is 1e+300, so far from the rows of training that its prediction is no number: correct it or leave the row out") {
				t.Errorf("%s %s: exit %d: %s", family, command, o.code, o.err)
			}
		}
	}
	for _, command := range []string{"predict", "evaluate", "compare"} {
		// at 100 and 150 one of several members alone has moments beyond numbers
		for _, far := range [][2]string{{"poisson", "3000"}, {"negbinomial", "400"}, {"negbinomial", "100"}, {"gamma", "400"}, {"gamma", "150"}} {
			family, x := far[0], far[1]
			args := []string{command, fitted(t, train, "-f", "y ~ x", "--family", family)}
			if command == "compare" {
				args = append(args, args[1])
			}
			o := invoke(t, "", append(args, file(t, "far.csv", "x,y\n1,2\n"+x+",3\n"))...)
			want, code := "warning: mean or sd of 1 row is beyond all numbers", exitDone
			if family == "poisson" { // and the interval, too
				want, code = "far.csv:3: x is "+x+", so far from the rows of training that its prediction is beyond all numbers", exitFailed
			}
			if o.code != code || !strings.Contains(o.err, want) || strings.Contains(o.out, "Inf") || strings.Contains(o.out, "NaN") {
				t.Errorf("%s %s: exit %d: %s", family, command, o.code, o.err)
			}
		}
	}
	logs := fitted(t, train, "-f", "log(y) ~ x")
	far := file(t, "far.csv", "x,y\n1,2\n3000,3\n")
	if o := invoke(t, "", "predict", logs, far); o.code != exitDone {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	if o := invoke(t, "", "predict", logs, far, "--original"); o.code != exitFailed || !strings.Contains(o.err, "far.csv:3: x is 3000, so far") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}
