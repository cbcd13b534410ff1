package gibbs_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/infer/gibbs"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// TestWeightsBetween: of 20 columns of 100 rows 5 have weights of k standard errors: how many of these 90 % intervals
// hold under the horseshoe and under the normal prior, which the remark about such weights names, and in how many sets
// the remark is made.
func TestWeightsBetween(t *testing.T) {
	study.OnlyCalibration(t)
	const n, p, relevant, sets = 100, 20, 5, 60
	for _, k := range []float64{0, 1, 1.5, 2, 3, 5, 10} {
		var held, zero [2][]float64 // share by set: horseshoe, normal
		remarked := 0.0
		for set := range sets {
			rng := rand.New(rand.NewPCG(study.Seed(7)+uint64(set), uint64(10*k)))
			rows, truth := &credence.Batch{X: linop.NewDense(n, p), Target: make([]float64, n)}, make([]float64, p)
			for j := range relevant {
				truth[j] = k / math.Sqrt(n) * float64(2*rng.IntN(2)-1)
			}
			for i := range n {
				for j := range p {
					rows.X.Row(i)[j] = rng.NormFloat64()
					rows.Target[i] += truth[j] * rows.X.Row(i)[j]
				}
				rows.Target[i] += rng.NormFloat64()
			}
			model := credence.Model{Features: conform.Columns{Dense: p, Intercept: true}, Likelihood: likelihood.Gaussian{}, Prior: prior.Horseshoe{}}
			engines := []credence.Engine{must.Value(gibbs.New(model, gibbs.Config{Threads: 1, Seed: uint64(set)}))(t), nil}
			model.Prior = prior.Normal{}
			engines[1] = must.Value(exact.New(model, exact.Config{Threads: 1}))(t)
			for e, engine := range engines {
				fitted := must.Value(engine.Fit(context.Background(), conform.Memory{All: rows}))(t)
				if e == 0 && len(fitted.Report.Remarks) > 0 {
					remarked += 1.0 / sets
				}
				mean, variance := make([]float64, p+1), make([]float64, p+1)
				fitted.Members[0].Posterior.Marginals(mean, variance)
				in, out := 0.0, 0.0
				for j, w := range truth {
					lower, upper := mean[j+1]-1.645*math.Sqrt(variance[j+1]), mean[j+1]+1.645*math.Sqrt(variance[j+1])
					if q, drawn := fitted.Members[0].Posterior.(*posterior.Draws); drawn {
						var list []float64
						for s := range q.Count {
							list = append(list, q.Values[s*(p+1)+j+1])
						}
						slices.Sort(list)
						lower, upper = list[q.Count/20], list[q.Count-1-q.Count/20]
					}
					switch {
					case w < lower || w > upper:
					case j < relevant:
						in += 1.0 / relevant
					default:
						out += 1.0 / (p - relevant)
					}
				}
				held[e], zero[e] = append(held[e], in), append(zero[e], out)
			}
		}
		shoe, shoeError := study.MeanAndError(held[0])
		normal, normalError := study.MeanAndError(held[1])
		others, _ := study.MeanAndError(zero[0])
		rest, _ := study.MeanAndError(zero[1])
		t.Logf("%v standard errors: horseshoe %.3f ± %.3f and %.3f of zeros, normal %.3f ± %.3f and %.3f; remark in %.2f of %d sets", k, shoe, shoeError, others, normal, normalError, rest, remarked, sets)
		if between := k > 0 && k <= 2; between && !(normal > shoe) {
			t.Errorf("%v standard errors: the normal prior holds %.3f and the horseshoe %.3f", k, normal, shoe)
		}
		if k == 0 && remarked > 0.3 || (k == 2 || k == 3) && remarked < 0.7 {
			t.Errorf("%v standard errors: the remark is made in %.2f of the sets", k, remarked)
		}
	}
}
