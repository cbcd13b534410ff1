package learn

import (
	"math"
	"strings"
	"testing"

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
		if want := (positives + more) / (weight + beside); math.Abs(fitted.TargetMean-want) > 1e-12 || fitted.Report.Rows != 700 {
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
