package score

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
)

// original takes predictions of a transformed target, log(price), to the column itself, price. Quantiles
// and draws go through the inverse, and densities are multiplied by the slope of the transform. Mean and
// variance are those of the inverse of a normal with the predictive moments: exact for linear transforms
// and, where the prediction is normal, for all; the mean for sqrt is exact whatever the family.
type original struct {
	expr *frame.Expr
	// heavy says that no exponential of the target has a mean, so heavy are its tails.
	heavy bool
}

// originalOf returns how to take the target of a model back; nil without a transform, or an error that
// says why there is no way back.
func originalOf(fitted *credence.Fitted) (*original, error) {
	stored, ok := fitted.Frame.(*frame.Frame)
	if !ok || stored.Target == nil || len(stored.Target.Expr.Steps) == 0 {
		return nil, nil
	}
	e, l := &stored.Target.Expr, fitted.Members[0].Model.Likelihood
	if _, _, discrete := likelihood.Support(l); !e.Invertible() || stored.Target.Mode != frame.Numbers || discrete {
		return nil, fmt.Errorf("predictions of %s cannot be taken back to %s: log, log1p, sqrt, exp, expm1, center and scale of a number that is no count can", e, e.Column)
	}
	additive, ok := l.(likelihood.Additive)
	return &original{expr: e, heavy: ok && additive.HeavyTailed() && slices.ContainsFunc(e.Steps, func(s frame.Step) bool { return s.Function == frame.Log || s.Function == frame.Log1p })}, nil
}

// moments returns mean and variance of the column from those of its transform: NaN where there are none.
func (o *original) moments(mean, variance float64) (ownMean, ownVariance float64) {
	if o.heavy || !special.Finite(mean) || !special.Finite(variance) {
		return math.NaN(), math.NaN()
	}
	centre := o.expr.Invert(mean)
	gap, square, _ := quad.Normal(func(y float64) (float64, float64, float64) {
		d := o.expr.Invert(y) - centre
		return d, d * d, 0
	}, mean, variance)
	return centre + gap, square - gap*gap
}

// transformed returns the transform of the value x of the column and the log slope there, −Inf where
// the transform has no such value.
func (o *original) transformed(x float64) (y, logSlope float64) {
	y, err := o.expr.Apply(x)
	if err != nil {
		return math.NaN(), math.Inf(-1)
	}
	return y, o.expr.LogSlope(y)
}
