package frame

import (
	"math"
	"slices"
)

// Invertible reports whether every value of the expression has one value of its column, which grows
// with it: true unless a square, or a part of a date, is among the transforms.
func (e Expr) Invertible() bool {
	return e.Column != "" && !slices.ContainsFunc(e.Steps, func(s Step) bool { return s.Function == Square || s.Function.Part() })
}

// Invert returns the value of the column at which an invertible expression is y, and the nearest value
// where it is never y: 0 for sqrt(x) = −1. A result beyond all numbers is infinite.
func (e Expr) Invert(y float64) float64 {
	for i := len(e.Steps) - 1; i >= 0; i-- {
		y = e.Steps[i].inverse(y)
	}
	return y
}

// LogSlope returns log |dy/dx| of an invertible expression y of a column x, at the x where it is y: what
// the log density of x has above that of y.
func (e Expr) LogSlope(y float64) float64 {
	sum := 0.0
	for i := len(e.Steps) - 1; i >= 0; i-- {
		s := e.Steps[i]
		switch s.Function {
		case Log: // 1/x, x = e^y
			sum -= y
		case Sqrt: // 1/2√x
			sum -= math.Log(2 * y)
		case Exp:
			sum += math.Log(y)
		case Scale:
			sum -= math.Log(s.SD)
		}
		y = s.inverse(y)
	}
	return sum
}

// inverse returns where the transform is y.
func (s Step) inverse(y float64) float64 {
	switch s.Function {
	case Log:
		return math.Exp(y)
	case Sqrt:
		return math.Max(y, 0) * math.Max(y, 0)
	case Exp:
		return math.Log(math.Max(y, 0))
	case Center:
		return y + s.Mean
	case Scale:
		return y*s.SD + s.Mean
	}
	panic("frame: " + string(s.Function) + " has no inverse")
}
