package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// twenties is a table of a line of x with noise, classes and counts.
func twenties() string {
	var b strings.Builder
	b.WriteString("y,x,c,n\n")
	for i := range 60 {
		fmt.Fprintf(&b, "%g,%d,%s,%d\n", 3+0.5*float64(i%20)+math.Sin(float64(7*i)), i%20, []string{"u", "v", "v"}[i*7%11%3], i*i%7)
	}
	return b.String()
}

// A fit and a comparison say what a prediction without columns comes to, by the closed forms of the targets, and the
// fit what it gains by its evidence.
func TestAgainstNothing(t *testing.T) {
	data := file(t, "t.csv", twenties())
	var values []float64
	count := map[string]float64{}
	for _, line := range strings.Split(strings.TrimSpace(twenties()), "\n")[1:] {
		cells := strings.Split(line, ",")
		values = append(values, number(t, map[string]any{"y": sureFloat(t, cells[0])}, "y"))
		count["c="+cells[2]]++
		count["n="+cells[3]]++
	}
	mean, variance := 0.0, 0.0
	for _, y := range values {
		mean += y / 60
	}
	for _, y := range values {
		variance += (y - mean) * (y - mean) / 60
	}
	curve := math.Log(2*math.Pi*math.E*variance) / 2
	entropy := func(of string) (sum float64) {
		for key, n := range count {
			if strings.HasPrefix(key, of) {
				sum -= n / 60 * math.Log(n/60)
			}
		}
		return sum
	}
	model := fitted(t, data, "-f", "y ~ x")
	summary := decode(t, must(t, "inspect", model, "--json"))
	baseline := summary["baseline"].(map[string]any)
	evidence := -number(t, summary, "evidence") / 60
	for key, want := range map[string]float64{"rmse": math.Sqrt(variance), "nlpd": curve} {
		if got := number(t, baseline, key); !(math.Abs(got-want) <= 1e-9*math.Abs(want)) {
			t.Errorf("%s is %v, want %v", key, got, want)
		}
	}
	line := fmt.Sprintf("without columns the mean alone is off by %s (rmse), nlpd %s; with them %s, each row predicted from those before it", significant(math.Sqrt(variance)), significant(curve), significant(evidence))
	if out := must(t, "inspect", model); !strings.Contains(out, line) || !strings.Contains(out, "; a standard deviation of ") {
		t.Errorf("%s\nlacks %s", out, line)
	}
	classes := fitted(t, data, "-f", "c ~ x", "--positive", "v")
	if out, want := must(t, "inspect", classes), "the shares of the classes have nlpd "+significant(entropy("c="))+"; with them at most "; !strings.Contains(out, want) || !strings.Contains(out, "so that they may be no help") {
		t.Errorf("%s\nlacks %s", out, want)
	}
	counts, other := fitted(t, data, "-f", "n ~ x", "--family", "poisson"), fitted(t, data, "-f", "n ~ y", "--family", "poisson")
	if out := must(t, "inspect", counts); !strings.Contains(out, "(rmse); evaluate tells what is left with them") {
		t.Error(out)
	}
	if out, want := must(t, "compare", counts, other, data), "baseline  the share of each value among these targets, without columns: nlpd "+fmt.Sprintf("%.5g", entropy("n=")); !strings.Contains(out, want) || !strings.Contains(out, "; no better is m, m\n") {
		t.Errorf("%s\nlacks %s", out, want)
	}
	if out, want := must(t, "compare", model, model, data), fmt.Sprintf("own mean and spread, without columns: nlpd %.5g, rmse %.5g\n", curve, math.Sqrt(variance)); !strings.Contains(out, want) {
		t.Errorf("%s\nlacks %s", out, want)
	}
	if out, want := must(t, "evaluate", model, data), "a normal curve around that of training: nlpd "+significant(curve); !strings.Contains(out, want) {
		t.Errorf("%s\nlacks %s", out, want)
	}
}

func sureFloat(t *testing.T, text string) (v float64) {
	t.Helper()
	if _, err := fmt.Sscan(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// An evaluation of the rows of the fit says so, and one of as many other rows, of fewer, or with each left out, does
// not.
func TestEvaluateKnowsItsRows(t *testing.T) {
	data := file(t, "t.csv", twenties())
	lines := strings.Split(strings.TrimSpace(twenties()), "\n")
	changed := append([]string{}, lines...)
	changed[1] = "9,3,u,2"
	const says = "these are the rows that the model was fitted to"
	for _, formula := range []string{"y ~ x", "c ~ x", "n ~ x"} {
		model := fitted(t, data, "-f", formula)
		for _, c := range []struct {
			want bool
			args []string
		}{
			{true, []string{data}},
			{false, []string{data, "--loo"}},
			{false, []string{data, "--cv", "3"}},
			{false, []string{file(t, "other.csv", strings.Join(changed, "\n")+"\n")}},
			{false, []string{file(t, "few.csv", strings.Join(lines[:31], "\n")+"\n")}},
		} {
			o := invoke(t, "", append([]string{"evaluate", model}, c.args...)...)
			if o.code != exitDone || strings.Contains(o.err, says) != c.want {
				t.Errorf("%s %v: exit %d: %s", formula, c.args, o.code, o.err)
			}
		}
	}
}

// Help tells many flags in groups, each flag once, and few as they are.
func TestHelpInGroups(t *testing.T) {
	for _, command := range []string{"fit", "select", "stream"} {
		out := must(t, command, "--help")
		model, data, global := strings.Index(out, "\nFlags of the model:\n"), strings.Index(out, "\nFlags of the data:\n"), strings.Index(out, "\nGlobal Flags:\n")
		if !(0 < model && model < data && data < global) {
			t.Fatalf("%s: %s", command, out)
		}
		for flag, from := range map[string]int{"--formula ": model, "--missing ": data, "--schema ": data} {
			if at := strings.Index(out, "      "+flag); strings.Count(out[strings.Index(out, "\nUsage:"):], flag+"string")+strings.Count(out, flag+"list") != 1 || at < 0 && !strings.Contains(out[from:], flag) {
				t.Errorf("%s: %s is not told once, in its group", command, flag)
			}
		}
	}
	if out := must(t, "inspect", "--help"); !strings.Contains(out, "\nFlags:\n") || strings.Contains(out, "Flags of the") {
		t.Error(out)
	}
}
