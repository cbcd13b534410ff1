package gibbs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/ep"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
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

// simulate draws inclusion, slab, noise, where they are learned, weights and targets from the priors of an engine, in
// units that do not follow the targets, and returns the fit of the rows with the truth. What is not learned is a slab
// of 1 and a noise variance of ½.
func simulate(t *testing.T, e *Engine, rows *credence.Batch, rng *rand.Rand) (f *fit, truth []float64, noise, slab float64) {
	t.Helper()
	f = fitOn(t, e, rows)
	table, s := f.Table, f.Setting
	table.Units.Centre, table.Units.Scale, table.Units.Noise = 0, 1, 1
	s.Kept[0], s.KeptMean[0] = 1, 0
	if noise, slab = math.Sqrt(0.5), 1.0; s.Slab.Learned {
		noise, slab = scale(rng, 0.5, 0.5, 1), scale(rng, s.SlabPrior.A, s.SlabPrior.B, s.SlabPrior.Scale)
	} else {
		s.Noise.Start, s.Slab.Start = math.Log(noise), 0
	}
	pi := distuv.Beta{Alpha: s.OddsA, Beta: s.OddsB, Src: rng}.Rand()
	truth = make([]float64, table.Count())
	truth[0] = rng.NormFloat64()
	for j := 1; j < len(truth); j++ {
		if rng.Float64() < pi {
			truth[j] = slab * rng.NormFloat64()
		}
	}
	f.drawTargets(noise, rng, latentOf(table, rows, truth))
	return f, truth, noise, slab
}

// drawTargets draws the targets of the rows at f and a noise deviation.
func (f *fit) drawTargets(noise float64, rng *rand.Rand, latent func(i int) float64) {
	family := f.model.Likelihood
	if _, ok := family.(likelihood.Gaussian); ok {
		family = likelihood.Gaussian{NoiseVariance: param.Hold(noise * noise)}
	}
	for i := range f.Held.Target {
		f.Held.Target[i] = family.(likelihood.Sampler).Sample(rng, latent(i))
	}
	if f.Setting.Target = f.Held.Target; !f.Classes {
		f.Compress(credence.NewWorkspace(1), f.Setting)
	}
}

// latentOf returns f of row i at weights of which the first is that at the columns' means.
func latentOf(table *candidates.Table, rows *credence.Batch, weights []float64) func(i int) float64 {
	return func(i int) float64 {
		f := weights[0]
		for j, w := range weights[1:] {
			f += w * (rows.X.Row(i)[j] - table.Means[j+1])
		}
		return f
	}
}

// equicorrelated draws n rows of p columns of which any two have the correlation.
func equicorrelated(n, p int, correlation float64, rng *rand.Rand) *credence.Batch {
	rows := &credence.Batch{X: linop.NewDense(n, p), Target: make([]float64, n)}
	rows.Target[0] = 1 // any that vary
	for i := range n {
		common := rng.NormFloat64()
		for j := range p {
			rows.X.Row(i)[j] = math.Sqrt(correlation)*common + math.Sqrt(1-correlation)*rng.NormFloat64()
		}
	}
	return rows
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
				rows := equicorrelated(c.n, c.p, 0.5, rng)
				e := must.Value(New(credence.Model{Features: conform.Columns{Dense: c.p, Intercept: true}, Likelihood: c.family, Prior: spikeSlab}, Config{Flips: 3000, Draws: chains * draws, Threads: 1, Seed: uint64(set)}))(t)
				f, truth, noise, slab := simulate(t, e, rows, rng)
				table, s := f.Table, f.Setting
				latent, count := latentOf(table, rows, truth), 0
				for _, w := range truth[1:] {
					if w != 0 {
						count++
					}
				}
				must.Succeed(t, f.run(context.Background()))
				f.judge()
				q := must.Value(f.draws())(t)
				var weight, first, counts, noises, slabs []float64
				in, total := 0.0, 0.0
				for k := range q.Count {
					w := q.Values[k*(c.p+1) : (k+1)*(c.p+1)]
					for j, m := range table.Means {
						w[0] += m * w[j]
					}
					weight, first = append(weight, w[1]), append(first, latentOf(table, rows, w)(0))
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
				ranks.AddDraws("f", latent(0), first, rng)
				ranks.AddDraws("columns in", float64(count), counts, rng)
				if s.Noise.Learned {
					ranks.AddDraws("noise", math.Log(noise), noises, rng)
				}
				if s.Slab.Learned {
					ranks.AddDraws("slab", math.Log(slab), slabs, rng)
				}
			}
			t.Logf("inclusion of a column: Σ(z − p)² is %.2f, expected %.2f", found, expected)
			if !(math.Abs(found-expected) <= 4*math.Sqrt(spread)) {
				t.Error("inclusions are off")
			}
			ranks.Check(t)
		})
	}
}

// TestDeciles: of the columns whose inclusion is in [k/10, (k+1)/10] the share that is in, of sets drawn from the
// priors with π ~ Beta(1, 9) stated, by gibbs and by ep, whose units follow the targets. Deciles of fewer than 200
// columns go together with the next; standard errors are by set. Sets in which ep warns that sites do not settle or
// that the search may be stuck are told apart.
func TestDeciles(t *testing.T) {
	study.OnlyCalibration(t)
	const sets, p = 200, 100
	for _, n := range []int{60, 100} {
		for _, correlation := range []float64{0, 0.5} {
			t.Run(fmt.Sprintf("%d/%v", n, correlation), func(t *testing.T) {
				var of [3][10][]outcome // gibbs, ep, ep where it warns
				for set := range sets {
					rng := rand.New(rand.NewPCG(study.Seed(4000)+uint64(set), uint64(n)))
					rows := equicorrelated(n, p, correlation, rng)
					model := credence.Model{Features: conform.Columns{Dense: p, Intercept: true}, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{InclusionPrior: [2]float64{1, 9}}}
					e := must.Value(New(model, Config{Flips: 4000, Threads: 1, Seed: uint64(set)}))(t)
					f, truth, _, _ := simulate(t, e, rows, rng)
					must.Succeed(t, f.run(context.Background()))
					f.judge()
					copy(rows.Target, f.Held.Target)
					fitted := must.Value(must.Value(ep.New(model, ep.Config{Threads: 1}))(t).Fit(context.Background(), conform.Memory{All: rows}))(t)
					second := 1
					if len(fitted.Report.Warnings) > 0 {
						second = 2
					}
					for j := 1; j <= p; j++ {
						in := 0.0
						for _, k := range f.kept {
							in += f.records[k].inclusion[j] / f.records[k].total / float64(len(f.kept))
						}
						for k, v := range map[int]float64{0: in, second: fitted.Members[0].Posterior.(credence.Selector).InclusionProbability(j)} {
							decile := min(9, int(10*v))
							of[k][decile] = append(of[k][decile], outcome{set, v, truth[j] != 0})
						}
					}
				}
				for k, name := range []string{"gibbs", "ep", "ep, sets that are warned of"} {
					for from := 0; from < 10; {
						to, list := from, []outcome{}
						for ; to < 10 && (to == from || len(list) < 200 || count(of[k][to:]) < 200); to++ {
							list = append(list, of[k][to]...)
						}
						claimed, found, spread := deciles(list)
						t.Logf("%s, deciles %d to %d: %d columns, claimed %.3f, found %.3f ± %.3f", name, from, to-1, len(list), claimed, found, spread)
						if k == 0 && !(math.Abs(found-claimed) <= 0.04+2.5*spread) {
							t.Errorf("gibbs claims %.3f, and %.3f ± %.3f are in", claimed, found, spread)
						}
						from = to
					}
				}
			})
		}
	}
}

// outcome is an inclusion with whether it is so.
type outcome struct {
	set     int
	claimed float64
	in      bool
}

func count(lists [][]outcome) (n int) {
	for _, list := range lists {
		n += len(list)
	}
	return n
}

// deciles returns what is claimed and found on average, and the standard error of their difference, by sets.
func deciles(list []outcome) (claimed, found, spread float64) {
	n, gaps := float64(len(list)), map[int]float64{}
	for _, o := range list {
		gap := -o.claimed
		if claimed += o.claimed / n; o.in {
			found, gap = found+1/n, gap+1
		}
		gaps[o.set] += gap / n
	}
	for _, gap := range gaps {
		spread += (gap - (found-claimed)/float64(len(gaps))) * (gap - (found-claimed)/float64(len(gaps)))
	}
	return claimed, found, math.Sqrt(spread)
}
