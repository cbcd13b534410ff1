package exact

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/param"
)

// Features move with their lengthscales, so that moments of weights under different ones cannot be
// added up: what is not known of lengthscales is a mixture of members, each integrated over noise and prior
// variances at its own. From averagedRows rows on it is next to nothing.
const (
	averagedRows   = 400
	averageMembers = 16 // of all draws of features together
	mostLogShare   = 2  // of a drawn member over the mode's
)

// lengthscaleLaw is the normal approximation of the lengthscales' posterior about the end of a climb.
type lengthscaleLaw struct {
	places     []int        // hyper-parameters of the features
	mean       []float64    // of their logarithms
	covariance mat.Cholesky // the factor of their covariance
	own        []int        // variables of the other coordinates, whose means given the lengthscales follow
	regression *mat.Dense
}

// lengthscales finds the approximation where a climb ended; nil where there are none to integrate.
func (e *Engine) lengthscales(ctx context.Context, f form, end *outcome) (*lengthscaleLaw, error) {
	if !e.tuned || e.config.Hyper != param.Integrate || f.base().rows.Count() >= averagedRows {
		return nil, nil
	}
	o, err := e.objective(ctx, f, ascent{features: end.features, before: end, tune: true, loaded: true})
	if err != nil {
		return nil, err
	}
	x := o.coordinates()
	second, err := o.differences(x)
	if err != nil {
		return nil, err
	}
	if err := f.load(ctx, end.features); err != nil { // which differences have moved
		return nil, err
	}
	l := &lengthscaleLaw{}
	var lengths, rest []int // variables
	for i, v := range o.variables {
		if x[i] <= v.lower+1e-9 || x[i] >= v.upper-1e-9 {
			continue
		}
		if _, flat := v.prior.(hyper.Flat); !v.own {
			rest = append(rest, i)
		} else if !flat {
			lengths = append(lengths, i)
		}
	}
	if len(lengths) == 0 {
		return nil, nil
	}
	all := append(append([]int(nil), lengths...), rest...)
	hessian := mat.NewSymDense(len(all), nil)
	theta := make([]float64, len(all))
	for a, i := range all {
		theta[a] = x[i]
		for b, j := range all[:a+1] {
			hessian.SetSym(a, b, second.At(i, j))
		}
	}
	axes, err := hyper.NewAxes(theta, end.penalised, hessian, false)
	if err != nil {
		return nil, nil // no curvature can be told there: the mode has to do
	}
	q := len(lengths)
	own := axes.Covariance().SliceSym(0, q)
	if !l.covariance.Factorize(own) {
		return nil, nil
	}
	for a, i := range lengths {
		l.places, l.mean = append(l.places, o.variables[i].hyper), append(l.mean, theta[a])
	}
	l.own = rest
	if len(rest) > 0 { // E[rest | lengthscales] moves by Σ_rl Σ_ll⁻¹
		cross := mat.NewDense(q, len(rest), nil)
		for a := range q {
			for b := range rest {
				cross.Set(a, b, axes.Covariance().At(a, q+b))
			}
		}
		l.regression = mat.NewDense(q, len(rest), nil)
		if err := l.covariance.SolveTo(l.regression, cross); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// addLengthscaleDraws settles at draws of the lengthscales, and adds to end their members, which stand beside that of
// the mode; the evidence of end becomes that of all lengthscales.
func (e *Engine) addLengthscaleDraws(ctx context.Context, f form, t ascent, end *outcome, l *lengthscaleLaw) error {
	if l == nil {
		return nil
	}
	q := len(l.mean)
	rng := credence.Rand(e.config.Seed, credence.ExactLengthscales, uint64(t.draw))
	var factor mat.TriDense
	l.covariance.LTo(&factor)
	top := end.settled.evidence
	for range averageMembers/e.draws(f.base().rows.Count()) - 1 {
		z := mat.NewVecDense(q, nil)
		for k := range q {
			z.SetVec(k, rng.NormFloat64())
		}
		var move mat.VecDense
		move.MulVec(&factor, z)
		drawn := *end
		drawn.hyper = append([]float64(nil), end.hyper...)
		drawn.prior = append([]float64(nil), end.prior...)
		for k, h := range l.places {
			drawn.hyper[h] = math.Exp(l.mean[k] + move.AtVec(k))
		}
		drawn.features = end.features.(credence.Tunable).WithHyper(drawn.hyper)
		if err := f.load(ctx, drawn.features); err != nil {
			return err
		}
		o, err := e.objective(ctx, f, ascent{features: drawn.features, before: &drawn, loaded: true})
		if err != nil {
			return err
		}
		for b, i := range l.own { // the same variables, without those of the features behind them
			by := 0.0
			for k := range q {
				by += l.regression.At(k, b) * move.AtVec(k)
			}
			v := o.variables[i]
			*v.value(&o.current) = math.Exp(math.Max(v.lower, math.Min(math.Log(*v.value(&o.current))+by, v.upper)))
		}
		drawn.point = o.current
		if err := e.settle(ctx, f, t, &drawn); err != nil {
			return err
		}
		gain := drawn.settled.evidence + ownPrior(drawn.features) - top - ownPrior(end.features)
		drawn.logShare = math.Min(gain+mat.Dot(z, z)/2, mostLogShare)
		if !math.IsNaN(drawn.logShare) {
			end.beside = append(end.beside, &drawn)
		}
	}
	// The evidence of lengthscales too, by Laplace's approximation.
	end.settled.evidence += ownPrior(end.features) + (float64(q)*math.Log(2*math.Pi)+l.covariance.LogDet())/2
	return nil
}

// ownPrior is the log prior of the features' hyper-parameters that are learned.
func ownPrior(features credence.Features) float64 {
	sum := 0.0
	for _, h := range features.(credence.Tunable).Hyper() {
		if !h.Held && h.PriorSD > 0 {
			v, _, _ := hyper.Normal{Mean: h.PriorMean, SD: h.PriorSD}.At(math.Log(h.Value))
			sum += v
		}
	}
	return sum
}
