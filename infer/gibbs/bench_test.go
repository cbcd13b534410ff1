package gibbs

import (
	"context"
	"fmt"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// BenchmarkFlips is the time of a flip of one chain, its share of moves of noise and slab included.
func BenchmarkFlips(b *testing.B) {
	for _, n := range []int{60, 120} {
		for _, classes := range []bool{false, true} {
			s := conform.NewTrial(n, 1000).Train
			model := credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}
			name := "normal"
			if classes {
				model.Likelihood, name = likelihood.Bernoulli{}, "classes"
				for i, y := range s.Target {
					s.Target[i] = 0
					if y > 0.7 {
						s.Target[i] = 1
					}
				}
			}
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				e := must.Value(New(model, Config{Chains: 1, Flips: max(100, b.N), Threads: 1}))(b)
				b.ReportAllocs()
				must.Value(e.Fit(context.Background(), conform.Memory{All: &s.Batch}))(b)
			})
		}
	}
}
