package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What options say about each other is found before the data are opened.
func TestContradictionsAreMisuse(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"covariance=full", []string{"--engine", "svi(components=3, covariance=full)"}},
		{"samples=3 is odd", []string{"--engine", "svi(samples=3)"}},
		{"covariance=full", []string{"--engine", "svi(batch=100, covariance=full)"}},
		{"sep: it needs the family bernoulli(link=probit), not poisson", []string{"--family", "poisson", "--prior", "spikeslab"}},
		{"exact: it needs the family gaussian", []string{"--family", "poisson", "--prior", "spikeslab"}},
	} {
		o := invoke(t, "", append([]string{"fit", "gone.csv", "--target", "y"}, c.args...)...)
		if o.code != exitMisuse || !strings.Contains(o.err, c.want) || strings.Contains(o.err, "gone") {
			t.Errorf("%v: exit %d: %s", c.args, o.code, o.err)
		}
	}
}

// Messages begin with the file, not with the package that made them.
func TestMessagesBeginWithTheFile(t *testing.T) {
	path := file(t, "t.csv", "y,x\n1,1\n2,inf\n3,3\n")
	if o := invoke(t, "", "fit", path, "--target", "y"); !strings.HasPrefix(o.err, "credence: "+path+":3: ") {
		t.Error(o.err)
	}
	for message, want := range map[string]string{
		"frame: svi: t.csv:1: x": "t.csv:1: x",
		"frame":                  "frame",
		"t.csv:1: frame: x":      "t.csv:1: frame: x",
		"lasso: x":               "x",
	} {
		if got := withoutPackage(message); got != want {
			t.Errorf("%q becomes %q", message, got)
		}
	}
	sources := 0
	err := filepath.WalkDir("../..", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && slices.Contains([]string{"bench", "conform", "gen", "relation"}, entry.Name()) {
			return filepath.SkipDir // no part of a command
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		name := filepath.Base(filepath.Dir(path))
		text, err := os.ReadFile(path)
		if message := name + ": x"; strings.Contains(string(text), `"`+name+": ") && withoutPackage(message) != "x" {
			t.Errorf("%s: %q becomes %q", path, message, withoutPackage(message))
		}
		sources++
		return err
	})
	if err != nil || sources < 500 {
		t.Errorf("%d files read, error %v", sources, err)
	}
}

// A family without a mean is scored by its density, and what compares with means is left out.
func TestFamilyWithoutMean(t *testing.T) {
	path, model := file(t, "t.csv", "y,x\n1,1\n2,2\n3.5,3\n90,4\n5,5\n6.2,6\n"), filepath.Join(t.TempDir(), "m")
	must(t, "fit", path, "--target", "y", "--family", "studentt(df=1)", "-o", model, "-q")
	scores := decode(t, must(t, "evaluate", model, path, "--json"))
	number(t, scores, "nlpd")
	for _, name := range []string{"rmse", "mae", "smse", "r2"} {
		if _, found := scores[name]; found {
			t.Errorf("%s is %v", name, scores[name])
		}
	}
}

// One row says nothing about the error of a gain.
func TestCompareOneRow(t *testing.T) {
	path, one := file(t, "t.csv", houses(30)), file(t, "one.csv", strings.Join(strings.SplitAfter(houses(30), "\n")[:2], ""))
	a, b := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	must(t, "fit", path, "--target", "price", "-o", a, "-q")
	must(t, "fit", path, "--formula", "price ~ 1", "-o", b, "-q")
	models := decode(t, must(t, "compare", a, b, one, "--json"))["models"].([]any)
	if _, found := models[1].(map[string]any)["gain_error"]; found {
		t.Errorf("%v", models[1])
	}
}

// Names from the data cannot steer a terminal.
func TestInspectPrintsPlainNames(t *testing.T) {
	path, model := file(t, "t.csv", "y,c\n1,\x1b[31mred\n2,b\n3,\x1b[31mred\n4,\"two\nlines\"\n"), filepath.Join(t.TempDir(), "m")
	must(t, "fit", path, "--target", "y", "-o", model, "-q")
	if out := must(t, "inspect", model); strings.Contains(out, "\x1b") || strings.Contains(out, "two\nlines") {
		t.Errorf("%q", out)
	}
}

// What predict is told about missing values it does, or says why not.
func TestPredictMissing(t *testing.T) {
	train, holes := file(t, "t.csv", "y,x\n1,1\n2,2\n3,4\n4,4\n"), file(t, "holes.csv", "x\n1\n\"\"\n3\n")
	model := filepath.Join(t.TempDir(), "m")
	must(t, "fit", train, "--target", "y", "-o", model, "-q")
	for _, c := range []struct {
		policy string
		code   int
		want   string
	}{
		{"", exitFailed, "let --missing mean fill in the mean of training"},
		{"mean", exitDone, "filled with training means"},
		{"drop", exitDone, "1 of 3 rows lack a value and have no prediction"},
		{"indicator", exitMisuse, "has no indicators of missing values"},
	} {
		args := []string{"predict", model, holes}
		if c.policy != "" {
			args = append(args, "--missing", c.policy)
		}
		if o := invoke(t, "", args...); o.code != c.code || !strings.Contains(o.err, c.want) {
			t.Errorf("%q: exit %d: %s", c.policy, o.code, o.err)
		}
	}
}
