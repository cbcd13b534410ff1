package learn_test

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/learn"
)

// Every pass tells the loss of its rows before it learned them, and of those held out, which count for nothing
// else: what is learned is what the other rows teach. A checkpoint in between changes nothing.
func TestPassesAreTold(t *testing.T) {
	row := func(i int) map[string]any {
		return map[string]any{"y": i * i % 7 % 2, "x": math.Sin(float64(i)), "w": float64(1 + i%3)}
	}
	options := fit.Options{Formula: "y ~ x + weight(w)", Engine: "sgd(rate=0.3, passes=3)", HoldOut: 5}
	l, err := learn.New(options)
	if err != nil {
		t.Fatal(err)
	}
	others, err := learn.New(fit.Options{Formula: options.Formula, Engine: options.Engine})
	if err != nil {
		t.Fatal(err)
	}
	var told []learn.Pass
	hear := func(p learn.Pass) { told = append(told, p) }
	l.OnPass = hear
	const rows = 203
	file := filepath.Join(t.TempDir(), "checkpoint")
	for pass := 1; pass <= 3; pass++ {
		var loss, weight, heldLoss, heldWeight float64
		for i := range rows {
			if pass == 2 && i == 101 {
				if err := l.Checkpoint(file, credence.Position{}); err != nil {
					t.Fatal(err)
				}
				if l, _, err = learn.Resume(file, options); err != nil {
					t.Fatal(err)
				}
				l.OnPass = hear
			}
			r := row(i)
			p, err := l.Row(r)
			if err != nil {
				t.Fatal(err)
			}
			own := p
			if r["y"] == 0 {
				own = 1 - p
			}
			w := r["w"].(float64)
			if i%5 == 4 {
				heldLoss, heldWeight = heldLoss-w*math.Log(own), heldWeight+w
				continue
			}
			loss, weight = loss-w*math.Log(own), weight+w
			if q, err := others.Row(r); err != nil || q != p {
				t.Fatalf("pass %d, row %d: probability %v, without those held out %v (%v)", pass, i, p, q, err)
			}
		}
		if more := l.EndPass(); more != (pass < 3) || others.EndPass() != more {
			t.Fatal("the passes are miscounted")
		}
		got := told[pass-1]
		if got.Pass != pass || !(math.Abs(float64(got.LogLoss)-loss/weight) <= 1e-12) || !(math.Abs(float64(got.HeldOut)-heldLoss/heldWeight) <= 1e-12) {
			t.Errorf("pass %d is told as %+v, want %v and %v", pass, got, loss/weight, heldLoss/heldWeight)
		}
	}
	options.HoldOut++
	if _, _, err := learn.Resume(file, options); err == nil {
		t.Error("a run that held rows out goes on with others")
	}
	if _, err := learn.New(fit.Options{Formula: "y ~ x", HoldOut: 1}); err == nil {
		t.Error("all rows are held out")
	}
}

// A row that is malformed or lacks a value is one row, in however many passes it is met.
func TestPassesCountRowsOnce(t *testing.T) {
	const text = "y,x\n1,1\n0,NA\n1,2\n0,3\n"
	for missing, want := range map[frame.Policy]string{"": "", frame.Drop: "1 of 4 rows have missing values and are left out"} {
		l := must.Value(learn.New(fit.Options{Formula: "y ~ x", Engine: "sep(passes=2)", Missing: missing}))(t)
		if want == "" {
			l.MaxMalformed = 1
		}
		for range 2 {
			take(t, l, text)
			l.EndPass()
		}
		fitted := must.Value(l.Fitted())(t)
		if p := must.Value(l.Progress())(t); p.Malformed != l.MaxMalformed || strings.Join(fitted.Report.Remarks, "") != want {
			t.Errorf("%d rows are malformed, %q; want %d, %q", p.Malformed, fitted.Report.Remarks, l.MaxMalformed, want)
		}
	}
}

// A run over rows that have become more holds out those that a run over all of them does.
func TestHoldOutOfMoreRows(t *testing.T) {
	row := func(i int) map[string]any { return map[string]any{"y": i % 3 % 2, "x": math.Sin(float64(i))} }
	options := fit.Options{Formula: "y ~ x", Engine: "sgd(rate=0.1)", HoldOut: 10}
	whole, parts := must.Value(learn.New(options))(t), must.Value(learn.New(options))(t)
	for i := range 200 {
		if i == 95 { // the rows of the first run
			parts.EndPass()
			parts = resumed(t, parts, options)
		}
		must.Value(whole.Row(row(i)))(t)
		must.Value(parts.Row(row(i)))(t)
	}
	if whole.Rows() != parts.Rows() {
		t.Errorf("%d rows are learned, by a run that does not stop %d", parts.Rows(), whole.Rows())
	}
}

// resumed goes on from the checkpoint of a learner.
func resumed(t *testing.T, l *learn.Learner, options fit.Options) *learn.Learner {
	t.Helper()
	file := filepath.Join(t.TempDir(), "checkpoint")
	must.Succeed(t, l.Checkpoint(file, credence.Position{}))
	again, _, err := learn.Resume(file, options)
	must.Succeed(t, err)
	return again
}
