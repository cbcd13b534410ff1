package convex

import (
	"context"
	"errors"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/hyper"
)

// fit is one run.
type fit struct {
	*Engine
	ws                     *credence.Workspace
	phi                    credence.Design
	n, d, inputs           int
	target, offset, weight []float64
	total                  float64 // of the weights
	table                  *columns
	classes                bool
	centre, scale          float64 // of normal targets
	latent                 float64 // unit of f in units
	first                  int     // first weight that is no intercept
	interceptMean          float64
	interceptSD            float64
	targetMean, targetSD   float64

	// Learned values, in units: log of each block's prior standard deviation or of the scale, log σ.
	logPrior   []float64
	logNoise   float64
	priors     []hyper.Prior
	noisePrior hyper.Prior
	measured   []float64 // normal targets in units, times the roots of the weights, and more

	treatment   hyper.Treatment
	integrated  *integrated // nil where nothing was
	spread      []float64   // standard deviations of weights over what they should be
	evaluations int         // fits at a θ beyond those of the climb
	warnings    []string

	system system
	loop   *loop
	exact  factored
	free   *free
}

// Fit implements [credence.Engine].
func (e *Engine) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	f := &fit{Engine: e, ws: credence.NewWorkspace(e.config.Threads), scale: 1, latent: 1, treatment: e.treatment()}
	if err := f.read(ctx, data); err != nil {
		return nil, err
	}
	f.begin()
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
	var singular errSingular
	if errors.As(err, &singular) {
		return nil, fmt.Errorf("convex: the precision of weight %d of %d is lost to rounding: columns may be equal, or far from 0 and not centred: scale them, leave one out, or state a smaller prior variance", singular.pivot+1, f.d)
	}
	if err != nil {
		return nil, err
	}
	return f.fitted(done, converged), nil
}

// read takes all rows into memory.
func (f *fit) read(ctx context.Context, data credence.Data) error {
	r, err := problem.Open("convex", f.model, data, problem.Offset|problem.Weight)
	if err != nil {
		return err
	}
	var scratch credence.Design
	err = r.Transform(ctx, f.ws, &f.phi, &scratch, f.model.Features, func(_ int, b *credence.Batch) {
		f.inputs = b.X.Cols + b.Sparse.Cols
		f.target = append(f.target, b.Target...)
		f.offset = append(f.offset, b.Offset...)
		for i := range b.Rows() {
			w := b.WeightOf(i)
			if b.Weight != nil {
				f.weight = append(f.weight, w)
			}
			f.total += w
		}
	})
	if err != nil {
		return err
	}
	f.n, f.d = f.phi.Dims()
	if !(f.total > 0) {
		return fmt.Errorf("convex: the rows' weights add up to %v: at least one must be positive", f.total)
	}
	return nil
}
