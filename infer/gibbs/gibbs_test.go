package gibbs

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

func fitOf(t *testing.T, s *conform.Selection, l credence.Likelihood, p credence.Prior, cfg Config) *credence.Fitted {
	t.Helper()
	e := must.Value(New(credence.Model{Features: s.Features, Likelihood: l, Prior: p}, cfg))(t)
	return must.Value(e.Fit(context.Background(), conform.Memory{All: &s.Batch}))(t)
}

func inclusions(fitted *credence.Fitted) []float64 {
	q := fitted.Members[0].Posterior.(credence.Selector)
	var list []float64
	for j := range q.Weights() {
		list = append(list, q.InclusionProbability(j))
	}
	return list[1:] // without the intercept
}

// TestEnumeration compares inclusion and weights with those of all models.
func TestEnumeration(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	for _, c := range []struct {
		n           int
		correlation float64
		sparse      bool
		weighted    bool
	}{{40, 0, false, false}, {40, 0.7, false, false}, {9, 0, false, true}, {15, 0.3, true, true}} {
		const p = 10
		s := conform.NewSelection(c.n, p, 4, c.correlation, 1, 0.5, c.sparse, uint64(c.n)+3)
		total, mean, square := 0.0, 0.0, 0.0
		for i := range c.n {
			if c.weighted {
				s.Weight = append(s.Weight, float64(1+i%3))
			}
			total += s.WeightOf(i)
			mean += s.WeightOf(i) * s.Target[i]
		}
		mean /= total
		for i, y := range s.Target {
			square += s.WeightOf(i) * (y - mean) * (y - mean) / total
		}
		want, weights, _ := s.Enumerate(0.3, 1, 0.5, mean, 100*square)
		fitted := fitOf(t, s, likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}, prior.SpikeSlab{Inclusion: param.Hold(0.3), Slab: param.Hold(1)}, Config{Flips: 20_000, Draws: 4000})
		m, v := make([]float64, p+1), make([]float64, p+1)
		fitted.Members[0].Posterior.Marginals(m, v)
		for j, got := range inclusions(fitted) {
			if !(math.Abs(got-want[j]) <= 0.01) {
				t.Errorf("%+v: inclusion of column %d is %.4f, by enumeration %.4f", c, j+1, got, want[j])
			}
			if !(math.Abs(m[j+1]-weights[j]) <= 0.05) {
				t.Errorf("%+v: weight %d is %.4f, by enumeration %.4f", c, j+1, m[j+1], weights[j])
			}
		}
	}
}

// fitOn is a fit to the rows that has not begun.
func fitOn(t *testing.T, e *Engine, rows *credence.Batch) *fit {
	t.Helper()
	table := must.Value(candidates.Load(t.Context(), credence.NewWorkspace(1), "gibbs", e.model, conform.Memory{All: rows}))(t)
	setting := must.Value(table.NewSetting("gibbs", e.model, candidates.Sparse, e.horseshoe == nil))(t)
	return &fit{Engine: e, Table: table, Setting: setting}
}

func (e *Engine) testChain(t *testing.T, s *conform.Selection) *chain {
	t.Helper()
	f := fitOn(t, e, &s.Batch)
	c := newChain(f.Table, f.Setting, credence.NewWorkspace(1), rand.New(rand.NewPCG(1, 1)))
	c.shared = f.common()
	must.Succeed(t, c.begin(nil))
	return c
}

// TestFlips compares what flips make of C, S, Q and the density with all of them taken anew: of columns
// at random, and of those that a chain chooses, which come and go, and products that are shared with a chain's own.
func TestFlips(t *testing.T) {
	for _, c := range []struct {
		n, p   int
		choose bool
	}{{12, 30, false}, {60, 200, true}} {
		s := conform.NewSelection(c.n, c.p, 5, 0.3, 1, 0.1, false, 1)
		e, _ := New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}, Config{})
		chain := e.testChain(t, s)
		for range 400 {
			if chain.probabilities(); c.choose {
				chain.flip(chain.choose())
			} else {
				chain.flip(1 + chain.rng.IntN(c.p))
			}
		}
		if was := chain.shared; len(was) != c.p+1 {
			t.Fatalf("products of %d columns, of %d wanted", len(was), c.p+1)
		}
		was := chain.fares
		chain.shared = nil // each by itself
		chain.fares = newFares(chain.Table.Count())
		chain.takeTargets()
		must.Succeed(t, chain.refresh())
		if len(was.order) != len(chain.order) {
			t.Fatalf("%+v: %d columns are in after the flips, %d anew", c, len(was.order), len(chain.order))
		}
		if !(math.Abs(was.logDensity-chain.logDensity) <= 1e-8) {
			t.Errorf("%+v: log density %.12g after the flips, %.12g anew", c, was.logDensity, chain.logDensity)
		}
		for j := range chain.s {
			if !(math.Abs(was.s[j]-chain.s[j]) <= 1e-8*(1+chain.s[j])) || !(math.Abs(was.q[j]-chain.q[j]) <= 1e-8*(1+math.Abs(chain.q[j]))) {
				t.Fatalf("%+v: column %d: S, Q = %g, %g after the flips, %g, %g anew", c, j, was.s[j], was.q[j], chain.s[j], chain.q[j])
			}
		}
	}
}

// TestLearned recovers the relevant features with nothing stated.
func TestLearned(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	s := conform.NewSelection(100, 1000, 20, 0, 1, 0.1, false, 5)
	fitted := fitOf(t, s, likelihood.Gaussian{}, prior.SpikeSlab{}, Config{Flips: 6000})
	hit, wrong := 0, 0
	list := inclusions(fitted)
	for j, w := range s.Weights {
		switch {
		case list[j] > 0.5 && w != 0:
			hit++
		case list[j] > 0.5:
			wrong++
		}
	}
	t.Log(hit, wrong, fitted.Report.Hyper, *fitted.Report.RHat, *fitted.Report.EffectiveDraws, fitted.Report.Warnings)
	if hit < 12 || wrong > 1 {
		t.Errorf("%d found, %d wrong", hit, wrong)
	}
}

// TestReportedStates: a report is of states by their weights: where one state has them all, its noise and slab are
// reported.
func TestReportedStates(t *testing.T) {
	s := conform.NewSelection(30, 5, 2, 0, 1, 0.1, false, 5)
	e, _ := New(credence.Model{Features: s.Features, Likelihood: likelihood.Gaussian{}, Prior: prior.SpikeSlab{}}, Config{Flips: 400, Chains: 1})
	f := fitOn(t, e, &s.Batch)
	must.Succeed(t, f.run(t.Context()))
	r := f.records[0]
	one := r.states[len(r.states)/2]
	for i := range r.states {
		r.states[i].weight = 0
	}
	r.states[len(r.states)/2].weight = r.total
	fitted := must.Value(f.fitted())(t)
	unit := f.Units.Scale * f.Units.Scale
	for _, v := range fitted.Report.Hyper {
		if want := map[string]float64{"noise_variance": unit * math.Exp(2*one.logNoise), "slab": unit * math.Exp(2*one.logSlab)}[v.Name]; want > 0 && !(math.Abs(v.Value-want) <= 1e-12*want) {
			t.Errorf("%s is %v, want %v", v.Name, v.Value, want)
		}
	}
}

// TestDiagnosedHeld: noise and slab that are held have no part in what chains are compared by, where rounding would
// have them disagree.
func TestDiagnosedHeld(t *testing.T) {
	s := conform.NewSelection(30, 5, 2, 0, 1, 0.1, false, 5)
	for _, variance := range []float64{0.3, 0.7, 1.1} {
		fitted := fitOf(t, s, likelihood.Gaussian{NoiseVariance: param.Hold(variance)}, prior.SpikeSlab{Slab: param.Hold(0.9)}, Config{Flips: 4000})
		if r := fitted.Report; *r.EffectiveDraws < 200 || *r.RHat > 1.02 || len(r.Warnings) > 0 {
			t.Errorf("noise variance %v: %.0f effective draws, R̂ %.3f, %v", variance, *r.EffectiveDraws, *r.RHat, r.Warnings)
		}
	}
}

// TestPolyaGamma compares mean and variance of draws with their closed forms: tanh(f/2)/(2f), and
// (sinh f − f)/(4f³ cosh²(f/2)).
func TestPolyaGamma(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, f := range []float64{0.01, 0.5, -1.3, 3, 6, 20} {
		const count = 100_000
		sum, square := 0.0, 0.0
		for range count {
			x := polyaGamma(rng, f)
			sum += x
			square += x * x
		}
		mean, variance := sum/count, square/count-sum/count*sum/count
		cosh := math.Cosh(f / 2)
		wantMean, wantVariance := math.Tanh(f/2)/(2*f), (math.Sinh(f)-f)/(4*f*f*f*cosh*cosh)
		if !(math.Abs(mean-wantMean) <= 5*math.Sqrt(wantVariance/count)) || !(math.Abs(variance/wantVariance-1) <= 0.05) {
			t.Errorf("PG(1, %g): mean %.5f and variance %.6f, want %.5f and %.6f", f, mean, variance, wantMean, wantVariance)
		}
	}
}

// TestTruncated compares the mean of draws with φ/Φ.
func TestTruncated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, f := range []float64{0, 2, -2, -8, -40} {
		const count = 50_000
		sum := 0.0
		for range count {
			x := truncated(rng, f, true)
			if !(f+x > 0) {
				t.Fatalf("f = %g: %g is on the wrong side", f, f+x)
			}
			sum += x
		}
		want := math.Exp(-f*f/2) / math.Sqrt(2*math.Pi) / (math.Erfc(-f/math.Sqrt2) / 2)
		if f < -30 {
			want = -f + 1/-f
		}
		if !(math.Abs(sum/count-want) <= 0.02) {
			t.Errorf("f = %g: mean %.4f, want %.4f", f, sum/count, want)
		}
	}
}
