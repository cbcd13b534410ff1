package gibbs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// scale draws τ, τ² ~ scale² BetaPrime(a, b).
func scale(rng *rand.Rand, a, b, scale float64) float64 {
	x := distuv.Beta{Alpha: a, Beta: b, Src: rng}.Rand()
	return scale * math.Sqrt(x/(1-x))
}

// TestCalibration draws inclusion, slab, noise, weights and targets from their priors, in units that do
// not follow the targets, and looks where they lie in the draws: a weight, f, how many columns are in,
// noise, slab, and the chance of a column against whether it is in.
func TestCalibration(t *testing.T) {
	study.OnlyCalibration(t)
	const sets, chains, draws = 200, 4, 25
	for _, c := range []struct {
		family  credence.Likelihood
		n, p    int
		learned bool
	}{
		{likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, 20, 30, false}, {likelihood.Gaussian{}, 40, 10, true}, {likelihood.Gaussian{}, 20, 30, true},
		{likelihood.Bernoulli{}, 40, 10, true}, {likelihood.Bernoulli{Link: likelihood.Probit}, 20, 30, true},
	} {
		t.Run(fmt.Sprintf("%v, %d rows, %d columns, learned %t", c.family, c.n, c.p, c.learned), func(t *testing.T) {
			spikeSlab := prior.SpikeSlab{InclusionPrior: [2]float64{1, 4}}
			if !c.learned {
				spikeSlab.Slab = param.Hold(1)
			}
			var ranks conform.Ranks
			expected, found, spread := 0.0, 0.0, 0.0 // Σ p(1 − p), Σ (z − p)² and its variance, of the inclusion p
			for set := range sets {
				rng := rand.New(rand.NewPCG(study.Seed(1)+uint64(set), uint64(c.n+c.p)))
				rows := &credence.Batch{X: linop.NewDense(c.n, c.p), Target: make([]float64, c.n)}
				for i := range c.n {
					common := rng.NormFloat64()
					for j := range c.p {
						rows.X.Row(i)[j] = (common + rng.NormFloat64()) / math.Sqrt2
					}
				}
				e, err := New(credence.Model{Features: conform.Columns{Dense: c.p, Intercept: true}, Likelihood: c.family, Prior: spikeSlab}, Config{Flips: 3000, Draws: chains * draws, Threads: 1, Seed: uint64(set)})
				if err != nil {
					t.Fatal(err)
				}
				table, err := candidates.Load(context.Background(), credence.NewWorkspace(1), "gibbs", e.model, conform.Memory{All: rows})
				if err != nil {
					t.Fatal(err)
				}
				s, err := table.NewSetting("gibbs", e.model)
				if err != nil {
					t.Fatal(err)
				}
				s.Centre, s.Scale = 0, 1
				s.Kept[0], s.KeptMean[0] = 1, 0
				noise, slab := math.Sqrt(0.5), 1.0
				if c.learned {
					noise, slab = scale(rng, 0.5, 0.5, 1), scale(rng, s.SlabPrior.A, s.SlabPrior.B, s.SlabPrior.Scale)
				} else {
					s.Noise.Start, s.Slab.Start = math.Log(noise), 0
				}
				pi, truth, count := distuv.Beta{Alpha: s.OddsA, Beta: s.OddsB, Src: rng}.Rand(), make([]float64, c.p+1), 0
				truth[0] = rng.NormFloat64()
				for j := range c.p {
					if rng.Float64() < pi {
						truth[j+1] = slab * rng.NormFloat64()
						count++
					}
				}
				latent := func(i int, w []float64) float64 {
					f := w[0]
					for j := range c.p {
						f += w[j+1] * (rows.X.Row(i)[j] - table.Means[j+1])
					}
					return f
				}
				for i := range c.n {
					family := c.family
					if _, ok := family.(likelihood.Gaussian); ok {
						family = likelihood.Gaussian{NoiseVariance: param.Hold(noise * noise)}
					}
					table.Target[i] = family.(likelihood.Sampler).Sample(rng, latent(i, truth))
				}
				if s.Target = table.Target; !s.Classes {
					table.Compress(credence.NewWorkspace(1), s)
				}
				f := &fit{Engine: e, Table: table, Setting: s, rows: c.n}
				if err := f.run(context.Background()); err != nil {
					t.Fatal(err)
				}
				f.judge()
				q, err := f.draws()
				if err != nil {
					t.Fatal(err)
				}
				var weight, first, counts, noises, slabs []float64
				in, total := 0.0, 0.0
				for k := range q.Count {
					w := q.Values[k*(c.p+1) : (k+1)*(c.p+1)]
					for j, m := range table.Means {
						w[0] += m * w[j]
					}
					weight, first = append(weight, w[1]), append(first, latent(0, w))
				}
				for _, k := range f.kept {
					r := f.records[k]
					in, total = in+r.inclusion[1]/r.total, total+1
					for _, state := range r.spread(draws) {
						counts, noises, slabs = append(counts, float64(state.to-state.from)), append(noises, state.logNoise), append(slabs, state.logSlab)
					}
				}
				in /= total
				is := 0.0
				if truth[1] != 0 {
					is = 1
				}
				expected, found, spread = expected+in*(1-in), found+(is-in)*(is-in), spread+in*(1-in)*(1-2*in)*(1-2*in)
				ranks.AddDraws("a weight", truth[1], weight, rng)
				ranks.AddDraws("f", latent(0, truth), first, rng)
				ranks.AddDraws("columns in", float64(count), counts, rng)
				if s.Noise.Learned {
					ranks.AddDraws("noise", math.Log(noise), noises, rng)
				}
				if s.Slab.Learned {
					ranks.AddDraws("slab", math.Log(slab), slabs, rng)
				}
			}
			t.Logf("inclusion of a column: Σ(z − p)² is %.2f, expected %.2f", found, expected)
			if math.Abs(found-expected) > 4*math.Sqrt(spread) {
				t.Error("inclusions are off")
			}
			ranks.Check(t)
		})
	}
}
