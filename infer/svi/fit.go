package svi

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/infer/svi/internal/tune"
	"github.com/credence-ml/credence/internal/arrow"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// fit is one run of an engine.
type fit struct {
	*problem.Problem
	config   Config
	report   credence.Report
	start    *problem.Start
	starts   int               // of the features' hyper-parameters
	tuned    *tune.Result      // where hyper-parameters were learned; nil where there are none
	redraw   int               // start whose draw of random features was kept
	vanished bool              // a block has, under maximum likelihood
	few      *few              // of the weights, where the problem is that of fewer; else nil
	asides   int               // times that things were done side by side
	averaged []credence.Choice // of the prior variances by rows that were left out; nil where they are not
	choice   *choice           // which made them; nil where another fit did
	// fingerprint of model, options and data; "" before a checkpoint is wanted.
	fingerprint string
}

// merge makes equal rows one where all of them are read again and again. Rows that are left out are dealt by
// themselves.
func (e *Engine) merge(ctx context.Context, data credence.Data) (credence.Data, error) {
	_, learned := base.LearnedHypers(e.model.Features)
	_, gaussian := e.likelihood.(likelihood.Gaussian) // whose rows are added up once where features stay
	if apart, ok := data.(Apart); ok {
		return data, e.CheckApart(apart.Lacking())
	}
	if e.config.Covariance != Full || e.config.Hyper == param.Heldout || gaussian && len(learned) == 0 {
		return data, nil
	}
	return base.Merge(ctx, e.config.name(), e.model, data)
}

// Fit implements [credence.Engine].
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	merged, err := e.merge(ctx, data)
	if err != nil {
		return nil, err
	}
	r, err := e.newFit(merged)
	if err != nil {
		return nil, err
	}
	defer r.Workspace.Pool().Hold()()
	r.report = r.Data.Report()
	r.report.Rows = data.Rows()
	if err := r.findLevels(ctx); err != nil {
		return nil, err
	}
	if err := r.reduce(ctx, !e.hyperStated); err != nil {
		return nil, err
	}
	saved, err := r.readCheckpoint()
	if err != nil {
		return nil, err
	}
	if err := r.Measure(ctx); err != nil {
		return nil, err
	}
	if err := r.learnHypers(ctx, saved); err != nil {
		return nil, err
	}
	if e.config.Covariance == Full {
		return r.full(ctx, saved)
	}
	return r.diagonal(ctx, saved)
}

// Below fewRows rows hyper-parameters of features are learned from fewStarts starts unless their number is
// stated: the evidence has several maxima there, and a start costs little. Curves and surfaces have curveStarts on more
// rows: a long lengthscale with a large variance is a maximum beside that of a rough function (600 counts: by 1,400
// nats).
const (
	fewRows     = 400
	fewStarts   = 4
	curveStarts = 2
	// curveOperations are those of a pass over the rows on which lengthscales of curves and surfaces are polished: they
	// have few weights, and of rare events 4,000 rows tell a lengthscale badly.
	curveOperations = 1e9
)

// curves says whether all hyper-parameters are those of functions of one or two columns.
func curves(features credence.Features) bool {
	tunable, ok := features.(credence.Tunable)
	if !ok {
		return false
	}
	lengthscales := map[int]int{}
	for _, h := range tunable.Hyper() {
		lengthscales[h.Block]++
		if lengthscales[h.Block] > 2 {
			return false
		}
	}
	return true
}

func (e *Engine) newFit(data credence.Data) (*fit, error) {
	rows, err := base.Open(e.config.name(), e.model, data, base.AllRoles)
	if err != nil {
		return nil, err
	}
	starts := e.config.Starts
	switch {
	case e.startsStated:
	case data.Rows() < fewRows:
		starts = fewStarts
	case curves(e.model.Features):
		starts = curveStarts
	}
	asker, _ := data.(Apart)
	return &fit{config: e.config, starts: starts, Problem: &problem.Problem{
		Engine: e.config.name(), Asker: asker,
		Workspace: credence.NewWorkspace(e.config.Threads), Data: rows, Features: e.model.Features,
		Likelihood: e.likelihood, Prior: e.prior, Groups: slices.Clone(e.groups), Dims: e.model.Features.Weights(), Hyper: e.config.Hyper,
		Together: e.together, Odds: e.odds,
	}}, nil
}

// findLevels looks which levels and columns rows have together, where weights of levels are eliminated.
func (r *fit) findLevels(ctx context.Context) (err error) {
	rest, levels := base.Rest(r.Features, r.Prior)
	if r.config.Covariance != Full || !levels || r.Data.Total() < rest && len(r.Together) == 0 {
		return nil
	}
	finder := arrow.NewFinder(r.Features)
	if !finder.Known() {
		if err := r.Rows(0).Each(ctx, func(b *problem.Block) { finder.Add(b.Phi) }); err != nil {
			return err
		}
	}
	r.Pattern, err = finder.Pattern()
	return err
}

// size is the number of weights that cost what those of dense columns do: levels that are eliminated cost about as much
// as a few.
func (r *fit) size() float64 {
	if r.Pattern != nil {
		return float64(r.Pattern.Rest() + levelsLike)
	}
	return float64(r.Dims)
}

// levelsLike is how many dense columns the levels of a row cost as much as.
const levelsLike = 10

// learnHypers learns the features' hyper-parameters on some of the rows, or takes them from a
// checkpoint.
func (r *fit) learnHypers(ctx context.Context, saved *document) error {
	tunable, learned := base.LearnedHypers(r.Features)
	switch {
	case len(learned) == 0:
		return nil
	case saved != nil:
		r.redraw = saved.Redraw
		tunable = tune.Redrawn(tunable, r.config.Seed, saved.Redraw).(credence.Tunable)
		r.Features = tunable.WithHyper(saved.Hyper)
	case r.size() > tune.MaxWeights:
		return nil
	default:
		var err error
		r.tuned, err = tune.Learn(ctx, r.Problem, tune.Options{
			ScreenRows: r.config.ScreenRows, PolishRows: r.config.PolishRows, Starts: r.starts,
			Seed: r.config.Seed, Progress: r.config.Progress,
		})
		if err != nil {
			return err
		}
		r.redraw = r.tuned.Start
		// By their values, as a checkpoint has them: learned values are stored even where no step left
		// the start.
		r.Features = r.tuned.Features.(credence.Tunable).WithHyper(base.HyperValues(r.tuned.Features))
	}
	rows := r.Data.Total()
	if r.size() > tune.MaxWeights || rows < 2*r.config.ScreenRows {
		return nil
	}
	if count := r.Rows(r.config.PolishRows).Count(); count < rows {
		r.report.Remarks = append(r.report.Remarks, fmt.Sprintf("hyper-parameters of the features were learned on %d of %d rows, everything else on all", count, rows))
	}
	return nil
}

// freeOperations is the number of operations of a pass below which convergence to more digits than
// anybody needs costs nothing.
const freeOperations = 1e8

// operations is about the number of operations of a pass with full covariance.
func (r *fit) operations() float64 {
	return float64(r.Data.Total()) * r.size() * r.size()
}

func (r *fit) tolerance() float64 {
	switch {
	case r.config.Tolerance > 0:
		return r.config.Tolerance
	case r.config.Hyper == param.Heldout && r.Data.Total() > fewHeld, // a grid of variances is not as fine
		r.operations() > freeOperations && r.config.Covariance == Full: // nodes are not as near
		return 1e-2
	case r.config.Hyper == param.Heldout:
		return 1e-3
	}
	return 1e-4
}

// levels are the numbers of rows on which a fit is brought near its optimum before it goes on with
// eight times as many: the last steps are few. The last level, 0, stands for all rows.
func (r *fit) levels() []int {
	if r.lacking() {
		return []int{0}
	}
	return climbed(r.Data.Total(), r.Dims, r.Asker != nil)
}

// lacking says that no row is here.
func (r *fit) lacking() bool { return r.Asker != nil && r.Asker.Lacking() }

// climbed are the levels of so many rows and weights; where rows lie apart those that are carried.
func climbed(total, weights int, apart bool) (list []int) {
	for rows := max(problem.StartRows, 30*weights); 2*rows <= total; rows *= 8 {
		if apart && (rows > mostSampled || rows*weights > mostSampledCells) {
			break
		}
		list = append(list, rows)
	}
	return append(list, 0)
}

// outcome is what an algorithm ended with.
type outcome struct {
	posterior credence.Posterior
	members   []member  // nil means one, of the posterior and the family
	priors    []float64 // prior variance of each group
	law       []float64 // and its mean, where it is integrated over; else nil
	common    float64   // logarithm of their common scale, where there is one
	family    *problem.Family
	targets   base.Moments
	// parameters is the posterior of the family's, where it is known.
	parameters *credence.FamilyPosterior
	separated  bool // the classes of a two-valued target are
}

// finish assembles the result.
func (r *fit) finish(o *outcome) *credence.Fitted {
	variance := func(k int) float64 { return o.priors[k] }
	r.report.Hyper = o.family.Values()
	if r.Priors != nil && r.Priors.Common != nil {
		r.report.Hyper = append(r.report.Hyper, credence.Value{Name: priorVariance + common, Value: math.Exp(2 * o.common)})
	}
	features, groups := r.Features, r.Groups
	if r.few != nil {
		features, groups = r.few.features, r.few.groups
	}
	values := base.Values(groups, variance, features)
	if in := r.Intercept; in != nil && in.Fixed {
		values = values[1:] // cutpoints stand in the place of an intercept
	}
	r.report.Hyper = append(r.report.Hyper, values...)
	correlations, told := base.CorrelationsAt(r.Together, o.priors[len(groups):])
	r.report.Hyper = append(r.report.Hyper, told...)
	if r.averaged != nil {
		best := r.averaged[0]
		r.report.Averaged = r.averaged
		r.report.Hyper = append(r.report.Hyper, credence.Value{Name: spread, Value: best.Spread}, credence.Value{Name: heldOutLogLoss, Value: best.Loss})
	}
	fitted := &credence.Fitted{Report: r.report, TargetMean: o.targets.Mean, TargetVariance: o.targets.Variance(), Family: o.parameters}
	if o.members == nil {
		o.members = []member{{family: o.family, posterior: o.posterior}}
	}
	for _, m := range o.members {
		law := m.law
		switch {
		case law != nil:
		case o.law != nil:
			law = o.law
		default:
			law = o.priors
		}
		variances := make([]float64, features.Weights())
		base.Spread(variances, groups, func(k int) float64 { return law[k] })
		if r.few != nil {
			m.posterior = r.few.weights(r.Workspace, m.posterior.(*posterior.Full))
		}
		fitted.Members = append(fitted.Members, credence.Member{
			Model: credence.Model{
				Features:   features,
				Likelihood: m.family.Likelihood,
				Prior:      prior.Normal{Variance: r.Prior.Variance, ARD: r.Prior.ARD, Variances: variances, Correlations: correlations},
			},
			Posterior: m.posterior, Weight: m.weight,
		})
	}
	return fitted
}

func (r *fit) warn(format string, arguments ...any) {
	r.report.Warnings = append(r.report.Warnings, fmt.Sprintf(format, arguments...))
}
