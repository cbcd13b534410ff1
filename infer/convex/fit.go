package convex

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/param"
)

// fit is one run.
type fit struct {
	*Engine
	*beside
	ws            *credence.Workspace
	rows          *problem.Held
	units         problem.Units
	n, d          int
	interceptMean float64
	interceptSD   float64
	tails         tails // of a prior of heavy ones, nil for others

	// Learned values, in units: log of each block's prior standard deviation or of the scale, log σ.
	logPrior []float64
	logNoise float64
	learned  []coordinate // of these, the noise the last
	target   []float64    // normal targets in units, times the roots of the weights

	treatment   param.Treatment
	integrated  *hyper.Integrated // nil where nothing was
	spread      []float64         // standard deviations of weights over what they should be
	evaluations int               // fits at a θ beyond those of the climb
	warnings    []string

	measured *measured
	system   system
	loop     *loop
	exact    factored // nil where A is not factored, and then there is the other
	free     *free
}

func (e *Engine) newFit(ctx context.Context, data credence.Data) (*fit, error) {
	f := &fit{Engine: e, ws: credence.NewWorkspace(e.config.Threads), treatment: e.treatment()}
	rows, err := problem.Open("convex", e.model, data, problem.Offset|problem.Weight|problem.Precision)
	if err != nil {
		return nil, err
	}
	if f.rows, err = rows.Held(ctx, f.ws); err != nil {
		return nil, err
	}
	f.begin()
	return f, nil
}

// Fit implements [credence.Engine].
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	f, err := e.newFit(ctx, data)
	if err != nil {
		return nil, err
	}
	done, converged, err := f.climb(ctx)
	if err == nil && f.free != nil {
		err = f.free.draw(ctx, len(f.loop.z))
	}
	if err == nil && f.config.Start == nil {
		err = f.compareSpread(ctx)
	}
	if err == nil && f.integrates(converged) {
		if err = f.integrate(ctx); f.integrated != nil {
			converged = true
		}
	}
	var repeated *gauss.Repeated
	if errors.As(err, &repeated) {
		return nil, fmt.Errorf("convex: %s", repeated.Of(func(j int) string { return problem.WeightName(e.model.Features, j) }))
	}
	if err != nil {
		return nil, err
	}
	return f.fitted(done, converged), nil
}

// learnedTolerance is the move of a learned logarithm in one step of expectation maximisation below
// which the steps end.
const learnedTolerance = 1e-4

// climb goes through outer loops, with a step of expectation maximisation after each where something
// is learned.
func (f *fit) climb(ctx context.Context) (done int, converged bool, err error) {
	steps := f.config.Steps
	if f.setSystem(); steps == 0 {
		if steps = 5; f.system == system(f.exact) {
			steps = 100
		}
	}
	last := math.Inf(1)
	for done = 1; done <= steps; done++ {
		before := slices.Clone(f.loop.u)
		if err := f.loop.step(ctx, done == steps); err != nil {
			return done, false, err
		}
		settled := f.loop.lastChange < cmp.Or(f.config.Tolerance, 1e-9)
		if f.config.Progress != nil {
			f.config.Progress(credence.Progress{Stage: "outer loop", Done: done, Total: steps, Objective: -f.loop.phi / 2})
		}
		var variance []float64 // of what is learned, or of means that have to rest
		if f.system != system(f.exact) || len(f.learned) > 0 {
			if variance, err = f.marginals(ctx); err != nil {
				return done, false, err
			}
		}
		logPrior, logNoise := slices.Clone(f.logPrior), f.logNoise
		moved := f.learn(variance)
		if f.system != system(f.exact) { // φ is not known, or may rise: the means have to rest
			far := farthest(before, f.loop.u, variance)
			settled = done > 1 && (far == 0 || far*math.Min(1, far/last) < restingMeans) // 0 over 0 is no move either
			last = far
		}
		if moved < learnedTolerance && (settled || moved > 0 && f.loop.lastChange < 1e-6) {
			return done, true, nil
		}
		switch {
		case done == steps: // Q stays that of the values it was found under
			copy(f.logPrior, logPrior)
			f.logNoise = logNoise
		case moved > 0:
			f.setSystem()
		}
	}
	return steps, false, nil
}

// restingMeans is by how many standard deviations a mean may be expected to move in the outer loop after the last one
// of a fit whose bound is not known: moves go on falling as they did.
const restingMeans = 0.1

// farthest is the largest distance between two means in standard deviations.
func farthest(a, b, variance []float64) float64 {
	far := 0.0
	for j, v := range variance {
		far = math.Max(far, math.Abs(a[j]-b[j])/math.Sqrt(v))
	}
	return far
}

// learn moves what is learned to where the bound is highest at fixed Q, and returns how far the
// logarithms moved. The variances are those of (b̃, w).
func (f *fit) learn(variance []float64) (moved float64) {
	for _, c := range f.learned {
		to := hyper.ScaleMode(c.count, f.square(c, variance), c.prior, *c.value)
		if c.group < 0 {
			to = math.Max(to, hyper.LeastLogNoise)
		}
		moved = math.Max(moved, math.Abs(to-*c.value))
		*c.value = to
	}
	return moved
}

// marginals returns the variances of (b̃, w).
func (f *fit) marginals(ctx context.Context) ([]float64, error) {
	noise := f.noise()
	if f.exact != nil {
		out := make([]float64, f.d)
		f.exact.weightVariances(out)
		kernel.Scale(noise, out)
		return out, nil
	}
	if f.free.last == nil || len(f.learned) > 0 {
		if err := f.free.draw(ctx, len(f.loop.z)); err != nil {
			return nil, err
		}
	}
	out := squaresOf(f.free.last, f.d)
	kernel.Scale(noise/float64(len(f.free.last)), out)
	return out, nil
}
