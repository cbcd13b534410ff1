package svi

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
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
)

// interval is what the posterior says of a number.
type interval struct{ mean, sd, df float64 }

// covers reports whether the interval of probability 0.9 holds x.
func (i interval) covers(x float64) bool {
	scale, quantile := i.sd, special.NormalQuantile(0.95)
	if i.df > 0 {
		scale *= math.Sqrt((i.df - 2) / i.df)
		quantile = distuv.StudentsT{Sigma: 1, Nu: i.df}.Quantile(0.95)
	}
	return math.Abs(x-i.mean) <= quantile*scale
}

// rank is the probability below x.
func (i interval) rank(x float64) float64 {
	z := (x - i.mean) / i.sd
	if i.df > 0 {
		return distuv.StudentsT{Sigma: 1, Nu: i.df}.CDF(z * math.Sqrt(i.df/(i.df-2)))
	}
	return special.NormalCDF(z)
}

// weightsOf are the marginals of the weights, over members of equal weight.
func weightsOf(f *credence.Fitted) []interval {
	d := f.Members[0].Posterior.Weights()
	out := make([]interval, d)
	m, v := make([]float64, d), make([]float64, d)
	share := 1 / float64(len(f.Members))
	for _, member := range f.Members {
		member.Posterior.Marginals(m, v)
		for j := range out {
			out[j].mean += share * m[j]
			out[j].sd += share * (v[j] + m[j]*m[j])
			out[j].df = member.Posterior.(*posterior.Full).DF
		}
	}
	for j := range out {
		out[j].sd = math.Sqrt(out[j].sd - out[j].mean*out[j].mean)
	}
	return out
}

// correlated draws n rows of d standard normal columns with the same correlation between any two.
func correlated(rng *rand.Rand, n, d int, rho float64) linop.Dense {
	x := linop.NewDense(n, d)
	for i := range n {
		common := rng.NormFloat64()
		for j := range d {
			x.Row(i)[j] = math.Sqrt(rho)*common + math.Sqrt(1-rho)*rng.NormFloat64()
		}
	}
	standardise(x)
	return x
}

func standardise(x linop.Dense) {
	for j := range x.Cols {
		mean, square := 0.0, 0.0
		for i := range x.Rows {
			mean += x.Row(i)[j] / float64(x.Rows)
		}
		for i := range x.Rows {
			x.Row(i)[j] -= mean
			square += x.Row(i)[j] * x.Row(i)[j] / float64(x.Rows)
		}
		for i := range x.Rows {
			x.Row(i)[j] /= math.Sqrt(square)
		}
	}
}

// try fits, and returns nil where the data allow no fit.
func try(t *testing.T, lik credence.Likelihood, treatment param.Treatment, data *memory) *credence.Fitted {
	t.Helper()
	return tryAs(t, lik, Config{Covariance: Full, Hyper: treatment}, data)
}

func tryAs(t *testing.T, lik credence.Likelihood, cfg Config, data *memory) *credence.Fitted {
	t.Helper()
	cfg.Diagnostics, cfg.Threads = -1, 1
	e := must.Value(New(credence.Model{Features: plain{p: data.x.Cols, intercept: true}, Likelihood: lik, Prior: normal}, cfg))(t)
	f, err := e.Fit(context.Background(), data)
	if err != nil {
		t.Fatalf("%v: %v", lik, err)
	}
	return f
}

// TestOneSlope: a slope of k standard errors, the only one of its block, lies in its 90 % interval at
// least 87 (100 rows) or 84 (20 rows) times in 100, less two standard errors of the simulation.
func TestOneSlope(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	sets := 30
	if study.Calibration() {
		sets = 400
	}
	for _, c := range []struct {
		lik         likelihood.Family
		information float64 // of a row about f at the intercept
	}{
		{likelihood.Bernoulli{}, special.Sigmoid(0.3) * special.Sigmoid(-0.3)},
		{likelihood.Poisson{}, math.Exp(0.3)},
	} {
		for _, n := range []int{100, 20} {
			for _, k := range []float64{0, 1, 2, 3, 5} {
				rng := rand.New(rand.NewPCG(uint64(n), uint64(k)))
				slope := k / math.Sqrt(float64(n)*c.information)
				held, narrow := 0, 0
				for range sets {
					data := simulate(rng, c.lik, correlated(rng, n, 1, 0), []float64{slope})
					w := weightsOf(try(t, c.lik, "", data))[1]
					if w.covers(slope) {
						held++
					}
					if w.sd < 0.1/math.Sqrt(float64(n)*c.information) {
						narrow++
					}
				}
				share, least := float64(held)/float64(sets), 0.87
				if n == 20 {
					least = 0.84
				}
				t.Logf("%v, %d rows, slope of %g standard errors: %.3f", c.lik, n, k, share)
				if least -= 2 * math.Sqrt(0.09/float64(sets)); share < least || narrow > 0 {
					t.Errorf("%v, %d rows, slope of %g standard errors: %.3f of the intervals hold it, %d of no width", c.lik, n, k, share, narrow)
				}
			}
		}
	}
}

// simulate draws targets at an intercept of 0.3, again until they are not all the same.
func simulate(rng *rand.Rand, lik likelihood.Family, x linop.Dense, w []float64) *memory {
	data := &memory{x: x, y: make([]float64, x.Rows)}
	for range 1000 {
		for i := range data.y {
			f := 0.3
			for j, v := range x.Row(i) {
				f += v * w[j]
			}
			data.y[i] = lik.(likelihood.Sampler).Sample(rng, f)
		}
		seen, grades := map[float64]bool{}, 2
		for _, y := range data.y {
			seen[y] = true
		}
		if g, ok := lik.(likelihood.Graded); ok {
			grades = g.Grades()
		}
		if len(seen) >= grades {
			return data
		}
	}
	return nil
}

// truth draws a family and the standard deviation of its weights, times √d, from their priors.
func truth(rng *rand.Rand, lik likelihood.Family) (family likelihood.Family, tau float64) {
	s := likelihood.LatentScale(lik)
	if s == 0 {
		s = 1
	}
	b := likelihood.PriorTail(lik)
	x := distuv.Beta{Alpha: 1, Beta: b, Src: rng}.Rand()
	tau = s * math.Sqrt(x/(1-x))
	switch l := lik.(type) {
	case likelihood.Gaussian:
		return likelihood.Gaussian{NoiseVariance: param.Hold(1)}, tau
	case likelihood.NegativeBinomial:
		return likelihood.NegativeBinomial{Size: param.Hold(math.Exp(math.Ln2 + 1.5*rng.NormFloat64()))}, tau
	case likelihood.Gamma:
		return likelihood.Gamma{Shape: param.Hold(math.Exp(1 + 1.5*rng.NormFloat64()))}, tau
	case likelihood.StudentT:
		least := math.Atan(0.5) // of the angle whose tangent is df/4
		df := 4 * math.Tan(least+rng.Float64()*(math.Pi/2-least))
		return likelihood.StudentT{DegreesOfFreedom: param.Hold(df), Scale: param.Hold(1)}, tau
	case likelihood.Ordinal:
		grades := l.Grades()
		shares, total := make([]float64, grades), 0.0
		for k := range shares {
			shares[k] = rng.ExpFloat64()
			total += shares[k]
		}
		var cut []float64
		below := 0.0
		for k := range grades - 1 {
			below += shares[k] / total
			cut = append(cut, special.Logit(below)+0.3) // simulate has an intercept
		}
		return likelihood.Ordinal{Cutpoints: param.List{Values: cut}}, tau
	}
	return lik, tau
}

// TestCalibrationBySimulation: truths drawn from the priors, or with the standard deviation of f held,
// lie in the 90 % intervals of weights as often as these say, and z scores have a standard deviation
// of about 1. Ranks of one weight a set are uniform where everything is drawn, from 60 rows on; with
// fewer the sets whose targets are all the same, which are left out, count.
func TestCalibrationBySimulation(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	sets, most := 16, 12
	switch {
	case study.Calibration():
		sets, most = 400, 200
	case study.Long():
		most = 60
	}
	calibration(t, sets, most, Config{Covariance: Full})
}

// TestLaplaceCalibration is the same of the Laplace approximation.
func TestLaplaceCalibration(t *testing.T) {
	study.OnlyCalibration(t)
	calibration(t, 400, 60, Config{Approximation: Laplace})
}

// calibration holds so many sets of each family, of up to so many rows, against the posteriors that an engine gives.
func calibration(t *testing.T, sets, most int, cfg Config) {
	var ranks conform.Ranks
	defer func() { ranks.Check(t) }()
	type cell struct {
		n, d int
		rho  float64
	}
	for _, c := range []cell{{12, 6, 0.5}, {20, 4, 0.5}, {60, 4, 0.8}, {200, 10, 0.8}} {
		if c.n > most {
			continue
		}
		for i, lik := range []likelihood.Family{
			likelihood.Gaussian{}, likelihood.Bernoulli{}, likelihood.Bernoulli{Link: likelihood.Probit}, likelihood.Poisson{},
			likelihood.NegativeBinomial{}, likelihood.Gamma{}, likelihood.StudentT{}, likelihood.OrdinalGrades(4),
		} {
			t.Run(fmt.Sprintf("%v, %d rows, %d weights, correlation %g", lik, c.n, c.d, c.rho), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(c.n), uint64(i)))
				link, _ := likelihood.Describe(lik)
				covered, count, square, worst := 0, 0, 0.0, 0.0
				_, gaussian := lik.(likelihood.Gaussian)
				ranked := link != likelihood.Log && (gaussian || c.n >= 60)
				for set := range sets {
					family, tau := truth(rng, lik)
					if link == likelihood.Log { // draws from the prior overflow
						tau = []float64{0.2, 0.5, 1}[set%3]
					}
					w := make([]float64, c.d)
					for j := range w {
						w[j] = tau / math.Sqrt(float64(c.d)) * rng.NormFloat64()
					}
					data := simulate(rng, family, correlated(rng, c.n, c.d, c.rho), w)
					if data == nil {
						continue
					}
					for j, q := range weightsOf(tryAs(t, lik, cfg, data))[1:] {
						if q.covers(w[j]) {
							covered++
						}
						if ranked && j == 0 {
							ranks.Add(t.Name(), q.rank(w[j]))
						}
						z := (w[j] - q.mean) / q.sd
						worst = math.Max(worst, math.Abs(z))
						square += z * z
						count++
					}
				}
				share, spread := float64(covered)/float64(count), math.Sqrt(square/float64(count))
				t.Logf("%.3f covered, z SD %.2f, largest %.1f", share, spread, worst)
				// Weights of a set are alike: the standard errors are those of sets.
				if error := 2 * math.Sqrt(0.09/float64(sets)); share < 0.85-error || spread > 1.2+4/math.Sqrt(2*float64(sets)) {
					t.Errorf("%.3f of the intervals hold the weight, and z scores have a standard deviation of %.2f", share, spread)
				}
			})
		}
	}
}
