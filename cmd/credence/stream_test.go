package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// clicks are rows of two tokens and a number; the tokens site=good and site=bad matter.
type click struct {
	label int
	site  string
	user  int
}

func clicks(n int, seed uint64) []click {
	rng := rand.New(rand.NewPCG(seed, 0))
	rows := make([]click, n)
	sites := []string{"good", "bad", "a", "b", "c", "d"}
	for i := range rows {
		c := click{site: sites[rng.IntN(len(sites))], user: rng.IntN(50)}
		p := map[string]float64{"good": 0.8, "bad": 0.05}[c.site]
		if p == 0 {
			p = 0.3
		}
		if rng.Float64() < p {
			c.label = 1
		}
		rows[i] = c
	}
	return rows
}

func clicksCSV(rows []click) string {
	var b strings.Builder
	b.WriteString("click,site,user\n")
	for _, c := range rows {
		fmt.Fprintf(&b, "%d,%s,u%d\n", c.label, c.site, c.user)
	}
	return b.String()
}

// lastLine decodes the last of several JSON lines, and counts them.
func lastLine(t *testing.T, out string) (object map[string]any, lines int) {
	t.Helper()
	all := strings.Split(strings.TrimSpace(out), "\n")
	return decode(t, all[len(all)-1]), len(all)
}

func TestStreamEndToEnd(t *testing.T) {
	folder := t.TempDir()
	train, test := file(t, "train.csv", clicksCSV(clicks(20000, 1))), file(t, "test.csv", clicksCSV(clicks(5000, 2)))
	model, selected := filepath.Join(folder, "m.safetensors"), filepath.Join(folder, "selected.txt")
	for _, engine := range []string{"sep", "sep(batch=100, prior_every=15)", "sep(passes=2)", "ftrl", "adpredictor(variance=1)", "sgd"} {
		out := must(t, "stream", train, "--formula", "click ~ hash(.)", "--engine", engine, "-o", model, "--json", "--report", "5000", "--write-selected", selected)
		fit, lines := lastLine(t, out)
		passes, ends := 1, 0 // the ends of several passes have lines of their own
		if engine == "sep(passes=2)" {
			passes, ends = 2, 2
		}
		if lines != 4*passes+ends+1 {
			t.Errorf("%s: %d lines for %d rows:\n%s", engine, lines, 20000*passes, out)
		}
		first := decode(t, strings.SplitN(out, "\n", 2)[0])
		for _, key := range []string{"rows", "log_loss", "auc", "features", "selected", "rows_per_second"} {
			number(t, first, key)
		}
		if number(t, first, "rows") != 5000 || number(t, fit, "rows") != 20000 || number(t, fit, "iterations") != float64(passes) || number(t, fit, "features") != 56 {
			t.Errorf("%s: %v", engine, fit)
		}
		result := decode(t, must(t, "evaluate", model, test, "--json"))
		// The truth, (H(0.8) + H(0.05) + 4 H(0.3))/6, is 0.524; a constant has 0.624.
		// The users, who mean nothing, and the sampling of the test cost up to 0.01.
		if loss := number(t, result, "log_loss"); loss > 0.534 || loss < 0.51 {
			t.Errorf("%s: test log loss %g", engine, loss)
		}
		if strings.HasPrefix(engine, "sep") {
			names, err := os.ReadFile(selected)
			if err != nil || !strings.Contains(string(names), "site=good\n") || !strings.Contains(string(names), "site=bad\n") {
				t.Errorf("%s selected %q, %v", engine, names, err)
			}
			if chosen := number(t, fit, "selected"); chosen > 10 || chosen != float64(strings.Count(string(names), "\n")) {
				t.Errorf("%s: %g selected, named %q", engine, chosen, names)
			}
		}
	}
	out := must(t, "inspect", model, "--json", "--sort", "abs", "--top", "2")
	if !strings.Contains(out, `"site=good"`) && !strings.Contains(out, `"site=bad"`) {
		t.Errorf("inspect shows %s", out)
	}
	predictions := must(t, "predict", model, test)
	if rows := strings.Count(predictions, "\n"); rows != 5001 || !strings.HasPrefix(predictions, "mean,sd,lower,upper,probability\n") {
		t.Errorf("%d lines of predictions: %.100s", rows, predictions)
	}
}

// The three formats of the same rows are learned alike: same slots, same scores.
func TestStreamFormatsAgree(t *testing.T) {
	rows := clicks(3000, 3)
	var vw, svm strings.Builder
	keys := map[string]int{"good": 1, "bad": 2, "a": 3, "b": 4, "c": 5, "d": 6}
	for _, c := range rows {
		fmt.Fprintf(&vw, "%d |site %s |user u%d\n", 2*c.label-1, c.site, c.user)
		fmt.Fprintf(&svm, "%d %d:1 %d:1\n", 2*c.label-1, keys[c.site], 100+c.user)
	}
	var losses []float64
	for _, path := range []string{
		file(t, "rows.csv", clicksCSV(rows)), file(t, "rows.vw", vw.String()), file(t, "rows.libsvm", svm.String()),
		file(t, "vw", vw.String()), file(t, "libsvm", svm.String()), // found out by content
		file(t, "rows.tsv", strings.ReplaceAll(clicksCSV(rows), ",", "\t")),
	} {
		args := []string{"stream", path, "--json"}
		if strings.HasSuffix(path, "sv") {
			args = append(args, "--target", "click") // the others have a label
		}
		fit, _ := lastLine(t, must(t, args...))
		losses = append(losses, number(t, fit, "log_loss"))
		if number(t, fit, "features") != 56 {
			t.Errorf("%s: %v", path, fit)
		}
	}
	for _, loss := range losses[1:] {
		if loss != losses[0] {
			t.Errorf("log losses %v", losses)
		}
	}
}

func sameFile(t *testing.T, what, a, b string) {
	t.Helper()
	first := sure(os.ReadFile(a))(t)
	second := sure(os.ReadFile(b))(t)
	if !bytes.Equal(first, second) {
		t.Errorf("%s: %s (%d bytes) and %s (%d bytes) differ", what, filepath.Base(a), len(first), filepath.Base(b), len(second))
	}
}

// SIGTERM saves the work and exits with 130.
func TestStreamTerminated(t *testing.T) {
	t.Parallel()
	model := filepath.Join(t.TempDir(), "m")
	path := file(t, "rows.csv", clicksCSV(clicks(5000, 6)))
	cmd, errs := process(t, "stream", path, "--formula", "click ~ hash(.)", "-o", model, "--follow", "--quiet")
	time.Sleep(2 * time.Second) // it has looked at the rows for a second, learned them, and waits for more
	cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != exitInterrupted || !strings.Contains(errs.String(), "--resume continues after them") {
		t.Fatalf("exit %d, %v: %s", cmd.ProcessState.ExitCode(), err, errs)
	}
	decode(t, must(t, "evaluate", model, path, "--json"))
	whole := filepath.Join(t.TempDir(), "whole")
	must(t, "stream", path, "--formula", "click ~ hash(.)", "-o", whole, "--quiet")
	must(t, "stream", path, "--formula", "click ~ hash(.)", "-o", model, "--resume", "--quiet")
	sameFile(t, "terminated", whole, model)
}

// A file that grows is followed, and rows appended after the end are learned by
// a later run.
func TestStreamFollowsAGrowingFile(t *testing.T) {
	text := clicksCSV(clicks(6000, 7))
	cut := len(text)/2 + 7 // inside a row
	path, model := file(t, "log.csv", text[:cut]), filepath.Join(t.TempDir(), "m")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	reader, writer := io.Pipe()
	done := make(chan int)
	go func() {
		done <- run(ctx, []string{"stream", path, "--formula", "click ~ hash(.)", "-o", model, "--follow", "--json", "--report", "1000"}, streams{strings.NewReader(""), writer, io.Discard})
		writer.Close()
	}()
	decoder := json.NewDecoder(reader)
	var line map[string]any
	next := func() float64 {
		if err := decoder.Decode(&line); err != nil {
			t.Fatal(err)
		}
		return number(t, line, "rows")
	}
	next()
	if rows := next(); rows != 2000 {
		t.Fatalf("the second line is at %g rows", rows)
	}
	time.Sleep(300 * time.Millisecond) // the reader meets the end of the file
	log := sure(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))(t)
	log.WriteString(text[cut:])
	log.Close()
	for next() < 5000 {
	}
	cancel()
	go io.Copy(io.Discard, reader)
	if code := <-done; code != exitInterrupted {
		t.Fatalf("exit %d", code)
	}
	whole := filepath.Join(t.TempDir(), "whole")
	must(t, "stream", path, "--formula", "click ~ hash(.)", "-o", whole, "--quiet")
	must(t, "stream", path, "--formula", "click ~ hash(.)", "-o", model, "--quiet", "--resume")
	sameFile(t, "followed", whole, model)
}

func TestStreamMalformed(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(clicksCSV(clicks(2000, 8))), "\n")
	lines[700] = "1,good"
	lines[1500] = "maybe,good,u1"
	path, model := file(t, "rows.csv", strings.Join(lines, "\n")), filepath.Join(t.TempDir(), "m")
	o := invoke(t, "", "stream", path, "--formula", "click ~ hash(.)", "-o", model)
	if o.code != exitFailed || !strings.Contains(o.err, path+":701: the row has 2 fields, the header 3") || !strings.Contains(o.err, "699 rows learned and saved") {
		t.Fatalf("exit %d: %s", o.code, o.err)
	}
	selected := filepath.Join(t.TempDir(), "selected.txt")
	o = invoke(t, "", "stream", path, "--formula", "click ~ hash(.)", "-o", model, "--max-bad", "1", "--write-selected", selected)
	if names, err := os.ReadFile(selected); err != nil || len(names) == 0 {
		t.Errorf("a stream that stops at a row writes the selected names %q, %v", names, err)
	}
	if o.code != exitFailed || !strings.Contains(o.err, path+":1501: column \"click\": \"maybe\" is not a number") {
		t.Fatalf("exit %d: %s", o.code, o.err)
	}
	o = invoke(t, "", "stream", path, "--formula", "click ~ hash(.)", "-o", model, "--max-bad", "2", "--json")
	if o.code != exitDone || strings.Count(o.err, "skipped: ") != 2 || number(t, decode(t, o.out), "malformed") != 2 || number(t, decode(t, o.out), "rows") != 1998 {
		t.Fatalf("exit %d: %s%s", o.code, o.out, o.err)
	}
}

// Numbers, weights, offsets, crosses and held parameters reach the learner.
func TestStreamFormulas(t *testing.T) {
	var b strings.Builder
	b.WriteString("y,x,site,ad,w,id\n")
	rng := rand.New(rand.NewPCG(9, 9))
	for i := range 8000 {
		x, site, ad := rng.NormFloat64(), rng.IntN(3), rng.IntN(3)
		f := x - 0.5
		if site == ad {
			f++ // only the cross of the two tells
		}
		label := "no"
		if rng.Float64() < 1/(1+math.Exp(-2*f)) {
			label = "yes"
		}
		fmt.Fprintf(&b, "%s,%.4f,s%d,a%d,%d,%d\n", label, x, site, ad, 1+i%2, i)
	}
	path := file(t, "rows.csv", b.String())
	loss := func(args ...string) float64 {
		fit, _ := lastLine(t, must(t, append([]string{"stream", path, "--positive", "yes", "--json"}, args...)...))
		return number(t, fit, "log_loss")
	}
	plain := loss("--formula", "y ~ x + site + ad")
	crossed := loss("--formula", "y ~ x + hash(site:ad) + weight(w)")
	if crossed > plain-0.03 {
		t.Errorf("log loss %.4f with the cross, %.4f without", crossed, plain)
	}
	if all := loss("--formula", "y ~ . + site:ad - id - w"); !(math.Abs(all-crossed) <= 0.02) {
		t.Errorf("log loss %.4f with everything, %.4f with the cross", all, crossed)
	}
	fit, _ := lastLine(t, must(t, "stream", path, "--positive", "yes", "--json", "--formula", "y ~ x", "--prior", "spikeslab(inclusion=0.25, slab=~0.5)"))
	if hyper := fit["hyper"].(map[string]any); hyper["inclusion"] != 0.25 || hyper["slab"] == 0.5 {
		t.Errorf("held 0.25, guessed 0.5: %v", hyper)
	}
}

// Two classes in words need no flag, and the model, its checkpoint and its scoring know them.
func TestStreamFindsTheClasses(t *testing.T) {
	var b strings.Builder
	b.WriteString("y;site\n")
	rng := rand.New(rand.NewPCG(3, 3))
	for range 3000 {
		site, label := rng.IntN(2), "bad"
		if rng.Float64() < 0.2+0.6*float64(site) {
			label = "good"
		}
		fmt.Fprintf(&b, "%s;s%d\n", label, site)
	}
	path := file(t, "rows.csv", b.String())
	model, stated := filepath.Join(t.TempDir(), "m"), filepath.Join(t.TempDir(), "m")
	for _, formula := range []string{"y ~ .", "y ~ hash(.)"} {
		o := invoke(t, "", "stream", path, "--formula", formula, "-o", model)
		if o.code != exitDone || !strings.Contains(o.err+o.out, "target  y: the positive class is good, the other bad") {
			t.Fatalf("exit %d: %s%s", o.code, o.err, o.out)
		}
		found := decode(t, must(t, "evaluate", model, path, "--json"))
		must(t, "stream", path, "--formula", formula, "--positive", "good", "-o", stated, "--quiet")
		if told := decode(t, must(t, "evaluate", stated, path, "--json")); number(t, found, "log_loss") != number(t, told, "log_loss") {
			t.Errorf("%s: log loss %v, and %v with --positive", formula, found["log_loss"], told["log_loss"])
		}
	}
	more := file(t, "more.csv", b.String()+"ugly;s1\n")
	if o := invoke(t, "", "stream", more, "--formula", "y ~ .", "-o", model); o.code != exitFailed || !strings.Contains(o.err, `target y has 3 classes, bad, good and ugly: pick one against the rest with --positive bad`) {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	if err := os.Rename(more, path); err != nil {
		t.Fatal(err)
	}
	o := invoke(t, "", "stream", path, "--formula", "y ~ hash(.)", "-o", model, "--resume", "--quiet")
	if o.code != exitFailed || !strings.Contains(o.err, `rows.csv:3002: label "ugly" is neither good nor bad`) {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	must(t, "stream", path, "--formula", "y ~ hash(.)", "-o", model, "--resume", "--max-bad", "1", "--quiet")
}

// A finished run is resumed with the rows that its file has more; not with another file, and not after several passes.
func TestStreamResumesBehindTheEnd(t *testing.T) {
	path, model := file(t, "rows.csv", clicksCSV(clicks(1000, 8))), filepath.Join(t.TempDir(), "m")
	args := []string{"--formula", "click ~ hash(.)", "--quiet", "-o"}
	must(t, append([]string{"stream", path}, append(args, model)...)...)
	must(t, append([]string{"stream", path, "--resume"}, append(args, model)...)...) // nothing new
	other := file(t, "other.csv", clicksCSV(clicks(4000, 9)))
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	o := invoke(t, "", append([]string{"stream", path, "--resume"}, append(args, model)...)...)
	if o.code != exitFailed || !strings.Contains(o.err, "begins otherwise than the file that was read in its place") {
		t.Errorf("another file: exit %d: %s", o.code, o.err)
	}
	several := filepath.Join(t.TempDir(), "m")
	passes := []string{"stream", path, "--engine", "sep(passes=2)"}
	if fit, _ := lastLine(t, must(t, append(append(passes, "--json"), append(args, several)...)...)); number(t, fit, "rows") != 4000 {
		t.Errorf("two passes: %v rows", fit["rows"])
	}
	whole := sure(os.ReadFile(several))(t)
	piped := filepath.Join(t.TempDir(), "m")
	if o := invoke(t, string(sure(os.ReadFile(path))(t)), append([]string{"stream", "-", "--engine", "sep(passes=2)"}, append(args, piped)...)...); o.code != exitDone || !bytes.Equal(whole, sure(os.ReadFile(piped))(t)) {
		t.Errorf("two passes over a pipe are not those over the file: exit %d: %s", o.code, o.err)
	}
	if err := os.Remove(several); err != nil { // as a kill between the last checkpoint and the model leaves it
		t.Fatal(err)
	}
	must(t, append(append(passes, "--resume"), append(args, several)...)...)
	if again := sure(os.ReadFile(several))(t); !bytes.Equal(whole, again) {
		t.Error("a finished run of two passes gives another model")
	}
	more := sure(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))(t)
	more.WriteString("1,good,u1\n")
	more.Close()
	o = invoke(t, "", append(append(passes, "--resume"), append(args, several)...)...)
	if o.code != exitMisuse || !strings.Contains(o.err, "a finished run of 2 passes") {
		t.Errorf("two passes: exit %d: %s", o.code, o.err)
	}
}

// Predictions of a stream's model copy columns, and leave the density out where there is no target.
func TestStreamKeep(t *testing.T) {
	path, model := file(t, "rows.csv", clicksCSV(clicks(2000, 8))), filepath.Join(t.TempDir(), "m")
	must(t, "stream", path, "--formula", "click ~ hash(.)", "-o", model, "--quiet")
	fresh := file(t, "fresh.csv", "user,id,site\nu1,007,good\nu2,\"a,\"\"b\"\"\",bad\n")
	for _, stdin := range []bool{false, true} {
		source, input := fresh, ""
		if stdin {
			text := sure(os.ReadFile(fresh))(t)
			source, input = "-", string(text)
		}
		o := invoke(t, input, "predict", model, source, "--keep", "id,user", "--density")
		got := keptColumns(t, o.out, 3)
		if o.code != exitDone || !strings.Contains(o.err, "lacks the target click") || strings.Contains(o.out, "log_density") ||
			len(got) != 2 || got[0][0] != "007" || got[1][0] != `a,"b"` || got[1][1] != "u2" || got[0][2] == "" {
			t.Errorf("exit %d: %s%s", o.code, o.err, o.out)
		}
	}
	if o := invoke(t, "", "predict", model, path, "--density", "--keep", "site"); o.code != exitDone || !strings.HasPrefix(o.out, "site,mean,sd,lower,upper,probability,log_density\n") || strings.Contains(o.out, ",\n") {
		t.Errorf("exit %d: %s%.200s", o.code, o.err, o.out)
	}
	if o := invoke(t, "", "predict", model, path, "--keep", "nosuch"); o.code != exitFailed || !strings.Contains(o.err, `no column "nosuch"`) {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	svm := file(t, "rows.svm", "1 1:1 2:1\n0 2:1\n")
	sparse := filepath.Join(t.TempDir(), "m")
	must(t, "stream", svm, "-o", sparse, "--quiet")
	if o := invoke(t, "", "predict", sparse, svm, "--keep", "a"); o.code != exitFailed || !strings.Contains(o.err, "this text has none") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}

// What is odd about the data is said.
func TestStreamWarnings(t *testing.T) {
	var b strings.Builder
	b.WriteString("y,x,z,site\n")
	for i := range 200 {
		x := fmt.Sprint(i % 7)
		if i == 150 {
			x = "many"
		}
		z := fmt.Sprint(i)
		if i == 160 {
			z = "NA"
		}
		fmt.Fprintf(&b, "%d,%s,%s,s%d\n", i%2, x, z, i%3)
	}
	path := file(t, "rows.csv", b.String())
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--formula", "y ~ x"}, exitFailed, `rows.csv:152: column "x": "many" is not a number`},
		{[]string{"--formula", "y ~ x", "--max-bad", "1"}, exitDone, `skipped: `},
		{[]string{"--formula", "y ~ x", "--types", "x=category"}, exitDone, ""},
		{[]string{"--formula", "y ~ z"}, exitFailed, `rows.csv:162: column "z": the value is missing`},
		{[]string{"--formula", "y ~ z", "--missing", "drop"}, exitDone, "1 of 200 rows have missing values and are left out"},
		{[]string{"--formula", "y ~ z", "--missing", "mean"}, exitDone, ""},
		{[]string{"--formula", "y ~ site", "--positive", "Yes"}, exitDone, "no label is Yes"},
		{[]string{"--formula", "y ~ hash(x)", "--types", "nosuch=number"}, exitFailed, `--types names the column "nosuch"`},
		{[]string{"--formula", "y ~ hash(x)", "--types", "garbage"}, exitMisuse, `"garbage" is not name=type`},
	} {
		o := invoke(t, "", append([]string{"stream", path}, c.args...)...)
		if o.code != c.code || !strings.Contains(o.err, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, o.code, o.err)
		}
	}
	if o := invoke(t, "", "stream", path, filepath.Join(filepath.Dir(path), ".", "*.csv"), "--formula", "y ~ site"); o.code != exitFailed || !strings.Contains(o.err, "named twice") {
		t.Errorf("a file named twice: exit %d: %s", o.code, o.err)
	}
	if o := invoke(t, "", "stream", path, "--formula", "y ~ hash(x) + site"); strings.Contains(o.err, "warning") {
		t.Errorf("columns as tokens: %s", o.err)
	}
	for text, want := range map[string]string{
		"y,a,a\n1,2,3\n0,2,4\n": `several columns are named "a": column 3 is taken for a.2`,
		"y,,b\n1,2,3\n0,3,4\n":  "column 2 has no name and is left out",
	} {
		if o := invoke(t, "", "stream", file(t, "odd.csv", text), "--formula", "y ~ hash(.)"); o.code != exitDone || !strings.Contains(o.out, want) {
			t.Errorf("%q: exit %d: %s%s", text, o.code, o.out, o.err)
		}
	}
}

func TestStreamRefusals(t *testing.T) {
	path := file(t, "rows.csv", clicksCSV(clicks(100, 1)))
	model := filepath.Join(t.TempDir(), "m")
	must(t, "stream", path, "--target", "click", "-o", model, "--quiet")
	svm := file(t, "rows.svm", "1 1:1\n")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"stream", path, "--engine", "spe"}, exitMisuse, `there is no engine "spe" in this version: did you mean sep?`},
		{[]string{"stream", path, "--engine", "sep(batch=0)"}, exitMisuse, "batch cannot be 0"},
		{[]string{"stream", path, "--engine", "sep(half_life=2, forget=100)"}, exitMisuse, "half_life goes with neither"},
		{[]string{"stream", path, "--engine", "ftrl", "--prior", "spikeslab(slab=1)"}, exitMisuse, "engine ftrl has no prior"},
		{[]string{"stream", path, "--prior", "normal"}, exitMisuse, "it needs the prior spikeslab, not normal"},
		{[]string{"stream", path, "--prior", "spikeslab(spike=0.1)"}, exitMisuse, "sep has its spike at 0"},
		{[]string{"stream", path, "--formula", "click ~ rbf(.)"}, exitMisuse, `rbf is of drawn features, which no online engine learns: use fit`},
		{[]string{"stream", path, "--formula", "click ~ 0 + .", "--engine", "ftrl"}, exitMisuse, "engine ftrl keeps its intercept"},
		{[]string{"stream", path, "--formula", "click ~ center(user)"}, exitMisuse, "center and scale take the mean of all rows"},
		{[]string{"stream", path, "--formula", "click ~ ."}, exitDone, ""},
		{[]string{"stream", path}, exitMisuse, "no target: write target ~ terms"},
		{[]string{"stream", path, "--target", "clik"}, exitFailed, `there is no column "clik"`},
		{[]string{"stream", file(t, "empty.csv", "click,site\n"), "--target", "click"}, exitFailed, "there is no row below the header"},
		{[]string{"stream", path, "--resume"}, exitMisuse, "add -o MODEL"},
		{[]string{"stream", path, "--format", "xml"}, exitMisuse, "--format xml is unknown"},
		{[]string{"stream", filepath.Join(t.TempDir(), "no*.csv")}, exitFailed, "no file matches"},
		{[]string{"stream", filepath.Join(t.TempDir(), "none.csv"), "--target", "y"}, exitFailed, "no such file"},
		{[]string{"stream", path, "--target", "click", "-o", model, "--resume", "--engine", "ftrl"}, exitMisuse, "the checkpoint has engine sep, not ftrl"},
		{[]string{"stream", path, "--target", "site", "-o", model, "--resume"}, exitMisuse, "the checkpoint has target click, not site"},
		{[]string{"evaluate", model, svm}, exitFailed, "are of different formats"},
		{[]string{"evaluate", model, path, "--unseen", "prior"}, exitMisuse, "was learned online"},
	} {
		o := invoke(t, "", c.args...)
		if o.code != c.code || !strings.Contains(o.err, c.want) {
			t.Errorf("credence %s: exit %d: %s want %d, %q", strings.Join(c.args, " "), o.code, o.err, c.code, c.want)
		}
	}
}

// Columns that "." takes for amounts and that look like names are told, with what to type, which runs.
func TestStreamNamesCodes(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("y,hour,Year,shop id,amount\n")
	for i := range 2000 {
		fmt.Fprintf(&rows, "%d,%d,%d,%d,%g\n", (i%24)%2, i%24, 1990+i%20, 1000+i*i%907, math.Sin(float64(i)))
	}
	data := file(t, "rows.csv", rows.String())
	o := invoke(t, "", "stream", data, "--target", "y")
	const want = "warning: hour looks like codes, Year looks like years, shop id looks like identifiers, and each is learned as an amount, with one slope: " +
		"--formula 'y ~ hash(.)' gives every value of every column a weight of its own, and 'y ~ . + onehot(hour)' those of one column"
	if o.code != exitDone || !strings.Contains(o.err, want) {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	for formula, told := range map[string]string{"y ~ hash(.)": "", "y ~ hour + Year": "", "y ~ . + onehot(hour)": "Year looks like years, shop id looks like identifiers, and"} {
		o := invoke(t, "", "stream", data, "-f", formula)
		if o.code != exitDone || strings.Contains(o.err, "like") != (told != "") || !strings.Contains(o.err, told) || strings.Contains(o.err, "hour looks") {
			t.Errorf("%s: exit %d: %s", formula, o.code, o.err)
		}
	}
}
