package svi

import (
	"context"
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

// spreads are the shares of the variances of the weights that are tried with every choice. Where columns are more than rows most
// of the variance of f is along directions that no row has seen, and averaging over these makes probabilities too even. Less than a
// fourth, half of a standard deviation, is more than few rows can tell.
var spreads = []float64{1, 0.5, 0.25}

// choice chooses prior variances by rows that are left out.
type choice struct {
	*fit
	climb    *mixture.Fit
	state    *tries
	save     func() error
	learned  []int     // groups
	squares  []float64 // A² of these
	tops     []int     // of their steps, see [topOf]
	folds    []fold
	look     func(ctx context.Context, steps []int, near bool) error // adds a loss to the state: measure
	replayed int                                                     // choices gone through, of a state from a checkpoint too
	best     int                                                     // of these
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

// take holds the prior variance of a group.
func (r *fit) take(k int, variance float64) {
	r.References[k], r.start.Prior[k] = problem.Reference{Wide: variance, Narrow: variance}, variance
}

// choose leaves the best variances in the problem, held, and in the document variables to go on from with all rows, unless
// these are there.
func (r *fit) choose(ctx context.Context, climb *mixture.Fit, document *document) error {
	if document.Held == nil {
		document.Held = new(tries)
	}
	state := document.Held
	c := &choice{fit: r, climb: climb, state: state, learned: r.LearnedGroups(), best: -1}
	c.look = c.measure
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
		c.tops = append(c.tops, topOf(r.References[k]))
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
