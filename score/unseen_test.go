package score_test

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// A sparse column that training did not have leaves the mean and adds its square times one prior
// variance to that of f.
func TestUnseenColumnsAddTheirVariance(t *testing.T) {
	var x linop.CSR
	x.Reset(3)
	labels := make([]float64, 40)
	for i := range labels {
		x.AppendRow([]int32{int32(i % 3)}, []float64{1 + float64(i%4)})
		labels[i] = math.Sin(float64(i)) + float64(i%3)
	}
	rows := must.Value(table.Sparse(labels, x))(t)
	fitted := must.Value(fit.Table(context.Background(), rows, fit.Options{Formula: "label ~ ."}))(t)
	scorer := must.Value(score.New(fitted, score.Options{Threads: 1}))(t)
	bound := must.Value(score.Bind[map[string]any](scorer))(t)
	latent := func(entry float64) (mean, variance float64) {
		t.Helper()
		must.Succeed(t, bound.Rows([]map[string]any{{"x2": 1.5, "x9": entry}}, func(rows *score.Rows) error {
			mean, variance = rows.Latent(0)
			return nil
		}))
		return mean, variance
	}
	mean, variance := latent(0)
	_, one := latent(1)
	prior := one - variance
	for _, entry := range []float64{1, -2, 5} {
		m, v := latent(entry)
		if want := variance + entry*entry*prior; m != mean || prior <= 0 || !(math.Abs(v-want) <= 1e-12*want) {
			t.Errorf("an unseen entry of %v: f is %v ± %v², want %v ± %v²", entry, m, v, mean, want)
		}
	}
}
