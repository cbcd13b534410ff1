package learn_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/infer/online"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/spec"
	"github.com/credence-ml/credence/table"
)

// diary is an engine that writes down every row that it is given, and drops every third feature after
// so many rows.
type diary struct {
	*online.SGD
	text  strings.Builder
	slots int
}

func (d *diary) Learn(b *credence.Batch, probability []float64) []int {
	refused := d.SGD.Learn(b, probability)
	for i := range b.Rows() {
		columns, values := b.Sparse.Row(i)
		fmt.Fprintln(&d.text, b.Target[i], b.WeightOf(i), b.OffsetOf(i), columns, values)
	}
	d.slots = b.Sparse.Cols
	return refused
}

func (d *diary) PruneEvery() int64 { return 1700 }

func (d *diary) Prune() (kept []int32) {
	for slot := range d.slots {
		if slot%3 != 0 {
			kept = append(kept, int32(slot))
		}
	}
	fmt.Fprintln(&d.text, "pruned to", len(kept))
	d.SGD = online.NewSGD(online.SGDConfig{})
	return kept
}

// What an engine is given does not depend on threads, which bind a batch while another is learned: nor
// with malformed rows, rows left out, rows that are refused, pruning and any number of rows to skip.
func TestBatchesAheadAreThoseOfOneThread(t *testing.T) {
	var text strings.Builder
	text.WriteString("y,x,site,w\n")
	for i := range 4000 {
		x, w := fmt.Sprint(i%17), "1"
		switch {
		case i%37 == 5:
			x = "NA"
		case i%1511 == 7:
			x = "bad"
		case i%1301 == 9:
			x, w = "1e200", "1e300" // too large to learn from
		case i%113 == 11:
			w = "-1"
		case i%53 == 0:
			w = "2"
		}
		fmt.Fprintf(&text, "%d,%s,s%d,%s\n", i*i%7%2, x, i*i%1009, w)
	}
	rows, every := text.String(), int64(700)
	run := func(policy string, most int64, threads int, held int64) string {
		var book *diary
		registry := fit.Default()
		registry.Engines = append(registry.Engines, fit.Engine{Name: "diary", Online: func(*spec.Arguments, credence.Prior) (fit.Online, error) {
			return fit.Online{Passes: 1, New: func() (credence.Online, error) {
				book = &diary{SGD: online.NewSGD(online.SGDConfig{})}
				return book, nil
			}}, nil
		}})
		o := fit.Options{Formula: "y ~ x + hash(site) + weight(w)", Engine: "diary", Threads: threads, Registry: registry, HoldOut: held}
		if policy != "" {
			o.Missing = "drop"
			if policy != "drop" {
				o.Missing = "mean"
			}
		}
		l, err := learn.New(o)
		if err != nil {
			t.Fatal(err)
		}
		l.MaxMalformed = most
		var faults []string
		l.OnMalformed = func(err error) { faults = append(faults, err.Error()) }
		l.Every, l.OnProgress = every, func(now learn.Progress) { faults = append(faults, fmt.Sprint(now.Rows, now.LogLoss)) }
		data, err := dataset.Open(context.Background(), []string{"-"}, dataset.Options{Stdin: strings.NewReader(rows), SkipMalformed: true, Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		defer data.Close()
		columns, err := l.Columns(data.Schema())
		if err != nil {
			t.Fatal(err)
		}
		taken := 0
		err = data.Rows(context.Background(), columns, credence.Position{}, func(run *dataset.Run) error {
			n, err := l.Learn(run.Rows)
			taken += n
			return err
		})
		now, _ := l.Progress()
		return fmt.Sprintln(taken, err, now.Rows, now.Malformed, now.LogLoss, now.Features, faults) + book.text.String()
	}
	for _, policy := range []string{"", "drop", "mean"} {
		for _, most := range []int64{0, 1, 2, 3, 4, 20, 25, 31, 40, 77, 1000} {
			held := most % 2 * 7
			one, four := run(policy, most, 1, held), run(policy, most, 4, held)
			if one != four {
				k := 0
				for k < min(len(one), len(four)) && one[k] == four[k] {
					k++
				}
				t.Fatalf("policy %q, %d rows skipped: from byte %d on %.200q, with one thread %.200q", policy, most, k, four[k:], one[k:])
			}
			if most == 1000 && (strings.Count(one, "\n") < 3700 || !strings.Contains(one, "too large") || !strings.Contains(one, "pruned to")) {
				t.Errorf("policy %q: %d lines, %.300s", policy, strings.Count(one, "\n"), one)
			}
		}
	}
	// Rows that nothing is wrong with are all learned behind, and those held out do not bring pruning forward.
	rows, every = "y,x,site,w\n", 0
	for i := range 4000 {
		rows += fmt.Sprintf("%d,%d,s%d,1\n", i*i%7%2, i%17, i*i%1009)
	}
	for _, held := range []int64{7, 1000} { // more than a batch, too
		if one, four := run("", 0, 1, held), run("", 0, 4, held); one != four || !strings.Contains(one, "pruned to") {
			t.Errorf("clean rows, of which one in %d is held out: %d bytes, with one thread %d", held, len(four), len(one))
		}
	}
}

// TestPassesArePrunedAlike: an engine that drops features does so behind the same rows of every pass; a checkpoint of
// an engine that a program does not have is refused by its name.
func TestPassesArePrunedAlike(t *testing.T) {
	var book *diary
	registry := fit.Default()
	registry.Engines = append(registry.Engines, fit.Engine{Name: "diary", Online: func(*spec.Arguments, credence.Prior) (fit.Online, error) {
		return fit.Online{Passes: 2, New: func() (credence.Online, error) {
			book = &diary{SGD: online.NewSGD(online.SGDConfig{})}
			return book, nil
		}}, nil
	}})
	l := must.Value(learn.New(fit.Options{Formula: "y ~ x", Engine: "diary", Registry: registry}))(t)
	text := "y,x\n"
	for i := range 4000 {
		text += fmt.Sprintf("%d,%d\n", i%2, i%17)
	}
	for pass := range 2 {
		data := open(t, text)
		must.Succeed(t, data.Rows(t.Context(), must.Value(l.Columns(data.Schema()))(t), credence.Position{}, func(run *dataset.Run) error {
			_, err := l.Learn(run.Rows)
			return err
		}))
		if more := l.EndPass(); more != (pass == 0) {
			t.Fatal("the passes are miscounted")
		}
	}
	var at []int
	for i, line := range strings.Split(book.text.String(), "\n") {
		if strings.HasPrefix(line, "pruned") {
			at = append(at, i-len(at))
		}
	}
	if !slices.Equal(at, []int{1700, 3400, 5700, 7400}) {
		t.Errorf("features were dropped behind rows %v", at)
	}
	path := filepath.Join(t.TempDir(), "m.checkpoint")
	must.Succeed(t, l.Checkpoint(path, credence.Position{}))
	_, _, resumed := learn.Resume(path, fit.Options{})
	_, started := learn.From(path, fit.Options{}, 1)
	for _, err := range []error{resumed, started} {
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), `there is no engine "diary"`) {
			t.Errorf("an engine that there is not: %v", err)
		}
	}
}

// A row that is refused does not count in running means, whatever the size of batches.
func TestRefusedRowsDoNotCountInMeans(t *testing.T) {
	model := func(text string, most int64) *credence.Fitted {
		l := must.Value(learn.New(fit.Options{Formula: "y ~ x + weight(w)", Engine: "sgd", Missing: "mean"}))(t)
		l.MaxMalformed = most
		data := open(t, text)
		columns := must.Value(l.Columns(data.Schema()))(t)
		if err := data.Rows(context.Background(), columns, credence.Position{}, func(run *dataset.Run) error {
			_, err := l.Learn(run.Rows)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		fitted := must.Value(l.Fitted())(t)
		return fitted
	}
	mean := func(f *credence.Fitted) float64 {
		m := make([]float64, f.Members[0].Posterior.Weights())
		f.Members[0].Posterior.Marginals(m, make([]float64, len(m)))
		return m[1]
	}
	rows := "y,x,w\n1,2,1\n0,5,1\n%s1,,1\n0,1,1\n1,,2\n"
	without, with := model(fmt.Sprintf(rows, ""), 0), model(fmt.Sprintf(rows, "1,1e200,1e300\n"), 1)
	if a, b := mean(without), mean(with); a != b || math.IsNaN(a) || a == 0 {
		t.Errorf("the weight is %v, and %v with a row that is refused", a, b)
	}
	// A row beyond 10⁶ that is learned counts.
	if a, b := mean(without), mean(model(fmt.Sprintf(rows, "1,2000000,1\n"), 0)); a == b {
		t.Errorf("the weight is %v with and without a large row", a)
	}
}

// Rows that nothing is wrong with are learned behind Learn: whoever asks waits for them, reports come on the caller's
// goroutine at their rows, and a row that is refused stops learning before those behind it.
func TestCleanRowsAreLearnedBehind(t *testing.T) {
	const count = 5000
	run := func(threads, spoiled int, weight float64) string {
		l := must.Value(learn.New(fit.Options{Formula: "y ~ x + hash(site) + weight(w)", Engine: "adpredictor(variance=0.1)", Threads: threads, HoldOut: 7}))(t)
		var reports strings.Builder
		l.Every, l.OnProgress = 900, func(now learn.Progress) { fmt.Fprintln(&reports, now.Rows, now.LogLoss, now.Features) }
		rows := &table.Rows{}
		rows.Reset("", []table.Column{{Name: "y"}, {Name: "x"}, {Name: "site", Text: true}, {Name: "w"}})
		for i := range count {
			code, _ := rows.Levels[2].Find(fmt.Appendf(nil, "s%d", i*i%1009), 0)
			x, w := float64(i%17), 1.0
			if i == spoiled {
				x, w = 1e200, weight
			}
			rows.Values = append(rows.Values, float64(i*i%7%2), x, float64(code), w)
			rows.Count++
		}
		l.MaxMalformed, rows.Faults = 1, []table.Fault{{Err: errors.New("malformed")}}
		taken, err := l.Learn(rows)
		fitted, failure := l.Fitted()
		if failure != nil {
			t.Fatal(failure)
		}
		return fmt.Sprintln(taken, err, fitted.Report.Rows, l.Rows(), reports.String())
	}
	for _, c := range []struct {
		spoiled int
		weight  float64
	}{{-1, 1}, {302, 1e300}, {600, -1}} {
		if one, four := run(1, c.spoiled, c.weight), run(4, c.spoiled, c.weight); one != four {
			t.Errorf("row %d has weight %v: %s\nwith one thread: %s", c.spoiled, c.weight, four, one)
		}
	}
}
