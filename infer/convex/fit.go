package convex

import (
	"context"
	"errors"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/hyper"
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

	// Learned values, in units: log of each block's prior standard deviation or of the scale, log σ.
	logPrior []float64
	logNoise float64
	learned  []coordinate // of these, the noise the last
	target   []float64    // normal targets in units, times the roots of the weights

	treatment   hyper.Treatment
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
