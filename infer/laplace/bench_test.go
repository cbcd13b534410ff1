package laplace

import (
	"context"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// BenchmarkSearch is the way from a start on the lasso's path to a mode of the paper's simulation.
func BenchmarkSearch(b *testing.B) {
	for _, method := range []Method{LBFGS, GIST} {
		b.Run(string(method), func(b *testing.B) {
			s := conform.NewSelection(100, 1000, 20, 0, 1, 0.1, false, 3)
			e := must.Value(New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(0.1)}, Prior: held(0.5, 1, 1e-3)}, Config{Method: method, Threads: 1}))(b)
			f := must.Value(e.newFit(context.Background(), conform.Memory{All: &s.Batch}))(b)
			starts := must.Value(f.starts(context.Background()))(b)
			for k := 0; b.Loop(); k++ {
				m := &mode{weights: slices.Clone(starts[len(starts)-1-k%6])}
				must.Succeed(b, f.search(context.Background(), f.normals(), m, false))
			}
		})
	}
}
