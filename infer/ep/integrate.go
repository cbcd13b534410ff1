package ep

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
)

// differenceStep is that of the differences of gradients in logarithms, and settledTolerance the
// change of an inclusion below which sites at given values have settled: differences of gradients need
// more digits than inclusions.
const (
	differenceStep   = 0.05
	settledTolerance = 1e-7
	returnTolerance  = 1e-4
	restTolerance    = 1e-3 // that says of sites whether they rest at all
	pointSweeps      = 200  // at most, from the mode's sites
)

// siteState is where sites have settled.
type siteState struct {
	theta     []float64
	sites     sites
	inclusion []float64
}

// evaluated is what settled sites at one value of what is learned come to.
type evaluated struct {
	siteState
	hyper.Evaluation
	evidence float64 // without the log priors
	settled  bool
	jumped   bool // an inclusion is more than half away from the mode's, see elsewhere
}

func (f *fit) inclusions() []float64 {
	out := make([]float64, len(f.tilted))
	for j, t := range f.tilted {
		out[j] = 1
		if f.Kept[j] == 0 {
			out[j] = t.inclusion
		}
	}
	return out
}

// at settles the sites at other values, from those of the mode.
func (f *fit) at(ctx context.Context, from *siteState, theta []float64, tolerance float64, moments bool) (*evaluated, error) {
	f.restore(from.sites)
	f.setTheta(theta)
	_, settled, err := f.settle(ctx, pointSweeps, tolerance, nil)
	if err != nil {
		return nil, err
	}
	return f.evaluated(from, settled, moments)
}

// point is what the sites as they are come to.
func (f *fit) evaluated(from *siteState, settled, moments bool) (*evaluated, error) {
	evidence, err := f.logEvidence()
	if err != nil {
		return nil, err
	}
	inclusion := f.inclusions()
	gradient, prior := f.gradient()
	p := &evaluated{siteState: siteState{f.theta(), f.sites(), inclusion}, evidence: evidence, settled: settled}
	p.LogDensity, p.Gradient, p.Theta, p.State = evidence+prior, gradient, p.theta, p
	for j, a := range inclusion {
		p.jumped = p.jumped || math.Abs(a-from.inclusion[j]) > 0.5
	}
	if moments {
		p.Mean, p.Variance = slices.Clone(f.q.mean), slices.Clone(f.q.variance)
		d := len(inclusion)
		p.Linear = append(slices.Clone(inclusion), make([]float64, d+1)...)
		if p.Linear[2*d] = math.Exp(2 * f.logNoise); f.Resolves(f.Table, f.logSlab, f.logNoise) {
			copy(p.Linear[d:], inclusion)
		}
		if f.full() {
			covariance := make([]float64, d*d)
			f.q.block(f.q, order.Places(d), covariance)
			p.Linear = append(p.Linear, covariance...)
		}
	}
	return p, nil
}

// full says whether the covariance of all weights is kept.
func (f *fit) full() bool {
	_, diagonal := f.q.form.(*diagonal)
	return !diagonal && f.Table.Count() <= problem.FullWeights
}

// answer is the posterior in units of the fit: what one value of what is learned says, or the sum over
// all axes.
type answer struct {
	mean, variance, inclusion []float64
	resolved                  []float64 // the part of inclusion in which the slab is
	covariance                []float64 // d×d, nil where it is too large
	noise                     float64   // noise variance
	df                        float64   // 0: normal
	// means of the prior variances of kept blocks; nil where they are not integrated
	kept            []float64
	evidence        float64 // log evidence
	dropped, points int
}

func answerOf(p hyper.Point, evidence float64) *answer {
	d := len(p.Mean)
	a := &answer{mean: p.Mean, variance: p.Variance, inclusion: p.Linear[:d], resolved: p.Linear[d : 2*d], noise: p.Linear[2*d], evidence: evidence, points: 1}
	if len(p.Linear) > 2*d+1 {
		a.covariance = p.Linear[2*d+1:]
	}
	return a
}

// evaluate is a [hyper.Each], from the sites of a mode.
func (f *fit) evaluate(ctx context.Context, from *hyper.Evaluation, theta []float64, to hyper.Precision) (*hyper.Evaluation, error) {
	if f.evaluations++; f.config.Progress != nil {
		f.config.Progress(credence.Progress{Stage: "averaging over what is learned", Done: f.evaluations})
	}
	p, err := f.at(ctx, &from.State.(*evaluated).siteState, theta, settledTolerance, to != hyper.ForDifferences)
	if err != nil {
		return nil, err
	}
	if to == hyper.ForNode && p.jumped && p.settled {
		p.jumped, err = f.elsewhere(ctx, &from.State.(*evaluated).siteState, p)
	}
	if to == hyper.ForNode && (p.jumped || !p.settled) {
		p.LogDensity = math.NaN()
	}
	return &p.Evaluation, err
}

// returned is the largest difference of an inclusion between sites that have come back to a mode and the mode's own.
const returned = 0.05

// elsewhere says whether sites at a point where an inclusion is far from the mode's are at another fixed point, and not
// at the one that the mode's has moved to with what is learned: from there sites do not come back to the mode's.
func (f *fit) elsewhere(ctx context.Context, from *siteState, p *evaluated) (bool, error) {
	back, err := f.at(ctx, &p.siteState, from.theta, returnTolerance, false)
	if err != nil {
		return false, err
	}
	for j, a := range back.inclusion {
		if math.Abs(a-from.inclusion[j]) > returned {
			return true, nil
		}
	}
	return false, nil
}

// integrate adds up the axes around the mode near where expectation maximisation ended. Nodes at another fixed point
// are left out.
func (f *fit) integrate(ctx context.Context, from *siteState) (*answer, error) {
	begin, err := f.at(ctx, from, from.theta, settledTolerance, true)
	if err != nil {
		return nil, err
	}
	begin.siteState = *from
	d, rules := len(begin.Mean), hyper.Rules{Steps: 4, Width: differenceStep, Enough: 1e-2}
	rules.Grid = !f.Classes && len(f.Candidates) > f.Rows // which tell little of slab and inclusion apart
	rules.Law = func(theta []float64) (law []float64) {
		for _, u := range theta[len(theta)-len(f.logKept):] { // the last of θ
			law = append(law, math.Exp(2*u))
		}
		return law
	}
	if len(begin.Linear) > 2*d+1 {
		rules.Spread = func(linear []float64, scale float64, difference []float64) {
			hyper.Upper(d)(linear[2*d+1:], scale, difference)
		}
	}
	top, err := rules.Mode(ctx, hyper.Each(f.evaluate), &begin.Evaluation)
	if errors.Is(err, hyper.ErrCurvature) {
		return answerOf(begin.Point, begin.evidence), nil
	}
	if err != nil {
		return nil, err
	}
	all, err := rules.Integrate(ctx, hyper.Each(f.evaluate), top)
	if err != nil {
		return nil, err
	}
	centre := top.At.State.(*evaluated)
	if *from = centre.siteState; all.Outcome != hyper.Summed {
		return answerOf(centre.Point, centre.evidence), nil
	}
	f.restore(from.sites) // what is reported of slab and inclusion is their mode
	f.setTheta(from.theta)
	total := answerOf(all.Point, all.LogDensity)
	if total.covariance != nil {
		kernel.Symmetrize(d, total.covariance, d)
	}
	for j, v := range total.variance {
		total.variance[j] = math.Max(v, 1e-3*centre.Variance[j])
		total.inclusion[j] = math.Max(0, math.Min(total.inclusion[j], 1))
		total.resolved[j] = math.Max(0, math.Min(total.resolved[j], total.inclusion[j]))
	}
	total.noise = math.Max(total.noise, 0.1*centre.Linear[2*d])
	total.kept = all.Law
	total.df, total.dropped, total.points = hyper.MedianDF(all.Variance, all.Fourth), all.Dropped, 1+top.Axes.Points()
	return total, nil
}
