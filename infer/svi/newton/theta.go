package newton

import (
	"context"
	"math"

	"github.com/credence-ml/credence/infer/svi/problem"
)

// θ holds the hyper-parameters of a point: log τ of every learned group, the free parameters of the
// likelihood, and log α where there is one.

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
	for _, k := range n.LearnedGroups() {
		theta = append(theta, math.Log(p.Prior[k])/2)
	}
	theta = append(theta, p.Free...)
	if n.Priors.Common != nil {
		theta = append(theta, n.Priors.Settle(p.Prior))
	}
	return theta
}

// MoveTo moves the hyper-parameters of a point to θ.
func (n *Newton) MoveTo(p *Point, theta []float64) {
	learned := n.LearnedGroups()
	for i, k := range learned {
		p.Prior[k] = math.Exp(2 * theta[i])
	}
	copy(p.Free, theta[len(learned):])
	p.Family = p.Family.At(p.Free)
}

// Given is the posterior of the weights given θ, with the log density of θ.
type Given struct {
	*Point
	LogDensity float64   // bound and log prior of θ
	Gradient   []float64 // of LogDensity, where it was wanted
}

// At climbs at θ, which stays, from the sites of a point and a mean; the factor is then that of the
// posterior at θ. The bound is at its maximum in q, so that its gradient in θ, if it is wanted, is that
// at fixed q.
func (n *Newton) At(ctx context.Context, rows *problem.Rows, theta []float64, from *Point, mean []float64, s *Statistics, task Task, gradient bool) (*Given, error) {
	at := from.Clone()
	copy(at.Mean, mean)
	n.MoveTo(at, theta)
	n.fixed, n.sloped = true, gradient
	defer func() { n.fixed, n.sloped = false, false }()
	if _, _, err := n.Climb(ctx, rows, at, s, task); err != nil {
		return nil, err
	}
	g := &Given{Point: at}
	common := theta[len(theta)-1] // log α, where there is one
	g.LogDensity = at.Bound + n.Priors.DensityAt(at.Prior, at.Free, common)
	if !gradient {
		return g, nil
	}
	priors := n.Priors.At(common)
	for _, k := range n.LearnedGroups() {
		_, slope, _ := priors[k].At(math.Log(at.Prior[k]) / 2)
		g.Gradient = append(g.Gradient, 2*n.PriorSlope(k, at.Prior[k], at.Mean, at.psi)+slope)
	}
	free := append([]float64{}, s.Slope...)
	n.Priors.AddFree(at.Free, free, nil)
	g.Gradient = append(g.Gradient, free...)
	if n.Priors.Common != nil {
		g.Gradient = append(g.Gradient, n.Priors.CommonSlope(common, at.Prior))
	}
	return g, nil
}
