package score

import (
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// familyAt returns a likelihood with the parameters that coordinates stand for at x, and all others as they are.
func familyAt(l credence.Likelihood, coordinates []credence.Coordinate, x []float64) (credence.Likelihood, error) {
	parametric, ok := l.(likelihood.Parametric)
	if !ok {
		return nil, fmt.Errorf("likelihood %T has no parameters, and the model file has a posterior of some: fit again", l)
	}
	parameters := parametric.Parameters()
	values := make([]float64, len(parameters))
	for i, p := range parameters {
		values[i] = p.Value
	}
	for k, c := range coordinates {
		if c.Place < 0 || c.Place >= len(parameters) || parameters[c.Place].Name != c.Name {
			return nil, fmt.Errorf("%v has no parameter %q in place %d, of which the model file has a posterior: fit again", l, c.Name, c.Place)
		}
		values[c.Place] = c.Value(x[k])
	}
	return parametric.WithParameters(values), nil
}

// learnedParameters is the number of parameters of a likelihood that are not stated.
func learnedParameters(l credence.Likelihood) (count int) {
	if parametric, ok := l.(likelihood.Parametric); ok {
		for _, p := range parametric.Parameters() {
			if p.State != param.Held {
				count++
			}
		}
	}
	return count
}

// axis is the distribution of z along an axis of a posterior of parameters: its share at points of an even grid, and
// its moments.
type axis struct {
	share    []float64
	mean, sd float64
	logTotal float64 // the logarithm of the integral of what the density is proportional to
}

// The grid has axisPoints points, of spacing axisStep about 0: sums over it are exact to rounding for densities as
// smooth as these.
const (
	axisPoints = 161
	axisStep   = 0.1
)

func axisPlace(point int) float64 { return float64(point-axisPoints/2) * axisStep }

// axesOf returns the axes of f.
func axesOf(f *credence.FamilyPosterior) []axis {
	list := make([]axis, f.Axes())
	for k := range list {
		a, total := &list[k], 0.0
		for i := range axisPoints {
			z := axisPlace(i)
			a.share = append(a.share, math.Exp(f.Gain(k, z)-z*z/2))
			total += a.share[i]
		}
		a.logTotal = math.Log(total * axisStep)
		square := 0.0
		for i := range a.share {
			a.share[i] /= total
			a.mean += a.share[i] * axisPlace(i)
			square += a.share[i] * axisPlace(i) * axisPlace(i)
		}
		a.sd = math.Sqrt(square - a.mean*a.mean)
	}
	return list
}

// quantiles returns the middles of count equal shares of z, ascending.
func (a *axis) quantiles(count int) []float64 {
	list, below, i := make([]float64, count), 0.0, 0
	for s := range list {
		at := (float64(s) + 0.5) / float64(count)
		for i < axisPoints-1 && below+a.share[i] < at {
			below += a.share[i]
			i++
		}
		list[s] = axisPlace(i) + ((at-below)/a.share[i]-0.5)*axisStep // the share lies evenly about its point
	}
	return list
}

// cutpoints are those of an ordinal model at the mean of what they are learned as, and what a standard deviation along
// each axis moves them by, K×p: the delta method.
func uncertainCutpoints(f *credence.FamilyPosterior, l credence.Likelihood, axes []axis) (cutpoints, along []float64, err error) {
	p := len(axes)
	mean := slices.Clone(f.Mode)
	for i := range mean {
		for k, a := range axes {
			mean[i] += f.Root[i*p+k] * a.mean
		}
	}
	moved, err := familyAt(l, f.Coordinates, mean)
	if err != nil {
		return nil, nil, err
	}
	cutpoints = cutpointsOf(moved)
	along = make([]float64, len(cutpoints)*p)
	for i, c := range f.Coordinates {
		slope := 1.0 // of cutpoint c.Place, and of all after it
		if c.Place > 0 {
			slope = cutpoints[c.Place] - cutpoints[c.Place-1]
		}
		for later := c.Place; later < len(cutpoints); later++ {
			for k, a := range axes {
				along[later*p+k] += slope * f.Root[i*p+k] * a.sd
			}
		}
	}
	return cutpoints, along, nil
}
