package exact

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// gibbs draws from the posterior of the model with one block and everything learned: columns x of mean 0 and variance
// 1, targets y of mean 0, s their standard deviation. BetaPrime(a, b) is τ²|g ~ s²/d·Inverse-Gamma(b, g) with g ~
// Gamma(a, 1). It returns means and standard deviations of the weights and of log σ.
func gibbs(x *mat.Dense, y []float64, s float64, draws int, rng *rand.Rand) (mean, sd []float64) {
	n, d := x.Dims()
	var gram mat.SymDense
	gram.SymOuterK(1, x.T())
	cross := mat.NewVecDense(d, nil)
	cross.MulVec(x.T(), mat.NewVecDense(n, y))
	gamma := func(shape, rate float64) float64 { return distuv.Gamma{Alpha: shape, Beta: rate, Src: rng}.Rand() }
	tau, noise, tauScale := s*s/float64(d), s*s/2, s*s/float64(d)
	w := mat.NewVecDense(d, nil)
	mean, sd = make([]float64, d+1), make([]float64, d+1)
	const burn = 500
	for draw := range draws + burn {
		precision := mat.NewSymDense(d, nil)
		for i := range d {
			for j := i; j < d; j++ {
				precision.SetSym(i, j, gram.At(i, j)/noise)
			}
			precision.SetSym(i, i, precision.At(i, i)+1/tau)
		}
		var chol mat.Cholesky
		chol.Factorize(precision)
		var u mat.TriDense
		chol.UTo(&u)
		var centre, move mat.VecDense
		_ = chol.SolveVecTo(&centre, cross)
		z := mat.NewVecDense(d, nil)
		for j := range d {
			z.SetVec(j, rng.NormFloat64())
		}
		_ = move.SolveVec(&u, z)
		square, residual := 0.0, 0.0
		for j := range d {
			w.SetVec(j, centre.AtVec(j)/noise+move.AtVec(j))
			square += w.AtVec(j) * w.AtVec(j)
		}
		for i := range n {
			gap := y[i] - mat.Dot(x.RowView(i), w)
			residual += gap * gap
		}
		g := gamma(1.5, 1+tauScale/tau)
		tau = 1 / gamma(0.5+float64(d)/2, tauScale*g+square/2)
		h := gamma(1, 1+s*s/noise)
		noise = 1 / gamma(0.5+float64(n-1)/2, s*s*h+residual/2) // one degree of freedom goes to the intercept
		if draw < burn {
			continue
		}
		for j := range d {
			mean[j] += w.AtVec(j) / float64(draws)
			sd[j] += w.AtVec(j) * w.AtVec(j) / float64(draws)
		}
		mean[d] += math.Log(noise) / 2 / float64(draws)
		sd[d] += math.Pow(math.Log(noise)/2, 2) / float64(draws)
	}
	for j := range sd {
		sd[j] = math.Sqrt(sd[j] - mean[j]*mean[j])
	}
	return mean, sd
}

// TestAgainstGibbs compares the integrated posterior with that of a Gibbs sampler under the same
// priors, on real sets.
func TestAgainstGibbs(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	draws := 20_000
	if study.Calibration() {
		draws = 100_000
	}
	for _, c := range []struct {
		name string
		n    int
	}{{"boston", 50}, {"boston", 100}, {"energy", 50}, {"energy", 100}} {
		rows, _ := readUCI(t, c.name)
		rng := rand.New(rand.NewPCG(9, uint64(c.n)))
		data, _ := splitUCI(rows, rng.Perm(len(rows))[c.n:])
		d := data.x.Cols
		x, y, s := mat.NewDense(c.n, d, data.x.Data), append([]float64(nil), data.target...), 0.0
		mean := stat.Mean(y, nil)
		for i := range y {
			y[i] -= mean
			s += y[i] * y[i] / float64(c.n)
		}
		f := fitted(t, model(linear(d), prior.Normal{}, likelihood.Gaussian{}), Config{}, data)
		gotMean, gotVariance := marginals(f)
		wantMean, wantSD := gibbs(x, y, math.Sqrt(s), draws, rng)
		worst := 0.0
		for j := range d {
			ratio := math.Sqrt(gotVariance[j+1]) / wantSD[j]
			worst = math.Max(worst, math.Abs(ratio-1))
			if !(math.Abs(ratio-1) <= 0.05) {
				t.Errorf("%s %d: the standard deviation of weight %d is %.3f of the sampler's", c.name, c.n, j, ratio)
			}
			if gap := math.Abs(gotMean[j+1]-wantMean[j]) / wantSD[j]; gap > 0.1 {
				t.Errorf("%s %d: the mean of weight %d is off by %.3f standard deviations", c.name, c.n, j, gap)
			}
		}
		t.Logf("%s %d: standard deviations within %.1f %%", c.name, c.n, 100*worst)
	}
}
