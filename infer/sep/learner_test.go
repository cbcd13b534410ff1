package sep

import (
	"bytes"
	"math"
	"slices"
	"testing"
	"unsafe"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/safetensors"
)

// Against a long Gibbs run, which is the truth up to sampling error, and against
// EP run to convergence. With correlated inputs (one-hot) the chains themselves
// disagree on which of several like features is in, so there only predictions are compared.
func TestAgainstGibbsAndEP(t *testing.T) {
	if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	const (
		inclusionTolerance = 0.03  // of the factorised family at this size: EP itself is 0.007 away
		denseLoss          = 0.005 // of log loss
		sparseLoss         = 0.015
	)
	const sweeps = 3000
	for _, c := range []struct {
		name   string
		p      *simulated
		rmse   float64
		excess float64
	}{
		{"dense", denseProblem(2000, 50, 7), inclusionTolerance, denseLoss},
		{"one-hot", oneHotProblem(4000, []int{4, 10, 30, 100}, 7), math.Inf(1), sparseLoss},
	} {
		gibbs := c.p.gibbs(sweeps, 1)
		ep := c.p.fullEP(20)
		best := c.p.logLoss(gibbs.test)
		t.Logf("%s: log loss of the truth %.4f, Gibbs %.4f, EP %.4f", c.name, c.p.logLoss(c.p.testTruth), best, c.p.logLoss(ep.test))
		for _, cfg := range []Config{{}, {Batch: 100}} {
			for _, passes := range []int{1, 5} {
				l := c.p.learned(cfg, passes)
				got := c.p.ofLearner(l)
				loss, distance := c.p.logLoss(got.test), rmse(got.inclusion, gibbs.inclusion)
				t.Logf("batch %d, %d passes: log loss %.4f, inclusion RMSE to Gibbs %.4f, to EP %.4f, %+v",
					cfg.Batch, passes, loss, distance, rmse(got.inclusion, ep.inclusion), l.events)
				if loss > best+c.excess {
					t.Errorf("%s, batch %d, %d passes: log loss %.4f, Gibbs has %.4f", c.name, cfg.Batch, passes, loss, best)
				}
				if passes == 5 && distance > c.rmse {
					t.Errorf("%s, batch %d: inclusion RMSE %.4f after %d passes", c.name, cfg.Batch, distance, passes)
				}
			}
		}
	}
}

// trapezium integrates f over ±12 standard deviations of the widest Gaussian in
// it; for such smooth f the rule is exact to rounding.
func trapezium(f func(w float64) float64, sd float64) float64 {
	const steps = 20000
	sum, h := 0.0, 24*sd/steps
	for i := range steps + 1 {
		sum += f(-12*sd + float64(i)*h)
	}
	return sum * h
}

func TestTiltedMomentsByQuadrature(t *testing.T) {
	const tolerance = 1e-10 // of a 20,000-point rule on sums of about 1
	for _, c := range []struct{ inclusion, slab, lambda, shift float64 }{
		{0.2, 0.5, 3, 2}, {0.01, 1, 50, -20}, {0.9, 0.1, 0.5, 0}, {0.5, 2, 10, 9}, {0.3, 0.2, 0, 0},
	} {
		p := newPrior(c.inclusion, c.slab)
		slab := func(w float64) float64 {
			return c.inclusion * math.Exp(-w*w/(2*c.slab)+c.shift*w-c.lambda*w*w/2) / math.Sqrt(2*math.Pi*c.slab)
		}
		sd := math.Sqrt(c.slab)
		mass := trapezium(slab, sd)
		z := mass + 1 - c.inclusion // the spike is at 0, where the likelihood factor is 1
		mean := trapezium(func(w float64) float64 { return w * slab(w) }, sd) / z
		square := trapezium(func(w float64) float64 { return w * w * slab(w) }, sd) / z
		got := p.tilted(c.lambda, c.shift)
		if !(math.Abs(got.alpha-mass/z) <= tolerance) || !(math.Abs(got.mean-mean) <= tolerance) || !(math.Abs(got.variance-(square-mean*mean)) <= tolerance) {
			t.Errorf("%+v: α %g, mean %g, variance %g, want %g, %g, %g", c, got.alpha, got.mean, got.variance, mass/z, mean, square-mean*mean)
		}
		if !(math.Abs(1/(1+got.odds)-got.alpha) <= 1e-14) {
			t.Errorf("%+v: odds of %g do not belong to α %g", c, got.odds, got.alpha)
		}
	}
}

// a and b are derivatives of log Φ(±mean/√s): central differences.
func TestSiteDerivatives(t *testing.T) {
	const step, tolerance = 1e-4, 1e-6 // differences: step² and rounding/step²
	for _, label := range []int{0, 1} {
		for _, mean := range []float64{-9, -3, -0.1, 0, 2, 7} {
			for _, s := range []float64{1, 2.5} {
				sign := float64(2*label - 1)
				value := func(m float64) float64 { return special.LogNormalCDF(sign * m / math.Sqrt(s)) }
				probability, a, b := site(mean, s, label)
				wantA := (value(mean+step) - value(mean-step)) / (2 * step)
				wantB := -(value(mean+step) - 2*value(mean) + value(mean-step)) / (step * step)
				if !(math.Abs(a-wantA) <= tolerance*max(1, math.Abs(a))) || !(math.Abs(b-wantB) <= 1e-5) {
					t.Errorf("label %d, mean %g, s %g: slope %g, curvature %g, want %g, %g", label, mean, s, a, b, wantA, wantB)
				}
				if want := special.NormalCDF(mean / math.Sqrt(s)); !(math.Abs(probability-want) <= 1e-13*want) {
					t.Errorf("mean %g, s %g: probability %g, want %g", mean, s, probability, want)
				}
			}
		}
	}
}

// One row: q(w_j) must have the moments of cavity × Φ, integrated over w_j with
// the other weights' Gaussian added to the noise.
func TestOneRowMatchesMoments(t *testing.T) {
	hyper := Hyper{Inclusion: held(0.3), Slab: held(0.8)}
	l := must.Value(NewLearner(Config{}, hyper))(t)
	x := []float64{1.5, -2}
	batch := batchOf([][]float64{{x[0], x[1], 1}}, []int{1})
	l.reserve(2)
	start := 0.3 * 0.8 // variance of the prior
	// Keep the first refresh away: the likelihood factors alone are compared.
	for slot := range int32(2) {
		l.begin(l.at(slot))
		l.at(slot).due = 100
	}
	l.Learn(batch, make([]float64, 1))
	for j := range 2 {
		rest := 1 + biasVariance + x[1-j]*x[1-j]*start
		density := func(w float64) float64 {
			return math.Exp(-w*w/(2*start)) * special.NormalCDF(x[j]*w/math.Sqrt(rest))
		}
		sd := math.Sqrt(start)
		z := trapezium(density, sd)
		mean := trapezium(func(w float64) float64 { return w * density(w) }, sd) / z
		square := trapezium(func(w float64) float64 { return w * w * density(w) }, sd) / z
		got := l.Weight(j)
		const tolerance = 1e-7 // the prior factor is kept in single precision
		if !(math.Abs(got.Mean-mean) <= tolerance) || !(math.Abs(got.Variance-(square-mean*mean)) <= tolerance) {
			t.Errorf("weight %d: %g ± %g, want %g ± %g", j, got.Mean, got.Variance, mean, square-mean*mean)
		}
	}
}

func held(v float64) param.Parameter { return param.Parameter{Value: v, State: param.Held} }

// stateOf is the state of a learner as a file.
func stateOf(t *testing.T, l *Learner) []byte {
	t.Helper()
	document, tensors, err := l.State()
	must.Succeed(t, err)
	var buffer bytes.Buffer
	must.Succeed(t, safetensors.Write(&buffer, map[string]string{"state": string(document)}, tensors))
	return buffer.Bytes()
}

func restored(t *testing.T, file []byte) *Learner {
	t.Helper()
	r := must.Value(safetensors.NewReader(bytes.NewReader(file), int64(len(file))))(t)
	return must.Value(Restore([]byte(r.Metadata()["state"]), r))(t)
}

// part is rows [first, last) of a batch.
func part(b *credence.Batch, first, last int) *credence.Batch {
	p := *b
	p.X.Rows = last - first
	p.Sparse.Rows = last - first
	p.Sparse.Start = b.Sparse.Start[first : last+1]
	p.Target = b.Target[first:last]
	return &p
}

// Learning in pieces, and stopping in between by way of a file, changes no bit.
func TestPiecesAndResume(t *testing.T) {
	p := oneHotProblem(earlyRows+900, []int{5, 40, 400}, 3) // they are learned again on the way
	batch := batchOf(p.x, p.y)
	for _, cfg := range []Config{{}, {Batch: 50}, {Forget: 500}, {PositiveWeight: 3}} {
		learn := func(l *Learner, first, last int) []float64 {
			probability := make([]float64, last-first)
			l.Learn(part(batch, first, last), probability)
			return probability
		}
		whole := must.Value(NewLearner(cfg, Hyper{}))(t)
		want := learn(whole, 0, p.rows)
		pieces, _ := NewLearner(cfg, Hyper{})
		var got []float64
		for first := 0; first < p.rows; {
			last := min(p.rows, first+333)
			got = append(got, learn(pieces, first, last)...)
			pieces = restored(t, stateOf(t, pieces))
			first = last
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("%+v: row %d is scored %v in pieces, %v at once", cfg, i, got[i], want[i])
			}
		}
		whole.EndPass()
		pieces.EndPass()
		if !bytes.Equal(stateOf(t, whole), stateOf(t, pieces)) {
			t.Errorf("%+v: the state differs after learning in pieces", cfg)
		}
	}
}

// Scoring is what Learn scores before it learns, and changes nothing.
func TestScoreIsLearnsScore(t *testing.T) {
	p := oneHotProblem(1000, []int{5, 40}, 4)
	batch := batchOf(p.x, p.y)
	l := p.learned(Config{}, 1)
	before := stateOf(t, l)
	scored := make([]float64, 1)
	learned := make([]float64, 1)
	scoreOnly(l, part(batch, 10, 11), scored)
	if !bytes.Equal(before, stateOf(t, l)) {
		t.Error("scoring changed the state")
	}
	fresh := p.learned(Config{}, 1)
	fresh.again = false
	fresh.Learn(part(batch, 10, 11), learned)
	if !(math.Abs(scored[0]-learned[0]) <= 1e-15) {
		t.Errorf("scored %v, learned at %v", scored[0], learned[0])
	}
	// Rows without a target or weight are scored only.
	fresh = p.learned(Config{}, 1)
	unlabelled := part(batch, 10, 12)
	unlabelled.Target = []float64{math.NaN(), 1}
	unlabelled.Weight = []float64{1, 0}
	fresh.Learn(unlabelled, make([]float64, 2))
	if !bytes.Equal(before, stateOf(t, fresh)) {
		t.Error("rows without target or weight were learned")
	}
}

// Learned ρ0 and τ0 come near those that generated the data, and predict as well
// as these held.
func TestHyperparametersAreLearned(t *testing.T) {
	p := oneHotProblem(30000, []int{20, 200, 200, 200}, 5)
	batch := batchOf(p.x, p.y)
	probability := make([]float64, p.rows)
	learned, _ := NewLearner(Config{}, Hyper{})
	learned.Learn(batch, probability)
	learned.Refresh()
	stated, _ := NewLearner(Config{}, p.hyper())
	stated.Learn(batch, probability)
	stated.Refresh()
	inclusion, slab := learned.prior.inclusion, learned.prior.slab
	t.Logf("learned ρ0 %.3f, τ0 %.3f; true %.3f, %.3f", inclusion, slab, p.inclusion, p.slab)
	// About 190 of 620 weights are in: their count and mean square have standard
	// errors of 7 % and 10 %; the likelihood of rare levels says little, so allow a factor of 2.
	if inclusion < p.inclusion/2 || inclusion > 2*p.inclusion || slab < p.slab/2 || slab > 2*p.slab {
		t.Errorf("learned ρ0 %.3f, τ0 %.3f; true %.3f, %.3f", inclusion, slab, p.inclusion, p.slab)
	}
	a, b := p.logLoss(p.ofLearner(learned).test), p.logLoss(p.ofLearner(stated).test)
	if a > b+0.002 {
		t.Errorf("log loss %.4f learned, %.4f with the true values", a, b)
	}
}

// The scoring step climbs: near its fixed point the gradient of the summed log
// evidence, by central differences, vanishes.
func TestScoringStepFindsTheMaximum(t *testing.T) {
	for _, p := range []*simulated{
		denseProblem(2000, 50, 7),
		oneHotProblem(4000, []int{50, 50}, 6), // its maximum lies at the bound of ρ0
	} {
		scoringStepFindsTheMaximum(t, p)
	}
}

func scoringStepFindsTheMaximum(t *testing.T, p *simulated) {
	l := p.learned(Config{}, 1)
	l.hyper = Hyper{}
	for range 200 {
		if l.scoringStep(1, true, true) < 1e-10 {
			break
		}
	}
	objective := func(logit, logSlab float64) float64 {
		candidate := newPrior(special.Sigmoid(logit), math.Exp(logSlab))
		startLogit := math.Log(startInclusion / (1 - startInclusion))
		sum := -0.5*math.Pow((logit-startLogit)/logitScale, 2) - 0.5*math.Pow((logSlab-math.Log(startSlab))/logSlabScale, 2)
		l.each(func(f *feature) {
			lambda, shift := f.lambda, f.shift
			d := 1 + candidate.slab*lambda
			sum += math.Log(candidate.inclusion/math.Sqrt(d)*math.Exp(0.5*shift*shift*candidate.slab/d) + 1 - candidate.inclusion)
		})
		return sum
	}
	const step, tolerance = 1e-4, 1e-4
	logit, logSlab := l.prior.logit, math.Log(l.prior.slab)
	gi := (objective(logit+step, logSlab) - objective(logit-step, logSlab)) / (2 * step)
	gs := (objective(logit, logSlab+step) - objective(logit, logSlab-step)) / (2 * step)
	if l.prior.inclusion > largestInclusion-1e-9 {
		gi = min(gi, 0) // at its bound it may press outwards
	}
	if !(math.Abs(gi) <= tolerance) || !(math.Abs(gs) <= tolerance) {
		t.Errorf("gradient %g, %g at the fixed point ρ0 %g, τ0 %g", gi, gs, l.prior.inclusion, l.prior.slab)
	}
}

// After a change of the world, a learner that forgets predicts the new one better.
func TestForgettingFollowsDrift(t *testing.T) {
	before, after := oneHotProblem(16_000, []int{20, 20}, 8), oneHotProblem(8000, []int{20, 20}, 9)
	loss := func(cfg Config) float64 {
		l, _ := NewLearner(cfg, Hyper{})
		probability := make([]float64, 8000)
		l.Learn(batchOf(before.x, before.y), make([]float64, before.rows))
		l.Learn(batchOf(after.x, after.y), probability)
		l.Refresh()
		return after.logLoss(after.ofLearner(l).test)
	}
	forgets, keeps := loss(Config{Forget: 2000}), loss(Config{})
	if forgets > keeps-0.005 {
		t.Errorf("log loss %.4f with forgetting, %.4f without", forgets, keeps)
	}
}

// selected is counted as features change sides; it must agree with a count, behind every refresh of them all with
// one by the posterior.
func TestSelectedCount(t *testing.T) {
	p := oneHotProblem(3000, []int{5, 40, 400}, 3)
	l, _ := NewLearner(Config{}, Hyper{})
	batch := batchOf(p.x, p.y)
	count := func(selected func(f *feature) bool) (want, seen int) {
		l.each(func(f *feature) {
			seen++
			if selected(f) {
				want++
			}
		})
		return want, seen
	}
	l.Learn(batch, make([]float64, p.rows))
	if want, seen := count(func(f *feature) bool { return f.due&selectedFlag != 0 }); l.selected != want || l.features != seen || want == 0 {
		t.Errorf("%d of %d features selected, counted %d of %d", l.selected, l.features, want, seen)
	}
	l.Refresh()
	above := (prior.SpikeSlab{Inclusion: param.Parameter{Value: l.prior.inclusion}}).SelectedAbove()
	if want, seen := count(func(f *feature) bool { return l.marginal(f).Inclusion > above }); l.selected != want || want == seen || want == 0 {
		t.Errorf("%d features selected, %d of %d by their inclusion", l.selected, want, seen)
	}
}

// TestKnownCounts: what is counted beforehand is the weight of the rows of a class, of features and the intercept.
func TestKnownCounts(t *testing.T) {
	l := must.Value(NewLearner(Config{KnownCounts: true}, Hyper{}))(t)
	l.reserve(3)
	for _, row := range []struct {
		slots  []int32
		label  int
		weight float64
	}{{[]int32{0, 2}, 1, 3}, {[]int32{0}, 0, 0.5}, {[]int32{2}, 1, 2}} {
		l.count(row.slots, row.label, row.weight)
	}
	if got := [][2]float64{l.biasSums.count, l.classes(0).count, l.classes(2).count}; !slices.Equal(got, [][2]float64{{0.5, 5}, {0.5, 3}, {0, 5}}) {
		t.Errorf("counts are %v", got)
	}
}

func TestConfigRefusals(t *testing.T) {
	for _, cfg := range []Config{
		{Batch: -1}, {PriorEvery: -1}, {Passes: -2}, {PositiveWeight: -1}, {NegativeWeight: math.NaN()},
		{Forget: 0.5}, {Prune: 0.7}, {Features: 1, Batch: 10}, {KnownCounts: true, Forget: 10},
	} {
		if _, err := NewLearner(cfg, Hyper{}); err == nil {
			t.Errorf("%+v is accepted", cfg)
		}
	}
}

// The number of selected features falls with ρ0 from nearly all to hardly any.
func TestSelectionFallsWithInclusion(t *testing.T) {
	p := oneHotProblem(20000, []int{100, 1000, 1000}, 11)
	batch := batchOf(p.x, p.y)
	last := math.MaxInt
	for _, inclusion := range []float64{0.8, 0.5, 0.4, 0.3, 0.1, 1e-3, 1e-5, 1e-7} {
		l, _ := NewLearner(Config{}, Hyper{Inclusion: held(inclusion), Slab: held(0.1)})
		l.Learn(batch, make([]float64, p.rows))
		l.Finish()
		seen, selected := l.features, l.selected
		t.Logf("ρ0 %g: %d of %d", inclusion, selected, seen)
		if selected > last {
			t.Errorf("%d features at ρ0 %g, fewer before: %d", selected, inclusion, last)
		}
		if inclusion == 0.8 && selected < seen*9/10 || inclusion == 1e-7 && selected > seen/100 {
			t.Errorf("%d of %d features at ρ0 %g", selected, seen, inclusion)
		}
		last = selected
	}
}

// Sums without classes are those of both, also where evidence is forgotten, discounted and pruned.
func TestSumsWithoutClasses(t *testing.T) {
	p := oneHotProblem(3000, []int{5, 40}, 6)
	for _, cfg := range []Config{{}, {Batch: 50}, {Forget: 100}, {Prune: 0.2}} {
		var learners [2]*Learner
		for k := range learners {
			cfg.Passes = k + 1 // two passes need the classes
			l := must.Value(NewLearner(cfg, Hyper{}))(t)
			l.early.stage = sample
			l.dropClasses()
			batch, probability := batchOf(p.x, p.y), make([]float64, 3000)
			l.Learn(batch, probability)
			l.Prune()
			if c := l.classes(3); k == 0 && c != nil || k == 1 && c.count[0]+c.count[1] == 0 {
				t.Fatalf("sums by class %+v", c)
			}
			if l.Continue(0.5); cfg.Prune == 0 {
				l.Learn(batch, probability)
			}
			l.Refresh()
			learners[k] = l
		}
		for j := range learners[0].slots {
			a, b := learners[0].Weight(j), learners[1].Weight(j)
			// prior factors are in single precision
			if !(math.Abs(a.Mean-b.Mean) <= 1e-6) || !(math.Abs(a.Variance-b.Variance) <= 1e-6*b.Variance) {
				t.Errorf("%+v: weight %d is %+v, with sums by class %+v", cfg, j, a, b)
			}
		}
		if a, b := learners[0].features, learners[1].features; a != b || learners[0].selected != learners[1].selected {
			t.Errorf("%+v: %d features, %d with sums by class", cfg, a, b)
		}
	}
}

// Features are prefetched by their size.
func TestFeatureShift(t *testing.T) {
	if size := unsafe.Sizeof(feature{}); size != 1<<featureShift || unsafe.Sizeof(chunk{}) != kernel.PrefetchBytes {
		t.Errorf("a feature has %d bytes", size)
	}
}

// A uniform number is below α just where its odds say so, at every exponent.
func TestIncludes(t *testing.T) {
	p := newPrior(0.3, 0.5)
	for _, shift := range []float64{0, 0.1, 0.5, 1, 2, 4, 8} {
		at, exponent := p.tilt(3, shift)
		alpha := p.tilted(3, shift).alpha
		for u := 0.0005; u < 1; u += 0.001 {
			if got := at.includes(u, exponent); got != (u < alpha) && !(math.Abs(u-alpha) <= 1e-12) {
				t.Errorf("shift %v: %v is below α %v: %v", shift, u, alpha, got)
			}
		}
		if !at.includes(0, exponent) {
			t.Error("0 is below every α")
		}
	}
}
