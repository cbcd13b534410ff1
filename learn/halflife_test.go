package learn_test

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/learn"
)

// timedVisits are visits with the day on which they came.
func timedVisits(rows int) string {
	lines := strings.Split(strings.TrimSpace(visits(rows)), "\n")
	for i := range lines {
		day := "day"
		if i > 0 {
			day = fmt.Sprintf("2024-%02d-%02d", 1+i*12/(rows+1), 1+i*27*12/(rows+1)%27)
		}
		lines[i] += "," + day
	}
	return strings.Join(lines, "\n") + "\n"
}

// The half-life is by a column of dates, which is no input; a run that is stopped goes on as if it had not
// been, and the model needs no times.
func TestHalfLifeByDates(t *testing.T) {
	text := timedVisits(3000)
	options := fit.Options{Formula: "y ~ . - w - o", Engine: "sep(half_life=30)", Time: "day", Missing: "drop"}
	whole, err := learn.New(options)
	if err != nil {
		t.Fatal(err)
	}
	take(t, whole, text)
	if progress, err := whole.Progress(); err != nil || progress.Features != 13 { // x, three sites, nine ads
		t.Errorf("%d features, %v", progress.Features, err)
	}
	data, path := open(t, text), filepath.Join(t.TempDir(), "c")
	first, err := learn.New(options)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := first.Columns(data.Schema())
	if err != nil {
		t.Fatal(err)
	}
	stop := fmt.Errorf("stop")
	err = data.Rows(context.Background(), columns, credence.Position{}, func(run *dataset.Run) error {
		half := *run.Rows
		half.Count, half.Faults = run.Rows.Count/2, nil
		taken, err := first.Learn(&half)
		if err != nil {
			return err
		}
		if err := first.Checkpoint(path, run.After(taken-1)); err != nil {
			return err
		}
		return stop
	})
	if err != stop {
		t.Fatal(err)
	}
	later := options
	later.Time = "x"
	if _, _, err := learn.Resume(path, later); err == nil || !strings.Contains(err.Error(), "the checkpoint has column of times day, not x") {
		t.Errorf("times of another column: %v", err)
	}
	second, at, err := learn.Resume(path, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := open(t, text).Rows(context.Background(), columns, at, func(run *dataset.Run) error {
		_, err := second.Learn(run.Rows)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	mean, variance := weights(t, whole)
	again, also := weights(t, second)
	if !slices.Equal(mean, again) || !slices.Equal(variance, also) {
		t.Error("a run that was resumed differs")
	}
	forever := options
	forever.Engine, forever.Time = "sep", ""
	forever.Formula = "y ~ . - w - o - day"
	other, err := learn.New(forever)
	if err != nil {
		t.Fatal(err)
	}
	take(t, other, text)
	if _, wide := weights(t, other); !(wide[1] < variance[1]) {
		t.Errorf("the variance is %v of all rows and %v of those of the last month", wide[1], variance[1])
	}
	fitted, err := second.Fitted()
	if err != nil {
		t.Fatal(err)
	}
	if values, texts := fitted.Frame.(*keyed.Frame).Plan.Needs(); len(values)+len(texts) == 0 || slices.Contains(values, "day") || slices.Contains(texts, "day") {
		t.Errorf("the model asks for %v and %v, and times are of learning alone", values, texts)
	}
	other, err = learn.From(path, fit.Options{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	take(t, other, text)
	if mean, _ := weights(t, other); math.IsNaN(mean[0]) {
		t.Error("from yesterday's model nothing comes")
	}
	for engine, time := range map[string]string{"sep(half_life=30)": "", "sep": "day", "ftrl(half_life=3)": "day", "sep(half_life=3, passes=2)": "day", "sep(half_life=0)": "day"} {
		if _, err := learn.New(fit.Options{Formula: "y ~ x", Engine: engine, Time: time}); err == nil {
			t.Errorf("%s with times of %q is taken", engine, time)
		}
	}
}
