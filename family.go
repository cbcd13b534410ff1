package credence

import (
	"fmt"
	"math"
)

// Coordinate is an unconstrained number x in the place of a parameter of a likelihood: the parameter is From +
// exp(Power·x), or x itself where Power is 0.
type Coordinate struct {
	Name  string  `json:"name"`  // of the parameter
	Place int     `json:"place"` // among the parameters of the likelihood
	From  float64 `json:"from,omitempty"`
	Power float64 `json:"power,omitempty"`
}

// Value returns the parameter at x.
func (c *Coordinate) Value(x float64) float64 {
	if c.Power == 0 {
		return x
	}
	return c.From + math.Exp(c.Power*x)
}

// Free returns the x of a value of the parameter.
func (c *Coordinate) Free(value float64) float64 {
	if c.Power == 0 {
		return value
	}
	return math.Log(value-c.From) / c.Power
}

// FamilyPosterior is the joint posterior of the P learned parameters φ of a likelihood and of the d weights w, of a fit
// that integrated over its hyper-parameters: along p axes z, of mean 0 and variance 1 under the normal distribution at
// the mode,
//
//	φ = Mode + Root z      E[w | z] = E w + Slopes (z − E z)
//
// The density of z is that normal one times the exponentials of the gains of every axis, which are known at the nodes:
// the posterior of the hyper-parameters is as skew as it is along the axes of package hyper.
type FamilyPosterior struct {
	Coordinates []Coordinate `json:"coordinates"` // P
	Mode        []float64    `json:"-" tensor:"mode,parameters"`
	Root        []float64    `json:"-" tensor:"root,parameters,axes"` // P×p, row-major
	Slopes      []float64    `json:"-" tensor:"slopes,d,axes"`        // d×p, row-major
	// Widths are the slopes along the axes of the logarithm of the variance of f given z, in the mean over rows: p.
	Widths []float64 `json:"-" tensor:"widths,axes"`
	// Nodes are the places on an axis at which Gains, p×len(Nodes), are the log density of the hyper-parameters less
	// that of the normal distribution; both are nil where the posterior is that distribution.
	Nodes []float64 `json:"-" tensor:"nodes,nodes,optional"`
	Gains []float64 `json:"-" tensor:"gains,axes,nodes,optional"`
}

// Axes returns the number p of axes.
func (f *FamilyPosterior) Axes() int { return len(f.Root) / len(f.Mode) }

// Validate refuses what is no such posterior for a number of weights.
func (f *FamilyPosterior) Validate(weights int) error {
	count := len(f.Coordinates)
	if count == 0 || len(f.Mode) != count || len(f.Root) == 0 || len(f.Root)%count != 0 {
		return fmt.Errorf("posterior of the family: %d coordinates of %d parameters with a root of %d numbers", count, len(f.Mode), len(f.Root))
	}
	if p := f.Axes(); len(f.Slopes) != p*weights || len(f.Widths) != p || len(f.Gains) != p*len(f.Nodes) {
		return fmt.Errorf("posterior of the family: %d slopes of %d weights, %d widths and %d gains at %d nodes along %d axes", len(f.Slopes), weights, len(f.Widths), len(f.Gains), len(f.Nodes), p)
	}
	for k, z := range f.Nodes {
		if z == 0 || k > 0 && !(z > f.Nodes[k-1]) {
			return fmt.Errorf("posterior of the family: node %d of an axis, %v, is 0 or not after the one before", k+1, z)
		}
	}
	return nil
}

// Gain returns the gain at z on an axis: the polynomial through those of the nodes and 0 at 0, and beyond the outermost
// nodes the line that touches it there.
func (f *FamilyPosterior) Gain(axis int, z float64) float64 {
	last := len(f.Nodes) - 1
	if last < 0 {
		return 0
	}
	at := max(f.Nodes[0], min(z, f.Nodes[last]))
	value, slope := f.polynomial(axis, at)
	return value + slope*(z-at)
}

// polynomial returns Lagrange's polynomial and its slope, by a central difference that is exact up to the fourth
// degree.
func (f *FamilyPosterior) polynomial(axis int, z float64) (value, slope float64) {
	gains := f.Gains[axis*len(f.Nodes) : (axis+1)*len(f.Nodes)]
	at := func(z float64) (sum float64) {
		for i, node := range f.Nodes {
			term := gains[i] * z / node // 0 is among the nodes
			for k, other := range f.Nodes {
				if k != i {
					term *= (z - other) / (node - other)
				}
			}
			sum += term
		}
		return sum
	}
	const h = 0.01
	return at(z), (8*(at(z+h)-at(z-h)) - (at(z+2*h) - at(z-2*h))) / (12 * h)
}
