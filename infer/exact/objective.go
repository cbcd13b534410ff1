package exact

import (
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/hyper"
)

// objective is the negative penalised evidence of a form's rows as a function of the logarithms of
// the variables.
type objective struct {
	engine    *Engine
	ctx       context.Context // of the climb
	form      form
	variables []variable
	floor     float64 // of the noise variance
	joint     hyper.Joint

	// Where it was evaluated last.
	last, theta         []float64 // and its coordinates under the priors
	current             point
	features            credence.Features
	loaded              []float64 // hyper-parameters of the features that the form has loaded
	slopes              slopes
	evidence, penalised float64
}

// objective loads the rows at a task's starting point.
func (e *Engine) objective(ctx context.Context, f form, t task) (*objective, error) {
	o := &objective{engine: e, ctx: ctx, form: f, features: t.features}
	hyper := t.hyper
	if t.before != nil {
		hyper = t.before.hyper
	}
	if tunable, ok := o.features.(credence.Tunable); ok && hyper != nil {
		o.features = tunable.WithHyper(hyper)
	}
	if !t.loaded {
		if err := f.load(ctx, o.features); err != nil {
			return nil, err
		}
	}
	if f.base().scales == nil {
		if err := e.measure(ctx, f); err != nil {
			return nil, err
		}
	}
	o.loaded = append([]float64(nil), hyper...)
	o.current = point{hyper: append([]float64(nil), hyper...), unit: f.base().summary.units.Scale}
	o.floor = noiseFloor * referenceNoise(f)
	references := e.references(f)
	fine := e.fine(f, references)
	o.variables = e.variables(f, &o.current, t, o.floor, references, fine)
	if t.before == nil && !t.again {
		if err := e.begin(ctx, f, &o.current, references, fine); err != nil {
			return nil, err
		}
	}
	o.setJoint()
	o.slopes.prior = make([]float64, len(e.groups))
	if t.tune {
		o.slopes.hyper = make([]float64, len(hyper))
	}
	return o, nil
}

// coordinates returns the logarithms of the variables where it was evaluated last, at first the
// starting point.
func (o *objective) coordinates() []float64 {
	x := make([]float64, len(o.variables))
	for i, v := range o.variables {
		x[i] = math.Log(*v.value(&o.current))
	}
	return x
}

// at is an lbfgs.Objective.
func (o *objective) at(x, gradient []float64) (float64, error) {
	o.last = append(o.last[:0], x...)
	for i, v := range o.variables {
		*v.value(&o.current) = math.Exp(x[i])
	}
	if !slices.Equal(o.current.hyper, o.loaded) {
		o.features = o.features.(credence.Tunable).WithHyper(o.current.hyper)
		copy(o.loaded, o.current.hyper)
		if err := o.form.load(o.ctx, o.features); err != nil {
			return 0, err
		}
	}
	var err error
	if o.evidence, err = o.form.evaluate(o.ctx, &o.current.values, &o.slopes); err != nil {
		return 0, err
	}
	o.theta = o.theta[:0]
	for i, v := range o.variables {
		o.theta = append(o.theta, v.unit*x[i])
	}
	clear(gradient)
	o.penalised = o.joint.AddTo(o.evidence, o.theta, gradient, nil)
	for i, v := range o.variables {
		gradient[i] = -v.slope(&o.slopes) - v.unit*gradient[i]
	}
	return -o.penalised, nil
}

// setJoint puts the priors of the variables together.
func (o *objective) setJoint() {
	hung := make([]bool, len(o.variables))
	for i, v := range o.variables {
		o.joint.Priors = append(o.joint.Priors, v.prior)
		if hung[i] = v.hung; v.common {
			o.joint.Common, o.joint.Hung = i, hung
		}
	}
}
