package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/modelfile"
)

// Failures that name their cause and what to do, once.
func TestMessagesNameTheCause(t *testing.T) {
	for _, c := range []struct {
		content, want string
		args          []string
	}{
		{"x,y,w\n1,2,1e308\n2,3,1e308\n3,5,1\n", "credence: weight w adds up to +Inf over the rows, and sums over rows overflow: divide the weights by a constant", []string{"-f", "y ~ x + weight(w)"}},
		{"x,y,w\n1,2,1e308\n2,3,1\n3,5,1\n", "weight w adds up to 1e+308", []string{"-f", "y ~ x + weight(w)"}},
		{"x,y\n1,yes\n2,yes\n3,yes\n", "target y is yes in every row: two classes are needed: add rows of the other class, or name another target", []string{"--target", "y"}},
		{"x,y\n1,1\n2,1\n3,1\n", "target y is 1 in every row: two classes are needed", []string{"--target", "y", "--family", "bernoulli"}},
	} {
		o := invoke(t, "", append([]string{"fit", file(t, "t.csv", c.content)}, c.args...)...)
		if o.code != exitFailed || !strings.Contains(o.err, c.want) {
			t.Errorf("%q: exit %d: %s", c.content, o.code, o.err)
		}
	}
}

// A column in another notation is told in the data line, and one that nothing makes clear is refused
// where the formula uses it.
func TestNotationsAreTold(t *testing.T) {
	path := file(t, "t.csv", "a;x;y\n1;1,5;2\n2;2,5;3\n3;3,5;4\n4;3,6;4\n")
	if out := must(t, "fit", path, "--target", "y"); !strings.Contains(out, "3 numbers: y, a, x (decimal commas)\n") {
		t.Errorf("fit tells %s", out)
	}
	open := file(t, "t.csv", "a,x,y\n1,\"1,500\",2\n2,\"2,500\",3\n3,\"3,500\",4\n4,\"3,600\",4\n")
	if o := invoke(t, "", "fit", open, "--target", "y"); o.code != exitFailed || !strings.Contains(o.err, "say --decimal ',' or --thousands ','") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	must(t, "fit", open, "-f", "y ~ a")
	if out := must(t, "fit", open, "--target", "y", "--thousands", ","); !strings.Contains(out, "x (decimal points, digits in groups)") {
		t.Errorf("fit tells %s", out)
	}
	for want, args := range map[string][]string{
		"is no decimal mark":    {"--decimal", "x"},
		"separates no digits":   {"--thousands", "x"},
		"contradict each oth":   {"--thousands", ",", "--decimal", ","},
		"cannot be of type \"d": {"--types", "x=day"},
	} {
		if o := invoke(t, "", append([]string{"fit", path, "--target", "y"}, args...)...); o.code != exitMisuse || !strings.Contains(o.err, want) {
			t.Errorf("%v: exit %d: %s", args, o.code, o.err)
		}
	}
}

func TestDamagedModels(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", file(t, "t.csv", houses(40)), "--target", "price", "-o", model)
	if out := must(t, "inspect", model); !strings.HasPrefix(out, "model   "+model+"\n") || strings.Contains(out, "saved") {
		t.Errorf("inspect begins %.80q", out)
	}
	whole := sure(os.ReadFile(model))(t)
	flipped := append([]byte{}, whole...)
	flipped[len(flipped)-9] ^= 1
	table := file(t, "rows.csv", houses(5))
	if o := invoke(t, "", "predict", table, model); o.code != exitFailed || !strings.Contains(o.err, "name the model first") || strings.Contains(o.err, "copy") {
		t.Errorf("a table for a model: exit %d: %s", o.code, o.err)
	}
	for name, content := range map[string][]byte{"truncated": whole[:len(whole)/2], "stump": whole[:5], "flipped": flipped} {
		if err := os.WriteFile(model, content, 0o600); err != nil {
			t.Fatal(err)
		}
		o := invoke(t, "", "inspect", model)
		if o.code != exitFailed || strings.Count(o.err, "restore it from a copy") != 1 || strings.Contains(o.err, "restore the file") {
			t.Errorf("%s: exit %d: %s", name, o.code, o.err)
		}
	}
}

// Without the target there is no density, and one warning says so.
func TestDensityWithoutTheTarget(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", file(t, "t.csv", houses(40)), "--target", "price", "-o", model)
	o := invoke(t, "", "predict", model, file(t, "some.csv", "size,zip,garden\n60,north,true\n"), "--density")
	if o.code != exitDone || !strings.HasPrefix(o.out, "mean,sd,lower,upper\n") || strings.Count(o.out, "\n") != 2 ||
		strings.Count(o.err, "lacks the target price: there is no log_density") != 1 {
		t.Errorf("exit %d: %s%s", o.code, o.out, o.err)
	}
}

func TestVersion(t *testing.T) {
	out := must(t, "--version")
	if !strings.HasPrefix(out, "credence version ") || !strings.HasSuffix(out, "model files of format 5\n") || modelfile.Format != 5 {
		t.Errorf("version %q", out)
	}
	if help := must(t, "--help"); !strings.Contains(help, "credence --version") {
		t.Error("the help does not mention --version")
	}
}

// Two classes have intervals too: of the level p, [0,0], [1,1] or, where neither class
// has more than (1+p)/2, [0,1]. What they hold stands under interval_coverage; coverage is that of
// the randomised PIT, which is the level itself where probabilities are right.
func TestCoverageOfClasses(t *testing.T) {
	path := file(t, "t.csv", "x,y\n"+strings.Repeat("1,no\n1,no\n1,no\n1,yes\n2,yes\n2,yes\n2,no\n2,yes\n", 20))
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", path, "--target", "y", "-o", model)
	e := decode(t, must(t, "evaluate", model, path, "--json"))
	coverage, width := e["coverage"].(map[string]any), e["interval_width"].(map[string]any)
	// The classes have probabilities ¼ and ¾ within a few hundredths: at 0.5 the bounds are the
	// quantiles ¼ and ¾, at 0.8 and above 0 and 1.
	held := e["interval_coverage"].(map[string]any)
	for level, p := range map[string]float64{"0.8": 0.8, "0.9": 0.9, "0.95": 0.95} {
		if number(t, held, level) != 1 || number(t, width, level) != 1 || !(math.Abs(number(t, coverage, level)-p) <= 0.01) {
			t.Errorf("at %s coverage %v, of intervals %v, width %v", level, coverage[level], held[level], width[level])
		}
	}
	predictions := must(t, "predict", model, path, "--interval", "0.5")
	lines := strings.Split(strings.TrimSpace(predictions), "\n")[1:]
	mean := 0.0
	for _, line := range lines {
		cells := strings.Split(line, ",")
		mean += (parse(t, cells[3]) - parse(t, cells[2])) / float64(len(lines))
	}
	if got := number(t, width, "0.5"); !(math.Abs(got-mean) <= 1e-12) {
		t.Errorf("intervals at 0.5 have the mean width %g, by predict %g", got, mean)
	}
}
