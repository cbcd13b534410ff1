package exact

import (
	"context"
	"math"
	"testing"

	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/conform/must"
)

// TestSlopesOfRoundedProducts compares slopes with central differences of the evidence where the
// backward product is of rounded numbers, up to the largest ratio of variances that is, and where
// it is not.
func TestSlopesOfRoundedProducts(t *testing.T) {
	ctx := context.Background()
	const n = 1600
	data := randomTable(85, n, 3, 0).withRoles(86, true, true)
	for i := range n {
		x := data.x.Row(i)
		data.target[i] = math.Sin(2*x[0]) + x[1]*x[2]/2 + data.target[i]/10
	}
	features := fourierSet(t, 3, narrowWeights/2, feature.RBF)
	run := opened(t, features, data)
	p, ok := run.form.(*primal)
	if !ok {
		t.Fatalf("the form is %T", run.form)
	}
	for _, noise := range []float64{1e-2, 2e-4, 1e-7} {
		at := values{noise: noise, prior: []float64{1, 0.1, 1}}
		hyper := problem.HyperValues(features)
		evidence := func(s *slopes) float64 {
			t.Helper()
			must.Succeed(t, p.load(ctx, features.WithHyper(hyper)))
			return must.Value(p.evaluate(ctx, &at, s))(t)
		}
		s := slopes{prior: make([]float64, 3), hyper: make([]float64, len(hyper))}
		evidence(&s)
		used := p.narrow.phi != nil
		if want := noise > 1e-6; used != want {
			t.Fatalf("noise %g: rounded numbers were used: %v", noise, used)
		}
		if p.narrow = (narrow{}); !used {
			continue
		}
		for h := range hyper {
			const step = 1e-4
			was := hyper[h]
			hyper[h] = was * math.Exp(step)
			up := evidence(nil)
			hyper[h] = was * math.Exp(-step)
			down := evidence(nil)
			hyper[h] = was
			difference := (up - down) / (2 * step)
			t.Logf("noise %g, lengthscale %d: slope %.6f, difference %.6f", noise, h+1, s.hyper[h], difference)
			if gap := math.Abs(s.hyper[h] - difference); !(gap <= 5e-3+1e-6*math.Abs(difference)) {
				t.Errorf("noise %g, lengthscale %d: the slope is %v, the central difference %v", noise, h+1, s.hyper[h], difference)
			}
		}
	}
}
