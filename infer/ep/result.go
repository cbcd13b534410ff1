package ep

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/posterior"
)

// Fit implements [credence.Engine].
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	f, err := e.newFit(ctx, data)
	if err != nil {
		return nil, err
	}
	learn := func(iteration int, changed float64) float64 {
		moved := f.learn(iteration, changed)
		if e.config.Progress != nil {
			e.config.Progress(credence.Progress{Stage: "sites", Done: iteration, Total: e.config.MaxIterations})
		}
		return moved
	}
	c, before, err := f.resume()
	if err != nil {
		return nil, err
	}
	for {
		err := f.follow(ctx, c, e.config.MaxIterations, e.config.Tolerance, learn, func() error { return f.save(c, before) })
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
	from := &mode{f.theta(), f.sites(), f.inclusions()}
	treatment := e.config.Hyper
	if treatment == "" {
		treatment = hyper.Integrate
		if !f.full() {
			treatment = hyper.Mode
		}
	}
	var a *answer
	switch {
	case !settled && (f.steady || f.patient || f.Classes && treatment == hyper.Mode):
		treatment = hyper.Mode
		var at *point
		if at, err = f.point(from, false, true); err == nil {
			a = answerOf(at)
			a.evidence = math.NaN() // of sites that are no fixed point
		}
	case treatment == hyper.Integrate:
		a, err = f.integrate(ctx, from)
	default:
		a, err = f.atMode(ctx, from)
	}
	if err != nil {
		return nil, err
	}
	draws, err := f.draws()
	if err != nil {
		return nil, err
	}
	out := f.fitted(a)
	out.Inclusions = draws
	out.Report.Iterations, out.Report.Status = iterations, credence.Converged
	out.Report.Hyperparameters = string(treatment)
	if len(from.theta) == 0 {
		out.Report.Hyperparameters = hyper.Held
	}
	if !settled {
		out.Report.Status = credence.IterationLimit
		f.warn(out, "the sites do not settle, and still moved after %d sweeps: several sets of features, or columns that are nearly copies, explain the target, and inclusion probabilities are rough: compare with engine gibbs", iterations)
	}
	if _, diagonal := f.q.form.(*diagonal); diagonal && e.config.Covariance == "" {
		f.warn(out, "the covariances of %d weights are not kept: weights are taken to be independent given the rows, and sets and inclusions of correlated columns are rough; engine ep(covariance=full) keeps them, and takes longer", f.Table.Count())
	}
	if f.clipped {
		f.warn(out, "the covariance of the weights is not positive along every direction and was raised: its approximation is rough; compare with engine gibbs")
	}
	if a.dropped > 0 {
		f.warn(out, "at %d of %d values of what was learned the sites did not settle, or settled elsewhere, and these values are left out: several sets of features may explain the target; engine gibbs goes from one to the other", a.dropped, a.points)
	}
	return out, nil
}

func (f *fit) atMode(ctx context.Context, from *mode) (*answer, error) {
	centre, err := f.at(ctx, from, from.theta, f.config.Tolerance, true)
	if err != nil {
		return nil, err
	}
	return answerOf(centre), nil
}

func (f *fit) warn(out *credence.Fitted, format string, arguments ...any) {
	out.Report.Warnings = append(out.Report.Warnings, fmt.Sprintf(format, arguments...))
}

// fitted takes the answer to the target's own units and the intercept to zero of the columns.
func (f *fit) fitted(a *answer) *credence.Fitted {
	d, s := len(a.mean), f.Scale
	p := f.Engine.prior
	p.Inclusion, p.Slab = p.Inclusion.At(special.Sigmoid(f.logOdds)), p.Slab.At(math.Exp(2*f.logSlab)*s*s)
	model := credence.Model{Features: f.model.Features, Likelihood: f.model.Likelihood, Prior: p}
	out := &credence.Fitted{Report: credence.Report{Engine: "ep", Together: true, Rows: f.Rows, Inputs: f.Inputs, Weights: d}}
	if g, ok := model.Likelihood.(likelihood.Gaussian); ok {
		g.NoiseVariance = g.NoiseVariance.At(a.noise * s * s)
		model.Likelihood = g
		out.Report.Hyper = append(out.Report.Hyper, credence.Value{Name: "noise_variance", Value: g.NoiseVariance.Value})
	}
	out.Report.Hyper = append(out.Report.Hyper, credence.Value{Name: "inclusion", Value: p.Inclusion.Value}, credence.Value{Name: "slab", Value: p.Slab.Value})
	out.Report.Hyper = append(out.Report.Hyper, f.KeptValues(f.logKept)...)
	if !math.IsNaN(a.evidence) && !math.IsInf(a.evidence, 0) {
		out.Report.EvidenceEstimate = &a.evidence
	}
	if !slices.Equal(a.inclusion, a.resolved) {
		inclusion, resolved := make([]float64, d), make([]float64, d)
		for j, place := range f.Places {
			inclusion[place], resolved[place] = a.inclusion[j], a.resolved[j]
		}
		f.TakeResolved(f.Table, out, inclusion, resolved)
	}
	f.ownUnits(a)
	out.Members = []credence.Member{{Model: model, Posterior: f.posterior(a)}}
	mean, sd := f.Location()
	out.TargetMean, out.TargetVariance = mean, sd*sd
	selected := 0
	for _, c := range f.Candidates {
		if a.inclusion[c.First] > 0.5 {
			selected++
		}
	}
	if g, ok := model.Likelihood.(likelihood.Gaussian); ok && selected < 3 && g.NoiseVariance.Value > 0.5*sd*sd && len(f.Candidates) > 10*f.Rows {
		f.warn(out, "hardly any feature explains the target, and there are %d for %d rows: the search may be stuck; engine gibbs searches further", len(f.Candidates), f.Rows)
	}
	return out
}

// ownUnits multiplies by the scale of the target, and moves the intercept from the columns' means to zero.
func (f *fit) ownUnits(a *answer) {
	d, s := len(a.mean), f.Scale
	kernel.Scale(s, a.mean)
	kernel.Scale(s*s, a.variance)
	if a.covariance != nil {
		kernel.Scale(s*s, a.covariance)
	}
	k := f.Intercept
	if k < 0 {
		return
	}
	a.mean[k] += f.Centre - f.Shift(a.mean)
	if a.covariance == nil {
		for j, m := range f.Means {
			a.variance[k] += m * m * a.variance[j]
		}
		return
	}
	cross := make([]float64, d) // C x̄
	for j := range d {
		cross[j] = kernel.Dot(a.covariance[j*d:(j+1)*d], f.Means)
	}
	square := kernel.Dot(cross, f.Means)
	for j := range d {
		a.covariance[k*d+j] -= cross[j]
		a.covariance[j*d+k] -= cross[j]
	}
	a.covariance[k*d+k] += square
	a.variance[k] = a.covariance[k*d+k]
}

// posterior is full where the covariance is known, else factorised.
func (f *fit) posterior(a *answer) credence.Posterior {
	d := len(a.mean)
	mean, variance, inclusion := make([]float64, d), make([]float64, d), make([]float64, d)
	for j, place := range f.Places {
		mean[place], variance[place], inclusion[place] = a.mean[j], a.variance[j], a.inclusion[j]
	}
	if a.covariance == nil {
		if s, ok := f.q.form.(*dual); ok && f.Rows*d <= storedDesign {
			return f.dualPosterior(s, mean, inclusion)
		}
		return &posterior.SpikeSlab{Mean: mean, Variance: variance, Probability: inclusion}
	}
	placed := make([]float64, d*d)
	for i, to := range f.Places {
		for j, v := range a.covariance[i*d : (i+1)*d] {
			placed[to*d+f.Places[j]] = v
		}
	}
	factor, positive := gauss.Repair(f.ws.Pool(), d, placed)
	f.clipped = !positive
	return &posterior.Full{Mean: mean, Factor: factor, Probability: inclusion, DF: a.df}
}

// storedDesign is the largest number of rows times weights whose columns a posterior keeps, so that it
// knows how weights vary together; beyond it they are taken to be independent.
const storedDesign = 20_000_000

// dualPosterior is q at the sites of the last sweep, with all its covariances, by the rows.
func (f *fit) dualPosterior(s *dual, mean, inclusion []float64) *posterior.Dual {
	q := &posterior.Dual{
		Mean: mean, PriorVariance: slices.Clone(s.prior), Design: f.Design(), Factor: slices.Clone(s.upper),
		Scale: f.Scale, Probability: inclusion,
	}
	if f.Intercept >= 0 {
		q.Centre = slices.Clone(f.Means)
	}
	return q
}
