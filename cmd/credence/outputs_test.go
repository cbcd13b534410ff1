package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPartialKeepsTheJobsData: partial removes, and then replaces, a file of the job's own data that -o names.
func TestPartialKeepsTheJobsData(t *testing.T) {
	folder := t.TempDir()
	var files []string
	for k := range 2 {
		path := filepath.Join(folder, fmt.Sprintf("part%d.csv", k+1))
		text := repeat("a,y\n", 60, func(i int) string { return fmt.Sprintf("%d,%d\n", (i*7+k)%13, (i*5+k)%11) })
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	job := filepath.Join(folder, "y.job")
	must(t, "job", files[0], files[1], "--target", "y", "-o", job, "-q")
	before := sureText(t, files[0])
	for _, args := range [][]string{
		{"partial", job, "0", "-o", files[0]},                   // the file that is read
		{"partial", job, "1", "-o", files[0]},                   // another file of the job
		{"partial", job, "1", "--data", folder, "-o", files[0]}, // the same where --data finds the files
	} {
		o := invoke(t, "", args...)
		if o.code != exitMisuse || !strings.Contains(o.err, "is read, and would be overwritten") {
			t.Errorf("%v: exit %d: %s%s", args, o.code, o.out, o.err)
		}
		if after, err := os.ReadFile(files[0]); err != nil || string(after) != before {
			t.Fatalf("%v: the data are lost: %v", args, err)
		}
	}
}

// TestOutputsKeepSchemaAndOdds: outputs replace neither a schema file nor a file of prior odds that the command reads.
func TestOutputsKeepSchemaAndOdds(t *testing.T) {
	folder := t.TempDir()
	data := file(t, "t.csv", houses(60))
	schema, odds := filepath.Join(folder, "houses.json"), filepath.Join(folder, "odds.csv")
	must(t, "look", data, "-o", schema, "-q")
	if err := os.WriteFile(odds, []byte("size,2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, args := range map[string][]string{
		schema: {"fit", data, "--target", "price", "--schema", schema, "-o", schema},
		odds:   {"select", data, "--target", "price", "--engine", "ep", "--path=never", "--prior-odds", odds, "--write-selected", odds},
	} {
		before := sureText(t, path)
		if o := invoke(t, "", args...); o.code != exitMisuse || !strings.Contains(o.err, "is read, and would be overwritten") {
			t.Errorf("%v: exit %d: %s", args, o.code, o.err)
		}
		if sureText(t, path) != before {
			t.Errorf("%v replaced what it reads", args)
		}
	}
}

// TestWriteSelectedHasTheColumnsOfTransforms: --write-selected writes the columns behind transforms, and says which
// feature is none.
func TestWriteSelectedHasTheColumnsOfTransforms(t *testing.T) {
	rows := repeat("x,z,y\n", 120, func(i int) string {
		x := 1 + float64(i*37%101)
		return fmt.Sprintf("%g,%d,%.6f\n", x, i*i%17, 3*math.Log(x)+.01*float64(i%5))
	})
	path := filepath.Join(t.TempDir(), "s.csv")
	args := []string{"select", file(t, "t.csv", rows), "-f", "y ~ log(x) + z", "--engine", "ep", "--path=never", "--write-selected", path, "--json"}
	var found struct {
		Features []struct {
			Name     string
			Selected bool
		}
	}
	if err := json.Unmarshal([]byte(must(t, args...)), &found); err != nil {
		t.Fatal(err)
	}
	if f := found.Features[0]; f.Name != "log(x)" || !f.Selected {
		t.Fatalf("%+v is first", f)
	}
	header, _, _ := strings.Cut(sureText(t, path), "\n")
	if header != "x,y" {
		t.Errorf("the columns written are %q, and log(x) is selected", header)
	}

	// Features of sparse text have no columns, which is refused, and the
	// model that was asked for is there all the same.
	sparse := repeat("", 120, func(i int) string { return fmt.Sprintf("%g 1:%d 2:%d\n", 2*float64(i*i%17), i*i%17, i%7+1) })
	model := filepath.Join(t.TempDir(), "m")
	sparsePath := filepath.Join(t.TempDir(), "l.csv")
	o := invoke(t, "", "select", file(t, "t.libsvm", sparse), "--family", "gaussian", "--engine", "ep", "--path=never", "-o", model, "--write-selected", sparsePath)
	if text, err := os.ReadFile(sparsePath); err == nil && strings.HasPrefix(string(text), "label\n") {
		t.Errorf("exit %d: the file has the labels and no feature", o.code)
	}
	if _, err := os.Stat(model); err != nil {
		t.Errorf("the model is not saved: %v", err)
	}
}

// TestReportedCommandFits: the fit command that a report gives is one that the program takes.
func TestReportedCommandFits(t *testing.T) {
	rows := repeat("x,y\n", 80, func(i int) string {
		if i == 9 {
			return "3,\n"
		}
		return fmt.Sprintf("%d,%.2f\n", i*7%23, 2*float64(i*7%23)+float64(i*5%11)/10)
	})
	data, folder := file(t, "t.csv", rows), t.TempDir()
	model, page := filepath.Join(folder, "price-1.2.safetensors"), filepath.Join(folder, "r.html")
	must(t, "fit", data, "--target", "y", "--missing", "mean,drop-target", "-o", model, "-q")
	must(t, "report", model, data, "-o", page, "-q")
	text := sureText(t, page)
	at := strings.Index(text, "credence fit TRAIN")
	if at < 0 {
		t.Fatal("there is no command")
	}
	lines := strings.Split(text[at:], "\n")
	line := strings.NewReplacer("&#39;", "'", "&#34;", `"`, "&amp;", "&", "&lt;", "<", "&gt;", ">").Replace(lines[0])
	args := demoArguments(line)[1:] // without the name of the program
	args[1], args[len(args)-1] = data, filepath.Join(folder, "again.safetensors")
	if o := invoke(t, "", args...); o.code != exitDone {
		t.Errorf("%s: exit %d: %s", line, o.code, o.err)
	}
	if !strings.HasPrefix(lines[1], "credence evaluate price-1.2.safetensors ") {
		t.Errorf("the model is named in %q", lines[1])
	}
}

// TestMissingErrorIsHeard: --missing error of commands that apply a model refuses missing values, whatever the model
// does about them.
func TestMissingErrorIsHeard(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m")
	train := repeat("x,y\n", 60, func(i int) string { return fmt.Sprintf("%d,%d\n", i*7%23, i*7%23+i%3) })
	must(t, "fit", file(t, "t.csv", train), "--target", "y", "--missing", "mean", "-o", model, "-q")
	o := invoke(t, "", "predict", model, file(t, "n.csv", "x,w\n1,1\n,1\n3,1\n"), "--missing", "error")
	if o.code != exitFailed || strings.Contains(o.err, "filled with training means") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	if o := invoke(t, "", "fit", file(t, "t.csv", train), "--target", "y", "--missing", "error,mean"); o.code != exitMisuse {
		t.Errorf("error and mean at once: exit %d: %s", o.code, o.err)
	}
}

// TestInterruptedSelectSaysWhatIsSaved: an interrupted select says that its checkpoint is there, as fit does.
func TestInterruptedSelectSaysWhatIsSaved(t *testing.T) {
	data, path := file(t, "wide.csv", wideTable(400, 300)), filepath.Join(t.TempDir(), "c")
	args := []string{"select", data, "--target", "y", "--engine", "gibbs(flips=20000)", "--path=never", "--checkpoint", path, "-q", "--json"}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(path); err == nil { // a chain has ended
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	var out, errs bytes.Buffer
	code := run(ctx, args, streams{strings.NewReader(""), &out, &errs})
	if code == exitDone {
		t.Skip("it ended before it was interrupted: take more flips")
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	if code != exitInterrupted || strings.Contains(errs.String(), "nothing was changed") || !strings.Contains(errs.String(), path) {
		t.Errorf("exit %d: %s", code, errs.String())
	}
}

// TestSimulateOfNoScores: --scores of a variable that is not set ends in a fault of the program when all runs are made.
func TestSimulateOfNoScores(t *testing.T) {
	o := invoke(t, "", "active", "simulate", file(t, "m.csv", mail(300, 300)), "-f", "spam ~ x + z", "--pool", "100", "--initial", "20", "--labels", "30", "--repeats", "1", "--scores", "")
	if strings.Contains(o.err, "a fault of the program") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
}

// TestPartialTellsInJSON: partial --json prints one object, as every command does.
func TestPartialTellsInJSON(t *testing.T) {
	folder := t.TempDir()
	data, job := file(t, "t.csv", houses(60)), filepath.Join(folder, "j")
	must(t, "job", data, "--target", "price", "-o", job, "-q")
	if out := must(t, "partial", job, "0", "-o", filepath.Join(folder, "p"), "--json"); !json.Valid([]byte(out)) {
		t.Errorf("standard output is %q", out)
	}
}

// TestRowWithoutCRPS: a single row whose score is not known leaves the whole without one, and is told.
func TestRowWithoutCRPS(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m")
	must(t, "fit", file(t, "t.csv", "x,n\n0,1\n0.01,2\n"), "-f", "n ~ x", "--family", "poisson", "--prior", "normal(variance=200)", "--raw", "-o", model, "-q")
	for text, unknown := range map[string]bool{"x,n\n0,1\n0.01,2\n": false, "x,n\n0,1\n1,2\n": true} {
		out := must(t, "evaluate", model, file(t, "e.csv", text))
		if told := strings.Contains(out, "in 1 row it is infinite"); told != unknown {
			t.Errorf("%q: %s", text, out)
		}
	}
}

// TestDrawsTellWhatIsFixed: a parameter that no draw varies is no column, and is named in JSON.
func TestDrawsTellWhatIsFixed(t *testing.T) {
	data, folder := file(t, "t.csv", houses(60)), t.TempDir()
	model, path := filepath.Join(folder, "m"), filepath.Join(folder, "d.csv")
	for engine, want := range map[string]string{"lasso(lambda=0.1)": "noise_variance", "exact": ""} {
		must(t, "fit", data, "--target", "price", "--engine", engine, "-o", model, "-q")
		var told struct{ Fixed []string }
		if err := json.Unmarshal([]byte(must(t, "draws", model, "-n", "2", "-o", path, "--json")), &told); err != nil {
			t.Fatal(err)
		}
		header, _, _ := strings.Cut(sureText(t, path), "\n")
		if got := strings.Join(told.Fixed, " "); got != want || strings.Contains(header, "noise_variance") != (want == "") {
			t.Errorf("%s: fixed %q, columns %s", engine, got, header)
		}
	}
}
