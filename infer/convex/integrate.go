package convex

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/param"
)

const (
	// slopeStep is the half width of differences in θ.
	slopeStep = 0.05
	// slopeTolerance and nodeTolerance are changes of φ at which fits at a θ end: a bound is off by about its last
	// change, its slope by the root of it.
	slopeTolerance = 1e-8
	nodeTolerance  = 1e-5
	pointSteps     = 300 // outer loops of one
	// atMode is the length of the gradient at the mode, in units of the posterior of θ.
	atMode      = 1e-3
	newtonSteps = 20
)

// coordinate is one of θ: the logarithm u of a standard deviation, or of a scale, whose part of the bound is that of
// normal numbers at fixed Q: −count·u − square/(2e^{2u}).
type coordinate struct {
	value      *float64
	prior      hyper.Prior
	group      int // of the weights, the first of several; −1 of the noise
	first, end int // weights
	count      float64
	name       string
	log        float64 // logarithms of what is stated and reported for one of u: 2 of a variance
}

// square is that of a coordinate over Q with these variances of (b̃, w).
func (f *fit) square(c coordinate, variance []float64) (square float64) {
	if c.group < 0 {
		return f.expectedResidual(variance)
	}
	for j := c.first; j < c.end; j++ {
		s := f.loop.u[j]*f.loop.u[j] + variance[j]
		if f.heavy {
			s = f.tails.square(s, *c.value, f.loop.precision[f.rowSites()+j-f.first], f.noise())
		}
		square += s
	}
	return square
}

// expectedResidual is E ‖y − Φw‖² over Q with these variances of (b̃, w), in units.
func (f *fit) expectedResidual(variance []float64) float64 {
	residual, gap := 0.0, make([]float64, f.n)
	f.table.MulVec(gap, f.loop.u)
	for i, y := range f.target {
		residual += (y - gap[i]) * (y - gap[i])
	}
	if f.exact != nil { // tr ΦᵀΦA⁻¹ is d less what the diagonal has
		return residual + f.noise()*float64(f.d) - kernel.Dot(f.rest(f.loop.precision), variance)
	}
	for _, xi := range f.free.last {
		f.table.MulVec(gap, xi)
		residual += f.noise() * kernel.Dot(gap, gap) / float64(len(f.free.last))
	}
	return residual
}

// place is where the fit at one θ ended: where another may start.
type place struct {
	bound float64 // without the log priors
	u, z  []float64
}

// point is what the loop where it ended comes to. Linear numbers are the covariance of (b̃, w) and the noise variance.
func (f *fit) point(ctx context.Context) (*hyper.Evaluation, error) {
	variance, err := f.marginals(ctx)
	if err != nil {
		return nil, err
	}
	noise, bound := f.noise(), f.bound()
	p := &hyper.Evaluation{State: &place{bound, slices.Clone(f.loop.u), slices.Clone(f.loop.z)}}
	p.LogDensity = bound
	for _, c := range f.learned {
		value, slope, _ := c.prior.At(*c.value)
		p.LogDensity += value
		p.Gradient = append(p.Gradient, slope+f.square(c, variance)*math.Exp(-2**c.value)-c.count)
		p.Theta = append(p.Theta, *c.value)
	}
	// The noise is one number more with a variance: that of y at a known f.
	p.Mean, p.Variance = append(slices.Clone(f.loop.u), 0), append(variance, noise)
	p.Linear = make([]float64, f.d*f.d, f.d*f.d+1+len(p.Theta))
	f.exact.covariance(p.Linear, noise)
	p.Linear = append(p.Linear, noise)
	return p, nil
}

// evaluate is a [hyper.Each].
func (f *fit) evaluate(ctx context.Context, from *hyper.Evaluation, theta []float64, to hyper.Precision) (*hyper.Evaluation, error) {
	for k, c := range f.learned {
		*c.value = theta[k]
	}
	f.setSystem()
	start, tolerance := from.State.(*place), slopeTolerance
	copy(f.loop.u, start.u)
	copy(f.loop.z, start.z)
	f.loop.phi = math.NaN()
	if to == hyper.ForNode {
		tolerance = nodeTolerance
	}
	for range pointSteps {
		if err := f.loop.step(ctx, false); err != nil {
			return nil, err
		}
		if f.loop.lastChange*(1+math.Abs(f.loop.phi)) < tolerance {
			break
		}
	}
	f.evaluations++
	return f.point(ctx)
}

// integrates says whether θ is integrated over, and warns where it cannot be. A climb that ended at the steps stated
// ends there.
func (f *fit) integrates(converged bool) bool {
	if f.treatment != param.Integrate {
		return false
	}
	if last := len(f.learned) - 1; last >= 0 && f.learned[last].group < 0 && f.logNoise <= hyper.LeastLogNoise {
		f.learned = f.learned[:last]
		f.warnings = append(f.warnings, "the noise variance is at its floor, a millionth of the target's variance, and counts as known: the columns explain the target to the last digit; state a noise, as in gaussian(variance=…)")
	}
	switch count := len(f.learned); {
	case count == 0:
		return false
	case !converged && f.config.Steps > 0:
	case count > hyper.ThreeNodeLimit:
		f.warnings = append(f.warnings, fmt.Sprintf("%d prior variances are too many to integrate over, and stand at their mode: state one, as in normal(variance=1)", count))
	default:
		return true
	}
	f.treatment = param.Mode
	return false
}

// rules are those of the search in θ.
func (f *fit) rules() hyper.Rules {
	return hyper.Rules{
		Weights: f.d, Steps: newtonSteps, Width: slopeStep, Near: slopeStep, Enough: atMode, Spread: hyper.Upper(f.d),
		Law: func(theta []float64) []float64 {
			law := make([]float64, len(theta))
			for k, u := range theta {
				law[k] = math.Exp(2 * u)
			}
			return law
		},
		Climb: func(ctx context.Context, from *hyper.Evaluation, theta []float64) (*hyper.Evaluation, error) {
			return f.evaluate(ctx, from, theta, hyper.ForStep)
		},
	}
}

// integrate replaces what is learned, where the climb ended near its mode, by sums over axes.
func (f *fit) integrate(ctx context.Context) error {
	from, err := f.point(ctx)
	if err != nil {
		return err
	}
	rules := f.rules()
	top, err := rules.Mode(ctx, hyper.Each(f.evaluate), from)
	if err != nil {
		return err
	}
	all, err := rules.Integrate(ctx, hyper.Each(f.evaluate), top)
	if err != nil {
		return err
	}
	switch mode := all.Mode.At; all.Outcome {
	case hyper.AtMode:
		f.warnings, f.treatment = append(f.warnings, all.Why), param.Mode
		_, err = f.evaluate(ctx, mode, mode.Theta, hyper.ForNode) // where the loop is to be
		return err
	case hyper.Skipped:
		_, err = f.evaluate(ctx, mode, mode.Theta, hyper.ForNode)
	case hyper.Summed:
		for k, c := range f.learned {
			*c.value = all.Theta[k]
		}
	}
	f.integrated = all
	return err
}
