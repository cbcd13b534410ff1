package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What cannot be written is found before the data are read, whichever command writes it.
func TestOutputsAreCheckedFirst(t *testing.T) {
	nowhere, circle := filepath.Join(t.TempDir(), "none", "m"), filepath.Join(t.TempDir(), "circle")
	if err := os.Symlink(circle, circle); err != nil {
		t.Skip(err)
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{"there is no folder", []string{"fit", "gone.csv", "--target", "y", "-o", nowhere}},
		{"there is no folder", []string{"fit", "gone.csv", "--target", "y", "--checkpoint", nowhere}},
		{"there is no folder", []string{"stream", "gone.csv", "--target", "y", "-o", nowhere}},
		{"there is no folder", []string{"stream", "gone.csv", "--target", "y", "--write-selected", nowhere}},
		{"there is no folder", []string{"predict", "gone.safetensors", "gone.csv", "-o", nowhere + ".csv"}},
		{"it is a device or a pipe", []string{"fit", "gone.csv", "--target", "y", "-o", os.DevNull}},
		{"too long: name another file", []string{"fit", "gone.csv", "--target", "y", "-o", strings.Repeat("x", 300)}},
		{"links: name another file", []string{"fit", "gone.csv", "--target", "y", "-o", circle}},
	} {
		if o := invoke(t, "", c.args...); o.code != exitFailed || !strings.Contains(o.err, c.want) || strings.Contains(o.err, "gone") {
			t.Errorf("%v: exit %d: %s", c.args, o.code, o.err)
		}
	}
	model := filepath.Join(t.TempDir(), "m")
	rows := file(t, "rows.csv", "y,x\n1,1\n0,2\n1,3\n0,4\n1,5\n")
	must(t, "fit", rows, "--target", "y", "-o", model)
	for _, args := range [][]string{
		{"fit", rows, "--target", "y", "-o", rows},
		{"fit", filepath.Join(filepath.Dir(rows), "*.csv"), "--target", "y", "-o", rows},
		{"fit", rows, "--target", "y", "-o", model, "--checkpoint", model},
		{"predict", model, rows, "-o", rows},
		{"predict", model, rows, "-o", filepath.Join(filepath.Dir(model), ".", "m")},
		{"stream", rows, "--target", "y", "-o", rows},
		{"stream", rows, "--target", "y", "--write-selected", rows},
	} {
		if o := invoke(t, "", args...); o.code != exitMisuse || !strings.Contains(o.err, "overwritten") && !strings.Contains(o.err, "written twice") {
			t.Errorf("%v: exit %d: %s", args, o.code, o.err)
		}
	}
}

// A checkpoint that is not written is said to be none.
func TestCheckpointOfAnEngineWithout(t *testing.T) {
	data, path := file(t, "t.csv", houses(40)), filepath.Join(t.TempDir(), "c")
	o := invoke(t, "", "fit", data, "--target", "price", "--checkpoint", path, "-q")
	if o.code != exitDone || strings.Count(o.err, "engine exact writes no checkpoint: the one asked for is not used") != 1 {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	if o := invoke(t, "", "fit", data, "-f", "garden ~ size", "--checkpoint", path, "-q"); o.code != exitDone || strings.Contains(o.err, "no checkpoint") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	// The second run finds the checkpoint of the first, which is as if written just now however slow the
	// machine is, and its interruption says where the work is.
	now := time.Now()
	if err := os.Chtimes(path, now, now.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"fit", data, "-f", "garden ~ size", "--checkpoint", path}, streams{strings.NewReader(""), &out, &errs})
	if code != exitInterrupted || !strings.Contains(errs.String(), "the fit so far is saved in "+path) {
		t.Errorf("exit %d: %s", code, errs.String())
	}
}

// What cannot be read is said in one line without control characters.
func TestStreamRefusesWhatItCannotRead(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write([]byte("PAR1 and so on"))
	w.Close()
	for _, c := range []struct {
		want, stdin string
		args        []string
	}{
		{"the Parquet file is damaged or cut off", "", []string{file(t, "t.parquet", "PAR1\x15\x04")}},
		{"there is no row below the header", "", []string{file(t, "t.csv", "PAR1\x15\x04"), "--format", "csv"}},
		{"the Parquet file is damaged or cut off", "", []string{file(t, "t.gz", zipped.String())}},
		{"standard input: the Parquet file is damaged", "PAR1\x15\x04", []string{"-"}},
		{"holds a NUL byte", "", []string{file(t, "t.csv", "y,x\n1,\x00\n")}},
		{"gone.csv: there is no such file: check the path", "", []string{"gone.csv"}},
		{"GONE~1.csv: there is no such file: check the path", "", []string{"GONE~1.csv"}},
		{"gone.csv: there is no such file: check the path", "", []string{file(t, "t.csv", "y,x\n1,2\n0,1\n"), "gone.csv"}},
		{"the folder holds no .csv", "", []string{t.TempDir(), "--format", "csv"}},
		{"there is no column", "", []string{file(t, "t.csv", "\x1b[2J,x\n1,2\n0,1\n")}},
	} {
		o := invoke(t, c.stdin, append([]string{"stream", "--target", "y"}, c.args...)...)
		if o.code != exitFailed || !strings.Contains(o.err, c.want) || strings.Count(o.err, "\n") != 1 || strings.ContainsAny(o.err, "\x1b\x00\r") {
			t.Errorf("%v: exit %d: %q", c.args, o.code, o.err)
		}
	}
}

func TestUnknownNamesAreMisuse(t *testing.T) {
	for _, args := range [][]string{{"completion", "tcsh"}, {"help", "fti"}, {"help", "fit", "more"}, {"help", "--", "--json"}} {
		if o := invoke(t, "", args...); o.code != exitMisuse || o.out != "" {
			t.Errorf("%v: exit %d: %s%s", args, o.code, o.out, o.err)
		}
	}
	for _, args := range [][]string{{"help"}, {"help", "fit"}, {"completion"}, {"help", "completion", "zsh"}} {
		if out := must(t, args...); !strings.Contains(out, "Usage:") {
			t.Errorf("%v: %s", args, out)
		}
	}
}

// - is standard output where that can be written, and never a file of this name.
func TestDashIsNoFile(t *testing.T) {
	t.Chdir(t.TempDir())
	data := file(t, "t.csv", houses(40))
	model := fitted(t, data, "--target", "price")
	if got, want := must(t, "predict", model, data, "-o", "-"), must(t, "predict", model, data); got != want {
		t.Errorf("predict -o - printed %.80q", got)
	}
	for _, args := range [][]string{{"fit", data, "--target", "price", "-o", "-"}, {"stream", data, "--target", "garden", "-o", "-"}, {"predict", model, data, "-o", "-", "--json"}} {
		if o := invoke(t, "", args...); o.code != exitMisuse || !strings.Contains(o.err, "file") {
			t.Errorf("%v: exit %d: %s", args, o.code, o.err)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("there are %v, %v", left, err)
	}
}
