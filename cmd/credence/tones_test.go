package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence/modelfile"
)

// What is wrong is a warning, what could be better a note, and what explains little stands in inspect; a column
// outside the formula shows groups.
func TestTones(t *testing.T) {
	t.Chdir(t.TempDir())
	rng := rand.New(rand.NewPCG(1, 5))
	var text strings.Builder
	text.WriteString("a,b,city,y\n")
	for range 1500 {
		a, b, city := rng.NormFloat64(), rng.NormFloat64(), rng.IntN(20)
		y := a + b + 0.6*(a*a-1) + 0.15*(b*b-1) + 1.2*math.Sin(float64(city)) + rng.NormFloat64()
		fmt.Fprintf(&text, "%.4f,%.4f,c%d,%.4f\n", a, b, city, y)
	}
	if err := os.WriteFile("t.csv", []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	const group, bend = "rows with the same city go together", "the residuals bend with a"
	args := []string{"fit", "t.csv", "--formula", "y ~ a + b", "-o", "m.safetensors"}
	o := invoke(t, "", args...)
	if !strings.Contains(o.err, "credence: warning: "+group) || !strings.Contains(o.err, "credence: note: "+bend) || !strings.Contains(o.err, "add (1 | city) to the formula") {
		t.Errorf("fit says %s", o.err)
	}
	if o := invoke(t, "", append(args, "--quiet")...); !strings.Contains(o.err, group) || strings.Contains(o.err, bend) {
		t.Errorf("quiet fit says %s", o.err)
	}
	var report struct{ Warnings, Remarks, Details []string }
	if err := json.Unmarshal([]byte(invoke(t, "", append(args, "--json")...).out), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Warnings) != 1 || len(report.Remarks) != 1 || len(report.Details) == 0 || !strings.HasPrefix(report.Warnings[0], group) || !strings.HasPrefix(report.Remarks[0], bend) {
		t.Errorf("%+v", report)
	}
	shown := invoke(t, "", "inspect", "m.safetensors")
	for _, detail := range report.Details {
		if strings.Contains(o.err, detail) || !strings.Contains(shown.err, detail) {
			t.Errorf("%s stands in fit, or not in inspect", detail)
		}
	}
	if o := invoke(t, "", "evaluate", "m.safetensors", "t.csv"); !strings.Contains(o.err, "credence: note: "+bend) {
		t.Errorf("evaluate says %s", o.err)
	}
	if o := invoke(t, "", "fit", "t.csv", "--formula", "y ~ a + b + city"); strings.Contains(o.err, group) {
		t.Errorf("with the city: %s", o.err)
	}
}

// What was done as was asked, or does no harm, is a note and no warning.
func TestRemarksOnRows(t *testing.T) {
	t.Chdir(t.TempDir())
	var text strings.Builder
	text.WriteString("x,one,t,y\n")
	for i := range 60 {
		x := fmt.Sprint(i % 7)
		if i == 9 {
			x = ""
		}
		fmt.Fprintf(&text, "%s,1,2024-01-02 %02d:00,%d\n", x, i%24, i*i%11)
	}
	if err := os.WriteFile("t.csv", []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	const filled, dropped, constant, dates = "input x: 1 missing value is filled with the mean", "1 of 60 rows have missing values and are left out", "input one is the same in every row", "column t holds dates"
	for _, c := range []struct {
		args           []string
		notes, warning string
	}{
		{[]string{"y ~ x + one + onehot(hour(t))", "--missing", "mean"}, filled + "|" + constant + "|" + dates, ""},
		{[]string{"y ~ x + hour(t)", "--missing", "drop"}, dropped + "|" + dates, ""},
		{[]string{"y ~ one + hour(t) + t"}, constant, dates},
	} {
		o := invoke(t, "", append([]string{"fit", "t.csv", "--family", "gaussian", "--formula"}, c.args...)...)
		for _, note := range strings.Split(c.notes, "|") {
			if !strings.Contains(o.err, "credence: note: "+note) {
				t.Errorf("%q: no note %q in %s", c.args, note, o.err)
			}
		}
		if warned := strings.Count(o.err, "credence: warning:"); c.warning == "" && warned > 0 || c.warning != "" && (warned != 1 || !strings.Contains(o.err, "credence: warning: "+c.warning)) {
			t.Errorf("%q: warnings in %s", c.args, o.err)
		}
	}
}

// TestWarningsThatAreKept: a model file has what a fit warned of, and not what is told of the rows of another command.
func TestWarningsThatAreKept(t *testing.T) {
	t.Chdir(t.TempDir())
	var text strings.Builder
	text.WriteString("x,z,city,y\n")
	for i := range 300 {
		fmt.Fprintf(&text, "%d,%d,c%d,%d\n", i%17, i%5, i%10, i%17+3*(i%10)+i*i%7)
	}
	if err := os.WriteFile("t.csv", []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("new.csv", []byte("x,z\n1,2\n,3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	told := func(o outcome) (list []string) {
		for line := range strings.Lines(o.err) {
			if text, is := strings.CutPrefix(strings.TrimSpace(line), "credence: warning: "); is {
				list = append(list, text)
			}
		}
		return list
	}
	of := func(path string) []string {
		fitted, err := modelfile.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		return fitted.Report.Warnings
	}
	by := told(invoke(t, "", "fit", "t.csv", "--formula", "y ~ 0 + x + z", "-o", "m.safetensors"))
	if kept := of("m.safetensors"); len(by) < 2 || !slices.Equal(by, kept) {
		t.Errorf("fit tells %q, and keeps %q", by, kept)
	}
	if by := told(invoke(t, "", "predict", "m.safetensors", "new.csv", "--missing", "mean", "-o", "p.csv")); len(by) != 1 || slices.Contains(of("m.safetensors"), by[0]) {
		t.Errorf("predict tells %q", by)
	}
	if by := told(invoke(t, "", "inspect", "m.safetensors")); !slices.Equal(by, of("m.safetensors")) {
		t.Errorf("inspect tells %q", by)
	}
}
