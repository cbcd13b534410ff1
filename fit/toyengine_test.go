package fit_test

import (
	"context"
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/spec"
)

// descent is an engine of a program's own: coordinate descent to the posterior mean under the prior
// pull and noise of variance 1.
type descent struct {
	model  credence.Model
	pull   pull
	sweeps int
}

func descentEngine() fit.Engine {
	return fit.Engine{
		Name: "descent", Reason: "the prior is pull",
		Refuses: func(_ credence.Likelihood, p credence.Prior) string {
			if _, ok := p.(pull); !ok {
				return fmt.Sprintf("it needs the prior pull, not %v", p)
			}
			return ""
		},
		Batch: func(_ fit.Settings, a *spec.Arguments) (fit.Maker, error) {
			sweeps := a.Int("sweeps", 1000, spec.AtLeast(1))
			return func(m credence.Model) (credence.Engine, error) {
				p, err := credence.Require[interface {
					credence.Prior
					Name() string
				}]("descent", "prior", m.Prior)
				return &descent{m, p.(pull), sweeps}, err
			}, nil
		},
	}
}

func (e *descent) Fit(ctx context.Context, data credence.Data) (*credence.Fitted, error) {
	var rows credence.Batch
	if err := data.Read(&rows, 0, data.Rows()); err != nil {
		return nil, err
	}
	var phi credence.Design
	e.model.Features.Transform(credence.NewWorkspace(1), &phi, &rows)
	d := e.model.Features.Weights()
	q := &posterior.Diagonal{Mean: make([]float64, d), Variance: make([]float64, d)}
	residual := append([]float64{}, rows.Target...)
	for range e.sweeps {
		for j := range d {
			square, along := e.pull.Strength, 0.0
			for i := range residual {
				x := phi.Dense.Row(i)[j]
				square += x * x
				along += x * (residual[i] + x*q.Mean[j])
			}
			change := along/square - q.Mean[j]
			for i := range residual {
				residual[i] -= change * phi.Dense.Row(i)[j]
			}
			q.Mean[j] += change
			q.Variance[j] = 1 / square
		}
	}
	return &credence.Fitted{
		Members: []credence.Member{{Model: e.model, Posterior: q}},
		Report:  credence.Report{Engine: "descent", Status: credence.Converged, Rows: data.Rows(), Weights: d, Iterations: e.sweeps},
	}, nil
}
