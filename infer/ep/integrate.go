package ep

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
)

// differenceStep is that of the differences of gradients in logarithms, and settledTolerance the
// change of an inclusion below which sites at given values have settled: differences of gradients need
// more digits than inclusions.
const (
	differenceStep   = 0.05
	settledTolerance = 1e-7
	pointSweeps      = 200 // at most, from the mode's sites
)

// point is what settled sites at one value of what is learned come to.
type point struct {
	hyper.Point
	evidence float64 // without the log priors
	gradient []float64
	settled  bool
	jumped   bool // an inclusion is more than half away from the mode's
}

// mode is where expectation maximisation ended.
type mode struct {
	theta     []float64
	sites     sites
	inclusion []float64
}

func (f *fit) inclusions() []float64 {
	out := make([]float64, len(f.tilted))
	for j, t := range f.tilted {
		out[j] = 1
		if f.Kept[j] == 0 {
			out[j] = t.inclusion
		}
	}
	return out
}

// at settles the sites at other values, from those of the mode.
func (f *fit) at(ctx context.Context, from *mode, theta []float64, tolerance float64, moments bool) (*point, error) {
	f.restore(from.sites)
	f.setTheta(theta)
	_, settled, err := f.settle(ctx, pointSweeps, tolerance, nil)
	if err != nil {
		return nil, err
	}
	return f.point(from, settled, moments)
}

// point is what the sites as they are come to.
func (f *fit) point(from *mode, settled, moments bool) (*point, error) {
	evidence, err := f.logEvidence()
	if err != nil {
		return nil, err
	}
	prior, _ := f.logPrior()
	p := &point{evidence: evidence, settled: settled, gradient: f.gradient()}
	p.LogDensity = evidence + prior
	inclusion := f.inclusions()
	for j, a := range inclusion {
		p.jumped = p.jumped || math.Abs(a-from.inclusion[j]) > 0.5
	}
	if moments {
		p.Mean, p.Variance = slices.Clone(f.q.mean), slices.Clone(f.q.variance)
		d := len(inclusion)
		p.Linear = append(inclusion, make([]float64, d+1)...)
		if p.Linear[2*d] = math.Exp(2 * f.logNoise); f.Resolves(f.Table, f.logSlab, f.logNoise) {
			copy(p.Linear[d:], inclusion)
		}
		if f.full() {
			covariance := make([]float64, d*d)
			f.q.covariance(f.q, covariance)
			p.Linear = append(p.Linear, covariance...)
		}
	}
	return p, nil
}

// full says whether the covariance of all weights is kept.
func (f *fit) full() bool {
	_, diagonal := f.q.form.(*diagonal)
	return !diagonal && f.Table.Count() <= problem.FullWeights
}

// answer is the posterior in units of the fit: what one value of what is learned says, or the sum over
// all axes.
type answer struct {
	mean, variance, inclusion []float64
	resolved                  []float64 // the part of inclusion in which the slab is
	covariance                []float64 // d×d, nil where it is too large
	noise                     float64   // noise variance
	df                        float64   // 0: normal
	evidence                  float64   // log evidence
	dropped, points           int
}

func answerOf(p *point) *answer {
	d := len(p.Mean)
	a := &answer{mean: p.Mean, variance: p.Variance, inclusion: p.Linear[:d], resolved: p.Linear[d : 2*d], noise: p.Linear[2*d], evidence: p.evidence, points: 1}
	if len(p.Linear) > 2*d+1 {
		a.covariance = p.Linear[2*d+1:]
	}
	return a
}

// integrate adds up the axes around the mode.
func (f *fit) integrate(ctx context.Context, from *mode) (*answer, error) {
	centre, hessian, err := f.newton(ctx, from)
	if err != nil {
		return nil, err
	}
	only := answerOf(centre)
	if len(from.theta) == 0 {
		return only, nil
	}
	axes, err := hyper.NewAxes(from.theta, centre.LogDensity, hessian, false)
	if err != nil {
		return only, nil
	}
	d := len(centre.Mean)
	var spread func([]float64, float64, []float64)
	if only.covariance != nil {
		spread = func(linear []float64, scale float64, difference []float64) {
			for i, v := range difference {
				kernel.Axpy(scale*v, difference, linear[2*d+1+i*d:2*d+1+(i+1)*d])
			}
		}
	}
	sums := hyper.NewSums(axes, centre.Point, spread)
	theta, dropped := make([]float64, len(from.theta)), 0
	for !sums.Done() {
		sums.Next(theta)
		p, err := f.at(ctx, from, theta, settledTolerance, true)
		if err != nil {
			return nil, err
		}
		var higher *hyper.HigherError
		if p.jumped || !p.settled {
			dropped++
			p.LogDensity = math.NaN()
		}
		if err := sums.Add(p.Point); errors.As(err, &higher) { // another fixed point
			dropped++
			p.LogDensity = math.NaN()
			if err := sums.Add(p.Point); err != nil {
				return nil, err
			}
		}
	}
	f.restore(from.sites) // what is reported of slab and inclusion is their mode
	f.setTheta(from.theta)
	total := answerOf(&point{evidence: sums.LogEvidence, Point: hyper.Point{Mean: sums.Mean, Variance: sums.Variance, Linear: sums.Linear}})
	for j, v := range total.variance {
		total.variance[j] = math.Max(v, 1e-3*centre.Variance[j])
		total.inclusion[j] = math.Max(0, math.Min(total.inclusion[j], 1))
		total.resolved[j] = math.Max(0, math.Min(total.resolved[j], total.inclusion[j]))
	}
	total.noise = math.Max(total.noise, 0.1*only.noise)
	total.df, total.dropped, total.points = sums.DF(), dropped, 1+axes.Count()*axes.Nodes()
	return total, nil
}

// newton takes the mode from where expectation maximisation ended to the maximum, by steps with the
// Hessian from differences of gradients, and returns the point and the Hessian there.
func (f *fit) newton(ctx context.Context, from *mode) (*point, *mat.SymDense, error) {
	p := len(from.theta)
	centre, err := f.at(ctx, from, from.theta, settledTolerance, true)
	if err != nil || p == 0 {
		return centre, nil, err
	}
	for range 4 {
		hessian, err := f.hessian(ctx, from)
		if err != nil {
			return nil, nil, err
		}
		axes, err := hyper.NewAxes(from.theta, centre.LogDensity, hessian, false)
		if err != nil || axes.Whitened(centre.gradient) < 1e-2 {
			return centre, hessian, nil
		}
		step := make([]float64, p)
		axes.NewtonStep(step, centre.gradient)
		largest := 0.0
		for _, v := range step {
			largest = math.Max(largest, math.Abs(v))
		}
		kernel.Scale(math.Min(1, 0.5/largest), step)
		kernel.Axpy(1, from.theta, step)
		next, err := f.at(ctx, from, step, settledTolerance, true)
		if err != nil {
			return nil, nil, err
		}
		if !(next.LogDensity > centre.LogDensity) {
			return centre, hessian, nil
		}
		*from = mode{step, f.sites(), f.inclusions()}
		centre = next
	}
	hessian, err := f.hessian(ctx, from)
	return centre, hessian, err
}

func (f *fit) hessian(ctx context.Context, from *mode) (*mat.SymDense, error) {
	return hyper.Curvature(from.theta, differenceStep, func(theta []float64, _ int, _ float64) ([]float64, error) {
		at, err := f.at(ctx, from, theta, settledTolerance, false)
		if err != nil {
			return nil, err
		}
		return at.gradient, nil
	})
}
