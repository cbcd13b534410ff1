package learn

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/table"
)

// apart learns rows of which one in rare has the label of the rarer class, and weights of 1, 2 and 3.
func apart(t *testing.T, count, rare int, label float64) (l *Learner, positives, weight float64) {
	t.Helper()
	l = must.Value(New(fit.Options{Formula: "y ~ x + weight(w)", Engine: "sep"}))(t)
	rows := &table.Rows{}
	rows.Reset("f", []table.Column{{Name: "y"}, {Name: "x"}, {Name: "w"}})
	for i := range count {
		y, w := 1-label, float64(1+i%3)
		if i%rare == 0 {
			y = label
		}
		rows.Values = append(rows.Values, y, float64(i%7), w)
		rows.Count++
		positives, weight = positives+w*y, weight+w
	}
	must.Value(l.Learn(rows))(t)
	return l, positives, weight
}

// A file tells enough where the rarer class weighs enough, whichever it is; and the share of positives of files that
// were learned apart is that of all their weights.
func TestApart(t *testing.T) {
	for _, label := range []float64{0, 1} {
		few, _, _ := apart(t, 400, 20, label) // of weight 40
		if err := few.Enough(); err == nil {
			t.Errorf("20 rows of class %v are enough", label)
		}
		many, _, _ := apart(t, 400, 10, label) // of weight 80
		must.Succeed(t, many.Enough())
		one, positives, weight := apart(t, 400, 3, label)
		other, more, beside := apart(t, 300, 5, label)
		must.Succeed(t, one.Leave(true))
		must.Succeed(t, other.Leave(false))
		must.Succeed(t, one.Unite(other))
		must.Succeed(t, one.United())
		one.Finish()
		fitted := must.Value(one.Fitted())(t)
		if want := (positives + more) / (weight + beside); !(math.Abs(fitted.TargetMean-want) <= 1e-12) || fitted.Report.Rows != 700 {
			t.Errorf("the share of positives of %d rows is %v, want %v", fitted.Report.Rows, fitted.TargetMean, want)
		}
	}
}

// TestNotApart: a learner of an engine that learns no files apart is left, brought together and ended by none of the
// three, and the reason names what does.
func TestNotApart(t *testing.T) {
	learner := func() *Learner { return must.Value(New(fit.Options{Formula: "y ~ x", Engine: "ftrl(alpha=0.1)"}))(t) }
	l := learner()
	for name, err := range map[string]error{"Leave": l.Leave(true), "Unite": l.Unite(learner()), "United": l.United()} {
		if err == nil || !strings.Contains(err.Error(), "learners of files apart cannot be brought together: use --engine sep") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if l.finished {
		t.Error("the learner ended")
	}
}

// TestEnough: 50 of the rarer class are enough whatever the number of rows, and so are 30,000 rows of one class; one of
// either less is not, and the refusal says how many there are.
func TestEnough(t *testing.T) {
	l := must.Value(New(fit.Options{Formula: "y ~ x + weight(w)", Engine: "sep"}))(t)
	learn := func(count int, y, w float64) {
		rows := &table.Rows{}
		rows.Reset("f", []table.Column{{Name: "y"}, {Name: "x"}, {Name: "w"}})
		for i := range count {
			rows.Values = append(rows.Values, y, float64(i%7), w)
		}
		rows.Count = count
		must.Value(l.Learn(rows))(t)
	}
	refused := func(rows int, rarer string) {
		t.Helper()
		want := fmt.Sprintf("its %d rows, of which those of the rarer class weigh %s, tell too little by themselves: join files until each has 30000 rows, or 50 of the rarer class", rows, rarer)
		if err := l.Enough(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	refused(0, "0")
	learn(100, 0, 1)
	learn(98, 1, 0.5)
	refused(198, "49")
	learn(2, 1, 0.5)
	must.Succeed(t, l.Enough())
	l = must.Value(New(fit.Options{Formula: "y ~ x + weight(w)", Engine: "ftrl(alpha=0.1)"}))(t)
	learn(29_999, 1, 1)
	refused(29_999, "0")
	learn(1, 1, 1)
	must.Succeed(t, l.Enough())
}

// TestCheckApart: options that files apart cannot be learned by are misuse of the option that is to change, with a way
// that does; of those that do, missing values are left out.
func TestCheckApart(t *testing.T) {
	for _, c := range []struct {
		options      fit.Options
		option, want string
	}{
		{fit.Options{}, "", ""},
		{fit.Options{Engine: "sep", Missing: "drop"}, "", ""},
		{fit.Options{Engine: "ftrl(alpha=0.1)"}, "engine", "ftrl: it has no posterior"},
		{fit.Options{Engine: "sep(half_life=3)", Time: "day"}, "engine", "forget and half_life go by which rows came before"},
		{fit.Options{Engine: "sep(passes=2)"}, "engine", "files apart are learned in one pass: leave passes out"},
		{fit.Options{HoldOut: 10}, "hold_out", "files apart have no pass in common that could be measured: keep some rows in a file of their own"},
		{fit.Options{Missing: "mean"}, "missing", "missing values are filled by the means of the rows before"},
		{fit.Options{Missing: "indicator"}, "missing", "leave such rows out by drop, or learn on one machine"},
	} {
		c.options.Formula = "y ~ x"
		err := must.Value(New(c.options))(t).CheckApart()
		var misuse *fit.Misuse
		if errors.As(err, &misuse) != (c.want != "") || misuse != nil && (misuse.Option != c.option || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v, want %s: %s", c.options, err, c.option, c.want)
		}
	}
}

// TestDecode: a learner that was encoded goes on as the one that it was, and what is no state of these options makes
// none.
func TestDecode(t *testing.T) {
	options := fit.Options{Formula: "y ~ x + weight(w)", Engine: "sep"}
	l, _, _ := apart(t, 300, 3, 1)
	state := must.Value(l.Encode())(t)
	again := must.Value(Decode(state, options))(t)
	for _, x := range []float64{0, 3, -1e3} {
		row := map[string]any{"y": 1, "x": x, "w": 2}
		if a, b := must.Value(l.Row(row))(t), must.Value(again.Row(row))(t); a != b || a == 0.5 {
			t.Errorf("at %v the probability is %v, and was %v", x, b, a)
		}
	}
	if a, b := must.Value(l.Encode())(t), must.Value(again.Encode())(t); !bytes.Equal(a, b) || bytes.Equal(a, state) {
		t.Error("a learner that was encoded is in another state after the same rows")
	}
	if _, err := Decode(state[:len(state)-1], options); err == nil {
		t.Error("a state that is cut short is decoded")
	}
	if _, err := Decode([]byte("garbage"), options); err == nil {
		t.Error("garbage is decoded")
	}
	if _, err := Decode(state, fit.Options{Formula: "y ~ rbf(x)"}); !errors.Is(err, fit.ErrMisuse) {
		t.Errorf("a formula that no learner takes: %v", err)
	}
}

// TestUniteRefuses: learners of other options are told by what differs, and none is united with nothing or itself
// broken.
func TestUniteRefuses(t *testing.T) {
	left := func(o fit.Options) *Learner {
		l := must.Value(New(o))(t)
		must.Value(l.Row(map[string]any{"y": 1, "x": 2.5, "z": 1}))(t)
		must.Succeed(t, l.Leave(true))
		return l
	}
	l := left(fit.Options{Formula: "y ~ x", Engine: "sep"})
	if err := l.Unite(nil); err == nil || !strings.Contains(err.Error(), "no other learner") {
		t.Errorf("nothing: %v", err)
	}
	for want, o := range map[string]fit.Options{
		"formula y ~ z, not y ~ x":         {Formula: "y ~ z", Engine: "sep"},
		"engine sep(batch=9), not sep":     {Formula: "y ~ x", Engine: "sep(batch=9)"},
		"missing values drop, not left op": {Formula: "y ~ x", Engine: "sep", Missing: "drop"},
	} {
		if err := l.Unite(left(o)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
	if got := l.Rows(); got != 1 {
		t.Errorf("learners that were refused left %d rows", got)
	}
}

// TestNoRowIsNext: behind files that were learned apart, and behind the last of several passes, no row is the next; the
// refusal says where to go on.
func TestNoRowIsNext(t *testing.T) {
	row := map[string]any{"y": 1, "x": 2.5, "w": 1}
	one, _, _ := apart(t, 300, 3, 1)
	other, _, _ := apart(t, 300, 3, 1)
	must.Succeed(t, one.Leave(true))
	must.Succeed(t, other.Leave(false))
	must.Succeed(t, one.Unite(other))
	must.Succeed(t, one.United())
	passes := must.Value(New(fit.Options{Formula: "y ~ x + weight(w)", Engine: "sep(passes=2)"}))(t)
	for range 2 {
		must.Value(passes.Row(row))(t)
		passes.EndPass()
	}
	for want, l := range map[string]*Learner{
		"the checkpoint is of 2 files that were learned apart, and no row is the next: start from the model, with --from": one,
		"the checkpoint is of a finished run of 2 passes, in which new rows would count less than the others: begin anew": passes,
	} {
		file := filepath.Join(t.TempDir(), "checkpoint")
		must.Succeed(t, l.Checkpoint(file, credence.Position{}))
		rows := l.Rows()
		if known := must.Value(Known(file))(t); known != rows {
			t.Errorf("the checkpoint knows %d rows, want %d", known, rows)
		}
		again, _, err := Resume(file, fit.Options{})
		must.Succeed(t, err)
		if _, err := again.Row(row); !errors.Is(err, fit.ErrMisuse) || err.Error() != want || again.Rows() != rows {
			t.Errorf("%v and %d rows, want %s", err, again.Rows(), want)
		}
	}
}
