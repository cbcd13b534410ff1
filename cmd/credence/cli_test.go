package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// outcome is what a run left behind.
type outcome struct {
	code     int
	out, err string
}

// invoke runs a command line in this process.
func invoke(t *testing.T, stdin string, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(context.Background(), args, streams{strings.NewReader(stdin), &out, &errs})
	return outcome{code, out.String(), errs.String()}
}

// must runs a command line that has to succeed and returns its output.
func must(t *testing.T, args ...string) string {
	t.Helper()
	o := invoke(t, "", args...)
	if o.code != exitDone {
		t.Fatalf("credence %s: exit %d: %s", strings.Join(args, " "), o.code, o.err)
	}
	return o.out
}

// file writes content to a file of a temporary folder and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// houses is a small table with a number, a category, a boolean and a target that
// depends on them all, and a little noise.
func houses(rows int) string {
	var b strings.Builder
	b.WriteString("size,zip,garden,price\n")
	for i := range rows {
		size := 50 + 7*(i*37%23)
		zip := []string{"north", "south", "west"}[i%3]
		garden := i%4 < 2
		price := 3*float64(size) + map[string]float64{"north": 10, "south": -5, "west": 0}[zip] + float64(i*29%13-6)
		if garden {
			price += 20
		}
		fmt.Fprintf(&b, "%d,%s,%v,%g\n", size, zip, garden, price)
	}
	return b.String()
}

// decode reads the one JSON object that a command printed.
func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		t.Fatalf("output is not JSON: %v\n%s", err, text)
	}
	if decoder.More() {
		t.Fatalf("more than one object on standard output:\n%s", text)
	}
	return object
}

// numbers returns the value of a JSON number, failing when it is absent.
func number(t *testing.T, object map[string]any, key string) float64 {
	t.Helper()
	value, ok := object[key].(float64)
	if !ok {
		t.Fatalf("%q is %v, not a number", key, object[key])
	}
	return value
}

func TestExitCodesAndMessages(t *testing.T) {
	good := file(t, "good.csv", houses(40))
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", good, "--target", "price", "-o", model)
	cases := []struct {
		name string
		code int
		want string // in the message
		args []string
	}{
		// What can be decided without opening the data is misuse, even where the file is missing.
		{"no data", exitMisuse, "fit takes data: write credence fit DATA...", []string{"fit"}},
		{"unknown flag", exitMisuse, "unknown flag: --formla: did you mean --formula?", []string{"fit", "gone.csv", "--formla", "y ~ x"}},
		{"flag of another command", exitMisuse, "--family is one of fit, job, select, not of stream", []string{"stream", "gone.csv", "--family", "gaussian"}},
		{"flag behind one dash", exitMisuse, "unknown flag: -target: did you mean --target?", []string{"fit", "gone.csv", "-target", "y"}},
		{"letter that is no flag", exitMisuse, "unknown flag: -z: see credence fit --help", []string{"fit", "gone.csv", "-z", "y"}},
		{"letter of another command", exitMisuse, "unknown flag: -o is one of calibrate, draws,", []string{"demo", "-o", "x"}},
		{"option of an engine as a flag", exitMisuse, "write --engine 'exact(hyper=…)'", []string{"fit", "gone.csv", "--hyper", "ml"}},
		{"option of a learner as a flag", exitMisuse, "write --engine 'sep(passes=…)'", []string{"stream", "gone.csv", "--passes", "2"}},
		{"odds that are not there", exitFailed, "gone.csv: there is no such file: check the path", []string{"select", "gone.csv", "--target", "y", "--prior-odds", "gone.csv"}},
		{"flag like no other", exitMisuse, "unknown flag: --zzz: see credence fit --help", []string{"fit", "gone.csv", "--zzz"}},
		{"unknown command", exitMisuse, `unknown command "fti": did you mean fit?`, []string{"fti", "gone.csv"}},
		{"unknown command of a command", exitMisuse, `unknown command "rnak": did you mean rank?`, []string{"active", "rnak"}},
		{"help of no command", exitMisuse, `unknown command "evalute": did you mean evaluate?`, []string{"help", "evalute"}},
		{"report without a file", exitMisuse, "-o names the file to write: -o report.html", []string{"report", "gone.safetensors", "gone.csv"}},
		{"report that is no page", exitMisuse, "-o f.pdf: a report is a page: name it with .html at the end; browsers print it as PDF", []string{"report", "gone.safetensors", "gone.csv", "-o", "f.pdf"}},
		{"report without data", exitMisuse, "report takes a model and data: write credence report MODEL [MODEL...] DATA", []string{"report", "gone.safetensors"}},
		{"rows of a report", exitMisuse, "--rows some is unknown: it is all, or left out", []string{"report", "gone.safetensors", "gone.csv", "-o", "f.html", "--rows", "some"}},
		{"Arrow", exitMisuse, "Arrow files are not read: write Parquet or CSV", []string{"fit", "gone", "--format", "arrow"}},
		{"engine that another prior needs", exitMisuse, "use --prior spikeslab, or --engine exact or svi or laplace or convex", []string{"fit", "gone.csv", "--engine", "ep", "--prior", "normal"}},
		{"prior of another engine", exitMisuse, "use --prior normal, or --engine convex", []string{"fit", "gone.csv", "--engine", "exact", "--prior", "laplace"}},
		{"grammar", exitMisuse, "add a term", []string{"fit", "gone.csv", "-f", "y ~ x +"}},
		{"unknown function", exitMisuse, `there is no function "rbg"`, []string{"fit", "gone.csv", "-f", "y ~ rbg(x)"}},
		{"argument of a function", exitMisuse, "n cannot be 0", []string{"fit", "gone.csv", "-f", "y ~ rbf(., n=0)"}},
		{"the target as a term", exitMisuse, "leave it out of the terms", []string{"fit", "gone.csv", "-f", "log(y)", "--target", "y"}},
		{"seed", exitMisuse, "--seed -1 is not a whole number from 0 to 18446744073709551615", []string{"fit", "gone.csv", "--seed", "-1"}},
		{"no number", exitMisuse, "--interval half is not a number: see credence predict --help", []string{"predict", "gone.safetensors", "gone.csv", "--interval", "half"}},
		{"threads", exitMisuse, "--threads -1 is not between 0", []string{"inspect", "gone.safetensors", "--threads", "-1"}},
		{"extension", exitMisuse, "written as .csv, .tsv or .parquet", []string{"predict", "gone.safetensors", "gone.csv", "-o", "p.xlsx"}},
		{"unknown family", exitMisuse, `there is no family "gausian"`, []string{"fit", "gone.csv", "--family", "gausian"}},
		{"unknown prior", exitMisuse, "norml", []string{"fit", "gone.csv", "--prior", "norml"}},
		{"unknown engine", exitMisuse, "exat", []string{"fit", "gone.csv", "--engine", "exat"}},
		{"engine option", exitMisuse, "strats", []string{"fit", "gone.csv", "--engine", "exact(strats=3)"}},
		{"misfit", exitMisuse, "engine exact cannot fit this model", []string{"fit", "gone.csv", "--family", "poisson", "--engine", "exact"}},
		{"types", exitMisuse, "name=type", []string{"fit", "gone.csv", "--types", "age"}},
		{"format", exitMisuse, "--format xls is unknown", []string{"fit", "gone.csv", "--format", "xls"}},
		{"delimiter", exitMisuse, "not one character", []string{"fit", "gone.csv", "--delimiter", "--"}},
		{"a quote as delimiter", exitMisuse, "not one character", []string{"fit", "gone.csv", "--delimiter", `"`}},
		{"a line end as delimiter", exitMisuse, "not one character", []string{"fit", "gone.csv", "--delimiter", "\r"}},
		{"unseen", exitMisuse, "use error or prior", []string{"fit", "gone.csv", "--unseen", "guess"}},
		{"interval", exitMisuse, "not a probability", []string{"predict", "gone.safetensors", "gone.csv", "--interval", "90"}},
		{"json without a file", exitMisuse, "add -o", []string{"predict", "gone.safetensors", "gone.csv", "--json"}},
		{"a quiet fit that saves nothing", exitMisuse, "leave --quiet out, or add --json, or a file by --output, or a file by --checkpoint", []string{"fit", "gone.csv", "-q"}},
		{"a quiet evaluation", exitMisuse, "credence evaluate has nothing else to tell: leave --quiet out, or add --json\n", []string{"evaluate", "gone.safetensors", "gone.csv", "-q"}},
		{"a quiet simulation", exitMisuse, "or a file by --plot", []string{"active", "simulate", "gone.csv", "--quiet"}},
		{"moments without JSON", exitMisuse, "add --json, or leave --moments out", []string{"select", "gone.csv", "--target", "y", "--moments"}},
		{"sort", exitMisuse, "use inclusion, abs or name", []string{"inspect", "gone.safetensors", "--sort", "size"}},
		// What needs the data or a model is failure.
		{"no file", exitFailed, "gone.csv", []string{"fit", "gone.csv"}},
		{"no model", exitFailed, "gone.safetensors: there is no such file: check the path", []string{"inspect", "gone.safetensors"}},
		{"not a model", exitFailed, "is not a model file", []string{"inspect", good}},
		{"unknown column", exitFailed, "did you mean size", []string{"fit", good, "-f", "price ~ siez"}},
		{"unknown target", exitFailed, "cost", []string{"fit", good, "--target", "cost"}},
		{"unwritable", exitFailed, "/no/such/folder", []string{"fit", good, "--target", "price", "-o", "/no/such/folder/m.safetensors", "--quiet"}},
		{"no folder, before the fit", exitFailed, "there is no folder /no/such: create it", []string{"fit", "gone.csv", "-o", "/no/such/m.safetensors"}},
		{"a folder", exitFailed, "it is a folder: name a file", []string{"predict", "gone.safetensors", "gone.csv", "-o", t.TempDir()}},
		{"column to keep", exitFailed, `no column "id"`, []string{"predict", model, good, "--keep", "id"}},
	}
	for _, c := range cases {
		o := invoke(t, "", c.args...)
		if o.code != c.code || !strings.Contains(o.err, c.want) {
			t.Errorf("%s: exit %d, want %d; message %q, want one with %q", c.name, o.code, c.code, o.err, c.want)
		}
		first, _, _ := strings.Cut(o.err, "\n")
		if !strings.HasPrefix(first, "credence: ") || strings.Contains(o.err, "goroutine") {
			t.Errorf("%s: the message is not one clear line: %q", c.name, o.err)
		}
		if o.out != "" {
			t.Errorf("%s: a failure wrote to standard output: %q", c.name, o.out)
		}
	}
}

// countdown is a context that is cancelled when it is asked for the left-th time.
type countdown struct {
	context.Context
	cancel func()
	left   atomic.Int64
}

func (c *countdown) Err() error {
	if c.left.Add(-1) == 0 {
		c.cancel()
	}
	return c.Context.Err()
}

// A fit that is interrupted at any place where it looks leaves the old model, and one that is not leaves its own.
func TestInterruptLeavesTheOldModel(t *testing.T) {
	data := file(t, "data.csv", houses(400))
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", data, "--target", "price", "-o", model)
	before := sure(os.ReadFile(model))(t)
	interrupted := 0
	for left := int64(1); ; left += 1 + left/4 {
		ctx := &countdown{}
		ctx.Context, ctx.cancel = context.WithCancel(context.Background())
		ctx.left.Store(left)
		var out, errs bytes.Buffer
		code := run(ctx, []string{"fit", data, "-f", "price ~ . + rbf(size, n=20)", "-o", model}, streams{strings.NewReader(""), &out, &errs})
		after, err := os.ReadFile(model)
		if code == exitDone {
			if err != nil || bytes.Equal(before, after) {
				t.Errorf("the new model was not written: %v", err)
			}
			break
		}
		interrupted++
		if code != exitInterrupted || !strings.Contains(errs.String(), "interrupted") {
			t.Errorf("exit %d, message %q", code, errs.String())
		}
		if err != nil || !bytes.Equal(before, after) {
			t.Errorf("place %d: the old model was touched: %v", left, err)
		}
	}
	if interrupted < 8 {
		t.Errorf("interrupted at %d places", interrupted)
	}
}

// failing is a writer to a full disk.
type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// A disk that is full makes the command fail, whatever it prints.
func TestOutputThatCannotBeWritten(t *testing.T) {
	data := file(t, "data.csv", houses(40))
	model := filepath.Join(t.TempDir(), "m.safetensors")
	must(t, "fit", data, "--target", "price", "-o", model)
	full := errors.New("no space left")
	for _, args := range [][]string{
		{"fit", data, "--target", "price"}, {"fit", data, "--target", "price", "--json"}, {"inspect", model}, {"evaluate", model, data},
		{"predict", model, data}, {"--help"},
	} {
		var errs bytes.Buffer
		code := run(context.Background(), args, streams{strings.NewReader(""), failing{full}, &errs})
		if code != exitFailed || !strings.Contains(errs.String(), "no space left") {
			t.Errorf("credence %s: exit %d, message %q", strings.Join(args, " "), code, errs.String())
		}
	}
}

// silent is a pipe into which nobody writes.
type silent struct{}

func (silent) Read([]byte) (int, error) { select {} }

func TestInterruptWhileWaitingForInput(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	var out, errs bytes.Buffer
	if code := run(ctx, []string{"fit", "-", "-f", "y ~ x"}, streams{silent{}, &out, &errs}); code != exitInterrupted {
		t.Errorf("exit %d, message %q", code, errs.String())
	}
}

func TestHelpTeachesByExample(t *testing.T) {
	for _, command := range []string{"fit", "predict", "evaluate", "inspect", "compare"} {
		if help := must(t, command, "--help"); !strings.Contains(help, "Examples:\n") {
			t.Errorf("credence %s --help has no example", command)
		}
	}
	if script := must(t, "completion", "bash"); !strings.Contains(script, "credence") {
		t.Error("there is no shell completion")
	}
}

// parse reads a number of a CSV cell.
func parse(t *testing.T, cell string) float64 {
	t.Helper()
	v := sure(strconv.ParseFloat(cell, 64))(t)
	return v
}
