package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// uneven is a table whose y and count vary more in some regions than in others; b bends with x.
func uneven(rows int, seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 7))
	text := "region,x,y,count,b\n"
	for range rows {
		k, x := rng.IntN(3), rng.NormFloat64()
		b := 0
		if rng.Float64() < 1/(1+x*x) {
			b = 1
		}
		text += fmt.Sprintf("%d,%.4f,%.4f,%d,%d\n", 10+k, x, x+float64(1+k)*rng.NormFloat64(), int(3+float64(k)*rng.ExpFloat64()), b)
	}
	return text
}

// TestCalibrateCommand: intervals of the calibrated model hold in each region, by files and pipes, and what is
// calibrated is said; the model's own figures stay.
func TestCalibrateCommand(t *testing.T) {
	train, held, test := file(t, "train.csv", uneven(300, 1)), file(t, "held.csv", uneven(900, 2)), file(t, "test.csv", uneven(900, 3))
	folder := t.TempDir()
	model, whole, by := filepath.Join(folder, "m.safetensors"), filepath.Join(folder, "w.safetensors"), filepath.Join(folder, "r.safetensors")
	must(t, "fit", train, "--formula", "y ~ x", "-o", model)
	if out := must(t, "calibrate", model, held, "-o", whole); !strings.Contains(out, "calibrated by 900 held-out rows, of which 90 % intervals of the model hold ") {
		t.Errorf("%q", out)
	}
	told := decode(t, must(t, "calibrate", model, held, "--by", "region", "-o", by, "--json"))
	if groups := told["groups"].([]any); told["model"] != by || told["by"] != "region" || number(t, told, "rows") != 900 || len(groups) != 4 || groups[1].(map[string]any)["value"] != "10" {
		t.Errorf("%v", told)
	}
	first := sure(os.ReadFile(by))(t)
	if must(t, "calibrate", by, held, "--by", "region", "-o", whole+"2", "--threads", "1"); !bytes.Equal(first, sure(os.ReadFile(whole+"2"))(t)) {
		t.Error("a calibrated model that is calibrated anew is another")
	}
	for k, region := range []string{"10", "11", "12"} {
		rows := "region,x,y,count,b\n"
		for _, line := range strings.Split(uneven(900, 3), "\n") {
			if strings.HasPrefix(line, region+",") {
				rows += line + "\n"
			}
		}
		path := file(t, "rows.csv", rows)
		covered := func(model string) float64 {
			return number(t, decode(t, must(t, "evaluate", model, path, "--json"))["coverage"].(map[string]any), "0.9")
		}
		if got := covered(by); got < 0.84 || got > 0.96 { // 3 standard errors of 300 rows twice
			t.Errorf("in region %s intervals hold %v", region, got)
		}
		if got := covered(whole); k == 0 && got < 0.97 || k == 2 && got > 0.85 {
			t.Errorf("by all rows intervals of region %s hold %v", region, got)
		}
	}
	own, calibrated := invoke(t, "", "evaluate", model, test), invoke(t, "", "evaluate", by, test)
	// which is smaller
	if before, after := strings.SplitN(own.out, "\ncrps ", 2), strings.SplitN(calibrated.out, "\ncrps ", 2); before[0] != after[0] || before[1] <= after[1] {
		t.Errorf("%q and %q", own.out, calibrated.out)
	}
	const note = "note: lower, upper, coverage, crps and draws of the target are calibrated by 900 held-out rows; mean, sd and densities are the model's"
	if !strings.Contains(calibrated.err, note) || strings.Contains(own.err, "calibrated") {
		t.Errorf("%q, %q", own.err, calibrated.err)
	}
	predicted := must(t, "predict", by, test, "--samples", "2")
	text := string(sure(os.ReadFile(test))(t))
	if o := invoke(t, text, "predict", by, "-", "--samples", "2"); o.out != predicted || !strings.Contains(o.err, note) {
		t.Error("a pipe is predicted otherwise")
	}
	header, rest, _ := strings.Cut(text, "\n")
	other := file(t, "other.csv", header+"\n99"+rest[2:])
	if o := invoke(t, "", "predict", by, other); !strings.Contains(o.err, "1 row of a region that was not among the rows of calibration: the calibration of all rows is theirs") {
		t.Errorf("%q", o.err)
	}
	if out := must(t, "inspect", by); !strings.Contains(out, "calibrated by ") || !strings.Contains(out, "of region 12, of which 90 % intervals of the model hold") {
		t.Errorf("%q", out)
	}
	header, rest, _ = strings.Cut(uneven(900, 2), "\n")
	gaps := file(t, "gaps.csv", header+"\n12,,5,1,0\n"+rest) // a row that is left out
	must(t, "fit", train, "--formula", "y ~ x", "--missing", "drop", "-o", model+"3")
	must(t, "calibrate", model+"3", held, "--by", "region", "-o", whole+"3")
	left := must(t, "calibrate", model+"3", gaps, "--by", "region", "-o", whole+"4", "-q") + must(t, "predict", whole+"4", test, "-q")
	if left != must(t, "predict", whole+"3", test, "-q") {
		t.Error("a row that lacks a value moves the others to other groups")
	}
	class, probability := filepath.Join(folder, "b.safetensors"), filepath.Join(folder, "p.safetensors")
	must(t, "fit", train, "--formula", "b ~ x", "-o", class)
	must(t, "calibrate", class, held, "-o", probability)
	if o := invoke(t, "", "predict", probability, test); !strings.HasPrefix(o.out, "mean,sd,lower,upper,probability,probability_lower,probability_upper\n") ||
		!strings.Contains(o.err, "probability is calibrated by 900 held-out rows; mean, sd and densities are the model's") {
		t.Errorf("%q", o.err)
	}
	if o := invoke(t, "", "draws", by, test, "-n", "2", "-o", filepath.Join(folder, "d.csv")); !strings.Contains(o.err, "y are draws from the model as it was fitted") {
		t.Errorf("%q", o.err)
	}
	stream := filepath.Join(folder, "s.safetensors")
	must(t, "stream", train, "--formula", "b ~ x + hash(region)", "-o", stream)
	const alike = "warning: the calibration is by 300 rows, as many as the model was learned from, with the same mean target"
	if o := invoke(t, "", "calibrate", stream, train, "-o", stream+"2"); o.code != exitDone || !strings.Contains(o.err, alike) {
		t.Errorf("rows that were learned: exit %d: %s", o.code, o.err)
	}
	if o := invoke(t, "", "calibrate", stream, held, "-o", stream+"2"); o.code != exitDone || strings.Contains(o.err, "warning") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	before, after := decode(t, must(t, "evaluate", stream, test, "--json")), decode(t, must(t, "evaluate", stream+"2", test, "--json"))
	if number(t, after, "brier") >= number(t, before, "brier") {
		t.Errorf("the Brier score is %v, and was %v", after["brier"], before["brier"])
	}
	few := file(t, "few.csv", uneven(38, 2))
	for want, args := range map[string][]string{
		"calibrate writes a model and nothing else: add -o MODEL2":                            {"calibrate", model, held},
		"there are 38 rows to calibrate by, and intervals of 95 % need 39":                    {"calibrate", model, few, "-o", whole},
		"rows to calibrate by, and intervals of 95 % need 39: give more held-out rows, or":    {"calibrate", model, held, "--by", "x", "-o", whole},
		"these are the 300 rows that the model was fitted to":                                 {"calibrate", model, train, "-o", whole},
		"is read, and would be overwritten":                                                   {"calibrate", model, held, "-o", model},
		"there is no column \"when\", by which the model is calibrated: add it to the table":  {"calibrate", model, held, "--by", "when", "-o", whole},
		"whose rows are keys: leave --by out":                                                 {"calibrate", stream, held, "--by", "region", "-o", whole},
		"interval 0.999 needs 1999 rows to calibrate by":                                      {"predict", by, test, "--interval", "0.999"},
		"there is no column \"region\", by which the model is calibrated: add it to the tabl": {"predict", by, file(t, "x.csv", "x\n1\n2\n")},
		"there is no column \"y\"":                                                            {"calibrate", model, file(t, "z.csv", "x\n1\n2\n"), "-o", whole},
	} {
		if o := invoke(t, "", args...); o.code == exitDone || !strings.Contains(o.err, want) {
			t.Errorf("%v: %d, %q, want %q", args, o.code, o.err, want)
		}
	}
}
