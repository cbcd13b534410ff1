package ep

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestTrace: without covariances Σ Var f of the rows, which the noise is learned from, is that of the full form
// where every row has one column, several rows each: rows and columns then make a tree.
func TestTrace(t *testing.T) {
	const n, noise = 8, 0.5
	s := conform.NewSelection(n, 3, 2, 0, 1, noise, false, 4)
	s.Features = conform.Columns{Dense: 3} // an intercept would be in every row
	for i := range n {
		for j := range 3 {
			if j != i%3 {
				s.X.Row(i)[j] = 0
			}
		}
	}
	var traces []float64
	for _, covariance := range []Covariance{Full, Diagonal} {
		e := must.Value(New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(noise)}, Prior: held(0.3, 1)}, Config{Covariance: covariance}))(t)
		f := must.Value(e.newFit(context.Background(), conform.Memory{All: &s.Batch}))(t)
		for k := range f.weights { // sites of no fit: the trace is of any
			f.weights[k] = site{precision: 1 + float64(k), shift: 0.3}
		}
		must.Succeed(t, f.q.take(f.weights, f.rows, false))
		traces = append(traces, f.q.trace(f.q, math.Exp(-2*f.logNoise)))
	}
	if !(math.Abs(traces[1]/traces[0]-1) <= 1e-9) {
		t.Errorf("without covariances %v, with them %v", traces[1], traces[0])
	}
}
