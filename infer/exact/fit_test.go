package exact

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

func fitted(t testing.TB, m credence.Model, cfg Config, data credence.Data) *credence.Fitted {
	t.Helper()
	e := must.Value(New(m, cfg))(t)
	return must.Value(e.Fit(context.Background(), data))(t)
}

func hyperOf(t testing.TB, f *credence.Fitted, name string) float64 {
	t.Helper()
	for _, v := range f.Report.Hyper {
		if v.Name == name {
			return v.Value
		}
	}
	t.Fatalf("no %q among %v", name, f.Report.Hyper)
	return 0
}

// linear are an intercept and p plain columns.
func linear(p int) plain { return plain{intercept: true, dense: p, sizes: []int{p}} }

func TestHeldValuesStay(t *testing.T) {
	data := randomTable(20, 60, 4, 0).withRoles(21, true, true)
	held := param.Parameter{Value: 0.7, State: param.Held}
	features := newBent(4, 0)
	for j := range features.held {
		features.held[j] = j != 1
	}
	features.length[2] = 3
	f := fitted(t, model(features, prior.Normal{Variance: held}, likelihood.Gaussian{NoiseVariance: param.Hold(0.25)}), Config{Starts: 1}, data)
	for name, want := range map[string]float64{
		"noise_variance": 0.25, "prior_variance.a": 0.7, "prior_variance.b": 0.7,
		"length.b.1": features.length[0], "length.b.3": 3,
	} {
		near(t, name, hyperOf(t, f, name), want, 1e-14) // scaling by powers of two and back
	}
	if v := hyperOf(t, f, "length.b.2"); v == features.length[1] {
		t.Error("the one lengthscale to learn did not move")
	}

	// With everything held the fit is dense algebra alone.
	only := plain{dense: 4, sizes: []int{4}}
	f = fitted(t, model(only, prior.Normal{Variance: held}, likelihood.Gaussian{NoiseVariance: param.Hold(0.25)}), Config{}, data)
	if f.Report.Status != credence.Closed || f.Report.Iterations != 0 {
		t.Errorf("nothing to learn ended as %q after %d iterations", f.Report.Status, f.Report.Iterations)
	}
	evidence, mean, cov := reference(t, only, data, 0.25, []float64{0.7, 0.7, 0.7, 0.7})
	near(t, "evidence", *f.Report.Evidence, evidence, algebra)
	comparePosterior(t, f.Members[0].Posterior, only, data, mean, cov)
}

// TestLearnedValuesAreOptimal checks what a maximum must be: no value of the evidence by
// dense algebra around the learned point is higher.
func TestLearnedValuesAreOptimal(t *testing.T) {
	for _, n := range []int{12, 80} { // the n×n and the d×d form
		data := randomTable(22, n, 20, 0).withRoles(23, true, false)
		features := plain{intercept: true, dense: 20, sizes: []int{4, 16}}
		f := fitted(t, model(features, prior.Normal{}, likelihood.Gaussian{}), ml, data)
		lambda := f.Members[0].Model.Prior.(prior.Normal).Variances
		noise := f.Members[0].Model.Likelihood.(likelihood.Gaussian).NoiseVariance.Value
		best, mean, cov := reference(t, features, data, noise, lambda)
		near(t, "evidence", *f.Report.Evidence, best, algebra)
		comparePosterior(t, f.Members[0].Posterior, features, data, mean, cov)
		// A variance that wants to be 0 stops at its bound, where the evidence is flat to this:
		// half the block's share e^-12·n of information about it.
		flat := 0.5 * math.Exp(-12) * float64(n)
		for _, by := range []float64{-0.1, 0.1} {
			if v, _, _ := reference(t, features, data, noise*math.Exp(by), lambda); v > best+flat {
				t.Errorf("n = %d: noise moved by %v has evidence %v, above %v", n, by, v, best)
			}
			for _, b := range features.Blocks()[1:] {
				moved := append([]float64(nil), lambda...)
				for j := b.First; j < b.First+b.Count; j++ {
					moved[j] *= math.Exp(by)
				}
				if v, _, _ := reference(t, features, data, noise, moved); v > best+flat {
					t.Errorf("n = %d: variance of block %s moved by %v has evidence %v, above %v", n, b.Name, by, v, best)
				}
			}
		}
	}
}

// TestLargeMean checks that a mean far above the spread costs no digits: the evidence with held
// variances follows from the one at a smaller mean by algebra.
func TestLargeMean(t *testing.T) {
	data := randomTable(27, 200, 3, 0)
	for i := range data.target {
		data.target[i] = math.Round(data.target[i]*1024) / 1024 // exact after the shift
	}
	m := model(linear(3), prior.Normal{}, likelihood.Gaussian{})
	want := fitted(t, m, Config{}, data)
	for i := range data.target {
		data.target[i] += 1 << 30
	}
	got := fitted(t, m, Config{}, data)
	for _, name := range []string{"noise_variance", "prior_variance.a"} {
		// The intercept's own prior shifts the others by O(1/n), not more.
		near(t, name, math.Log(hyperOf(t, got, name)), math.Log(hyperOf(t, want, name)), 0.01)
	}
	mean, variance := make([]float64, 4), make([]float64, 4)
	got.Members[0].Posterior.Marginals(mean, variance)
	near(t, "intercept", mean[0]-(1<<30), want.TargetMean, 0.1)
}

// TestReadsOnce checks the promise that without hyper-parameters of features the rows are read once.
func TestReadsOnce(t *testing.T) {
	data := randomTable(30, 2000, 5, 0)
	fitted(t, model(linear(5), prior.Normal{ARD: true}, likelihood.Gaussian{}), Config{}, data)
	if data.reads != 2000 {
		t.Errorf("%d rows were read of 2000", data.reads)
	}
}

func TestRecoversTheTruth(t *testing.T) {
	const n, p = 4000, 10
	rng := rand.New(rand.NewPCG(31, 31))
	data := &table{x: linop.NewDense(n, p)}
	w := make([]float64, p)
	for j := range w {
		w[j] = 2 * rng.NormFloat64()
	}
	for i := range n {
		y := 5 + 0.5*rng.NormFloat64()
		for j := range p {
			v := rng.NormFloat64()
			data.x.Row(i)[j] = v
			y += w[j] * v
		}
		data.target = append(data.target, y)
	}
	f := fitted(t, model(linear(p), prior.Normal{}, likelihood.Gaussian{}), Config{}, data)
	// Five standard errors of a variance estimate from n = 4000 rows: 0.25·5·√(2/n).
	if v := hyperOf(t, f, "noise_variance"); !(math.Abs(v-0.25) <= 0.25*5*math.Sqrt(2.0/n)) {
		t.Errorf("the noise variance is %v, want 0.25", v)
	}
	mean, variance := make([]float64, p+1), make([]float64, p+1)
	f.Members[0].Posterior.Marginals(mean, variance)
	for j, want := range append([]float64{5}, w...) {
		if !(math.Abs(mean[j]-want) <= 5*math.Sqrt(variance[j])) {
			t.Errorf("weight %d is %v ± %v, want %v", j, mean[j], math.Sqrt(variance[j]), want)
		}
	}
}

func TestARDFindsTheRelevantColumns(t *testing.T) {
	const n, p = 300, 8
	data := randomTable(32, n, p, 0)
	rng := rand.New(rand.NewPCG(33, 33))
	for i := range n {
		data.target[i] = 2*data.x.Row(i)[0] - data.x.Row(i)[3] + 0.1*rng.NormFloat64()
	}
	f := fitted(t, model(linear(p), prior.Normal{ARD: true}, likelihood.Gaussian{}), Config{}, data)
	for j := range p {
		v := hyperOf(t, f, fmt.Sprintf("prior_variance.a.%d", j+1))
		if relevant := j == 0 || j == 3; relevant != (v > 0.1) {
			t.Errorf("column %d has prior variance %v", j+1, v)
		}
	}
}

func TestCancelling(t *testing.T) {
	data := randomTable(48, 1500, 4, 0)
	ctx, cancel := context.WithCancel(context.Background())
	steps := 0
	e, err := New(model(newBent(4, 0), prior.Normal{}, likelihood.Gaussian{}), Config{
		Progress: func(p credence.Progress) {
			if steps++; steps == 3 {
				cancel()
			}
		},
	})
	must.Succeed(t, err)
	if _, err := e.Fit(ctx, data); !errors.Is(err, context.Canceled) || steps != 3 {
		t.Errorf("after cancelling at step 3 the fit took %d steps and returned %v", steps, err)
	}
}

// TestSubsets checks the stages of a fit to many rows, made small.
func TestSubsets(t *testing.T) {
	data := randomTable(55, 3000, 3, 0)
	m := model(newBent(3, 0), prior.Normal{}, likelihood.Gaussian{})
	whole := fitted(t, m, Config{}, data)
	part := fitted(t, m, Config{ScreenRows: 300, PolishRows: 1000}, data)
	if len(whole.Report.Remarks) != 0 || len(part.Report.Warnings) != 0 || len(part.Report.Remarks) != 1 || !strings.Contains(part.Report.Remarks[0], "learned on 1000 of 3000 rows") {
		t.Errorf("remarks read %q and %q", whole.Report.Remarks, part.Report.Remarks)
	}
	if part.Report.Rows != 3000 || *part.Report.Evidence > *whole.Report.Evidence+1e-3 {
		t.Errorf("on a part the evidence is %v of %d rows, on the whole %v", *part.Report.Evidence, part.Report.Rows, *whole.Report.Evidence)
	}
	// Lengthscales from a third of the rows are nearly those of all.
	near(t, "evidence", *part.Report.Evidence, *whole.Report.Evidence, 0.01)
}

// TestDrawsAreMembers checks that draws are averaged over where there is something to
// draw, by default two, and refused elsewhere.
func TestDrawsAreMembers(t *testing.T) {
	data := randomTable(56, 200, 3, 0)
	random := model(fourierSet(t, 3, 10, feature.RBF), prior.Normal{}, likelihood.Gaussian{})
	for draws, want := range map[int]int{0: 2, 1: 1, 3: 3} {
		f := fitted(t, random, Config{Draws: draws, Starts: 2, MaxIterations: 20, Hyper: param.MaximumLikelihood}, data)
		if len(f.Members) != want {
			t.Errorf("draws %d gave %d members, not %d", draws, len(f.Members), want)
		}
		want := *f.Report.Evidence
		for _, h := range f.Members[0].Model.Features.(credence.Tunable).Hyper() {
			z := (math.Log(h.Value) - h.PriorMean) / h.PriorSD
			want -= z*z/2 + math.Log(2*math.Pi)/2 + math.Log(h.PriorSD)
		}
		if p := *f.Report.EvidencePenalised; !(p < *f.Report.Evidence) {
			t.Errorf("penalised evidence %v is not below the plain one %v", p, *f.Report.Evidence)
		} else {
			near(t, "penalised evidence", p, want, 1e-12)
		}
	}
	fixed := model(newBent(3, 0), prior.Normal{}, likelihood.Gaussian{})
	if f := fitted(t, fixed, Config{MaxIterations: 20, Hyper: param.Mode}, data); len(f.Members) != 1 {
		t.Errorf("features that are not random gave %d members", len(f.Members))
	}
	if _, err := New(fixed, Config{Draws: 2}); err == nil || !strings.Contains(err.Error(), "leave draws out") {
		t.Errorf("two draws of nothing: %v", err)
	}
}

// marginals returns means and variances of the weights of the first member.
func marginals(f *credence.Fitted) (mean, variance []float64) {
	d := f.Members[0].Posterior.Weights()
	mean, variance = make([]float64, d), make([]float64, d)
	f.Members[0].Posterior.Marginals(mean, variance)
	return mean, variance
}
