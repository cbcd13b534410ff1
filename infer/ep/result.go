package ep

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
)

// Fit implements [credence.Engine].
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	f, err := e.newFit(ctx, data)
	if err != nil {
		return nil, err
	}
	f.stage = "sites"
	c, before, err := f.resume()
	if err != nil {
		return nil, err
	}
	for {
		err := f.follow(ctx, c, e.config.MaxIterations, e.config.Tolerance, f.learn, func() error { return f.save(c, before) })
		if err != nil {
			return nil, err
		}
		if c.Settled || !f.otherwise() {
			break
		}
		before += c.Sweeps
		f.begin()
		c = f.newCourse()
	}
	iterations, settled := before+c.Sweeps, c.Settled
	from := &siteState{f.theta(), f.sites(), f.inclusions()}
	stuck := false
	if !settled {
		f.stage = "whether sites rest"
		if stuck, err = f.stuck(ctx, from); err != nil {
			return nil, err
		}
	}
	f.stage = "" // integration tells its own
	treatment := e.config.Hyper
	if treatment == "" {
		treatment = param.Integrate
		if !f.full() {
			treatment = param.Mode
		}
	}
	var a *answer
	switch {
	case stuck || !settled && (f.steady || f.patient || f.Classes && treatment == param.Mode):
		treatment = param.Mode
		var at *evaluated
		if at, err = f.evaluated(from, false, true); err == nil {
			a = answerOf(at.Point, math.NaN()) // the evidence is that of a fixed point
		}
	case treatment == param.Integrate:
		a, err = f.integrate(ctx, from)
	default:
		a, err = f.atMode(ctx, from)
	}
	if err != nil {
		return nil, err
	}
	var draws *credence.InclusionDraws
	if !stuck { // else none are told
		if draws, err = f.draws(); err != nil {
			return nil, err
		}
	}
	out := f.fitted(a)
	out.Inclusions = draws
	out.Report.Iterations, out.Report.Hyperparameters = iterations, string(treatment)
	if len(from.theta) == 0 {
		out.Report.Hyperparameters = hyper.Held
	}
	switch {
	case stuck:
		out.Report.Status, out.Report.Stuck, out.Inclusions = credence.IterationLimit, true, nil
		candidates.Warn(out, "the sites still moved after %d sweeps, damped, because several sets of features, or columns that are nearly copies, explain the target, and no inclusion is told: --engine gibbs goes from one set to another", iterations)
	case !settled && treatment == param.Mode:
		out.Report.Status = credence.IterationLimit
		more := "" // sweeps, which help where their limit ended them
		if c.Sweeps >= e.config.MaxIterations {
			more = fmt.Sprintf("state more sweeps, such as ep(iterations=%d), or ", 4*e.config.MaxIterations)
		}
		candidates.Warn(out, "noise, slab and inclusion still moved after %d sweeps: inclusion probabilities are rough; %scompare with --engine gibbs", iterations, more)
	}
	if _, diagonal := f.q.form.(*diagonal); diagonal && e.config.Covariance == "" {
		candidates.Warn(out, "the covariances of %d weights are not kept: weights are taken to be independent given the rows, and sets and inclusions of correlated columns are rough; engine ep(covariance=full) keeps them, and takes longer", f.Table.Count())
	}
	if f.clipped {
		candidates.Warn(out, "the covariance of the weights is not positive along every direction and was raised: its approximation is rough; compare with --engine gibbs")
	}
	if a.dropped > 0 {
		candidates.Warn(out, "inclusions are averaged over %d of %d values of noise, slab and sparsity: expectation propagation did not settle at the others, and several sets of features may explain the target; --engine gibbs goes from one to the other", a.points-a.dropped, a.points)
	}
	return out, nil
}

// stuck says whether sites that have not settled still move with all that is learned held: then their inclusions are
// those of one moment. It leaves them as they were.
func (f *fit) stuck(ctx context.Context, from *siteState) (bool, error) {
	tilted := slices.Clone(f.tilted)
	_, settled, err := f.settle(ctx, pointSweeps, restTolerance, nil)
	f.restore(from.sites)
	f.setTheta(from.theta)
	copy(f.tilted, tilted)
	if err == nil {
		err = f.q.take(f.weights, f.rows, f.Classes)
	}
	return !settled, err
}

func (f *fit) atMode(ctx context.Context, from *siteState) (*answer, error) {
	centre, err := f.at(ctx, from, from.theta, f.config.Tolerance, true)
	if err != nil {
		return nil, err
	}
	return answerOf(centre.Point, centre.evidence), nil
}

// fitted takes the answer to the target's own units and the intercept to zero of the columns.
func (f *fit) fitted(a *answer) *credence.Fitted {
	s, p := f.Units.Scale, f.Engine.prior
	p.Inclusion, p.Slab = p.Inclusion.At(special.Sigmoid(f.logOdds)), p.Slab.At(math.Exp(2*f.logSlab)*s*s)
	out := f.Setting.Fitted(f.Table, f.model, p, f.posterior(a), a.noise, f.logKept, credence.Value{Name: "inclusion", Value: p.Inclusion.Value}, credence.Value{Name: "slab", Value: p.Slab.Value})
	out.Report.Together = true
	f.SetKeptLaw(out, a.kept)
	if !math.IsNaN(a.evidence) && !math.IsInf(a.evidence, 0) {
		out.Report.EvidenceEstimate = &a.evidence
	}
	if !slices.Equal(a.inclusion, a.resolved) {
		f.TakeResolved(out, a.inclusion, a.resolved)
	}
	selected := 0
	for _, c := range f.Candidates {
		if a.inclusion[c.First] > 0.5 {
			selected++
		}
	}
	if !f.Classes && selected < 3 && a.noise > 0.5 && len(f.Candidates) > 10*f.Rows {
		candidates.Warn(out, "hardly any feature explains the target, and there are %d for %d rows: the search may be stuck; --engine gibbs searches further", len(f.Candidates), f.Rows)
	}
	return out
}

// posterior is full where the covariance is known, else factorised.
func (f *fit) posterior(a *answer) credence.Posterior {
	mean := slices.Clone(a.mean)
	f.Units.Own(mean)
	if a.covariance == nil {
		if s, ok := f.q.form.(*dual); ok && f.Rows*len(a.mean) <= storedDesign {
			return f.dualPosterior(s, mean, a.inclusion)
		}
		return f.Independent(a.mean, a.variance, a.inclusion)
	}
	factor, positive := gauss.Repair(f.ws.Pool(), len(a.mean), a.covariance)
	f.Units.Factor(factor)
	f.clipped = !positive
	return &posterior.Full{Mean: mean, Factor: factor, Probability: a.inclusion, DF: a.df}
}

// storedDesign is the largest number of rows times weights whose columns a posterior keeps, so that it
// knows how weights vary together; beyond it they are taken to be independent.
const storedDesign = 20_000_000

// dualPosterior is q at the sites of the last sweep, with all its covariances, by the rows.
func (f *fit) dualPosterior(s *dual, mean, inclusion []float64) *posterior.Dual {
	q := &posterior.Dual{
		Mean: mean, PriorVariance: slices.Clone(s.prior), Design: f.Design(), Factor: slices.Clone(s.system.Upper()),
		Scale: f.Units.Scale, Centre: slices.Clone(f.Units.Means), Probability: inclusion,
	}
	for i, v := range q.Factor { // of K, not of √B K √B
		q.Factor[i] = v / s.roots[i%f.Rows]
	}
	return q
}
