package svi

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/mixture"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/folds"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// HeldOut says whether prior variances are those of rows that are left out where nothing is stated of them: of classes and
// counts with more than problem.FullWeights independent weights, since the bound then chooses variances that are far too small.
// Levels of one category exclude each other: their weights are independent indeed, and count for one. Smooths have hyper-parameters,
// stated or not: their bands are looked at.
func HeldOut(model credence.Model) bool {
	normal, err := base.NormalPrior("svi", model.Prior)
	_, kind := likelihood.Describe(model.Likelihood)
	weights := model.Features.Weights() - ExclusiveWeights(model.Features)
	if tunable, ok := model.Features.(credence.Tunable); ok && len(tunable.Hyper()) > 0 {
		return false
	}
	return err == nil && kind != likelihood.Measurements && weights > base.FullWeights &&
		normal.Variance.State != param.Held && holdable(model, normal.ARD) == ""
}

// holdable says why variances cannot be those of rows that are left out, "" where they can.
func holdable(model credence.Model, ard bool) string {
	if ard {
		return "chooses a variance for each block: leave ard=true out, or state hyper=mode"
	}
	if tunable, learned := base.LearnedHypers(model.Features); len(learned) > 0 {
		return "learns no hyper-parameters of features: state " + tunable.Hyper()[learned[0]].Name + ", or hyper=mode"
	}
	if _, ok := model.Likelihood.(credence.Predictive); !ok {
		return "needs predictive densities, which the family does not have: state hyper=mode"
	}
	return ""
}

// A fifth of the rows is left out at a time, each once where rows are few; of many rows so many are left out.
const (
	shares            = 5
	fewHeld, someHeld = 2_000, 20_000
	mostHeld          = 4_000
)

// Names in reports.
const (
	spread         = "spread" // share of the variances of the weights
	heldOutLogLoss = "held_out_log_loss"
)

// The prior variances that are tried are A²·10^(step/2), A the scale of their prior: a common step first, from 0 to gridSteps by
// decades; then those half a decade to each side of the best. Of several blocks each goes on by itself, by decades while
// the loss falls and then by half decades, from leastStep to gridSteps+1.
const (
	decade    = 2
	gridSteps = 4 * decade
	leastStep = -2 * decade
)

// spreads are the shares of the variances of the weights that are tried with every choice. Where columns are more than rows most
// of the variance of f is along directions that no row has seen, and averaging over these makes probabilities too even. Less than a
// fourth, half of a standard deviation, is more than few rows can tell.
var spreads = []float64{1, 0.5, 0.25}

// tries is how far the choice of prior variances has come.
type tries struct {
	Tried []tried `json:"tried"`
	// Variables of every fold, one after the other, at the last and at the best of them.
	last, best []float64
}

// tried is the loss of one choice.
type tried struct {
	Steps []int   `json:"steps"` // of every learned block
	Loss  float64 `json:"loss"`  // mean −log density of the rows left out
	Share float64 `json:"share"` // of the variances of the weights, of [spreads]
	Fits  int     `json:"fits"`
}

// choice chooses prior variances by rows that are left out.
type choice struct {
	*fit
	climb    *mixture.Fit
	state    *tries
	save     func() error
	learned  []int // groups
	squares  []float64
	folds    []fold
	replayed int // choices gone through, of a state from a checkpoint too
	best     int // of these
}

// fold is weights of the rows to fit and of those left out.
type fold struct{ fitted, out []float64 }

// carry takes what a fit to other rows chose.
func (r *fit) carry(values credence.Values) {
	for _, k := range r.LearnedGroups() {
		r.take(k, values.Of(priorVariance+r.Groups[k].Name, r.start.Prior[k]))
		r.Groups[k].Learned = false
	}
	r.chosen = &tried{Share: values.Of(spread, 1), Loss: values.Of(heldOutLogLoss, 0)}
}

// choose leaves the best variances in the problem, held, and in the document variables to go on from with all rows, unless
// these are there.
func (r *fit) choose(ctx context.Context, climb *mixture.Fit, document *document) error {
	if document.Held == nil {
		document.Held = new(tries)
	}
	state := document.Held
	c := &choice{fit: r, climb: climb, state: state, learned: r.LearnedGroups(), best: -1}
	c.save = func() error { return r.writeCheckpoint(document) }
	if err := c.deal(ctx); err != nil {
		return err
	}
	if len(c.folds) == 0 { // one row at most has a weight
		r.config.Hyper = hyper.Mode
		return nil
	}
	for _, k := range c.learned {
		c.squares = append(c.squares, r.Priors.Scales[k]*r.Priors.Scales[k])
		r.Groups[k].Learned = false
	}
	if err := c.search(ctx); err != nil {
		return err
	}
	r.chosen = &state.Tried[c.best]
	c.hold(r.chosen.Steps)
	for _, t := range state.Tried {
		r.report.HyperEvaluations += t.Fits
	}
	if len(state.best) == 0 { // of a checkpoint from later on
		return nil
	}
	x := state.best[:climb.Size()]
	state.last, state.best = nil, nil
	bound, err := climb.Evaluate(ctx, c.All(), make([]float64, len(x)), x)
	if problem.Finite(bound) { // or a row that this fold left out is beyond reach
		document.Mixture.X = x
	}
	return err
}

// deal deals the rows out.
func (c *choice) deal(ctx context.Context) error {
	var weights, targets []float64
	err := c.All().Each(ctx, func(b *problem.Block) {
		targets = append(targets, b.Target...)
		for i := range b.Rows() {
			weights = append(weights, b.WeightOf(i))
		}
	})
	if err != nil {
		return err
	}
	var places []int // of rows with a weight: others are as if they were not there
	var counted, classes []float64
	for i, w := range weights {
		if w > 0 {
			places, counted, classes = append(places, i), append(counted, w), append(classes, targets[i])
		}
	}
	n, wanted, rounds := len(places), shares, shares
	switch {
	case n < 2:
		return nil
	case n > someHeld:
		wanted, rounds = (n+mostHeld-1)/mostHeld, 1
	case n > fewHeld:
		rounds = 1
	}
	dealt, count := folds.Deal(credence.Rand(c.config.Seed, credence.FoldRows, 2), counted, classes, wanted)
	for k := range min(rounds, count) {
		part := fold{slices.Clone(weights), slices.Clone(weights)}
		for j, i := range places {
			if dealt[j] == k {
				part.fitted[i] = 0
			} else {
				part.out[i] = 0
			}
		}
		c.folds = append(c.folds, part)
	}
	return nil
}

// search tries choices one after another. Of a state from a checkpoint it goes through those that were tried.
func (c *choice) search(ctx context.Context) error {
	steps := make([]int, len(c.learned))
	common := func(step int, near bool) error {
		for k := range steps {
			steps[k] = step
		}
		_, err := c.try(ctx, steps, near)
		return err
	}
	for step := 0; step <= gridSteps; step += decade {
		if err := common(step, false); err != nil {
			return err
		}
	}
	top := c.state.Tried[c.best].Steps[0]
	for _, step := range []int{top - 1, top + 1} {
		if err := common(step, true); err != nil {
			return err
		}
	}
	if len(c.learned) == 1 {
		return nil
	}
	copy(steps, c.state.Tried[c.best].Steps)
	for k := range steps {
		for _, stride := range []int{decade, -decade, 1, -1} {
			for at := steps[k]; at+stride >= leastStep && at+stride <= gridSteps+1; at += stride {
				steps[k] = at + stride
				better, err := c.try(ctx, steps, true)
				if err != nil {
					return err
				}
				if !better {
					steps[k] = at
					break
				}
			}
		}
	}
	return nil
}

// try says whether a choice has less loss than any before it. It goes on from the folds' variables at the best one, or at the last.
func (c *choice) try(ctx context.Context, steps []int, near bool) (better bool, err error) {
	if c.replayed == len(c.state.Tried) {
		if err := c.measure(ctx, steps, near); err != nil {
			return false, err
		}
	}
	tried := c.state.Tried
	c.replayed++
	if better = c.best < 0 || tried[c.replayed-1].Loss < tried[c.best].Loss; better {
		c.best = c.replayed - 1
	}
	return better, nil
}

// measure fits every fold under a choice and adds its loss to the state.
func (c *choice) measure(ctx context.Context, steps []int, near bool) error {
	s, now, size := c.state, tried{Steps: slices.Clone(steps)}, c.climb.Size()
	c.hold(steps)
	before := steps
	switch {
	case len(s.last) == 0:
		x, err := c.climb.Initial(ctx)
		if err != nil {
			return err
		}
		s.last = slices.Repeat(x, len(c.folds))
	case near:
		copy(s.last, s.best)
		before = s.Tried[c.best].Steps
	default:
		before = s.Tried[len(s.Tried)-1].Steps
	}
	sums, weight := make([]float64, len(spreads)), 0.0
	for k, part := range c.folds {
		if err := ctx.Err(); err != nil {
			return err
		}
		at := &mixture.State{X: s.last[k*size:][:size]}
		c.widen(at.X, before, steps)
		err := c.climb.Approach(ctx, c.All().Weighing(part.fitted), at)
		now.Fits++
		if beyond := mixture.Beyond(0); errors.As(err, &beyond) {
			weight = 0
			break
		}
		if err != nil {
			return err
		}
		of, err := c.addLoss(ctx, sums, at.X, part.out)
		if err != nil {
			return err
		}
		weight += of
	}
	now.Loss, now.Share = math.MaxFloat64, 1
	for l, share := range spreads {
		if loss := sums[l] / weight; weight > 0 && loss < now.Loss {
			now.Loss, now.Share = loss, share
		}
	}
	if s.Tried = append(s.Tried, now); c.best < 0 || now.Loss < s.Tried[c.best].Loss {
		s.best = append(s.best[:0], s.last...)
	}
	if c.config.Progress != nil {
		c.config.Progress(credence.Progress{Stage: "rows left out", Done: len(s.Tried), Objective: -now.Loss})
	}
	return c.save()
}

// hold takes the prior variances of a choice.
func (c *choice) hold(steps []int) {
	for i, k := range c.learned {
		c.take(k, c.variance(i, steps))
	}
}

func (c *choice) variance(i int, steps []int) float64 {
	return c.squares[i] * math.Pow(10, float64(steps[i])/decade)
}

// take holds the prior variance of a group.
func (r *fit) take(k int, variance float64) {
	r.References[k], r.start.Prior[k] = problem.Reference{Wide: variance, Narrow: variance}, variance
}

// widen takes variances of the weights from one choice to another: what the rows tell of them stays.
func (c *choice) widen(x []float64, from, to []int) {
	_, logs := c.climb.Component(x, 0)
	for i, k := range c.learned {
		was, is, g := 1/c.variance(i, from), 1/c.variance(i, to), c.Groups[k]
		if was == is {
			continue
		}
		for j := g.First; j < g.End(); j++ {
			logs[j] = -math.Log(math.Max(0, math.Exp(-logs[j])-was) + is)
		}
	}
}

// addLoss adds −log p of rows with weights to sums, one for each share of the variances, and returns the weights' sum.
func (c *choice) addLoss(ctx context.Context, sums, x, weights []float64) (weight float64, err error) {
	c.climb.Begin(x)
	q := c.climb.Bound
	mean, _ := q.Component(x, 0)
	var f, variance, logs []float64
	err = c.All().Weighing(weights).Each(ctx, func(b *problem.Block) {
		n := b.Rows()
		f, variance, logs = problem.Grow(f, n), problem.Grow(variance, n), problem.Grow(logs, n*len(sums))
		b.Means(c.Workspace, f, mean)
		b.Phi.MulSquares(c.Workspace, variance, q.Variances(0))
		c.Workspace.InRuns(n, func(from, to int) {
			for i := from; i < to; i++ {
				if b.Weight[i] == 0 {
					continue
				}
				l := b.LikelihoodOf(q.Family.Likelihood, i).(credence.Predictive)
				for k, share := range spreads {
					logs[i*len(sums)+k], _, _ = l.TiltedMoments(b.Target[i], f[i], share*variance[i])
				}
			}
		})
		for i, w := range b.Weight {
			if w == 0 {
				continue
			}
			weight += w
			for k := range sums {
				sums[k] -= w * logs[i*len(sums)+k]
			}
		}
	})
	return weight, err
}
