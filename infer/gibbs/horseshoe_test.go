package gibbs

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// grid calls do for points of a box, with the logarithms of their distance from the first number to the
// last in steps.
func grid(box [][3]float64, do func(x []float64)) {
	x := make([]float64, len(box))
	var fill func(k int)
	fill = func(k int) {
		if k == len(box) {
			do(x)
			return
		}
		for x[k] = box[k][0]; x[k] < box[k][1]; x[k] += box[k][2] {
			fill(k + 1)
		}
	}
	fill(0)
}

// moments adds up the moments of weighted normals.
type moments struct{ total, mean, square float64 }

func (m *moments) add(logWeight, mean, variance float64) {
	w := math.Exp(logWeight)
	m.total, m.mean, m.square = m.total+w, m.mean+w*mean, m.square+w*(mean*mean+variance)
}

// halfCauchy is the log density of the logarithm of a half-Cauchy of a scale.
func halfCauchy(u, scale float64) float64 {
	u -= math.Log(scale)
	return u - math.Log1p(math.Exp(2*u))
}

// slabPrior is that of log c, c² inverse gamma with 4 degrees of freedom.
func slabPrior(u, scale float64) float64 { return -4*u - 2*scale*scale*math.Exp(-2*u) }

// TestHorseshoe compares mean and deviation of the first weight, and the scales that are reported of normal rows, with
// quadrature over all scales, given which the weight is normal: one column with all, some and none of the others
// learned, two with the global scale held and three degrees of freedom, and classes of either link, whose weight is a
// variable of the quadrature, too. Draws are worth some thousand: 0.08 standard deviations are more than five standard
// errors.
func TestHorseshoe(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 14
	for _, c := range []struct {
		family credence.Likelihood
		p      int
		prior  prior.Horseshoe
	}{
		{likelihood.Gaussian{}, 1, prior.Horseshoe{}},
		{likelihood.Gaussian{}, 1, prior.Horseshoe{Scale: param.Hold(0.5)}},
		{likelihood.Gaussian{NoiseVariance: param.Hold(0.6)}, 1, prior.Horseshoe{}},
		{likelihood.Gaussian{NoiseVariance: param.Hold(0.6)}, 2, prior.Horseshoe{DF: 3, Scale: param.Hold(0.2)}},
		{likelihood.Bernoulli{}, 1, prior.Horseshoe{}},
		{likelihood.Bernoulli{Link: likelihood.Probit}, 1, prior.Horseshoe{Scale: param.Hold(0.5)}},
	} {
		rows := &credence.Batch{X: linop.NewDense(n, c.p), Target: make([]float64, n)}
		gaussian, normal := c.family.(likelihood.Gaussian)
		for i := range n {
			f := 0.0
			for j := range c.p {
				rows.X.Row(i)[j] = 1.5 * rng.NormFloat64()
				f += 0.6 * rows.X.Row(i)[j]
			}
			if rows.Target[i] = f + rng.NormFloat64(); !normal && rows.Target[i] > 0 {
				rows.Target[i] = 1
			} else if !normal {
				rows.Target[i] = 0
			}
		}
		e := must.Value(New(credence.Model{Features: conform.Columns{Dense: c.p}, Likelihood: c.family, Prior: c.prior}, Config{Sweeps: 8000, Draws: 12_000, Chains: 2}))(t)
		fitted := must.Value(e.Fit(context.Background(), conform.Memory{All: rows}))(t)
		mean, variance := make([]float64, c.p), make([]float64, c.p)
		fitted.Members[0].Posterior.Marginals(mean, variance)

		var xx [2][2]float64
		var xy [2]float64
		yy, size := 0.0, 0.0
		for i, y := range rows.Target {
			yy += y * y
			for j, v := range rows.X.Row(i) {
				xy[j] += v * y
				size += v * v / n / float64(c.p)
				for k, u := range rows.X.Row(i) {
					xx[j][k] += v * u
				}
			}
		}
		sd := math.Sqrt(yy / n)
		if !normal {
			sd = 1
		}
		width := 2.5 * sd / math.Sqrt(size)
		reach := 1 / math.Sqrt(size*n)            // of one column one half is expected: p₀/(p − p₀) = 1
		var want, global, reported, noise moments // log τ, log c and σ², of normal rows
		local, slab := [3]float64{-9, 9, 0.45}, [3]float64{math.Log(width) - 1.5, math.Log(width) + 3, 0.3}
		inverse := func(tau, lambda, c float64) float64 { return 1 / (math.Exp(-2*(tau+lambda)) + math.Exp(-2*c)) }
		switch {
		case normal && c.p == 1: // λ, τ, c, σ
			centre := math.Log(math.Sqrt((yy - xy[0]*xy[0]/xx[0][0]) / n))
			taus, sigmas := [3]float64{-9, 7, 0.45}, [3]float64{centre - 0.9, centre + 1.5, 0.05}
			if c.prior.Scale.State == param.Held {
				taus = [3]float64{math.Log(c.prior.Scale.Value), math.Log(c.prior.Scale.Value) + 0.1, 1}
			}
			if gaussian.NoiseVariance.State == param.Held {
				v := math.Log(gaussian.NoiseVariance.Value) / 2
				sigmas = [3]float64{v, v + 0.1, 1}
			}
			tauLearned := 1.0
			if c.prior.Scale.State == param.Held {
				tauLearned = 0
			}
			grid([][3]float64{local, taus, slab, sigmas}, func(x []float64) {
				v, s := inverse(x[1], x[0], x[2]), math.Exp(2*x[3])
				variance := 1 / (xx[0][0]/s + 1/v)
				mean := variance * xy[0] / s
				log := halfCauchy(x[0], 1) + halfCauchy(x[1], reach*math.Exp(x[3]))*tauLearned + slabPrior(x[2], width) + halfCauchy(x[3], sd) -
					n*x[3] - yy/2/s + math.Log(variance/v)/2 + mean*mean/variance/2
				want.add(log, mean, variance)
				global.add(log, x[1], 0)
				reported.add(log, x[2], 0)
				noise.add(log, s, 0)
			})
		case normal: // λ₁, λ₂, c
			s := gaussian.NoiseVariance.Value
			studentT := func(u float64) float64 { return u - 2*math.Log1p(math.Exp(2*u)/3) }
			grid([][3]float64{{-9, 5, 0.3}, {-9, 5, 0.3}, slab}, func(x []float64) {
				tau := math.Log(0.2)
				v0, v1 := inverse(tau, x[0], x[2]), inverse(tau, x[1], x[2])
				a, b, d := xx[0][0]/s+1/v0, xx[0][1]/s, xx[1][1]/s+1/v1
				det := a*d - b*b
				m0, m1 := (d*xy[0]-b*xy[1])/s/det, (a*xy[1]-b*xy[0])/s/det
				log := studentT(x[0]) + studentT(x[1]) + slabPrior(x[2], width) - math.Log(det*v0*v1)/2 + (m0*xy[0]+m1*xy[1])/s/2
				want.add(log, m0, d/det)
				reported.add(log, x[2], 0)
			})
		default: // λ, τ, c, w
			link := c.family.(likelihood.Bernoulli)
			tau := [3]float64{math.Log(0.5), math.Log(0.5) + 1, 2}
			if c.prior.Scale.State != param.Held {
				tau = [3]float64{-9, 7, 0.45}
			}
			logs := map[float64]float64{}
			grid([][3]float64{{-3, 9, 0.04}}, func(x []float64) {
				for i, y := range rows.Target {
					logs[x[0]] += link.LogDensity(y, x[0]*rows.X.Row(i)[0])
				}
			})
			grid([][3]float64{local, tau, slab}, func(x []float64) {
				v := inverse(x[1], x[0], x[2])
				prior := halfCauchy(x[0], 1) + halfCauchy(x[1], 2*reach) + slabPrior(x[2], width) - math.Log(v)/2
				if c.prior.Scale.State == param.Held {
					prior -= halfCauchy(x[1], 2*reach)
				}
				if v < 0.01 { // narrower than the grid, within which classes say the same
					want.add(prior+math.Log(v)/2+n*math.Log(0.5)+math.Log(2*math.Pi)/2-math.Log(0.04), 0, v)
					return
				}
				for w, l := range logs {
					want.add(prior+l-w*w/v/2, w, 0)
				}
			})
		}
		m := want.mean / want.total
		deviation := math.Sqrt(want.square/want.total - m*m)
		t.Logf("%v, %d columns, %v: %.4f ± %.4f, want %.4f ± %.4f; %.0f draws, R̂ %.3f", c.family, c.p, c.prior, mean[0], math.Sqrt(variance[0]), m, deviation, *fitted.Report.EffectiveDraws, *fitted.Report.RHat)
		if !(math.Abs(mean[0]-m) <= 0.08*deviation) || !(math.Abs(math.Sqrt(variance[0])/deviation-1) <= 0.08) || *fitted.Report.EffectiveDraws < 800 {
			t.Errorf("%v, %d columns, %v", c.family, c.p, c.prior)
		}
		for _, v := range fitted.Report.Hyper {
			got, law := v.Value, noise
			switch v.Name {
			case "scale":
				got, law = math.Log(got), global
			case "slab":
				got, law = math.Log(got)/2, reported
			}
			if law.total == 0 {
				continue
			}
			m := law.mean / law.total
			deviation := math.Sqrt(math.Max(0, law.square/law.total-m*m))
			t.Logf("%s: %.4f, want %.4f ± %.4f", v.Name, got, m, deviation)
			if !(math.Abs(got-m) <= 0.1*deviation+1e-9) {
				t.Errorf("%v, %d columns, %v: the mean of %s is %v, by quadrature %v ± %v", c.family, c.p, c.prior, v.Name, got, m, deviation)
			}
		}
	}
}

// TestHorseshoeCalibration draws all scales, weights and targets from their priors, in units that do not
// follow the targets, and looks where they lie in the draws.
func TestHorseshoeCalibration(t *testing.T) {
	study.OnlyCalibration(t)
	const sets, chains, draws = 100, 4, 25
	for _, c := range []struct {
		family credence.Likelihood
		n, p   int
	}{{likelihood.Gaussian{}, 15, 20}, {likelihood.Gaussian{}, 30, 5}, {likelihood.Bernoulli{}, 40, 5}, {likelihood.Bernoulli{Link: likelihood.Probit}, 15, 20}} {
		t.Run(fmt.Sprintf("%v, %d rows, %d columns", c.family, c.n, c.p), func(t *testing.T) {
			var ranks conform.Ranks
			for set := range sets {
				rng := rand.New(rand.NewPCG(study.Seed(1)+uint64(set), uint64(c.n+c.p)))
				rows := &credence.Batch{X: linop.NewDense(c.n, c.p), Target: make([]float64, c.n)}
				for i := range rows.X.Data {
					rows.X.Data[i] = rng.NormFloat64()
				}
				e := must.Value(New(credence.Model{Features: conform.Columns{Dense: c.p}, Likelihood: c.family, Prior: prior.Horseshoe{}}, Config{Sweeps: 600, Draws: chains * draws, Seed: uint64(set)}))(t)
				rows.Target[0] = 1 // any that vary: the units are those below
				f := fitOn(t, e, rows)
				s := f.Setting
				f.Units.Centre, f.Units.Scale, f.Units.Noise = 0, 1, 1
				truth := f.newShrinkage(newChain(f.Table, s, credence.NewWorkspace(1), rng))
				if s.Noise.Learned {
					truth.logNoise = math.Log(scale(rng, 0.5, 0.5, 1))
				}
				truth.global = math.Log(scale(rng, 0.5, 0.5, truth.bound()))
				truth.slab = math.Log(truth.width*math.Sqrt(2)) - math.Log(distuv.Gamma{Alpha: 2, Beta: 1, Src: rng}.Rand())/2
				for j := range truth.weights {
					truth.local[j] = math.Log(scale(rng, 0.5, 0.5, 1))
					truth.weights[j] = math.Sqrt(truth.variance(j)) * rng.NormFloat64()
				}
				f.drawTargets(math.Exp(truth.logNoise), rng, func(i int) float64 { return kernel.Dot(truth.weights, rows.X.Row(i)) })
				traces := must.Value(f.traces(context.Background()))(t)
				var weight, globals, slabs, noises []float64
				for _, r := range traces {
					for k := range draws {
						at := (k + 1) * len(r.global) / draws
						weight = append(weight, r.draws[k*c.p])
						globals, slabs, noises = append(globals, r.global[at-1]), append(slabs, r.slab[at-1]), append(noises, r.noise[at-1])
					}
				}
				ranks.AddDraws("a weight", truth.weights[0], weight, rng)
				ranks.AddDraws("global", truth.global, globals, rng)
				ranks.AddDraws("slab", truth.slab, slabs, rng)
				if s.Noise.Learned {
					ranks.AddDraws("noise", truth.logNoise, noises, rng)
				}
			}
			ranks.Check(t)
		})
	}
}
