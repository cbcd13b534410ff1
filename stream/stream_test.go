package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/stream"
)

// clicks are rows of two sites, one of which is clicked on more often.
func clicks(rows int) string {
	text := "click,site,user\n"
	for i := range rows {
		text += fmt.Sprintf("%t,%s,u%d\n", i%10 == 0 || i%2 == 0 && i%3 > 0, []string{"good", "bad"}[i%2], i%7)
	}
	return text
}

// learned learns a pipe.
func learned(ctx context.Context, pipe string, o stream.Options) (*stream.Learning, error) {
	o.Formula = "click ~ hash(.)"
	run, err := stream.New(o)
	if err != nil {
		return nil, err
	}
	return learnedBy(ctx, run, pipe)
}

func learnedBy(ctx context.Context, run *stream.Learning, pipe string) (*stream.Learning, error) {
	data, err := run.Open(ctx, []string{"-"}, dataset.Options{Stdin: strings.NewReader(pipe)})
	if err != nil {
		return nil, err
	}
	defer data.Close()
	columns, err := run.Learner.Columns(data.Schema())
	if err != nil {
		return nil, err
	}
	return run, run.Learn(ctx, data, columns)
}

// A pipe is learned in two runs: the second goes on where the first ended.
func ExampleRun() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	options := stream.Options{Model: filepath.Join(folder, "m.safetensors"), Resume: true}
	for _, pipe := range []string{clicks(600), clicks(1000)} {
		run, err := learned(context.Background(), pipe, options)
		if err != nil {
			log.Fatal(err)
		}
		model, err := run.Finish()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(model.Report.Rows, "rows learned")
	}
	// Output:
	// 600 rows learned
	// 1000 rows learned
}

// TestCheckpointThatFails: a checkpoint that cannot be written ends a run by its name, behind the rows it learned: none
// is lost or learned twice where the run goes on.
func TestCheckpointThatFails(t *testing.T) {
	whole, folder := filepath.Join(t.TempDir(), "m"), filepath.Join(t.TempDir(), "folder")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	o, rows := stream.Options{Model: filepath.Join(folder, "m"), Every: time.Nanosecond}, 6000
	text := strings.ReplaceAll(clicks(rows), ",u", ","+strings.Repeat("u", 200)) // of several blocks
	gone := o
	gone.Formula = "click ~ hash(.)"
	run, err := stream.New(gone)
	if err != nil {
		t.Fatal(err)
	}
	run.Learner.Every, run.Learner.OnProgress = 1, func(learn.Progress) { os.Rename(folder, folder+" away") }
	if run, err = learnedBy(t.Context(), run, text); run == nil || err == nil || !strings.Contains(err.Error(), stream.Checkpoint(o.Model)) {
		t.Fatalf("%v", err)
	}
	if n := run.Learner.Rows(); n == 0 || n == int64(rows) {
		t.Fatalf("%d rows were learned", n)
	}
	if _, err := run.Finish(); err == nil {
		t.Error("it is kept in a folder that is away")
	}
	if err := os.Rename(folder+" away", folder); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Finish(); err != nil {
		t.Fatal(err)
	}
	o.Resume = true
	for _, o := range []stream.Options{{Model: whole}, o} {
		run, err := learned(t.Context(), text, o)
		if err == nil {
			_, err = run.Finish()
		}
		if err != nil || run.Learner.Rows() != int64(rows) {
			t.Fatal(err, run.Learner.Rows())
		}
	}
	a, _ := os.ReadFile(whole)
	if b, err := os.ReadFile(o.Model); err != nil || !bytes.Equal(a, b) {
		t.Errorf("other bytes than of a run without the failure: %v", err)
	}
}

// A run that stops between rows and goes on gives the bytes of one that did not stop; what it keeps while it runs is a
// checkpoint, and the model where that is asked for.
func TestRunsGoOn(t *testing.T) {
	if _, err := stream.New(stream.Options{Options: fit.Options{Formula: "click ~ ."}, Resume: true}); !errors.As(err, new(*fit.Misuse)) {
		t.Errorf("going on from no model: %v", err)
	}
	folder := t.TempDir()
	whole, parts := filepath.Join(folder, "whole"), filepath.Join(folder, "parts")
	run, err := learned(t.Context(), clicks(3000), stream.Options{Model: whole})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Finish(); err != nil {
		t.Fatal(err)
	}
	// The second row of the second run is malformed: what stands before it is learned and kept.
	if run, err = learned(t.Context(), clicks(1700)+"true,a\n", stream.Options{Model: parts, Every: time.Nanosecond, Live: true}); err == nil || run.Learner.Rows() != 1700 {
		t.Fatalf("%d rows, %v", run.Learner.Rows(), err)
	}
	if _, err := run.Finish(); err != nil {
		t.Fatal(err)
	}
	if run, err = learned(t.Context(), clicks(3000), stream.Options{Model: parts, Resume: true, Every: time.Nanosecond, Live: true}); err != nil {
		t.Fatal(err)
	}
	if live, err := modelfile.Load(parts); err != nil || live.Report.Rows != 3000 {
		t.Errorf("the model is not kept while rows come: %v", err)
	}
	if _, err := run.Finish(); err != nil {
		t.Fatal(err)
	}
	for _, of := range []func(string) string{func(model string) string { return model }, stream.Checkpoint} {
		a, err1 := os.ReadFile(of(whole))
		b, err2 := os.ReadFile(of(parts))
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: other bytes in two runs, %v", of("model"), err)
		}
	}
	next, err := learned(t.Context(), clicks(100), stream.Options{From: whole, Share: 1})
	if err != nil || next.Learner.Rows() != 3100 {
		t.Errorf("from a model: %v", err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 4 {
		t.Errorf("there are %v, %v", left, err)
	}
	if err := os.Remove(stream.Checkpoint(whole)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		o    stream.Options
		want string
	}{
		{stream.Options{From: whole, Share: 1}, "has no checkpoint"},
		{stream.Options{Model: parts, From: parts, Share: 1, Resume: true}, "the run to go on with or the one to start from"},
		{stream.Options{Model: parts, From: folder + "/./parts", Share: 1, Resume: true}, "the run to go on with or the one to start from"},
		{stream.Options{Model: parts + "new", From: folder + "/./partsnew", Share: 1, Resume: true}, "the run to go on with or the one to start from"},
		{stream.Options{From: filepath.Join(folder, "gone"), Share: 1}, "gone: there is no such file"},
		{stream.Options{Model: parts, Resume: true, Options: fit.Options{Engine: "sgd"}}, "without --resume the run begins anew"},
	} {
		if _, err := learned(t.Context(), "", c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
	linked := filepath.Join(folder, "linked")
	if err := os.Symlink(stream.Checkpoint(parts), stream.Checkpoint(linked)); err != nil {
		t.Fatal(err)
	}
	if _, err := learned(t.Context(), "", stream.Options{Model: linked, From: parts, Share: 1, Resume: true}); err == nil || !strings.Contains(err.Error(), "the run to go on with or the one to start from") {
		t.Errorf("a link to the checkpoint to start from: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := learned(ctx, clicks(10), stream.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestTimesAreChecked: a column of times is there, holds numbers or dates, and says how long a day is where the
// half-life is in days; the refusal names the column and one that would do.
func TestTimesAreChecked(t *testing.T) {
	const text = "y,x,day,hour,site\n1,2,2024-05-17,3,a\n0,1,2024-05-18,4,b\n1,3,2024-05-19,5,c\n"
	for _, c := range []struct {
		options    fit.Options
		text, want string
	}{
		{fit.Options{}, text, ""},
		{fit.Options{Time: "day", HalfLife: "7d"}, text, ""},
		{fit.Options{Time: "hour", HalfLife: "7"}, text, ""},
		{fit.Options{Time: "days", HalfLife: "7d"}, text, "time days: there is no such column: name the column that says when rows came"},
		{fit.Options{Time: "site", HalfLife: "7d"}, text, "time site: the column holds texts, which are no times: name a column of dates, as day"},
		{fit.Options{Time: "site", HalfLife: "7"}, "y,x,site\n1,2,a\n0,1,b\n1,1,c\n", "time site: the column holds texts, which are no times: name a column of numbers, or of dates such as 2024-05-31"},
		{fit.Options{Time: "hour", HalfLife: "7d"}, text, "half-life 7d: column hour holds numbers, whose unit is not known: write the half-life as a number in that unit, without d"},
	} {
		c.options.Formula, c.options.Engine = "y ~ x", "sep"
		run, err := stream.New(stream.Options{Options: c.options})
		if err != nil {
			t.Fatalf("%+v: %v", c.options, err)
		}
		if _, err = learnedBy(t.Context(), run, c.text); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s, %s: %v, want %q", c.options.Time, c.options.HalfLife, err, c.want)
		}
	}
}

// TestPassesBeginAnew: each pass reads the file from its first row on, and the model is of its rows, once.
func TestPassesBeginAnew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "clicks.csv")
	if err := os.WriteFile(file, []byte(clicks(700)), 0o600); err != nil {
		t.Fatal(err)
	}
	run, err := stream.New(stream.Options{Options: fit.Options{Formula: "click ~ hash(.)", Engine: "sep(passes=3)"}})
	if err != nil {
		t.Fatal(err)
	}
	data, err := run.Open(t.Context(), []string{file}, dataset.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	columns, err := run.Learner.Columns(data.Schema())
	if err == nil {
		err = run.Learn(t.Context(), data, columns)
	}
	if err != nil || run.Learner.Rows() != 3*700 {
		t.Fatalf("%d rows were learned, %v", run.Learner.Rows(), err)
	}
	if model, err := run.Finish(); err != nil || model.Report.Rows != 700 {
		t.Errorf("the model is of %d rows, %v", model.Report.Rows, err)
	}
}

// Levels of the day before are those of today, whose file by itself would be read as booleans or numbers.
func TestFromKeepsKinds(t *testing.T) {
	monday, tuesday := "click,answer,code\n", "click,answer,code\n"
	for i := range 600 {
		monday += fmt.Sprintf("%d,%s,%s\n", i%3%2, []string{"yes", "no", "maybe"}[i%3], []string{"007", "x8", "x9"}[i/3%3])
		tuesday += fmt.Sprintf("%d,%s,007\n", i%2, []string{"yes", "no"}[i%2])
	}
	options := stream.Options{Options: fit.Options{Formula: "click ~ ."}, Model: filepath.Join(t.TempDir(), "monday")}
	first := must.Value(learnedBy(t.Context(), must.Value(stream.New(options))(t), monday))(t)
	must.Value(first.Finish())(t)
	second := must.Value(learnedBy(t.Context(), must.Value(stream.New(stream.Options{From: options.Model, Share: 1}))(t), tuesday))(t)
	if p := must.Value(second.Learner.Progress())(t); p.Features != 6 {
		t.Errorf("%d features, want the 3 answers and 3 codes of the day before", p.Features)
	}
}

// Of two malformed lines that follow each other the first is skipped and the second stops the run: to go on counts
// each once.
func TestNeighbouringMalformedLines(t *testing.T) {
	const rows = "true,a,u\nfalse,b,u\n"
	text := "click,site,user\n" + strings.Repeat(rows, 15) + "no row\nno row\n" + strings.Repeat(rows, 15)
	options := stream.Options{Options: fit.Options{Formula: "click ~ hash(.)"}, Model: filepath.Join(t.TempDir(), "m"), Resume: true}
	first := must.Value(stream.New(options))(t)
	first.Learner.MaxMalformed = 1
	if _, err := learnedBy(t.Context(), first, text); err == nil {
		t.Fatal("two malformed lines are taken where one is allowed")
	}
	must.Value(first.Finish())(t)
	second := must.Value(stream.New(options))(t)
	second.Learner.MaxMalformed = 2
	_, err := learnedBy(t.Context(), second, text)
	if p := must.Value(second.Learner.Progress())(t); err != nil || p.Malformed != 2 || p.Rows != 60 {
		t.Errorf("%d malformed lines, %d rows: %v; want 2 and 60", p.Malformed, p.Rows, err)
	}
}
