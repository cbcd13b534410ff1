package credence

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/quad"
)

// tailed is a point posterior under which f is Student-t.
type tailed struct {
	point
	df float64
}

func (p tailed) LatentDF() float64 { return p.df }

// pair is a mixture of two point posteriors.
type pair [2]point

func (p pair) Weights() int    { return 1 }
func (p pair) Components() int { return 2 }
func (p pair) LatentComponent(ws *Workspace, k int, mean, variance []float64, phi *Design) {
	p[k].Latent(ws, mean, variance, phi)
}
func (p pair) Latent(*Workspace, []float64, []float64, *Design) { panic("not asked for") }
func (p pair) Marginals(mean, variance []float64)               { panic("not asked for") }

// A distribution over weighted members, one of two components and one of five scales, is the sum
// written out.
func TestWeightedMembers(t *testing.T) {
	const df = 6.5
	members := []Member{
		{Model{Features: identity{1}, Likelihood: normalFamily{0.5}}, point{[]float64{1}, 0.3}, 0.2},
		{Model{Features: identity{1}, Likelihood: normalFamily{0.7}}, pair{{[]float64{2}, 0.1}, {[]float64{-1}, 2}}, 0.5},
		{Model{Features: identity{1}, Likelihood: normalFamily{9}}, point{[]float64{50}, 0.3}, 0},
		{Model{Features: identity{1}, Likelihood: normalFamily{0.1}}, tailed{point{[]float64{0.5}, 3}, df}, 0.3},
	}
	fitted := &Fitted{Members: members}
	rows := batchOf(1, -0.4)
	dist, err := fitted.Distribution(NewWorkspace(1), rows)
	if err != nil {
		t.Fatal(err)
	}
	if len(dist.parts) != 8 {
		t.Errorf("%d parts", len(dist.parts))
	}
	type normal struct{ share, mean, variance, noise float64 }
	for i, x := range rows.X.Data {
		parts := []normal{{0.2, x, 0.3, 0.5}, {0.25, 2 * x, 0.1, 0.7}, {0.25, -x, 2, 0.7}}
		for _, s := range quad.Scales(df) {
			parts = append(parts, normal{0.3 * s.Weight, 0.5 * x, 3 * s.Factor, 0.1})
		}
		const y = 0.8
		var mean, latent, spread, density, cdf float64
		for _, p := range parts {
			mean += p.share * p.mean
		}
		for _, p := range parts {
			v := p.variance + p.noise
			latent += p.share * (p.variance + (p.mean-mean)*(p.mean-mean))
			spread += p.share * (v + (p.mean-mean)*(p.mean-mean))
			density += p.share * math.Exp(-(y-p.mean)*(y-p.mean)/(2*v)) / math.Sqrt(2*math.Pi*v)
			cdf += p.share * 0.5 * math.Erfc((p.mean-y)/math.Sqrt(2*v))
		}
		gotLatent, gotLatentVariance := dist.Latent(i)
		gotMean, gotVariance := dist.Moments(i)
		for what, pair := range map[string][2]float64{
			"latent mean": {gotLatent, mean}, "latent variance": {gotLatentVariance, latent}, "mean": {gotMean, mean},
			"variance": {gotVariance, spread}, "log density": {dist.LogDensity(i, y), math.Log(density)}, "CDF": {dist.CDF(i, y), cdf},
		} {
			if !(math.Abs(pair[0]-pair[1]) <= 1e-12*(1+math.Abs(pair[1]))) {
				t.Errorf("row %d: %s is %v, want %v", i, what, pair[0], pair[1])
			}
		}
		if got := dist.CDF(i, dist.Quantile(i, 0.07)); !(math.Abs(got-0.07) <= 1e-7) {
			t.Errorf("row %d: CDF of the quantile is %v, want 0.07", i, got)
		}
	}
}

// Equal weights are what no weights are, to rounding.
func TestEqualWeights(t *testing.T) {
	fitted := &Fitted{}
	for k := range 3 {
		fitted.Members = append(fitted.Members, Member{Model: Model{Features: identity{1}, Likelihood: normalFamily{1}}, Posterior: point{[]float64{float64(k)}, 0.5}})
	}
	rows := batchOf(1)
	without, err := fitted.Distribution(NewWorkspace(1), rows)
	if err != nil {
		t.Fatal(err)
	}
	for k := range fitted.Members {
		fitted.Members[k].Weight = 1.0 / 3
	}
	with, err := fitted.Distribution(NewWorkspace(1), rows)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := without.CDF(0, 0.3), with.CDF(0, 0.3); !(math.Abs(a-b) <= 1e-15) {
		t.Errorf("CDF is %v without weights and %v with equal ones", a, b)
	}
	for _, bad := range [][]float64{{-1, 1, 1}, {0.5, 0.5, 0.1}, {math.NaN(), 0, 0}, {math.Inf(1), 0, 0}} {
		for k := range fitted.Members {
			fitted.Members[k].Weight = bad[k]
		}
		if err := fitted.DistributionTo(NewWorkspace(1), with, rows); err == nil || !strings.Contains(err.Error(), "sum to 1") {
			t.Errorf("weights %v: error %v", bad, err)
		}
	}
}

// Draws of y come from members by their weights, and have the distribution function.
func TestWeightedSamples(t *testing.T) {
	fitted := &Fitted{Members: []Member{
		{Model{Features: identity{1}, Likelihood: sampled{normalFamily{0.5}}}, point{[]float64{4}, 0.3}, 0.2},
		{Model{Features: identity{1}, Likelihood: sampled{normalFamily{0.5}}}, tailed{point{[]float64{-1}, 3}, 5.5}, 0.8},
	}}
	dist, err := fitted.Distribution(NewWorkspace(1), batchOf(1))
	if err != nil {
		t.Fatal(err)
	}
	rng := Rand(1, PredictSamples, 0)
	const n = 40000
	cuts := []float64{-5, -3, -1, 0, 2, 4}
	below := make([]float64, len(cuts))
	for range n {
		y, err := dist.Sample(0, rng)
		if err != nil {
			t.Fatal(err)
		}
		for k, c := range cuts {
			if y <= c {
				below[k]++
			}
		}
	}
	for k, c := range cuts {
		p := dist.CDF(0, c)
		if !(math.Abs(below[k]/n-p) <= 4.5*math.Sqrt(p*(1-p)/n)) {
			t.Errorf("a share of %v of the draws is below %v, whose probability is %v", below[k]/n, c, p)
		}
	}
}

// sampled is normalFamily with draws.
type sampled struct{ normalFamily }

func (l sampled) Sample(rng *rand.Rand, f float64) float64 {
	return f + math.Sqrt(l.noise)*rng.NormFloat64()
}

// countedFeatures counts how often rows are transformed.
type countedFeatures struct {
	identity
	calls int
}

func (f *countedFeatures) Transform(ws *Workspace, phi *Design, rows *Batch) {
	f.calls++
	f.identity.Transform(ws, phi, rows)
}

// AddUnseen adds the prior variance of one weight to every row.
func (f *countedFeatures) AddUnseen(variance []float64, _ *Batch, prior UnseenPrior) {
	for i := range variance {
		variance[i] += prior.UnseenVariance(Block{})
	}
}

// unseenVariance is a prior of weights unseen in training.
type unseenVariance float64

func (v unseenVariance) String() string               { return "unseen" }
func (v unseenVariance) UnseenVariance(Block) float64 { return float64(v) }

// sharing is a posterior whose covariance others may share, and counts how often it is asked for it.
type sharing struct {
	point
	group int
	calls *int
}

func (p sharing) SameCovariance(other Posterior) bool {
	q, ok := other.(sharing)
	return ok && q.group == p.group
}
func (p sharing) Latent(ws *Workspace, mean, variance []float64, phi *Design) {
	if variance != nil {
		*p.calls++
	}
	p.point.Latent(ws, mean, variance, phi)
}

// What members share is computed once, and what they do not share is not.
func TestSharedCovariance(t *testing.T) {
	calls := 0
	features, other := &countedFeatures{identity: identity{1}}, &countedFeatures{identity: identity{1}}
	fitted := &Fitted{}
	for k, of := range []struct {
		features *countedFeatures
		group    int
		variance float64
	}{{features, 0, 2}, {features, 0, 2}, {features, 0, 2}, {features, 1, 5}, {other, 1, 7}} {
		fitted.Members = append(fitted.Members, Member{
			Model:     Model{Features: of.features, Likelihood: normalFamily{1}, Prior: unseenVariance(0.25 * float64(k))},
			Posterior: sharing{point{[]float64{float64(k)}, of.variance}, of.group, &calls},
		})
	}
	rows := batchOf(1, 3)
	rows.Offset = []float64{10, 20}
	dist, err := fitted.Distribution(NewWorkspace(1), rows)
	if err != nil {
		t.Fatal(err)
	}
	if features.calls != 1 || other.calls != 1 || calls != 3 {
		t.Errorf("%d and %d transforms and %d variances", features.calls, other.calls, calls)
	}
	for k, want := range []float64{2, 2.25, 2.5, 5.75, 8} {
		for i, x := range rows.X.Data {
			if _, mean, variance := dist.parts[k].at(i); mean != x*float64(k)+rows.Offset[i] || variance != want {
				t.Errorf("member %d, row %d: %v with variance %v, want variance %v", k, i, mean, variance, want)
			}
		}
	}
}
