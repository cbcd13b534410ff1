package learn_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/learn"
)

// take lets a learner have all rows of a text.
func take(t *testing.T, l *learn.Learner, text string) {
	t.Helper()
	if _, err := attempt(t, l, text); err != nil {
		t.Fatal(err)
	}
}

// attempt lets a learner have the rows of a text, and returns how many of the last run it took up.
func attempt(t *testing.T, l *learn.Learner, text string) (taken int, err error) {
	t.Helper()
	data := open(t, text)
	columns := must.Value(l.Columns(data.Schema()))(t)
	err = data.Rows(t.Context(), columns, credence.Position{}, func(run *dataset.Run) (err error) {
		taken, err = l.Learn(run.Rows)
		return err
	})
	return taken, err
}

// weights are the posteriors of a finished learner.
func weights(t *testing.T, l *learn.Learner) (mean, variance []float64) {
	t.Helper()
	l.Finish()
	fitted := must.Value(l.Fitted())(t)
	q := fitted.Members[0].Posterior
	mean, variance = make([]float64, q.Weights()), make([]float64, q.Weights())
	q.Marginals(mean, variance)
	return mean, variance
}

// days are the rows of two days, each with the header.
func days(rows int) (monday, tuesday, both string) {
	both = visits(2 * rows)
	lines := strings.SplitAfter(both, "\n")
	return strings.Join(lines[:rows+1], ""), lines[0] + strings.Join(lines[rows+1:], ""), both
}

// A model that goes on from another tells the rows of both, in the middle of a second pass too.
func TestRowsOfBoth(t *testing.T) {
	monday, tuesday, _ := days(500)
	first := must.Value(learn.New(fit.Options{Formula: "y ~ x", Engine: "sgd(rate=0.1, passes=2)", Missing: "drop"}))(t)
	take(t, first, monday)
	once := first.Rows()
	first.EndPass()
	take(t, first, monday)
	first.EndPass()
	file := filepath.Join(t.TempDir(), "checkpoint")
	must.Succeed(t, first.Checkpoint(file, credence.Position{Rows: 1}))
	second, err := learn.From(file, fit.Options{}, 1)
	if err != nil || second.Rows() != once {
		t.Fatalf("%d rows before, want %d: %v", second.Rows(), once, err)
	}
	positives := 0
	for _, line := range strings.Split(monday+tuesday, "\n") {
		if strings.HasPrefix(line, "1,") && !strings.Contains(line, ",NA,") {
			positives++
		}
	}
	take(t, second, tuesday)
	rows := second.Rows()
	for range 2 {
		fitted, err := second.Fitted()
		if want := float64(positives) / float64(rows); err == nil && !(math.Abs(fitted.TargetMean-want) <= 1e-12) {
			t.Errorf("%v of the rows are positive, want %v", fitted.TargetMean, want)
		}
		if err != nil || int64(fitted.Report.Rows) != rows {
			t.Fatalf("%d rows, want %d: %v", fitted.Report.Rows, rows, err)
		}
		if second.EndPass() {
			take(t, second, strings.Join(strings.SplitAfter(tuesday, "\n")[:200], ""))
		}
	}
}

// To learn Tuesday from the posterior of Monday is to learn both, where its evidence counts in full; where it
// counts next to nothing it is to learn Tuesday alone.
func TestFromIsThePosteriorAsPrior(t *testing.T) {
	monday, tuesday, both := days(5000)
	for _, engine := range []string{"sep", "sep(batch=100)", "ftrl", "ftrl(alpha=0.1)", "adpredictor(variance=0.1)", "sgd"} {
		options := fit.Options{Formula: "y ~ x + site", Engine: engine, Missing: "drop"}
		first := must.Value(learn.New(options))(t)
		take(t, first, monday)
		file := filepath.Join(t.TempDir(), "checkpoint")
		must.Succeed(t, first.Checkpoint(file, credence.Position{Rows: 1}))
		second := must.Value(learn.From(file, fit.Options{}, 1))(t)
		if known, err := learn.Known(file); err != nil || known != first.Rows() || second.Rows() != known {
			t.Errorf("%s: %d rows known, %d before (%v)", engine, known, second.Rows(), err)
		}
		take(t, second, tuesday)
		if p, err := second.Progress(); err != nil || !(p.LogLoss < 0.6) || p.Rows <= first.Rows() {
			t.Errorf("%s: progress %+v, %v", engine, p, err)
		}
		whole := must.Value(learn.New(options))(t)
		take(t, whole, both)
		// what is measured is each day's own
		one, two, all := must.Value(first.Progress())(t), must.Value(second.Progress())(t), must.Value(whole.Progress())(t)
		if n := float64(one.Rows) / float64(all.Rows); !strings.Contains(engine, "batch") && !(math.Abs(n*float64(one.LogLoss)+(1-n)*float64(two.LogLoss)-float64(all.LogLoss)) <= 1e-12) {
			t.Errorf("%s: the log loss is %v and %v of two days, and %v of both", engine, one.LogLoss, two.LogLoss, all.LogLoss)
		}
		mean, variance := weights(t, second)
		wantMean, wantVariance := weights(t, whole)
		for j := range mean {
			limit := 1e-12 // the same steps
			if strings.Contains(engine, "batch") {
				limit = 0.1 // a mini-batch ends with the day
			}
			if !(math.Abs(mean[j]-wantMean[j]) <= limit) || !(math.Abs(variance[j]-wantVariance[j]) <= limit) {
				t.Errorf("%s: weight %d is %v ± %v, with both days at once %v ± %v", engine, j, mean[j], variance[j], wantMean[j], wantVariance[j])
			}
		}
		if !strings.Contains(engine, "alpha") && !strings.Contains(engine, "variance") {
			continue
		}
		little := must.Value(learn.From(file, fit.Options{}, 1e-12))(t)
		take(t, little, tuesday)
		alone := must.Value(learn.New(options))(t)
		take(t, alone, tuesday)
		gotSum, wantSum := 0.0, 0.0 // features stand in another order
		mean, _ = weights(t, little)
		for _, m := range mean {
			gotSum += m * m
		}
		mean, _ = weights(t, alone)
		for _, m := range mean {
			wantSum += m * m
		}
		if !(math.Abs(gotSum-wantSum) <= 1e-7*wantSum) {
			t.Errorf("%s: with next to nothing of Monday the weights have the square %v, without it %v", engine, gotSum, wantSum)
		}
	}
}

// Half of the evidence of sep is half of every likelihood sum: the precision of a weight that is surely in the
// model, above that of the slab, is halved.
func TestDiscountHalvesEvidence(t *testing.T) {
	monday, _, _ := days(6000)
	options := fit.Options{Formula: "y ~ x", Engine: "sep", Missing: "drop", Prior: "spikeslab(inclusion=0.9, slab=100)"}
	l := must.Value(learn.New(options))(t)
	take(t, l, monday)
	file := filepath.Join(t.TempDir(), "checkpoint")
	must.Succeed(t, l.Checkpoint(file, credence.Position{}))
	half := must.Value(learn.From(file, fit.Options{}, 0.5))(t)
	mean, variance := weights(t, l)
	halfMean, halfVariance := weights(t, half)
	if ratio := (1/halfVariance[1] - 0.01) / (1/variance[1] - 0.01); !(math.Abs(ratio-0.5) <= 1e-3) || !(math.Abs(halfMean[1]-mean[1]) <= 0.01*math.Abs(mean[1])) {
		t.Errorf("the evidence counts %v; the mean is %v, was %v", ratio, halfMean[1], mean[1])
	}
}

// What differs from the model is refused, and so are shares that are none.
func TestFromRefuses(t *testing.T) {
	monday, _, _ := days(200)
	l := must.Value(learn.New(fit.Options{Formula: "y ~ x", Missing: "drop"}))(t)
	take(t, l, monday)
	file := filepath.Join(t.TempDir(), "checkpoint")
	must.Succeed(t, l.Checkpoint(file, credence.Position{}))
	for _, o := range []fit.Options{{Formula: "y ~ site"}, {Engine: "sgd"}, {Positive: "no"}, {Missing: "mean"}} {
		if _, err := learn.From(file, o, 1); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	for _, share := range []float64{0, -1, math.Nextafter(1, 2), math.Inf(1), math.NaN()} {
		if _, err := learn.From(file, fit.Options{}, share); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), fmt.Sprintf("a share of %v is not above 0 and at most 1", share)) {
			t.Errorf("a share of %v: %v", share, err)
		}
	}
	for _, share := range []float64{math.SmallestNonzeroFloat64, 1} {
		must.Value(learn.From(file, fit.Options{}, share))(t)
	}
	none := file + "none"
	for what, err := range map[string]error{"From": second(learn.From(none, fit.Options{}, 1)), "Known": second(learn.Known(none))} {
		if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), none) {
			t.Errorf("%s of no file: %v", what, err)
		}
	}
}

// Later passes would put new rows in the place of those before, so that sep starts from a model of one pass alone.
func TestFromRefusesPasses(t *testing.T) {
	monday, _, _ := days(200)
	l := must.Value(learn.New(fit.Options{Formula: "y ~ x", Engine: "sep(passes=2)", Missing: "drop"}))(t)
	take(t, l, monday)
	file := filepath.Join(t.TempDir(), "checkpoint")
	must.Succeed(t, l.Checkpoint(file, credence.Position{}))
	if _, err := learn.From(file, fit.Options{}, 1); !errors.Is(err, fit.ErrMisuse) || !strings.Contains(err.Error(), "learn both in one run, or start from a model of one pass") {
		t.Errorf("%v", err)
	}
}

// second is the error of a call.
func second[T any](_ T, err error) error { return err }
