package laplace

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/candidates"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// Steps of what is learned end below learnedTolerance, of logarithms, or after mostSteps.
const (
	learnedTolerance = 1e-2
	mostSteps        = 50
	// finalists are the starts that are followed for trialSteps, and the best of them to its end.
	finalists  = 3
	trialSteps = 8
)

// Fit implements [credence.Engine].
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	f, err := e.newFit(ctx, data)
	if err != nil {
		return nil, err
	}
	starts, err := f.starts(ctx)
	if err != nil {
		return nil, err
	}
	saved, err := f.resume()
	if err != nil {
		return nil, err
	}
	var rough []*answer // the best, most starts need no more to be told from which
	hold := func(a *answer) {
		a.marginals, a.inclusion = nil, nil // found again at the end
		rough = append(rough, a)
		slices.SortStableFunc(rough, func(a, b *answer) int { return cmp.Compare(b.rank, a.rank) })
		rough = rough[:min(finalists, len(rough))]
	}
	for k, start := range starts {
		if starts[k] = nil; k < len(saved.Rough) {
			hold(f.answerOf(saved.Rough[k]))
			continue
		}
		f.begin(start)
		at, err := f.seek(ctx, start)
		if err != nil {
			return nil, err
		}
		a, err := f.assess(at, 0, f.learns())
		if err != nil {
			return nil, err
		}
		hold(a)
		if err := f.save(saved, &saved.Rough, a); err != nil {
			return nil, err
		}
		if f.config.Progress != nil {
			f.config.Progress(credence.Progress{Stage: "starts", Done: k + 1, Total: len(starts), Objective: -at.objective, Sure: true})
		}
	}
	var best *answer
	for k, start := range rough {
		var a *answer
		if k < len(saved.Final) {
			a = f.answerOf(saved.Final[k])
		} else {
			f.take(start)
			if a, err = f.learn(ctx, start.mode, trialSteps); err != nil {
				return nil, err
			}
			if err := f.save(saved, &saved.Final, a); err != nil {
				return nil, err
			}
		}
		if best == nil || a.rank > best.rank {
			best = a
		}
	}
	f.take(best)
	if !best.settled {
		if best, err = f.learn(ctx, best.mode, mostSteps); err != nil {
			return nil, err
		}
		f.take(best)
	}
	if best.marginals == nil {
		settled := best.settled
		if best, err = f.assess(best.mode, best.steps, true); err != nil {
			return nil, err
		}
		best.settled = settled
	}
	return f.fitted(best), nil
}

func (f *fit) learns() bool {
	return f.Noise.Learned || f.Slab.Learned || f.Odds.Learned || len(f.KeptBlocks) > 0
}

// answer is a mode with what belongs to it.
type answer struct {
	mode      *mode
	marginals *marginals
	inclusion []float64
	steps     int
	settled   bool
	at        [3]float64 // logarithms of noise and slab deviations, and of the odds
	kept      []float64  // and of the kept blocks' deviations
	evidence  float64    // log evidence, NaN where it is not known
	// rank orders answers: by the evidence where something is learned, which is estimated where it is not known, and by
	// the objective where all is held.
	rank float64
}

// begin takes what is learned to where a start has it: noise to its residual, slab to its weights, and
// inclusion to their number.
func (f *fit) begin(start []float64) {
	if !f.learns() {
		return
	}
	f.reset()
	f.loss(start, nil)
	count, shared, square, residual := 0.0, 0.0, 0.0, 0.0
	for j, w := range start {
		if f.Kept[j] == 0 && w != 0 {
			if _, own := f.OddsOf(j, 0); !own {
				shared++
			}
			count++
			square += w * w
		}
	}
	if count == 0 {
		return
	}
	for i, y := range f.Setting.Target {
		residual += (y - f.latent[i]) * (y - f.latent[i])
	}
	if f.Noise.Learned {
		f.logNoise = math.Max(math.Log(residual/math.Max(1, f.Total-count))/2, hyper.LeastLogNoise)
	}
	if f.Slab.Learned {
		f.logSlab = hyper.ScaleMode(count, square, f.SlabPrior, f.logSlab)
	}
	if f.Odds.Learned {
		f.logOdds = math.Log((f.OddsA + shared) / (f.OddsB + float64(f.Shared) - shared))
	}
}

// take goes back to what was learned for an answer.
func (f *fit) take(a *answer) {
	f.logNoise, f.logSlab, f.logOdds = a.at[0], a.at[1], a.at[2]
	copy(f.logKept, a.kept)
	for k, u := range a.kept {
		f.SetKept(k, u)
	}
}

// assess finds what belongs to a mode; the variances and the evidence only where they are wanted.
func (f *fit) assess(at *mode, step int, wanted bool) (*answer, error) {
	p := f.normals()
	a := &answer{mode: at, steps: step, at: [3]float64{f.logNoise, f.logSlab, f.logOdds}, kept: slices.Clone(f.logKept), evidence: math.NaN(), rank: -at.objective}
	if !wanted {
		return a, nil
	}
	var err error
	if a.marginals, err = f.spread(p, at.weights); err != nil {
		return nil, err
	}
	d := len(at.weights)
	evidence := func(logDet float64) float64 {
		return -at.objective - f.constants() + (float64(d)*math.Log(2*math.Pi)-logDet)/2
	}
	a.evidence = evidence(a.marginals.logDet)
	if a.rank = a.evidence; math.IsNaN(a.rank) {
		a.rank = evidence(a.marginals.near)
	}
	a.inclusion = make([]float64, d)
	f.ws.Each(d, func(j int) {
		if a.inclusion[j] = 1; f.Kept[j] == 0 {
			a.inclusion[j] = f.of(p, j).inclusion(at.weights[j], a.marginals.variance[j])
		}
	})
	return a, nil
}

// learn moves noise, slab and inclusion to where the approximate posterior has them, and the mode with them, in at most
// so many steps.
func (f *fit) learn(ctx context.Context, at *mode, most int) (*answer, error) {
	for step := 1; ; step++ {
		if err := f.search(ctx, f.normals(), at, false); err != nil {
			return nil, err
		}
		a, err := f.assess(at, step, f.learns())
		if err != nil {
			return nil, err
		}
		if f.config.Progress != nil {
			f.config.Progress(credence.Progress{Stage: "mode", Done: step, Total: most, Objective: -at.objective})
		}
		if a.settled = !f.learns(); a.settled {
			return a, nil
		}
		if a.settled = f.move(a, f.normals()) < learnedTolerance; a.settled || step == most {
			return a, nil
		}
	}
}

// move takes a step of expectation maximisation under the hyper-priors, and returns how far it went.
func (f *fit) move(a *answer, p normals) (moved float64) {
	set := func(x *float64, to float64) {
		moved = math.Max(moved, math.Abs(to-*x))
		*x = to
	}
	included, shared, square, trace := 0.0, 0.0, 0.0, 0.0
	bends := f.bends(p, a.mode.weights, nil)
	for j, w := range a.mode.weights {
		// τ tr XH⁻¹Xᵀ = Σ (1 − v_j (H⁻¹)_jj)
		trace += math.Min(1, math.Max(0, 1-bends[j]*a.marginals.variance[j]))
		if f.Kept[j] == 0 {
			included += a.inclusion[j]
			if _, own := f.OddsOf(j, 0); !own {
				shared += a.inclusion[j]
			}
			square += a.inclusion[j] * (w*w + a.marginals.variance[j])
		}
	}
	if f.Noise.Learned {
		residual := trace * math.Exp(2*f.logNoise)
		for i, y := range f.Setting.Target {
			residual += (y - f.latent[i]) * (y - f.latent[i])
		}
		set(&f.logNoise, math.Max(hyper.ScaleMode(f.Total, residual, f.NoisePrior, f.logNoise), hyper.LeastLogNoise))
	}
	if f.Slab.Learned {
		set(&f.logSlab, hyper.ScaleMode(included, square, f.SlabPrior, f.logSlab))
	}
	if f.Odds.Learned {
		set(&f.logOdds, math.Log((f.OddsA+shared)/(f.OddsB+float64(f.Shared)-shared)))
	}
	for k, b := range f.KeptBlocks {
		sum := 0.0
		for j := b.First; j < b.First+b.Count; j++ {
			sum += a.mode.weights[j]*a.mode.weights[j] + a.marginals.variance[j]
		}
		set(&f.logKept[k], hyper.ScaleMode(float64(b.Count), sum, b.Prior, f.logKept[k]))
		f.SetKept(k, f.logKept[k])
	}
	return moved
}

// fitted takes the answer to the target's own units and the intercept to zero of the columns.
func (f *fit) fitted(a *answer) *credence.Fitted {
	s, p, at := f.Units.Scale, f.prior, f.normals()
	p.Inclusion, p.Slab, p.Spike = p.Inclusion.At(special.Sigmoid(at.logOdds)), p.Slab.At(at.slab*s*s), p.Spike.At(at.spike*s*s)
	q := f.Independent(a.mode.weights, a.marginals.variance, a.inclusion)
	var values []credence.Value
	for _, v := range p.Parameters() {
		values = append(values, credence.Value{Name: v.Name, Value: v.Value})
	}
	out := f.Setting.Fitted(f.Table, f.model, p, q, math.Exp(2*f.logNoise), f.logKept, values...)
	out.Report.Iterations, out.Report.Hyperparameters = a.mode.iterations, string(param.Mode)
	if !f.learns() {
		out.Report.Hyperparameters = hyper.Held
	}
	f.tell(out, a)
	if !math.IsNaN(a.evidence) {
		out.Report.EvidenceEstimate = &a.evidence
	}
	return out
}

// undecided says that a weight may be of the spike or of the slab, where its normal has the width of the nearer of the
// two alone.
func undecided(inclusion float64) bool { return inclusion > 0.01 && inclusion < 0.99 }

// tell warns of what makes the answer rough.
func (f *fit) tell(out *credence.Fitted, a *answer) {
	if !a.mode.converged || !a.settled {
		out.Report.Status = credence.IterationLimit
		if a.mode.converged { // and more iterations find the same mode
			candidates.Warn(out, "noise, slab and inclusion still moved after %d steps: state one of them, or compare with engines ep and gibbs", a.steps)
		} else {
			candidates.Warn(out, "the mode still moved after %d iterations and %d steps of what is learned: state iterations=%d", a.mode.iterations, a.steps, 4*f.config.MaxIterations)
		}
	}
	if f.split {
		candidates.Warn(out, "each level of a category and each column of group(…) is selected by itself under this engine: use engine ep or gibbs to have them in or out together")
	}
	if _, classes := f.model.Likelihood.(likelihood.Bernoulli); classes || f.Rows < f.Table.Count() || slices.ContainsFunc(a.inclusion, undecided) {
		candidates.Warn(out, "one mode is not all of the posterior: in simulations of classes, of fewer rows than columns, and of weights that may be of the spike or of the slab, 51 to 85 %% of the weights lay in their 90 %% intervals, and inclusions were too sure (docs/calibration.md); engines ep and gibbs are wider, and so is --prior normal")
	}
	if a.marginals.raised > 0 {
		candidates.Warn(out, "the curvature of the prior was raised to %v of the slab's for %d weights: their variances are rough", flooredShare, a.marginals.raised)
	}
	switch f.variances() {
	case Nystrom:
		candidates.Warn(out, "the variances of weights are from sets of %d columns, and too large rather than too small; variances=exact takes the smaller of rows and columns squared", f.config.Columns)
	case Random:
		candidates.Warn(out, "the variances of weights are estimates from %d random vectors, with a relative standard error of %.2g; state vectors=%d to halve it", f.config.Vectors, a.marginals.err, 4*f.config.Vectors)
	}
}
