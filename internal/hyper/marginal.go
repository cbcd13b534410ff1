package hyper

import (
	"context"
	"math"
)

// Marginal is the law of one coordinate of θ, at evenly spaced points: its log density, but for a constant.
type Marginal struct {
	Coordinate     int
	At, LogDensity []float64
}

const (
	// leastMarginal is the standard deviation of a coordinate, a logarithm, below which it is as good as normal.
	leastMarginal = 0.1
	// marginalPoints lie within marginalReach standard deviations of H⁻¹ about the mode.
	marginalPoints = 15
	marginalReach  = 4
	// marginalDepth is how many nats the ends lie below the top, so that a tail weighs less than a thousandth; one that
	// does not fall so far within mostWidened more points ends there.
	marginalDepth = 7.5
	mostWidened   = 40
)

// marginals returns the laws that are wanted.
func (r Rules) marginals(ctx context.Context, m Model, top *Maximum) (laws []Marginal, err error) {
	if r.Marginals == nil {
		return nil, nil
	}
	for _, j := range r.Marginals() {
		if top.Axes.SD(j) < leastMarginal {
			continue
		}
		law, err := r.marginal(ctx, m, top, j)
		if err != nil {
			return nil, err
		}
		laws = append(laws, law)
	}
	return laws, nil
}

// marginal follows the log density along the line on which coordinate j moves and the others with it, by their
// regression on it under N(θ̂, H⁻¹): there the density of all is that of j, where their curvature is that of the mode.
func (r Rules) marginal(ctx context.Context, m Model, top *Maximum, j int) (Marginal, error) {
	axes := top.Axes
	line, sd := make([]float64, axes.Count()), axes.SD(j)
	for i := range line {
		line[i] = axes.covariance.At(i, j) / (sd * sd)
	}
	values := map[int]float64{0: 0}
	step := 2 * marginalReach * sd / (marginalPoints - 1)
	follow := func(places ...int) error {
		var thetas [][]float64
		for _, at := range places {
			theta := append([]float64(nil), axes.Theta...)
			for i, slope := range line {
				theta[i] += slope * step * float64(at)
			}
			thetas = append(thetas, theta)
		}
		return r.evaluate(ctx, m, top.At, thetas, ForStep, func(k int, e *Evaluation) error {
			if values[places[k]] = e.LogDensity + e.Correction - axes.LogDensity - top.At.Correction; math.IsNaN(e.LogDensity) {
				values[places[k]] = leastGain
			}
			return nil
		})
	}
	first, last, places := -marginalPoints/2, marginalPoints/2, []int(nil)
	for at := first; at <= last; at++ {
		if at != 0 {
			places = append(places, at)
		}
	}
	if err := follow(places...); err != nil {
		return Marginal{}, err
	}
	for range mostWidened {
		most := 0.0
		for _, v := range values {
			most = math.Max(most, v)
		}
		switch {
		case values[first] > most-marginalDepth:
			first--
			places = []int{first}
		case values[last] > most-marginalDepth:
			last++
			places = []int{last}
		default:
			places = nil
		}
		if places == nil {
			break
		}
		if err := follow(places...); err != nil {
			return Marginal{}, err
		}
	}
	law := Marginal{Coordinate: j}
	for at := first; at <= last; at++ {
		law.At, law.LogDensity = append(law.At, axes.Theta[j]+step*float64(at)), append(law.LogDensity, values[at])
	}
	return law, nil
}
