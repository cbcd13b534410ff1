package svi

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/mixture"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/folds"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
)

// HeldOut says whether prior variances are those of rows that are left out where nothing is stated of them: of classes
// and counts with more than problem.FullWeights independent weights, since the bound then chooses variances that are
// far too small. Levels of one category exclude each other: their weights are independent indeed, and count for one.
// Smooths have hyper-parameters, stated or not: their bands are looked at.
func HeldOut(model credence.Model) bool {
	normal, err := base.NormalPrior("svi", model.Prior)
	if err != nil || model.Features == nil {
		return false
	}
	_, kind := likelihood.Describe(model.Likelihood)
	weights := model.Features.Weights() - ofLevels(model.Features)
	return len(ability.Hypers(model.Features)) == 0 && kind != likelihood.Measurements && weights > base.FullWeights &&
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

// spreads are the shares of the variances of the weights that are tried with every choice. Where columns are more than
// rows most of the variance of f is along directions that no row has seen, and averaging over these makes probabilities
// too even. Less than a fourth, half of a standard deviation, is more than few rows can tell.
var spreads = []float64{1, 0.5, 0.25}

// choice chooses prior variances by rows that are left out.
type choice struct {
	*fit
	climb   *mixture.Fit
	state   *tries
	save    func() error
	learned []int     // groups
	squares []float64 // A² of these
	tops    []int     // of their steps, see [topOf]
	folds   []fold
	fine    bool                                                    // half decades follow each other, see alike
	weight  float64                                                 // of the rows left out, over all folds
	look    func(ctx context.Context, steps []int, near bool) error // adds a loss to the state: measure
	// choices gone through, of a state from a checkpoint too
	replayed int
	best     int // of these
}

// fold is weights of the rows to fit and of those left out.
type fold struct{ fitted, out []float64 }

// carry takes what a fit to other rows chose.
func (r *fit) carry(chosen []credence.Choice) {
	r.averaged = chosen
	for k := range r.Groups {
		r.Groups[k].Learned = false
	}
	r.adopt(chosen[0])
}

// adopt holds the prior variances of a choice.
func (r *fit) adopt(a credence.Choice) {
	for k, g := range r.Groups {
		if variance := a.Variances.Of(priorVariance+g.Name, 0); variance > 0 { // of one that was learned
			r.take(k, variance)
		}
	}
}

// take holds the prior variance of a group.
func (r *fit) take(k int, variance float64) {
	r.References[k], r.start.Prior[k] = problem.Reference{Wide: variance, Narrow: variance}, variance
}

// choose leaves the best variances in the problem, held, and in the document variables to go on from with all rows,
// unless these are there.
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
	size := len(c.folds) * climb.Size()
	if len(state.at) != len(state.Tried)*size || !problem.Finite(state.at...) || slices.ContainsFunc(state.Tried, func(t tried) bool { return len(t.Steps) != len(c.learned) }) {
		return r.otherState()
	}
	if len(c.folds) == 0 { // one row at most has a weight
		r.config.Hyper = param.Mode
		return nil
	}
	c.begin()
	if err := c.search(ctx); err != nil {
		return err
	}
	r.averaged = c.average()
	r.adopt(r.averaged[0])
	for _, t := range state.Tried {
		r.report.HyperEvaluations += t.Fits
	}
	r.choice = c
	if document.Mixture.X != nil || document.Mixture.Best != nil { // of a checkpoint from later on
		return nil
	}
	x := slices.Clone(state.of(c.best, size)[:climb.Size()])
	bound, err := climb.Evaluate(ctx, c.All(), make([]float64, len(x)), x)
	if problem.Finite(bound) { // or a row that this fold left out is beyond reach
		document.Mixture.X, document.Mixture.Level = x, len(climb.Levels)-1
	}
	return err
}

// begin takes the scales of the learned groups, which are so no more, and says how they are searched.
func (c *choice) begin() {
	for _, k := range c.learned {
		r := c.References[k]
		c.squares = append(c.squares, c.Priors.Scales[k]*c.Priors.Scales[k])
		c.tops = append(c.tops, topOf(r))
		c.fine = len(c.folds) == 1 && len(c.learned) == 1 && r.Wide <= alike*r.Narrow
		c.Groups[k].Learned = false
	}
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
			c.weight += part.out[i]
		}
		c.folds = append(c.folds, part)
	}
	return nil
}

// addDensity adds log p of rows with weights to sums, one for each share of the variances, and returns the weights'
// sum.
func (c *choice) addDensity(ctx context.Context, sums, x, weights []float64) (weight float64, err error) {
	c.climb.Begin(x)
	q := c.climb.Bound
	mean, _ := q.Component(x, 0)
	var f, variance, logs []float64
	err = c.All().Weighing(weights).Each(ctx, func(b *problem.Block) {
		n := b.Rows()
		f, variance, logs = order.Resized(f, n), order.Resized(variance, n), order.Resized(logs, n*len(sums))
		b.Means(c.Workspace, f, mean)
		b.Phi.MulSquares(c.Workspace, variance, q.Variances(0))
		c.Workspace.Each(n, func(i int) {
			if b.Weight[i] == 0 {
				return
			}
			l := b.LikelihoodOf(q.Family.Likelihood, i).(credence.Predictive)
			for k, share := range spreads {
				logs[i*len(sums)+k], _, _ = l.TiltedMoments(b.Target[i], f[i], share*variance[i])
			}
		})
		for i, w := range b.Weight {
			if w == 0 {
				continue
			}
			weight += w
			for k := range sums {
				sums[k] += w * logs[i*len(sums)+k]
			}
		}
	})
	return weight, err
}

// Choices that count less than leastPart of the first are not averaged over, nor are more than mostParts.
const (
	leastPart = 0.05
	mostParts = 8
)

// average returns the choices that the posterior is averaged over, each with the density of the rows left out as its
// weight: what few rows say of variances leaves several, of which the best by chance may be far off (Geisser & Eddy
// 1979; pseudo-Bayesian model averaging, Yao, Vehtari, Simpson & Gelman 2018).
func (c *choice) average() (kept []credence.Choice) {
	var list []credence.Choice
	for _, t := range c.state.Tried {
		variances := c.variances(t.Steps)
		for l, sum := range t.Sums {
			list = append(list, credence.Choice{Variances: variances, Spread: spreads[l], Loss: -sum / c.weight, Weight: sum})
		}
	}
	slices.SortStableFunc(list, func(a, b credence.Choice) int { return cmp.Compare(b.Weight, a.Weight) })
	total := 0.0
	for _, a := range list {
		a.Weight = math.Exp(a.Weight - list[0].Weight)
		if a.Weight < leastPart || len(kept) == mostParts {
			break
		}
		if slices.ContainsFunc(kept, func(b credence.Choice) bool { return a.Spread == b.Spread && slices.Equal(a.Variances, b.Variances) }) {
			continue // one that was tried again, from elsewhere
		}
		kept, total = append(kept, a), total+a.Weight
	}
	for i := range kept {
		kept[i].Weight /= total
	}
	return kept
}

// variances are those of the learned groups under a choice.
func (c *choice) variances(steps []int) (list credence.Values) {
	priors := c.priors(steps)
	for _, k := range c.learned {
		list = append(list, credence.Value{Name: priorVariance + c.Groups[k].Name, Value: priors[k]})
	}
	return list
}

// shift adds to x what its variables were under choice a more than under the best, on average over the folds.
func (c *choice) shift(x []float64, a credence.Choice) {
	k := slices.IndexFunc(c.state.Tried, func(t tried) bool { return slices.Equal(c.variances(t.Steps), a.Variances) })
	share := 1 / float64(len(c.folds))
	for f := range c.folds {
		f *= len(x)
		size := len(c.folds) * len(x)
		kernel.Axpy(share, c.state.of(k, size)[f:f+len(x)], x)
		kernel.Axpy(-share, c.state.of(c.best, size)[f:f+len(x)], x)
	}
}

// mix makes the outcome a mixture of fits under the choices of prior variances, of which x is that under the first. The
// others begin with what the first has learned of the curvature, and as far from x as they were on the rows that were
// fitted then.
func (r *fit) mix(ctx context.Context, o *outcome, climb *mixture.Fit, x []float64) error {
	first, fits := slices.Clone(r.start.Prior), make([]member, len(r.averaged))
	for i, a := range r.averaged {
		same := slices.IndexFunc(r.averaged[:i], func(b credence.Choice) bool { return slices.Equal(a.Variances, b.Variances) })
		switch r.adopt(a); {
		case i == 0:
			fits[i] = member{family: o.family, posterior: o.posterior}
		case same >= 0:
			fits[i] = fits[same]
		default:
			state := &mixture.State{X: slices.Clone(x), Level: len(climb.Levels) - 1}
			if r.choice != nil {
				r.choice.shift(state.X, a)
			} else {
				r.widen(climb.Bound, state.X, first, r.start.Prior)
			}
			if err := climb.Run(ctx, state); err != nil {
				return err
			}
			climb.Begin(state.Best)
			fits[i] = member{family: climb.Family, posterior: climb.Posterior(state.Best)}
		}
		m, q := fits[i], fits[i].posterior.(*posterior.Diagonal)
		// of weights that training did not have, as of those that left-out rows alone had
		m.weight, m.law = a.Weight, slices.Clone(r.start.Prior)
		for k, g := range r.Groups {
			if !g.Intercept {
				m.law[k] *= a.Spread
			}
		}
		part := &posterior.Diagonal{Mean: q.Mean, Variance: slices.Clone(q.Variance)}
		kernel.Scale(a.Spread, part.Variance)
		m.posterior = part
		o.members = append(o.members, m)
	}
	return nil
}

// widen takes variances of the weights from one choice of prior variances to another: what the rows tell of them stays.
func (r *fit) widen(q *mixture.Bound, x, from, to []float64) {
	_, logs := q.Component(x, 0)
	for k, g := range r.Groups {
		was, is := 1/from[k], 1/to[k]
		if was == is {
			continue
		}
		for j := g.First; j < g.End(); j++ {
			logs[j] = -math.Log(math.Max(0, math.Exp(-logs[j])-was) + is)
		}
	}
}

// ofLevels is the number of weights that belong to levels of keys.
func ofLevels(features credence.Features) (weights int) {
	if f, ok := features.(ability.Keyed); ok {
		for _, run := range f.LevelRuns() {
			weights += run.Levels * run.Columns
		}
	}
	return weights
}
