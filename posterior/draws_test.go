package posterior

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
)

// identity has one feature, the input.
type identity struct{}

func (identity) Weights() int             { return 1 }
func (identity) Blocks() []credence.Block { return []credence.Block{{Name: "x", Count: 1}} }
func (identity) Transform(_ *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	phi.Dense = rows.X
}

// TestDrawsMoments compares the latent moments with sums over the draws, and the components with
// the draws that they stand for.
func TestDrawsMoments(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 3))
	phi, rows := mixedDesign()
	const count, d = 150, 4
	q := &Draws{Count: count, Values: make([]float64, count*d)}
	for i := range q.Values {
		q.Values[i] = 100 + rng.NormFloat64()
	}
	latent := make([][]float64, count)
	for s := range latent {
		latent[s] = make([]float64, len(rows))
		for i, row := range rows {
			for j, x := range row {
				latent[s][i] += x * q.Values[s*d+j]
			}
		}
	}
	ws := credence.NewWorkspace(2)
	mean, variance := make([]float64, len(rows)), make([]float64, len(rows))
	q.Latent(ws, mean, variance, phi)
	for i := range rows {
		m, v := 0.0, 0.0
		for s := range latent {
			m += latent[s][i] / count
		}
		for s := range latent {
			v += (latent[s][i] - m) * (latent[s][i] - m) / count
		}
		if !(math.Abs(mean[i]-m) <= 1e-12*math.Abs(m)) || !(math.Abs(variance[i]-v) <= 1e-11*(1+v)) {
			t.Errorf("row %d: %g, %g, want %g, %g", i, mean[i], variance[i], m, v)
		}
	}
	if q.Components() != MaxComponents {
		t.Fatalf("%d components of %d draws", q.Components(), count)
	}
	seen := map[int]bool{}
	for k := range q.Components() {
		q.LatentComponent(ws, k, mean, variance, phi)
		for s := range latent {
			if math.Abs(mean[0]-latent[s][0]) < 1e-12*math.Abs(mean[0]) && variance[0] == 0 {
				seen[s] = true
			}
		}
	}
	if len(seen) != MaxComponents || !seen[0] || !seen[63*count/64] {
		t.Errorf("components are %d of the draws: %v", len(seen), seen)
	}
}

// A prediction by few draws is the average of the likelihood over them.
func TestDrawsPredict(t *testing.T) {
	q := &Draws{Count: 3, Values: []float64{-1, 0.5, 2}}
	rows := &credence.Batch{X: linop.Dense{Rows: 1, Cols: 1, Stride: 1, Data: []float64{1.5}}}
	for _, l := range []credence.Likelihood{
		likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, likelihood.Bernoulli{}, likelihood.Bernoulli{Link: likelihood.Probit}, likelihood.Poisson{},
	} {
		fitted := &credence.Fitted{Members: []credence.Member{{Model: credence.Model{Features: identity{}, Likelihood: l}, Posterior: q}}}
		dist, err := fitted.Distribution(credence.NewWorkspace(1), rows)
		if err != nil {
			t.Fatal(err)
		}
		density, mean := 0.0, 0.0
		for _, w := range q.Values {
			density += math.Exp(l.LogDensity(1, 1.5*w)) / 3
			mean += l.Mean(1.5*w) / 3
		}
		if got := dist.LogDensity(0, 1); !(math.Abs(got-math.Log(density)) <= 1e-12) {
			t.Errorf("%T: log density %v, want %v", l, got, math.Log(density))
		}
		if got, _ := dist.Moments(0); !(math.Abs(got-mean) <= 1e-12*(1+mean)) {
			t.Errorf("%T: mean %v, want %v", l, got, mean)
		}
	}
}

// With a mean of its own a posterior in draws is the normal distribution whose covariance is theirs about 0: as that of
// the draws and their opposites about the mean.
func TestDrawsAboutMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	phi, rows := mixedDesign()
	const count, d = 70, 4
	q := &Draws{Count: count, Values: make([]float64, count*d), Mean: []float64{3, -1, 0.5, 2}}
	both := &Draws{Count: 2 * count, Values: make([]float64, 2*count*d)}
	for i := range q.Values {
		q.Values[i] = 1 + rng.NormFloat64()
		both.Values[i], both.Values[count*d+i] = q.Mean[i%d]+q.Values[i], q.Mean[i%d]-q.Values[i]
	}
	n, ws := len(rows), credence.NewWorkspace(2)
	of := func(q *Draws) (all []float64) {
		out := make([]float64, 2*n+2*d+n*n)
		q.Latent(ws, out[:n], out[n:2*n], phi)
		q.Marginals(out[2*n:2*n+d], out[2*n+d:2*n+2*d])
		q.Covariance(ws, &linop.Dense{Rows: n, Cols: n, Stride: n, Data: out[2*n+2*d:]}, phi, phi)
		return out
	}
	got, want := of(q), of(both)
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= 1e-11*(1+math.Abs(v))) {
			t.Errorf("moment %d: %g, want %g", i, got[i], v)
		}
	}
	mean, variance := make([]float64, n), make([]float64, n)
	q.LatentComponent(ws, 0, mean, variance, phi)
	if q.Components() != 1 || !slices.Equal(mean, got[:n]) || !slices.Equal(variance, got[n:2*n]) {
		t.Errorf("the %d components are not the normal distribution itself", q.Components())
	}
	if q.Mean = q.Mean[1:]; q.Validate() == nil {
		t.Error("a mean of too few weights is taken")
	}
}
