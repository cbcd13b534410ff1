package exact

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// score collects how far truths lie from their posteriors.
type score struct {
	count, held, squares, far float64
	errors                    float64   // Σ (truth − mean)²
	ranks                     []float64 // of all truths, in (0, 1)
}

// add scores a truth against mean and variance of a Student-t (df 0: normal) at 90 %.
func (s *score) add(truth, mean, variance, df float64) {
	z := (truth - mean) / math.Sqrt(variance)
	s.count++
	s.squares += z * z
	s.errors += (truth - mean) * (truth - mean)
	if !(math.Abs(z) <= 3) {
		s.far++
	}
	if math.Abs(z) <= halfWidth(df) {
		s.held++
	}
	rank := special.NormalCDF(z)
	if df > 0 {
		rank = distuv.StudentsT{Sigma: 1, Nu: df}.CDF(z * math.Sqrt(df/(df-2)))
	}
	s.ranks = append(s.ranks, rank)
}

// halfWidth is that of a 90 % interval in standard deviations.
func halfWidth(df float64) float64 {
	if df == 0 {
		return 1.6448536269514722
	}
	return distuv.StudentsT{Sigma: 1, Nu: df}.Quantile(0.95) * math.Sqrt((df-2)/df)
}

func (s *score) coverage() float64 { return s.held / s.count }
func (s *score) sd() float64       { return math.Sqrt(s.squares / s.count) }
func (s *score) rmse() float64     { return math.Sqrt(s.errors / s.count) }

// standardised returns n + extra rows of d columns of pairwise correlation rho, of which the first n have mean 0 and
// variance 1.
func standardised(rng *rand.Rand, n, extra, d int, rho float64) linop.Dense {
	x := linop.NewDense(n+extra, d)
	for i := range n + extra {
		common := rng.NormFloat64()
		for j := range d {
			x.Row(i)[j] = math.Sqrt(rho)*common + math.Sqrt(1-rho)*rng.NormFloat64()
		}
	}
	for j := range d {
		mean, square := 0.0, 0.0
		for i := range n {
			mean += x.Row(i)[j] / float64(n)
		}
		for i := range n {
			square += math.Pow(x.Row(i)[j]-mean, 2) / float64(n)
		}
		for i := range n + extra {
			x.Row(i)[j] = (x.Row(i)[j] - mean) / math.Sqrt(square)
		}
	}
	return x
}

// extraRows are new rows whose f and y are predicted.
const extraRows = 4

// simulated fits sets whose weights are drawn by a function, and scores weights, f and y of new rows.
func simulated(t testing.TB, sets, n int, features plain, p prior.Normal, rho float64, treatment param.Treatment, draw func(rng *rand.Rand, w []float64)) (weights, latent, outcome score, all [][2]score) {
	t.Helper()
	d := features.dense
	all = make([][2]score, d)
	for set := range sets {
		rng := rand.New(rand.NewPCG(uint64(set), uint64(1000*n+d)))
		x := standardised(rng, n, extraRows, d, rho)
		w := make([]float64, d)
		draw(rng, w)
		f, y := make([]float64, n+extraRows), make([]float64, n+extraRows)
		for i := range f {
			f[i] = 0.3
			for j, v := range x.Row(i) {
				f[i] += v * w[j]
			}
			y[i] = f[i] + rng.NormFloat64()
		}
		data := &table{x: x.Window(0, n), target: y[:n]}
		fit := fitted(t, model(features, p, likelihood.Gaussian{}), Config{Hyper: treatment, Threads: 1}, data)
		q := fit.Members[0].Posterior
		df := q.(credence.LatentDF).LatentDF()
		mean, variance := marginals(fit)
		kind := 0
		for j := range w {
			kind = 0
			if w[j] != 0 {
				kind = 1
			}
			weights.add(w[j], mean[j+1], variance[j+1], df)
			all[j][kind].add(w[j], mean[j+1], variance[j+1], df)
		}
		var phi credence.Design
		ws := credence.NewWorkspace(1)
		late := &table{x: x.Window(n, extraRows), target: y[n:]}
		features.Transform(ws, &phi, late.batch())
		fm, fv := make([]float64, extraRows), make([]float64, extraRows)
		q.Latent(ws, fm, fv, &phi)
		noise := fit.Members[0].Model.Likelihood.(likelihood.Gaussian)
		for i := range fm {
			latent.add(f[n+i], fm[i], fv[i], df)
			outcome.add(y[n+i], fm[i], fv[i]+noise.NoiseVariance.Value, noise.PredictiveDF)
		}
	}
	return weights, latent, outcome, all
}

// TestOneSlope: 90 % intervals of a slope of k standard errors. Under type-II maximum likelihood they hold it
// .94 .43 .67 .79 .86 of the time at n = 100.
func TestOneSlope(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	sets := 100
	if study.Calibration() {
		sets = 2000
	}
	for n, bar := range map[int]float64{100: 0.87, 20: 0.84} {
		for _, k := range []float64{0, 1, 2, 3, 5} {
			s, _, _, _ := simulated(t, sets, n, linear(1), prior.Normal{}, 0, "", func(_ *rand.Rand, w []float64) { w[0] = k / math.Sqrt(float64(n)) })
			t.Logf("n = %d, %v standard errors: %.3f", n, k, s.coverage())
			if s.coverage() < bar-2*math.Sqrt(0.1*0.9/float64(sets)) {
				t.Errorf("n = %d, %v standard errors: coverage %.3f", n, k, s.coverage())
			}
		}
	}
}

// drawBlock draws weights of one block from its prior with s = 1: τ² ~ BetaPrime(1, ½)/d.
func drawBlock(rng *rand.Rand, w []float64) {
	k := distuv.Beta{Alpha: 0.5, Beta: 1, Src: rng}.Rand()
	tau := math.Sqrt((1-k)/k) / math.Sqrt(float64(len(w)))
	for j := range w {
		w[j] = tau * rng.NormFloat64()
	}
}

// TestSimulatedCalibration draws everything from its prior. Ranks are those of the first weight and the
// first new row of each set.
func TestSimulatedCalibration(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	sets := 150
	if study.Calibration() {
		sets = 2000
	}
	var ranks conform.Ranks
	defer func() { ranks.Check(t) }()
	for _, c := range []struct {
		n, d int
		rho  float64
	}{{12, 6, 0.5}, {20, 4, 0.5}, {60, 4, 0.8}, {200, 10, 0.8}, {10, 20, 0.5}} {
		for _, treatment := range []param.Treatment{param.Integrate, param.Mode, param.MaximumLikelihood} {
			if !study.Calibration() && treatment != param.Integrate {
				continue
			}
			w, f, y, _ := simulated(t, sets, c.n, linear(c.d), prior.Normal{}, c.rho, treatment, drawBlock)
			what := fmt.Sprintf("n = %d, d = %d, %s", c.n, c.d, treatment)
			t.Logf("%s: weights %.3f %.3f, f %.3f %.3f, y %.3f %.3f (z SD, coverage)", what, w.sd(), w.coverage(), f.sd(), f.coverage(), y.sd(), y.coverage())
			if treatment != param.Integrate {
				continue
			}
			for set := range sets {
				ranks.Add(what+", a weight", w.ranks[set*c.d])
				ranks.Add(what+", f", f.ranks[set*extraRows])
				ranks.Add(what+", y", y.ranks[set*extraRows])
			}
			slack := 2 * math.Sqrt(0.1*0.9/float64(sets)) // the weights of a set vary together
			for _, s := range []score{w, f, y} {
				if s.sd() < 0.9-slack || s.sd() > 1.1+2*slack || s.coverage() < 0.87-slack || s.coverage() > 0.93+slack {
					t.Errorf("%s: z SD %.3f, coverage %.3f", what, s.sd(), s.coverage())
				}
			}
		}
	}
}

// TestTenBlocks: ten blocks of 1 to 5 weights, six of them without effect.
func TestTenBlocks(t *testing.T) {
	study.OnlyCalibration(t)
	features := plain{intercept: true, sizes: []int{1, 1, 1, 1, 2, 2, 2, 3, 3, 5}}
	effect := []bool{true, false, false, true, false, true, false, false, true, false}
	for _, n := range features.sizes {
		features.dense += n
	}
	for _, treatment := range []param.Treatment{param.Integrate, param.Mode, param.MaximumLikelihood} {
		w, f, y, each := simulated(t, 400, 80, features, prior.Normal{}, 0.3, treatment, func(rng *rand.Rand, w []float64) {
			next := 0
			for b, size := range features.sizes {
				for j := next; j < next+size; j++ {
					if w[j] = 0; effect[b] {
						w[j] = 0.5 * rng.NormFloat64()
					}
				}
				next += size
			}
		})
		var kinds [2]score
		for _, s := range each {
			for k := range s {
				kinds[k].merge(s[k])
			}
		}
		t.Logf("%s: RMSE %.4f, of f %.4f, zero %.3f, non-zero %.3f, beyond 3 SD %.4f; all %.3f, f %.3f, y %.3f", treatment, w.rmse(), f.rmse(), kinds[0].coverage(), kinds[1].coverage(), kinds[1].far/kinds[1].count, w.coverage(), f.coverage(), y.coverage())
		if treatment == param.Integrate && (kinds[0].coverage() < 0.87 || kinds[1].coverage() < 0.87 || kinds[1].far/kinds[1].count > 0.01) {
			t.Errorf("coverage %.3f and %.3f", kinds[0].coverage(), kinds[1].coverage())
		}
	}
}

func (s *score) merge(o score) {
	s.count += o.count
	s.held += o.held
	s.squares += o.squares
	s.far += o.far
}

// TestARD: fifty weights with a variance each, forty of them zero.
func TestARD(t *testing.T) {
	study.OnlyCalibration(t)
	rmse := map[param.Treatment]float64{}
	for _, treatment := range []param.Treatment{param.Integrate, param.Mode, param.MaximumLikelihood} {
		w, f, y, each := simulated(t, 60, 150, linear(50), prior.Normal{ARD: true}, 0.3, treatment, func(rng *rand.Rand, w []float64) {
			for j := range w {
				if w[j] = 0; j%5 == 0 {
					w[j] = 0.5 * rng.NormFloat64()
				}
			}
		})
		var kinds [2]score
		for _, s := range each {
			for k := range s {
				kinds[k].merge(s[k])
			}
		}
		rmse[treatment] = w.rmse()
		t.Logf("%s: RMSE %.4f, of f %.4f, all %.3f, zero %.3f, non-zero %.3f, beyond 3 SD %.4f; f %.3f, y %.3f", treatment, w.rmse(), f.rmse(), w.coverage(), kinds[0].coverage(), kinds[1].coverage(), kinds[1].far/kinds[1].count, f.coverage(), y.coverage())
		if treatment == param.Integrate && (w.coverage() < 0.87 || kinds[1].coverage() < 0.75 || kinds[1].far/kinds[1].count > 0.08) {
			t.Errorf("coverage %.3f, of non-zero weights %.3f, %.3f beyond 3 SD", w.coverage(), kinds[1].coverage(), kinds[1].far/kinds[1].count)
		}
	}
	if rmse[param.Integrate] > rmse[param.MaximumLikelihood] {
		t.Errorf("RMSE %v", rmse)
	}
}

// TestSmallRealSets compares log densities of held-out rows with those under hyper=ml, on a few rows of real sets.
func TestSmallRealSets(t *testing.T) {
	study.OnlyCalibration(t)
	const splits = 12
	better := map[int]float64{}
	for _, name := range []string{"boston", "concrete", "energy", "power"} {
		rows, _ := readUCI(t, name)
		for _, n := range []int{20, 30, 100, 300} {
			var gains []float64
			for split := range splits {
				order := rand.New(rand.NewPCG(uint64(split), 12)).Perm(len(rows))
				train, rest := splitUCI(rows, order[n:])
				gain := 0.0
				for treatment, sign := range map[param.Treatment]float64{param.Integrate: 1, param.MaximumLikelihood: -1} {
					features := linear(train.x.Cols)
					f := fitted(t, model(features, prior.Normal{}, likelihood.Gaussian{}), Config{Hyper: treatment}, train)
					gain -= sign * nlpd(f, features, rest)
				}
				gains = append(gains, gain)
			}
			mean, sd := stat.MeanStdDev(gains, nil)
			se := sd / math.Sqrt(splits)
			t.Logf("%s, n = %d: NLPD %+.4f ± %.4f", name, n, -mean, se)
			if mean < -2*se && mean < -0.001 {
				t.Errorf("%s, n = %d: NLPD is %.4f ± %.4f above that of hyper=ml", name, n, -mean, se)
			}
			better[n] += mean
		}
	}
	if better[20] <= 0 || better[30] <= 0 {
		t.Errorf("gains %v", better)
	}
}

// nlpd is the mean of −log p(y) over rows.
func nlpd(f *credence.Fitted, features credence.Features, data *table) float64 {
	var phi credence.Design
	ws := credence.NewWorkspace(1)
	features.Transform(ws, &phi, data.batch())
	n := data.Rows()
	mean, variance, sum := make([]float64, n), make([]float64, n), 0.0
	f.Members[0].Posterior.Latent(ws, mean, variance, &phi)
	noise := f.Members[0].Model.Likelihood.(likelihood.Gaussian)
	for i, y := range data.target {
		v, df := variance[i]+noise.NoiseVariance.Value, noise.PredictiveDF
		if df == 0 {
			sum -= distuv.Normal{Mu: mean[i], Sigma: math.Sqrt(v)}.LogProb(y)
		} else {
			sum -= distuv.StudentsT{Mu: mean[i], Sigma: math.Sqrt(v * (df - 2) / df), Nu: df}.LogProb(y)
		}
	}
	return sum / float64(n)
}
