package learn_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/infer/online"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/task"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/spec"
	"github.com/credence-ml/credence/table"
)

// failing is an engine that panics at a batch, or gives a probability that is no number.
type failing struct {
	*online.SGD
	left   *int // batches before
	spoils bool
}

func (f failing) Learn(b *credence.Batch, probability []float64) []int {
	if *f.left--; *f.left < 0 && !f.spoils {
		panic("no such slot")
	}
	refused := f.SGD.Learn(b, probability)
	if *f.left < 0 {
		probability[len(probability)-1] = math.NaN()
	}
	return refused
}

// A panic of an engine, whatever goroutine it is on, and a score that is no number are errors of the learner's methods
// from then on, and no checkpoint is written from what is left.
func TestPanicBreaksTheLearner(t *testing.T) {
	for _, threads := range []int{1, 4, -1, -4} {
		spoils := threads < 0
		threads = max(threads, -threads)
		for _, before := range []int{0, 1, 9} {
			registry, left := fit.Default(), before
			registry.Engines = append(registry.Engines, fit.Engine{Name: "failing", Online: func(*spec.Arguments, credence.Prior) (fit.Online, error) {
				return fit.Online{Passes: 2, New: func() (credence.Online, error) {
					return failing{online.NewSGD(online.SGDConfig{}), &left, spoils}, nil
				}}, nil
			}})
			l := must.Value(learn.New(fit.Options{Formula: "y ~ x", Engine: "failing", Threads: threads, Registry: registry}))(t)
			rows := &table.Rows{}
			rows.Reset("", []table.Column{{Name: "y"}, {Name: "x"}})
			for i := range 5000 {
				rows.Values = append(rows.Values, float64(i%2), float64(i%17))
				rows.Count++
			}
			panicked := func(method string, err error) {
				if fault := (*task.Panic)(nil); !spoils && (!errors.As(err, &fault) || fault.Value != "no such slot") ||
					spoils && (err == nil || !strings.Contains(err.Error(), "the probability of the row is no number")) {
					t.Errorf("%d threads, %d batches before the panic: %s returns %v", threads, before, method, err)
				}
			}
			if _, err := l.Learn(rows); err != nil {
				panicked("Learn", err)
			}
			if l.EndPass() {
				t.Error("another pass is asked for after a panic")
			}
			_, err := l.Progress()
			panicked("Progress", err)
			_, err = l.Learn(rows)
			panicked("the next Learn", err)
			_, err = l.Row(map[string]any{"y": 1.0, "x": 2.0})
			panicked("Row", err)
			l.Finish()
			_, err = l.Fitted()
			panicked("Fitted", err)
			path := filepath.Join(t.TempDir(), "checkpoint")
			panicked("Checkpoint", l.Checkpoint(path, credence.Position{}))
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a checkpoint was written after a panic: %v", err)
			}
		}
	}
}
