package svi

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/lbfgs"
)

// tuneWeights is the largest number of weights with which hyper-parameters of
// features are learned by a full covariance; beyond, by the mixture's own gradients.
const tuneWeights = 4000

// tuner learns hyper-parameters of features on rows that fit in memory. It
// alternates two steps (Adam, Chang, Khan & Solin 2021, for Gaussian processes):
// variational Newton steps at fixed features, and, with the normal likelihood that
// then stands for every row,
//
//	exp(b_n u − ½ β_n u²),  u = φᵀw,  β = −2 ∂e/∂variance,  b = ∂e/∂mean + β φᵀm,
//
// the ascent of its exact log evidence in the logarithms of prior variances and
// hyper-parameters together,
//
//	log Z = −½ log|I + ΛH| + ½ hᵀVh,  H = ΦᵀBΦ,  h = Φᵀb,  V = (H + Λ⁻¹)⁻¹
//	∂log Z/∂Φ = (b − BΦm)mᵀ − BΦV.
//
// Where the two agree the slope is that of the bound: ∂L/∂Φ = (∂e/∂mean) mᵀ + 2 diag(∂e/∂variance) ΦV.
type tuner struct {
	*newton
	fit       *fit
	table     *table
	tunable   credence.Tunable
	hypers    []int     // learned ones
	groupsOf  []int     // groups with learned prior variance
	b, beta   []float64 // of the point that a round starts from
	h, covary []float64
	slab      []float64
	worth     float64 // least gain of an iteration that is worth another one
}

// tuned is where a tuner came to.
type tuned struct {
	features credence.Features
	at       *point
	scale    float64      // of all rows over those it was fitted to
	bound    float64      // with the log priors of hyper-parameters, but for constants
	pairs    []lbfgs.Pair // steps of the ascent, which the next one builds on
	settled  bool         // the ascent ended for want of gain
}

// learnedHypers returns the places of the features' hyper-parameters to be learned.
func learnedHypers(features credence.Features) (credence.Tunable, []int) {
	tunable, ok := features.(credence.Tunable)
	if !ok {
		return nil, nil
	}
	var learned []int
	for i, h := range tunable.Hyper() {
		if !h.Held {
			learned = append(learned, i)
		}
	}
	return tunable, learned
}

// tune learns the features' hyper-parameters on up to PolishRows rows, the best of the starts.
func (r *fit) tune(ctx context.Context, saved *checkpoint) error {
	tunable, learned := learnedHypers(r.features)
	if len(learned) == 0 {
		return nil
	}
	if saved != nil {
		if saved.Redraw > 0 {
			tunable = r.redrawn(saved.Redraw).(credence.Tunable)
			r.redraw = saved.Redraw
		}
		r.features = tunable.WithHyper(saved.Hyper)
		return nil
	}
	if r.d > tuneWeights {
		return nil
	}
	starts := 1
	if _, ok := r.features.(credence.Redrawable); ok {
		starts = r.config.Starts
	}
	rows := r.data.Rows()
	polish := rows >= 2*r.config.ScreenRows
	rounds := 20
	if polish {
		rounds = 3 // the last steps are taken on more rows
	}
	var best *tuned
	for s := range starts {
		features := r.redrawn(s)
		got, err := r.tuneOn(ctx, features, nil, r.config.ScreenRows, rounds, fmt.Sprintf("hyper-parameters, start %d of %d", s+1, starts))
		if err != nil {
			return err
		}
		if best == nil || got.bound > best.bound {
			best, r.redraw = got, s
		}
	}
	if polish {
		rounds = 2
		if rows < 2*r.config.PolishRows {
			rounds = 3 // these are all
		}
		got, err := r.tuneOn(ctx, best.features, best, r.config.PolishRows, rounds, "hyper-parameters")
		if err != nil {
			return err
		}
		best = got
		if rows >= 2*r.config.PolishRows {
			r.warn("hyper-parameters of the features were learned on about %d of %d rows, everything else on all", r.config.PolishRows, rows)
		}
	}
	r.features, r.near = best.features, best
	// By their values, as a checkpoint has them: learned values are stored even where no step left the start.
	r.features = r.features.(credence.Tunable).WithHyper(r.hyperValues())
	return nil
}

// redrawn returns the features of a start: the model's own first, then fresh draws.
func (r *fit) redrawn(start int) credence.Features {
	if random, ok := r.model.Features.(credence.Redrawable); ok && start > 0 {
		return random.Redraw(credence.Stream(r.config.Seed, "svi features", uint64(start)))
	}
	return r.model.Features
}

func (r *fit) hyperValues() []float64 {
	tunable, ok := r.features.(credence.Tunable)
	if !ok {
		return nil
	}
	var values []float64
	for _, h := range tunable.Hyper() {
		values = append(values, h.Value)
	}
	return values
}

// farthestReach bounds the change of the logarithm of a hyper-parameter in a round.
const farthestReach = 3.0

// tuneOn alternates the two steps of the tuner on about limit rows, from where it came
// to on fewer rows, or nil.
func (r *fit) tuneOn(ctx context.Context, features credence.Features, from *tuned, limit, rounds int, stage string) (*tuned, error) {
	tunable, learned := learnedHypers(features)
	t := &tuner{
		newton: newNewton(r.ws, r.d, r.groups), fit: r, tunable: tunable, hypers: learned,
		h: make([]float64, r.d), covary: make([]float64, r.d*r.d),
	}
	t.table = newTable(r.data, r.ws, features, r.likelihood, limit, true)
	t.worth = 0.01
	part := t.table.count < t.table.total
	if part { // the rows left out say otherwise by more
		t.worth = 0.01 * float64(1+len(learned))
	}
	for k, g := range r.groups {
		if g.learned {
			t.groupsOf = append(t.groupsOf, k)
		}
	}
	s, err := r.starting(ctx, t.table, r.groups)
	if err != nil {
		return nil, err
	}
	t.reference = clone(s.Prior)
	if from != nil {
		r.goOn(t.newton, &s.point, from, from.scale/t.table.scale())
	}
	current := &tuned{features: features, at: &s.point}
	if from != nil {
		times := from.scale / t.table.scale() // the curvature goes with the rows
		for _, pair := range from.pairs {
			change := slices.Clone(pair.Change)
			kernel.Scale(times, change[len(t.groupsOf):])
			current.pairs = append(current.pairs, lbfgs.Pair{Step: pair.Step, Change: change})
		}
	}
	defer func() { current.scale = t.table.scale() }()
	stats := newStatistics(r.d, len(s.Free)).keepSites(t.table.count)
	inner := task{stage: stage, tolerance: 0.1, iterations: 6}
	if from != nil {
		inner.tolerance = 0.5 // near already, and the rest comes with the next round
	}
	if _, _, err := t.climb(ctx, t.table, current.at, stats, inner); err != nil {
		return nil, err
	}
	current.bound = current.at.bound + logPrior(t.tunable, t.hypers)
	t.b, t.beta = slices.Clone(stats.b), slices.Clone(stats.beta)
	reach := farthestReach
	for i := range rounds {
		next, err := t.ascend(ctx, current, reach)
		if err != nil {
			return nil, err
		}
		if next == nil {
			break
		}
		inner.iterations = 2
		if _, _, err := t.climb(ctx, t.table, next.at, stats, inner); err != nil {
			return nil, err
		}
		next.bound = next.at.bound + logPrior(next.features.(credence.Tunable), t.hypers)
		gain := next.bound - current.bound
		if gain > 0 {
			current, reach = next, math.Min(farthestReach, 2*reach)
			t.tunable = next.features.(credence.Tunable)
			copy(t.b, stats.b)
			copy(t.beta, stats.beta)
		} else {
			reach *= 0.3 // the normal rows stand for the true ones only nearby
		}
		if r.config.Progress != nil {
			r.config.Progress(credence.Progress{Stage: stage, Done: i + 1, Total: rounds, Objective: current.bound})
		}
		// A twentieth of a nat a hyper-parameter is far below what its prior leaves open.
		if gain > 0 && (gain < 0.05*float64(1+len(learned)) || from != nil && part && next.settled) || reach < 0.02 {
			break
		}
	}
	return current, nil
}

// goOn moves a point to where a tuner came to on other rows; times is how many times
// theirs the rows are, and the curvature with them.
func (r *fit) goOn(n *newton, at *point, from *tuned, times float64) {
	for k, g := range r.groups {
		if g.learned {
			at.Prior[k] = n.bounded(k, from.at.Prior[k])
		}
	}
	at.Mean, at.Free, at.family = clone(from.at.Mean), clone(from.at.Free), from.at.family
	at.Sites = clone(from.at.Sites)
	kernel.Scale(times, at.Sites)
}

// logPrior is the log density of the learned hyper-parameters' logarithms under their priors, but
// for constants.
func logPrior(tunable credence.Tunable, learned []int) float64 {
	sum := 0.0
	list := tunable.Hyper()
	for _, i := range learned {
		if h := list[i]; h.PriorSD > 0 {
			z := (math.Log(h.Value) - h.PriorMean) / h.PriorSD
			sum -= z * z / 2
		}
	}
	return sum
}

// ascend maximises the evidence of the normal rows from a point, no logarithm of a
// hyper-parameter going farther than reach. nil means that it found no way up.
func (t *tuner) ascend(ctx context.Context, from *tuned, reach float64) (*tuned, error) {
	list := t.tunable.Hyper()
	groups, n := len(t.groupsOf), len(t.groupsOf)+len(t.hypers)
	x := make([]float64, n)
	cfg := lbfgs.Config{
		Lower: make([]float64, n), Upper: make([]float64, n), Curvature: make([]float64, n),
		MaxIterations: 10, Patience: 1, Tolerance: t.worth, MaxStep: 1,
		Known: from.pairs,
	}
	for i, k := range t.groupsOf {
		x[i] = math.Log(from.at.Prior[k])
		cfg.Lower[i] = math.Max(x[i]-priorStep, math.Log(t.bounded(k, 0)))
		cfg.Upper[i] = math.Min(x[i]+priorStep, math.Log(t.bounded(k, math.Inf(1))))
		cfg.Curvature[i] = math.Min(10, float64(t.groups[k].count))/2 + 0.1
	}
	for l, i := range t.hypers {
		h := list[i]
		x[groups+l] = math.Log(h.Value)
		cfg.Lower[groups+l] = math.Max(math.Log(h.Lower), x[groups+l]-reach)
		cfg.Upper[groups+l] = math.Min(math.Log(h.Upper), x[groups+l]+reach)
		cfg.Curvature[groups+l] = 5
	}
	at := &point{Mean: make([]float64, t.d), Prior: clone(from.at.Prior), Free: clone(from.at.Free), family: from.at.family, Sites: make([]float64, t.d*t.d)}
	var features credence.Features
	pull := make([]float64, len(list))
	values := make([]float64, len(list))
	for i, h := range list {
		values[i] = h.Value
	}
	objective := func(x, gradient []float64) (float64, error) {
		for i, k := range t.groupsOf {
			at.Prior[k] = math.Exp(x[i])
		}
		for l, i := range t.hypers {
			values[i] = math.Exp(x[groups+l])
		}
		features = t.tunable.WithHyper(slices.Clone(values))
		value, ok, err := t.evidence(ctx, features, at, pull)
		if err != nil || !ok {
			return math.NaN(), err
		}
		for i, k := range t.groupsOf {
			g := t.groups[k]
			sum := 0.0
			for j := g.first; j < g.first+g.count; j++ {
				sum += (at.psi[j]+at.Mean[j]*at.Mean[j])/at.Prior[k] - 1
			}
			gradient[i] = -sum / 2
		}
		for l, i := range t.hypers {
			gradient[groups+l] = -pull[i]
			if h := list[i]; h.PriorSD > 0 {
				z := (x[groups+l] - h.PriorMean) / h.PriorSD
				value -= z * z / 2
				gradient[groups+l] += z / h.PriorSD
			}
		}
		return -value, nil
	}
	last := make([]float64, n)
	result, err := lbfgs.Minimise(x, func(x, gradient []float64) (float64, error) {
		copy(last, x)
		return objective(x, gradient)
	}, cfg)
	if err != nil {
		return nil, err
	}
	if !finite(result.F) || result.Iterations == 0 {
		return nil, nil
	}
	if !slices.Equal(last, x) { // the last trial was not the best
		if _, err := objective(x, make([]float64, n)); err != nil {
			return nil, err
		}
	}
	return &tuned{features: features, at: at, pairs: result.Pairs, settled: result.Converged}, nil
}

// evidence is log Z at the given features and prior variances. It stores the
// posterior of the normal rows in at, and the gradients in all hyper-parameters in pull.
func (t *tuner) evidence(ctx context.Context, features credence.Features, at *point, pull []float64) (float64, bool, error) {
	d, pool := t.d, t.ws.Pool()
	t.table.retransform(features)
	clear(at.Sites)
	clear(t.h)
	first := 0
	for k := range t.table.blocks() {
		b, err := t.table.at(ctx, k)
		if err != nil {
			return 0, false, err
		}
		t.denseCols = b.phi.Dense.Cols
		t.addCurvature(at.Sites, b.phi, t.beta[first:first+b.rows])
		addTrans(pool, t.h, b.phi, t.b[first:first+b.rows])
		first += b.rows
	}
	liftCross(at.Sites, d, t.denseCols)
	logDet, ok := t.factorise(at.Sites, at.Prior)
	if !ok {
		return 0, false, nil
	}
	t.solve(at.Mean, t.h)
	value := (kernel.Dot(t.h, at.Mean) - logDet) / 2
	at.psi = grow(at.psi, d)
	t.diagonal(at.psi)
	pool.Syrk(d, d, 1, t.factor, d, 0, t.covary, d)
	kernel.Symmetrize(d, t.covary, d)
	clear(pull)
	tunable := features.(credence.Tunable)
	first = 0
	for k := range t.table.blocks() {
		b, err := t.table.at(ctx, k)
		if err != nil {
			return 0, false, err
		}
		t.slope(b, at, first)
		tunable.Pullback(t.ws, pull, b.batch, b.phi, t.slab)
		first += b.rows
	}
	return value, true, nil
}

// slope stores ∂log Z/∂Φ of a block's dense columns in t.slab.
func (t *tuner) slope(b *block, at *point, first int) {
	d, dense := t.d, b.phi.Dense.Cols
	t.slab = grow(t.slab, b.rows*dense)
	t.ws.Pool().Gemm(false, false, b.rows, dense, dense, 1, b.phi.Dense.Data, max(1, b.phi.Dense.Stride), t.covary, d, 0, t.slab, max(1, dense))
	inTasks(t.ws.Pool(), b.rows, func(from, to int) {
		for i := from; i < to; i++ {
			row := t.slab[i*dense : (i+1)*dense]
			if b.phi.Sparse.Cols > 0 {
				columns, entries := b.phi.Sparse.Row(i)
				for k, c := range columns {
					v := 1.0
					if entries != nil {
						v = entries[k]
					}
					kernel.Axpy(v, t.covary[(dense+int(c))*d:(dense+int(c))*d+dense], row)
				}
			}
			beta := t.beta[first+i]
			kernel.Scale(-beta, row)
			kernel.Axpy(t.b[first+i]-beta*rowDot(b.phi, i, at.Mean), at.Mean[:dense], row)
		}
	})
}
