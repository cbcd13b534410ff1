package active

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestPrecision: what a label of numbers tells is ½ log(1 + ρp/σ²), p the precision of its row. Before the fix both
// rows have the score of precision 1, and the first in the file comes first.
func TestPrecision(t *testing.T) {
	const noise = 0.3
	a, b := mat.NewSymDense(inputs, nil), []float64{0.3, -0.2, 0.1, 0.4}
	for j := range inputs {
		a.SetSym(j, j, 1+0.2*float64(j))
	}
	s := must.Value(NewScorer(gaussianOf(t, likelihood.Gaussian{NoiseVariance: param.Hold(noise)}, a, b), Information, 0, 1))(t)
	var rows credence.Batch
	rows.Append(poolOf(1), 0, 1)
	rows.Append(poolOf(1), 0, 1)
	rows.Precision = []float64{0.01, 100}
	mean, variance := make([]float64, 2), make([]float64, 2)
	must.Succeed(t, s.Latent(mean, variance, &rows))
	pool := s.NewPool(2, 0)
	for i := range 2 {
		pool.Add(&rows, i, i, mean[i], variance[i], 1)
	}
	got := must.Value(pool.Picks(2))(t)
	first := math.Log1p(variance[1]*100/noise) / 2
	left := variance[0] / (1 + variance[1]*100/noise) // the rows are equal
	second := math.Log1p(left*0.01/noise) / 2
	if got[0].Place != 1 || !(math.Abs(got[0].Score-first) <= 1e-9) || !(math.Abs(got[1].Score-second) <= 1e-9) {
		t.Errorf("picks %+v, want row 1 of score %v and then row 0 of score %v", got, first, second)
	}
}
