package newton

import (
	"context"
	"math"

	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/kernel"
)

// θ holds the hyper-parameters of a point: log τ of every learned group, half the logarithms of learned odds, the free
// parameters of the likelihood, and log α where there is one.

// density is the log density of the hyper-parameters of a point under their priors, 0 where they stay.
func (n *Newton) density(p *Point) float64 {
	if n.fixed {
		return 0
	}
	return n.Priors.Density(p.Prior, p.Free)
}

// BoundOf returns the bound on the log evidence at a point that a climb ended at.
func (n *Newton) BoundOf(p *Point) float64 { return p.Bound - n.density(p) }

// Theta returns θ of a point, with the most likely α.
func (n *Newton) Theta(p *Point) []float64 {
	var theta []float64
	for _, k := range n.LearnedPriors() {
		theta = append(theta, math.Log(p.Prior[k])/2)
	}
	theta = append(theta, p.Free...)
	if n.Priors.Hung() {
		theta = append(theta, n.Priors.Settle(p.Prior))
	}
	return theta
}

// MoveTo moves the hyper-parameters of a point to θ.
func (n *Newton) MoveTo(p *Point, theta []float64) {
	learned := n.LearnedPriors()
	for i, k := range learned {
		p.Prior[k] = math.Exp(2 * theta[i])
	}
	copy(p.Free, theta[len(learned):])
	p.Family = p.Family.At(p.Free)
}

// Given is the posterior of the weights given θ, with the log density of θ.
type Given struct {
	*Point
	Shift      []float64 // b, d: with the sites the normal likelihood that stands for the rows
	LogDensity float64   // bound and log prior of θ
	Gradient   []float64 // of LogDensity, where it was wanted
	// Missed is how far from the posterior the climb began: the greater of the distance of the means, in standard
	// deviations, and the greatest |Δ log diag V|.
	Missed float64
}

// At climbs at θ, which stays, from the posterior there under a normal likelihood with the sites of a point
// and b = shift; the factor is then that of the posterior at θ. Without shift it goes on from the point, at which the
// last climb ended. The bound is at its maximum in q, so that its gradient in θ, if it is wanted, is that at fixed q.
// The evidence of an expansion is not: with the mode moves the curvature there.
func (n *Newton) At(ctx context.Context, rows *problem.Rows, theta []float64, from *Point, shift []float64, s *Statistics, task Task, gradient bool) (*Given, error) {
	at := from.Clone()
	n.MoveTo(at, theta)
	n.fixed, n.sloped = true, gradient
	defer func() { n.fixed, n.sloped = false, false }()
	task.near, task.known = true, shift == nil
	if task.There != nil && n.levels == nil {
		n.approach(task.There)
	}
	if shift != nil {
		if _, ok := n.Normal(at, shift); !ok {
			return nil, n.indefinite()
		}
	}
	if task.There != nil {
		if err := n.value(ctx, rows, at, s); err != nil {
			return nil, err
		}
		return n.given(at, theta, shift, nil, false), nil
	}
	if _, _, err := n.Climb(ctx, rows, at, s, task); err != nil {
		return nil, err
	}
	g := n.given(at, theta, n.Shift(at), s, gradient)
	g.Missed = n.missed
	return g, nil
}

// Beside returns the posterior at θ under a normal likelihood with the sites of a point and b = shift, and its
// gradient, without a look at the rows. Its bound is that of the mode and what the normal likelihood there says of the
// way to θ: it is off by the third order of the way. ok is false where the precision is not positive definite.
func (n *Newton) Beside(theta []float64, mode *Given, from *Point, shift []float64) (g *Given, ok bool) {
	at := mode.Clone()
	here, ok := n.Normal(at, mode.Shift)
	if !ok {
		return nil, false
	}
	n.MoveTo(at, theta)
	there, ok := n.Normal(at, mode.Shift)
	if !ok {
		return nil, false
	}
	at = from.Clone()
	n.MoveTo(at, theta)
	if _, ok = n.Normal(at, shift); !ok {
		return nil, false
	}
	at.Bound = mode.Bound + there - here
	return n.given(at, theta, shift, nil, true), true
}

// Square returns δᵀV⁻¹δ at a point.
func (n *Newton) Square(at *Point, delta []float64) float64 {
	of := at.Clone()
	of.Mean = delta
	return kernel.Dot(n.Shift(of), delta)
}

// given returns the posterior at θ, with the gradient if it is wanted: of the parameters of the likelihood and of an
// expansion from the statistics there.
func (n *Newton) given(at *Point, theta, shift []float64, s *Statistics, gradient bool) *Given {
	g := &Given{Point: at, Shift: shift}
	common := 0.0 // log α, where there is one
	if n.Priors.Hung() {
		common = theta[len(theta)-1]
	}
	g.LogDensity = at.Bound + n.Priors.DensityAt(at.Prior, at.Free, common)
	if !gradient {
		return g
	}
	moved := make([]float64, n.Dims) // slope of −½ log|V⁻¹| in the mode, times V
	if at.Family.Expanded {
		n.solve(moved, s.Third)
	}
	slopes := n.slopes(at, moved)
	for _, k := range n.LearnedPriors() {
		slope := 2 * slopes[k]
		if k < len(n.Groups) && n.Groups[k].Stride == 0 {
			for j := n.Groups[k].First; j < n.Groups[k].End(); j++ {
				slope += 2 * moved[j] * at.Mean[j] / at.Prior[k]
			}
		}
		if n.Priors != nil {
			_, pull, _ := n.Priors.At(common)[k].At(math.Log(at.Prior[k]) / 2)
			slope += pull
		}
		g.Gradient = append(g.Gradient, slope)
	}
	if len(at.Free) > 0 {
		free := append([]float64{}, s.Slope...)
		for k := range free {
			free[k] += kernel.Dot(moved, s.Cross[k*n.Dims:(k+1)*n.Dims])
		}
		n.Priors.AddFree(at.Free, free, nil)
		g.Gradient = append(g.Gradient, free...)
	}
	if n.Priors.Hung() {
		g.Gradient = append(g.Gradient, n.Priors.CommonSlope(common, at.Prior))
	}
	return g
}
