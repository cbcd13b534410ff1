package main

import "math"

const (
	// leastSteps is how many steps of an engine are watched before it is said how many it will take.
	leastSteps = 8
	// mostSteps is how many of them are remembered.
	mostSteps = 1 << 12
	// atRest is the change of the objective in a step, as a share of it, at which most engines end.
	atRest = 1e-8
)

// ascent is the objective of an engine, step by step. Near its end it rises by a constant share less with
// every step, which tells how many steps there are to come, where their limit is far above it.
type ascent struct {
	steps      []int
	objectives []float64
}

// add takes a step.
func (a *ascent) add(step int, objective float64) {
	if n := len(a.steps); n < mostSteps && (n == 0 || step > a.steps[n-1]) {
		a.steps, a.objectives = append(a.steps, step), append(a.objectives, objective)
	}
}

// left returns how many steps are to come, false where they do not tell: there are too few, the objective does
// not come to rest, or engines have none.
func (a *ascent) left() (steps float64, ok bool) {
	n := len(a.steps) - 1
	if n < leastSteps || n+1 >= mostSteps {
		return 0, false
	}
	rate := func(from, to int) float64 {
		return math.Abs(a.objectives[to]-a.objectives[from]) / float64(a.steps[to]-a.steps[from])
	}
	before, now := rate(n/4, n/2), rate(3*n/4, n)
	slope := math.Log(before/now) / (float64(a.steps[n]+a.steps[3*n/4])/2 - float64(a.steps[n/2]+a.steps[n/4])/2)
	end := atRest * math.Max(1, math.Abs(a.objectives[n]))
	if !(slope > 0) || math.IsInf(slope, 0) {
		return 0, false
	}
	return math.Max(1, math.Log(now/end)/slope-float64(a.steps[n]-a.steps[3*n/4])/2), true
}
