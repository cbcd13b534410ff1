package exact

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

func fitted(t testing.TB, m credence.Model, cfg Config, data credence.Data) *credence.Fitted {
	t.Helper()
	e, err := New(m, cfg)
	if err != nil {
		t.Fatal(err)
	}
	f, err := e.Fit(context.Background(), data)
	if err != nil {
		t.Fatal(err)
	}
	return f
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

func TestWeightsAreRepetitions(t *testing.T) {
	for _, n := range []int{10, 90} {
		data := randomTable(24, n, 12, 0).withRoles(25, true, true)
		data.weight[0] = 2 // the units follow the first rows, which must not be left out
		features := linear(12)
		held := prior.Normal{Variance: param.Parameter{Value: 0.5, State: param.Held}}
		m := model(features, held, likelihood.Gaussian{NoiseVariance: param.Hold(0.3)})
		weighted, repeated := fitted(t, m, Config{}, data), fitted(t, m, Config{}, data.repeated())
		// The learned intercept variance is where a climb stops at 1e-12 nats per row; the
		// evidence is flat there.
		near(t, "evidence", *weighted.Report.Evidence, *repeated.Report.Evidence, 1e-11)
		near(t, "target mean", weighted.TargetMean, repeated.TargetMean, 1e-12)
		near(t, "target variance", weighted.TargetVariance, repeated.TargetVariance, 1e-12)

		only := plain{dense: 12, sizes: []int{12}}
		m.Features = only
		weighted, repeated = fitted(t, m, Config{}, data), fitted(t, m, Config{}, data.repeated())
		near(t, "evidence", *weighted.Report.Evidence, *repeated.Report.Evidence, 1e-12)
		d := only.Weights()
		wm, wv, rm, rv := make([]float64, d), make([]float64, d), make([]float64, d), make([]float64, d)
		weighted.Members[0].Posterior.Marginals(wm, wv)
		repeated.Members[0].Posterior.Marginals(rm, rv)
		for j := range d {
			near(t, "mean", wm[j], rm[j], 1e-12)
			near(t, "variance", wv[j], rv[j], 1e-12)
		}
	}
}

// TestOwnUnits checks that scaling and shifting the target changes answers as it must:
// the evidence by the Jacobian, variances by the square.
func TestOwnUnits(t *testing.T) {
	for _, n := range []int{10, 90} {
		base := randomTable(26, n, 12, 0)
		features := linear(12)
		m := model(features, prior.Normal{}, likelihood.Gaussian{})
		want := fitted(t, m, Config{}, base)
		for _, factor := range []float64{1e-4, 7, 1e6} {
			data := *base
			data.target = nil
			for _, y := range base.target {
				data.target = append(data.target, y*factor)
			}
			got := fitted(t, m, Config{}, &data)
			near(t, "evidence", *got.Report.Evidence, *want.Report.Evidence-float64(n)*math.Log(factor), 1e-8)
			for k, v := range got.Report.Hyper {
				// Where a climb stops depends on rounding: values to the root of its tolerance.
				near(t, v.Name, math.Log(v.Value), math.Log(want.Report.Hyper[k].Value)+2*math.Log(factor), 1e-3)
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

func TestRowOrderDoesNotMatter(t *testing.T) {
	data := randomTable(28, 700, 6, 4).withRoles(29, true, true)
	features := plain{intercept: true, dense: 6, sparse: 4, sizes: []int{10}}
	m := model(features, prior.Normal{}, likelihood.Gaussian{})
	want := fitted(t, m, Config{}, data)
	order := rand.New(rand.NewPCG(1, 1)).Perm(700)
	shuffled := &table{x: linop.NewDense(700, 6)}
	shuffled.sparse.Reset(4)
	for to, from := range order {
		copy(shuffled.x.Row(to), data.x.Row(from))
		shuffled.sparse.AppendRow(data.sparse.Row(from))
		shuffled.target = append(shuffled.target, data.target[from])
		shuffled.offset = append(shuffled.offset, data.offset[from])
		shuffled.weight = append(shuffled.weight, data.weight[from])
		shuffled.precision = append(shuffled.precision, data.precision[from])
	}
	got := fitted(t, m, Config{}, shuffled)
	near(t, "evidence", *got.Report.Evidence, *want.Report.Evidence, 1e-9)
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
	if v := hyperOf(t, f, "noise_variance"); math.Abs(v-0.25) > 0.25*5*math.Sqrt(2.0/n) {
		t.Errorf("the noise variance is %v, want 0.25", v)
	}
	mean, variance := make([]float64, p+1), make([]float64, p+1)
	f.Members[0].Posterior.Marginals(mean, variance)
	for j, want := range append([]float64{5}, w...) {
		if math.Abs(mean[j]-want) > 5*math.Sqrt(variance[j]) {
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
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Fit(ctx, data); !errors.Is(err, context.Canceled) || steps != 3 {
		t.Errorf("after cancelling at step 3 the fit took %d steps and returned %v", steps, err)
	}
}

// bytesOf encodes all numbers of a fit.
func bytesOf(t *testing.T, f *credence.Fitted) []byte {
	t.Helper()
	var buffer bytes.Buffer
	encoder := gob.NewEncoder(&buffer)
	for _, part := range []any{f.Report, f.TargetMean, f.TargetVariance} {
		if err := encoder.Encode(part); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range f.Members {
		var err error
		switch q := m.Posterior.(type) {
		case *posterior.Full:
			err = encoder.Encode(q)
		case *posterior.Dual:
			err = encoder.Encode(q)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return buffer.Bytes()
}

func TestSameBytesAtAnyNumberOfThreads(t *testing.T) {
	for name, c := range map[string]struct {
		features credence.Features
		data     *table
	}{
		"primal":        {newBent(5, 30), randomTable(49, 1300, 5, 30).withRoles(50, true, true)},
		"dual":          {newBent(40, 30), randomTable(51, 70, 40, 30).withRoles(52, true, true)},
		"primal, plain": {plain{intercept: true, dense: 70, sparse: 9, sizes: []int{79}}, randomTable(53, 1300, 70, 9)},
		"draws":         {fourierSet(t, 3, 10, feature.RBF), randomTable(57, 200, 3, 0)},
		"dual, plain":   {plain{intercept: true, dense: 70, sparse: 9, sizes: []int{79}}, randomTable(54, 60, 70, 9)},
	} {
		var want []byte
		for _, threads := range []int{1, 2, 3} {
			f := fitted(t, model(c.features, prior.Normal{}, likelihood.Gaussian{}), Config{Threads: threads, MaxIterations: 10, Starts: 3}, c.data)
			got := bytesOf(t, f)
			if want == nil {
				want = got
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s: %d threads give other bytes than one", name, threads)
			}
		}
	}
}

// TestSubsets checks the stages of a fit to many rows, made small.
func TestSubsets(t *testing.T) {
	data := randomTable(55, 3000, 3, 0)
	m := model(newBent(3, 0), prior.Normal{}, likelihood.Gaussian{})
	whole := fitted(t, m, Config{}, data)
	part := fitted(t, m, Config{ScreenRows: 300, PolishRows: 1000}, data)
	if len(whole.Report.Warnings) != 0 || len(part.Report.Warnings) != 1 || !strings.Contains(part.Report.Warnings[0], "learned on 1000 of 3000 rows") {
		t.Errorf("warnings read %q and %q", whole.Report.Warnings, part.Report.Warnings)
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
		f := fitted(t, random, Config{Draws: draws, Starts: 2, MaxIterations: 20, Hyper: hyper.MaximumLikelihood}, data)
		if len(f.Members) != want {
			t.Errorf("draws %d gave %d members, not %d", draws, len(f.Members), want)
		}
		if p, e := *f.Report.EvidencePenalised, *f.Report.Evidence; !(p < e) {
			t.Errorf("penalised evidence %v is not below the plain one %v", p, e)
		}
	}
	fixed := model(newBent(3, 0), prior.Normal{}, likelihood.Gaussian{})
	if f := fitted(t, fixed, Config{MaxIterations: 20, Hyper: hyper.Mode}, data); len(f.Members) != 1 {
		t.Errorf("features that are not random gave %d members", len(f.Members))
	}
	if _, err := New(fixed, Config{Draws: 2}); err == nil || !strings.Contains(err.Error(), "leave draws out") {
		t.Errorf("two draws of nothing: %v", err)
	}
}

func TestConformance(t *testing.T) {
	for name, data := range map[string]*table{"primal": randomTable(57, 600, 4, 5), "dual": randomTable(58, 8, 4, 5)} {
		t.Run(name, func(t *testing.T) {
			conform.Engine(t, func(threads int) (credence.Engine, error) {
				return New(model(newBent(4, 5), prior.Normal{}, likelihood.Gaussian{}), Config{Threads: threads, MaxIterations: 20})
			}, data)
		})
	}
}

// TestRoles checks weights and offsets under a prior variance of 10⁸, which leaves
// 10⁻⁸ of it in 60 rows and more; the posterior of fewer rows than weights is that prior.
func TestRoles(t *testing.T) {
	flat := prior.Normal{Variance: param.Parameter{Value: 1e8, State: param.Held}}
	only := plain{dense: 5, sparse: 3, sizes: []int{8}}
	e, err := New(model(only, flat, likelihood.Gaussian{NoiseVariance: param.Hold(0.5)}), Config{})
	if err != nil {
		t.Fatal(err)
	}
	conform.Roles(t, e, randomTable(59, 600, 5, 3), 1e-7)
}
