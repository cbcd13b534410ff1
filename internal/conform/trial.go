package conform

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/study"
)

// Trial is a set of the simulation by which engines for selection are compared: 1,000 columns of
// which 20 matter, few rows to learn from and 500 to predict.
type Trial struct {
	Train Selection
	all   *Selection
}

const (
	trialColumns = 1000
	trialRows    = 500 // to predict
	trialNoise   = 0.1
)

// NewTrial draws the set of a seed with n rows to learn from.
func NewTrial(n int, seed uint64) *Trial {
	all := NewSelection(n+trialRows, trialColumns, 20, 0, 1, trialNoise, false, seed)
	return &Trial{Selection{Batch: *Rows(&all.Batch, 0, n), Features: all.Features, Weights: all.Weights}, all}
}

// Score is how an engine did.
type Score struct {
	RMSE    float64 // of y on the rows to predict
	F1      float64 // of the selection at an inclusion of ½
	False   float64 // features selected that do not matter
	Seconds float64 // of processors
}

// Fit fits an engine that was made for the set.
func (s *Trial) Fit(t *testing.T, engine credence.Engine, err error) (*credence.Fitted, Score) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	before, begin := study.Processor(), time.Now()
	fitted, err := engine.Fit(context.Background(), Memory{All: &s.Train.Batch})
	if err != nil {
		t.Fatal(err)
	}
	var score Score
	if score.Seconds = (study.Processor() - before).Seconds(); score.Seconds == 0 {
		score.Seconds = time.Since(begin).Seconds()
	}
	q := fitted.Members[0].Posterior
	mean, variance := make([]float64, trialColumns+1), make([]float64, trialColumns+1)
	q.Marginals(mean, variance)
	square := 0.0
	for i := len(s.Train.Target); i < len(s.all.Target); i++ {
		gap := mean[0] - 0.7
		for j, x := range s.all.X.Row(i) {
			gap += x * (mean[j+1] - s.all.Weights[j])
		}
		square += gap * gap / trialRows
	}
	score.RMSE = math.Sqrt(square + trialNoise)
	hit, called, relevant := 0.0, 0.0, 0.0
	for j, w := range s.all.Weights {
		in := q.(credence.Selector).InclusionProbability(j+1) > 0.5
		if in {
			called++
		}
		if w != 0 {
			relevant++
		}
		if in && w != 0 {
			hit++
		}
	}
	score.F1, score.False = 2*hit/(called+relevant), called-hit
	return fitted, score
}

// Scores tells mean, median and worst of what engines did on several sets.
func Scores(list []Score) string {
	text := ""
	for _, figure := range []struct {
		name string
		of   func(s Score) float64
	}{
		{"rmse", func(s Score) float64 { return s.RMSE }}, {"f1", func(s Score) float64 { return s.F1 }},
		{"false", func(s Score) float64 { return s.False }}, {"s", func(s Score) float64 { return s.Seconds }},
	} {
		var of []float64
		sum := 0.0
		for _, s := range list {
			of = append(of, figure.of(s))
			sum += figure.of(s) / float64(len(list))
		}
		slices.Sort(of)
		text += fmt.Sprintf("  %s %.3f (median %.3f, least %.3f, most %.3f)", figure.name, sum, of[len(of)/2], of[0], of[len(of)-1])
	}
	return text
}
