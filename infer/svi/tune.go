package svi

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/lbfgs"
	"github.com/credence-ml/credence/likelihood"
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

// logBounds are those of the logarithm of a hyper-parameter. A bound of 0 is none.
func logBounds(h credence.Hyper) (lower, upper float64) {
	lower, upper = math.Inf(-1), math.Inf(1)
	if h.Lower > 0 {
		lower = math.Log(h.Lower)
	}
	if h.Upper > 0 {
		upper = math.Log(h.Upper)
	}
	return lower, upper
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
		r.warnTuned()
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
	keep := func(s int, got *tuned) {
		if best == nil || got.bound > best.bound {
			best, r.redraw = got, s
		}
	}
	for s := range starts {
		stage := fmt.Sprintf("hyper-parameters, start %d of %d", s+1, starts)
		features := r.redrawn(s)
		got, err := r.tuneOn(ctx, features, nil, r.config.ScreenRows, rounds, stage)
		if err != nil {
			return err
		}
		keep(s, got)
		if _, heavy := r.likelihood.(likelihood.StudentT); !heavy {
			continue
		}
		if features, err = r.tunedAsNormal(ctx, features, rounds, stage); err != nil {
			return err
		}
		if got, err = r.tuneOn(ctx, features, nil, r.config.ScreenRows, rounds, stage); err != nil {
			return err
		}
		keep(s, got)
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
	}
	r.warnTuned()
	r.features, r.near = best.features, best
	// By their values, as a checkpoint has them: learned values are stored even where no step left
	// the start.
	r.features = r.features.(credence.Tunable).WithHyper(r.hyperValues())
	return nil
}

// warnTuned tells on how many rows the tuner learned, where those were not all.
func (r *fit) warnTuned() {
	rows := r.data.Rows()
	if r.d > tuneWeights || rows < 2*r.config.ScreenRows {
		return
	}
	if count := newTable(r.data, r.ws, r.features, r.likelihood, r.config.PolishRows, true).count; count < rows {
		r.warn("hyper-parameters of the features were learned on %d of %d rows, everything else on all", count, rows)
	}
}

// tunedAsNormal returns the features with hyper-parameters learned as if the noise were normal. From
// starting values that explain little, all of the target is outliers to Student's t: rows of
// negative curvature, for which no normal row can stand, hold the ascent where it began.
func (r *fit) tunedAsNormal(ctx context.Context, features credence.Features, rounds int, stage string) (credence.Features, error) {
	engine, normal := *r.Engine, *r
	engine.likelihood = likelihood.Gaussian{}
	normal.Engine = &engine
	got, err := normal.tuneOn(ctx, features, nil, r.config.ScreenRows, rounds, stage+", normal noise")
	if err != nil {
		return nil, err
	}
	return got.features, nil
}

// redrawn returns the features of a start: the model's own first, then fresh draws.
func (r *fit) redrawn(start int) credence.Features {
	if random, ok := r.model.Features.(credence.Redrawable); ok {
		return random.Redraw(r.config.Seed, start)
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
	t.references = s.references
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
			at.Prior[k] = n.references[k].bounded(from.at.Prior[k])
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
