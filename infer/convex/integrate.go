package convex

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
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
	longestStep = 1
	restarts    = 3
	// coarseWeights is the number of weights above which three nodes on an axis do.
	coarseWeights = 300
)

// coordinate is one of θ: the logarithm u of a standard deviation, or of a scale, whose part of the bound is that of
// normal numbers at fixed Q: −count·u − square/(2e^{2u}).
type coordinate struct {
	value         *float64
	prior         hyper.Prior
	count, square float64
	name          string
	log           float64 // logarithms of what is reported for one of u: 2 of a variance
}

// coordinates returns θ; without variances of (b̃, w) without what is expected of Q.
func (f *fit) coordinates(variance []float64) []coordinate {
	var out []coordinate
	noise := f.noise()
	last := 0 // of the sites, that of the weight
	if f.classes {
		last = f.n
	}
	for k, g := range f.groups[f.first:] {
		if f.priors[k] == nil {
			continue
		}
		c := coordinate{value: &f.logPrior[k], prior: f.priors[k], count: float64(g.Count), name: "prior_scale", log: 1}
		if !f.heavy() {
			c.name, c.log = "prior_variance."+g.Name, 2
		}
		for j := g.First; j < g.End() && variance != nil; j++ {
			s := f.loop.u[j]*f.loop.u[j] + variance[j]
			switch p := f.model.Prior.(type) {
			case prior.Normal:
				c.square += s
			case prior.Laplace: // E of the bound: h = τ²γ
				c.square += noise / f.loop.precision[last+j-f.first]
			case prior.StudentT:
				c.square += s * (p.Degrees() + 1) / (p.Degrees() + s*math.Exp(-2*f.logPrior[k]))
			}
		}
		out = append(out, c)
	}
	if f.noisePrior != nil && !f.classes {
		c := coordinate{value: &f.logNoise, prior: f.noisePrior, count: f.rows.Sums.Weight, name: "noise_variance", log: 2}
		if variance != nil {
			c.square = f.expectedResidual(variance)
		}
		out = append(out, c)
	}
	return out
}

// expectedResidual is E ‖y − Φw‖² over Q with these variances of (b̃, w), in units.
func (f *fit) expectedResidual(variance []float64) float64 {
	residual, gap := 0.0, make([]float64, f.n) // of the rows: X has the normal prior's measurements, too
	f.table.MulVec(gap, f.loop.u)
	for i, y := range f.measured[:f.n] {
		residual += (y - gap[i]) * (y - gap[i])
	}
	if f.exact != nil {
		inverse := slices.Clone(variance) // the diagonal of A⁻¹
		kernel.Scale(1/f.noise(), inverse)
		return residual + f.noise()*f.exact.tracedBy(inverse, f.loop.precision)
	}
	return residual + f.noise()*f.drawnTrace()
}

// point is the fit at one θ.
type point struct {
	hyper.Point
	theta    []float64
	bound    float64 // without the log priors
	gradient []float64
	u, z     []float64 // where another fit may start
}

// at fits at θ from another point.
func (f *fit) at(ctx context.Context, from *point, theta []float64, tolerance float64) (*point, error) {
	for k, c := range f.coordinates(nil) {
		*c.value = theta[k]
	}
	f.setSystem()
	copy(f.loop.u, from.u)
	copy(f.loop.z, from.z)
	f.loop.phi = math.NaN()
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

// point is what the loop where it ended comes to. Linear numbers are the covariance of (b̃, w), θ and the noise variance.
func (f *fit) point(ctx context.Context) (*point, error) {
	variance, err := f.marginals(ctx)
	if err != nil {
		return nil, err
	}
	noise := f.noise()
	p := &point{bound: f.bound(), u: slices.Clone(f.loop.u), z: slices.Clone(f.loop.z)}
	p.LogDensity = p.bound
	for _, c := range f.coordinates(variance) {
		value, slope, _ := c.prior.At(*c.value)
		p.LogDensity += value
		p.gradient = append(p.gradient, slope+c.square*math.Exp(-2**c.value)-c.count)
		p.theta = append(p.theta, *c.value)
	}
	// The noise is one number more with a variance: that of y at a known f.
	p.Mean, p.Variance = append(slices.Clone(f.loop.u), 0), append(variance, noise)
	p.Linear = make([]float64, f.d*f.d, f.d*f.d+len(p.theta)+1)
	f.exact.covariance(p.Linear, noise)
	p.Linear = append(append(p.Linear, p.theta...), noise)
	return p, nil
}

// integrated is the posterior over all θ, in units.
type integrated struct {
	mean, covariance []float64
	theta            []float64
	noise            float64
	df, predictiveDF float64
	bound, atMode    float64
	axes             *hyper.Axes
	summed           bool // else nothing changes next to what the mode says
}

// integrates says whether θ is integrated over, and warns where it cannot be. A climb that ended at the steps stated
// ends there.
func (f *fit) integrates(converged bool) bool {
	if f.treatment != hyper.Integrate {
		return false
	}
	if f.noisePrior != nil && !f.classes && f.logNoise <= hyper.LeastLogNoise {
		f.noisePrior = nil
		f.warnings = append(f.warnings, "the noise variance is at its floor, a millionth of the target's variance, and counts as known: the columns explain the target to the last digit; state a noise, as in gaussian(variance=…)")
	}
	switch count := len(f.coordinates(nil)); {
	case count == 0:
		return false
	case !converged && f.config.Steps > 0:
	case count > hyper.ThreeNodeLimit:
		f.warnings = append(f.warnings, fmt.Sprintf("%d prior variances are too many to integrate over, and stand at their mode: state one, as in normal(variance=1)", count))
	default:
		return true
	}
	f.treatment = hyper.Mode
	return false
}

// integrate replaces what is learned, where the climb ended near its mode, by sums over axes.
func (f *fit) integrate(ctx context.Context) error {
	from, err := f.point(ctx)
	if err != nil {
		return err
	}
	for range restarts {
		mode, axes, slopes, err := f.findMode(ctx, from)
		if err != nil {
			return err
		}
		f.integrated = &integrated{theta: mode.theta, atMode: mode.bound, bound: axes.Laplace(), axes: axes}
		if skip, _, _ := axes.Skip(mode.Variance[:f.d], slopes); skip {
			_, err := f.at(ctx, mode, mode.theta, nodeTolerance) // where the loop is to be
			return err
		}
		err = f.addAxes(ctx, mode, axes)
		var higher *hyper.HigherError
		if !errors.As(err, &higher) {
			return err
		}
		if from, err = f.at(ctx, mode, higher.Theta, slopeTolerance); err != nil {
			return err
		}
	}
	f.warnings = append(f.warnings, "the hyper-parameters have more than one mode, and stand at the likeliest that was found, not integrated: state the prior, as in normal(variance=1)")
	f.treatment, f.integrated = hyper.Mode, nil
	return nil
}

// findMode goes to the maximum in θ by Newton's method, with curvature and slopes of the moments there.
func (f *fit) findMode(ctx context.Context, mode *point) (*point, *hyper.Axes, hyper.Slopes, error) {
	p, d := len(mode.theta), f.d
	step := make([]float64, p)
	for taken := 0; ; {
		slopes := hyper.Slopes{Mean: make([]float64, p*d), Variance: make([]float64, p*d)}
		curvature, err := hyper.Curvature(mode.theta, slopeStep, func(theta []float64, k int, sign float64) ([]float64, error) {
			at, err := f.at(ctx, mode, theta, slopeTolerance)
			if err != nil {
				return nil, err
			}
			kernel.Axpy(sign/(2*slopeStep), at.Mean[:d], slopes.Mean[k*d:(k+1)*d])
			kernel.Axpy(sign/(2*slopeStep), at.Variance[:d], slopes.Variance[k*d:(k+1)*d])
			return at.gradient, nil
		})
		if err != nil {
			return nil, nil, slopes, err
		}
		axes, err := hyper.NewAxes(mode.theta, mode.LogDensity, curvature, d > coarseWeights)
		if err != nil {
			return nil, nil, slopes, err
		}
		length := axes.Whitened(mode.gradient)
		near := length < slopeStep // where the curvature stays the same
		for moved := true; moved && length > atMode && taken < newtonSteps; taken++ {
			axes.NewtonStep(step, mode.gradient)
			kernel.Scale(math.Min(1, longestStep/length), step)
			moved = false
			for share := 1.0; share > 0.1 && !moved; share /= 2 {
				theta := slices.Clone(mode.theta)
				kernel.Axpy(share, step, theta)
				next, err := f.at(ctx, mode, theta, slopeTolerance)
				if err != nil {
					return nil, nil, slopes, err
				}
				if left := axes.Whitened(next.gradient); left < length/2 || !near && next.LogDensity > mode.LogDensity {
					mode, length, moved = next, left, true
				}
			}
			if !near {
				break
			}
		}
		if near || length <= atMode || taken >= newtonSteps {
			axes.MoveTo(mode.theta, mode.LogDensity)
			return mode, axes, slopes, nil
		}
	}
}

// addAxes adds the points of all axes up.
func (f *fit) addAxes(ctx context.Context, mode *point, axes *hyper.Axes) error {
	d, a := f.d, f.integrated
	sums := hyper.NewSums(axes, mode.Point, func(linear []float64, scale float64, gap []float64) {
		for i, v := range gap[:d] {
			kernel.Axpy(scale*v, gap[i:d], linear[i*d+i:(i+1)*d])
		}
	})
	theta := make([]float64, len(mode.theta))
	for !sums.Done() {
		sums.Next(theta)
		next, err := f.at(ctx, mode, theta, nodeTolerance)
		if err != nil {
			return err
		}
		if err := sums.Add(next.Point); err != nil {
			return err
		}
	}
	a.mean, a.covariance = sums.Mean[:d], sums.Linear[:d*d]
	a.theta, a.noise = sums.Linear[d*d:len(sums.Linear)-1], sums.Linear[len(sums.Linear)-1]
	a.df, a.bound, a.summed = hyper.MedianDF(sums.Variance[:d], sums.Fourth[:d]), sums.LogEvidence, true
	if _, ok := f.model.Likelihood.(likelihood.Gaussian); ok {
		a.predictiveDF = hyper.DF(sums.Variance[d], sums.Fourth[d])
	}
	for k, c := range f.coordinates(nil) {
		*c.value = a.theta[k]
	}
	return nil
}
