package svi

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// wave is y ~ Poisson(exp(sin 3a)) with an input b that does not matter.
func wave(n int) *memory {
	rng := rand.New(rand.NewPCG(4, 4))
	m := &memory{x: linop.NewDense(n, 2), y: make([]float64, n)}
	for i := range n {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		m.x.Row(i)[0], m.x.Row(i)[1] = a, b
		m.y[i] = likelihood.Poisson{}.Sample(rng, 1.5*math.Sin(3*a))
	}
	return m
}

// heldAt returns the features with their lengthscales held at values.
func heldAt(t *testing.T, set *feature.Set, values []float64) credence.Features {
	t.Helper()
	terms := set.Terms()
	for i, term := range terms {
		if random, ok := term.(*feature.RandomFourier); ok {
			fixed := *random
			fixed.Lengthscale.Values, fixed.Lengthscale.State = values, param.Held
			terms[i] = &fixed
		}
	}
	return must.Value(feature.New(set.Inputs(), terms...))(t)
}

// lengthscales are the learned ones.
func lengthscales(f *credence.Fitted) []float64 {
	var out []float64
	for _, h := range f.Members[0].Model.Features.(credence.Tunable).Hyper() {
		out = append(out, h.Value)
	}
	return out
}

// TestLengthscales: learned lengthscales switch off the input that does not matter, and are a
// maximum of the bound of fits that hold them: moving either by a tenth lowers it, but for what
// their prior moves and the tuner leaves (half a nat).
func TestLengthscales(t *testing.T) {
	data := wave(600)
	set := fourier(t, 2, 25, true)
	model := credence.Model{Features: set, Likelihood: likelihood.Poisson{}, Prior: normal}
	f := fitted(t, model, Config{Covariance: Full}, data)
	l := lengthscales(f)
	if !(l[1] > 5*l[0]) {
		t.Errorf("lengthscales %v: the second input does not matter", l)
	}
	drawn := f.Members[0].Model.Features.(*feature.Set) // of the start that was kept
	at := func(values ...float64) float64 {
		model.Features = heldAt(t, drawn, values)
		return *fitted(t, model, Config{Covariance: Full, Diagnostics: -1}, data).Report.ELBO
	}
	best := at(l...)
	closeTo(t, "bound of the fit at its lengthscales", *f.Report.ELBO, best, 0.01)
	for _, factor := range []float64{1 / 1.1, 1.1} {
		if b := at(l[0]*factor, l[1]); b > best+0.5 {
			t.Errorf("lengthscale of a times %.2f: bound %g, learned %g", factor, b, best)
		}
	}
	if start := at(math.Sqrt2, math.Sqrt2); start > best-20 {
		t.Errorf("bound %g at the start, %g learned", start, best)
	}
}

// Student's t on normal noise finds the lengthscales that a Gaussian likelihood does, though from the
// start nearly all rows are outliers to it, and nearly its bound: df leads there.
func TestLengthscalesOfHeavyTails(t *testing.T) {
	if testing.Short() { // as the race detector has it: what runs at once is tested by others
		t.Skip("many fits")
	}
	data := wave(600)
	rng := rand.New(rand.NewPCG(5, 5))
	for i := range data.y {
		data.y[i] = 3*math.Sin(2*data.x.Row(i)[0]) + 0.1*rng.NormFloat64()
	}
	model := credence.Model{Features: fourier(t, 2, 25, true), Likelihood: likelihood.Gaussian{}, Prior: normal}
	cfg := Config{Covariance: Full, Diagnostics: -1}
	thin := fitted(t, model, cfg, data)
	model.Likelihood = likelihood.StudentT{}
	heavy := fitted(t, model, cfg, data)
	if a, b := lengthscales(thin)[0], lengthscales(heavy)[0]; !(math.Abs(a-b) <= 0.1*a) {
		t.Errorf("lengthscale %g of Student's t, %g of a Gaussian", b, a)
	}
	if a, b := *thin.Report.ELBO, *heavy.Report.ELBO; !(math.Abs(a-b) <= 5) {
		t.Errorf("bound %g of Student's t, %g of a Gaussian", b, a)
	}
}

// Held lengthscales stay, and starts redraw random features and keep the best draw.
func TestStartsRedraw(t *testing.T) {
	data := wave(400)
	set := fourier(t, 2, 10, true)
	model := credence.Model{Features: set, Likelihood: likelihood.Poisson{}, Prior: normal}
	one := fitted(t, model, Config{Covariance: Full}, data)
	four := fitted(t, model, Config{Covariance: Full, Starts: 4}, data)
	// Starts are compared with the prior of their lengthscales, before the last steps.
	penalised := func(f *credence.Fitted) float64 {
		value := *f.Report.ELBO
		for _, h := range f.Members[0].Model.Features.(credence.Tunable).Hyper() {
			logPrior, _ := base.LogHyperPrior(h, math.Log(h.Value))
			value += logPrior
		}
		return value
	}
	if reflect.DeepEqual(lengthscales(one), lengthscales(four)) {
		t.Error("the first of four draws is the best of this wave, or the others are the first again")
	}
	if penalised(four) < penalised(one)-0.5 {
		t.Errorf("the best of four draws has the penalised bound %g, the first %g", penalised(four), penalised(one))
	}
	model.Features = heldAt(t, set, []float64{0.7, 3})
	if l := lengthscales(fitted(t, model, Config{Covariance: Full}, data)); l[0] != 0.7 || l[1] != 3 {
		t.Errorf("held lengthscales became %v", l)
	}
}

// TestLengthscalesInMinibatches: minibatches move lengthscales by the mixture's own gradients,
// integrated or sampled.
func TestLengthscalesInMinibatches(t *testing.T) {
	data := wave(600)
	set := fourier(t, 2, 25, true)
	model := credence.Model{Features: set, Likelihood: likelihood.Poisson{}, Prior: normal}
	still := model
	still.Features = heldAt(t, set, []float64{math.Sqrt2, math.Sqrt2})
	start := fitted(t, still, Config{}, data)
	for _, estimator := range []Estimator{Marginal, Sample} {
		f := fitted(t, model, Config{Batch: 50, Epochs: 10, Estimator: estimator}, data)
		l := lengthscales(f)
		if l[0] == math.Sqrt2 || !(l[1] > l[0]) {
			t.Errorf("%s: lengthscales %v", estimator, l)
		}
		if *f.Report.ELBO < *start.Report.ELBO+10 {
			t.Errorf("%s: bound %g with learned lengthscales, %g at the start", estimator, *f.Report.ELBO, *start.Report.ELBO)
		}
	}
}

// Where the search stays at its start, the features still carry the learned values: a fit
// that goes on from a checkpoint, which has them, ends in the same bytes.
func TestLengthscalesThatStayAreStored(t *testing.T) {
	data := smooth(likelihood.Poisson{}, 60, 1, 3)
	held := prior.Normal{Variance: param.Parameter{Value: 1e-18, State: param.Held}}
	r := newFit(t, credence.Model{Features: fourier(t, 20, 4, true), Likelihood: likelihood.Poisson{}, Prior: held}, Config{Covariance: Full}, data)
	must.Succeed(t, r.learnHypers(t.Context(), nil))
	stored := r.Features.(credence.Tunable).WithHyper(base.HyperValues(r.Features))
	if !reflect.DeepEqual(r.Features, stored) {
		t.Errorf("features %+v, by a checkpoint %+v", r.Features, stored)
	}
}

// TestStartsOfLengthscales: on few rows a quick wave is found though its length is far below where a
// search begins; one start stays with long lengthscales.
func TestStartsOfLengthscales(t *testing.T) {
	const n = 120
	rng := rand.New(rand.NewPCG(4, 5))
	data := &memory{x: linop.NewDense(n, 1), y: make([]float64, n)}
	for i := range n {
		a := rng.NormFloat64()
		data.x.Row(i)[0] = a
		data.y[i] = likelihood.Poisson{}.Sample(rng, 1+1.5*math.Sin(15*a))
	}
	model := credence.Model{Features: fourier(t, 1, 20, true), Likelihood: likelihood.Poisson{}, Prior: normal}
	one := fitted(t, model, Config{Covariance: Full, Hyper: param.Mode, Starts: 1}, data)
	several := fitted(t, model, Config{Covariance: Full, Hyper: param.Mode}, data)
	if gain := boundOf(several) - boundOf(one); gain < 10 {
		t.Errorf("%d starts gain %.1f nats over one, lengthscales %v and %v", fewStarts, gain, lengthscales(several), lengthscales(one))
	}
	if l := lengthscales(several)[0]; l > 0.3 {
		t.Errorf("the lengthscale of a wave of length 0.42 is %g", l)
	}
}

// Curves of many rows have two starts and are polished on more rows: the rough curve is found from where one start ends
// beside it, and no warning says that lengthscales are those of a part of the rows.
func TestCurvesHaveTwoStarts(t *testing.T) {
	if testing.Short() { // as the race detector has it: what runs at once is tested by others
		t.Skip("many fits")
	}
	data := wave(5000)
	for i := range data.y {
		data.y[i] = likelihood.Poisson{}.Sample(rand.New(rand.NewPCG(uint64(i), 4)), 1+math.Sin(8*data.x.Row(i)[0]))
	}
	model := credence.Model{Features: fourier(t, 2, 50, true), Likelihood: likelihood.Poisson{}, Prior: normal}
	two := fitted(t, model, Config{Covariance: Full}, data)
	one := fitted(t, model, Config{Covariance: Full, Starts: 1}, data)
	if *two.Report.ELBO < *one.Report.ELBO+1000 {
		t.Errorf("two starts have a bound of %v, one of %v", *two.Report.ELBO, *one.Report.ELBO)
	}
	if !slices.Equal(two.Report.Warnings, nil) {
		t.Errorf("warnings: %q", two.Report.Warnings)
	}
	if !curves(model.Features) || curves(fourier(t, 3, 5, true)) || curves(nil) {
		t.Error("functions of one column are no curves, or of three columns are")
	}
}
