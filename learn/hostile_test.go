package learn_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
)

// wild is a stream of rows some of which have importances, values and offsets of any size.
func wild(seed uint64) string {
	rng := rand.New(rand.NewPCG(seed, 27))
	size := func(rate, most float64) float64 { // 1, now and then anything up to 10^most
		if rng.Float64() >= rate {
			return 1
		}
		return math.Pow(10, most*(2*rng.Float64()-1))
	}
	rate := math.Pow(10, -2*rng.Float64())
	values, offsets := rate*float64(rng.IntN(2)), rate*float64(rng.IntN(2))
	var text strings.Builder
	text.WriteString("y,a,b,c,w,o\n")
	for i := range 4 << rng.IntN(8) {
		a, b := rng.NormFloat64()*size(values, 30), rng.NormFloat64()*size(values/4, 250)
		y := 0
		if a+rng.NormFloat64() > 0 {
			y = 1
		}
		fmt.Fprintf(&text, "%d,%g,%g,c%d,%g,%g\n", y, a, b, rng.IntN(3+i/8), size(rate, 18), 0.1*size(offsets, 10))
	}
	return text.String()
}

// TestHostileStreams: whatever the importances, values and offsets of rows, each engine learns what it can, names the
// row and the number where it cannot, and its state, its model and its predictions are numbers.
func TestHostileStreams(t *testing.T) {
	streams := 12
	if study.Long() {
		streams = 400
	}
	refused := map[string]int{}
	for _, engine := range []string{"sep", "sep(batch=4)", "sep(passes=2)", "sep(forget=50)", "ftrl", "sgd", "adpredictor", "adpredictor(variance=1)"} {
		for seed := range uint64(streams) {
			if err := hostileStream(t, engine, wild(seed), refused); err != nil {
				t.Errorf("%s, stream %d: %v", engine, seed, err)
			}
		}
	}
	t.Logf("hostile: %d streams an engine, rows refused: %v", streams, refused)
}

func hostileStream(t *testing.T, engine, text string, refused map[string]int) error {
	data := must.Value(dataset.Open(t.Context(), []string{"-"}, dataset.Options{Stdin: strings.NewReader(text)}))(t)
	defer data.Close()
	l := must.Value(learn.New(fit.Options{Formula: "y ~ a + b + c + hash(c:a) + weight(w) + offset(o)", Engine: engine}))(t)
	columns := must.Value(l.Columns(data.Schema()))(t)
	var bad error
	l.MaxMalformed, l.OnMalformed = math.MaxInt64, func(err error) {
		if refused[engine]++; !strings.Contains(err.Error(), "standard input:") || !strings.Contains(err.Error(), " is ") {
			bad = fmt.Errorf("a refusal without row and number: %w", err)
		}
	}
	var file = filepath.Join(t.TempDir(), "m")
	for more := true; more; more = l.EndPass() {
		if err := data.Rows(t.Context(), columns, credence.Position{}, func(run *dataset.Run) error {
			_, err := l.Learn(run.Rows)
			return err
		}); err != nil {
			return err
		}
	}
	if err := l.Checkpoint(file, credence.Position{}); err != nil {
		return err
	}
	if _, _, err := learn.Resume(file, fit.Options{Formula: "y ~ a + b + c + hash(c:a) + weight(w) + offset(o)", Engine: engine}); err != nil && !strings.Contains(err.Error(), "finished") {
		return err
	}
	l.Finish()
	fitted, err := l.Fitted()
	if err != nil {
		return err
	}
	if err := modelfile.Save(file, fitted); err != nil {
		return err
	}
	bound := must.Value(score.Bind[map[string]any](must.Value(score.New(fitted, score.Options{}))(t)))(t)
	for _, a := range []float64{-2, 0, 1} {
		p, err := bound.Score(map[string]any{"a": a, "b": 1.0, "c": "c1", "o": 0.1})
		if err != nil || !(p.Mean >= 0 && p.Mean <= 1) {
			return fmt.Errorf("prediction of a = %v: %v, %v", a, p, err)
		}
	}
	return bad
}
