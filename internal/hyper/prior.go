package hyper

import "math"

// Prior is the prior of a hyper-parameter as a density of its coordinate u.
type Prior interface {
	// At returns the log density at u, all constants included, and its first two derivatives.
	At(u float64) (value, slope, curvature float64)
}

// BetaPrime is the prior of u = log τ under which τ² ~ Scale²·BetaPrime(A, B):
//
//	log p(u) = log 2 − log B(a,b) + 2a(u − log Scale) − (a+b) log(1 + e^{2(u − log Scale)})
//
// A = 1 bounds the prior of a weight at 0, so that a weak block keeps a spread, and B is the
// heaviness of the tail: with (1, ½) a single weight N(0, τ²) has Cauchy tails (Strawderman 1971, Berger 1980),
// with (1, 3/2) it has a variance. (½, ½) is the half-Cauchy on τ.
type BetaPrime struct{ A, B, Scale float64 }

// HalfCauchy returns the half-Cauchy prior of a standard deviation, as a prior of its logarithm.
func HalfCauchy(scale float64) BetaPrime { return BetaPrime{0.5, 0.5, scale} }

// At implements [Prior].
func (p BetaPrime) At(u float64) (value, slope, curvature float64) {
	gap := u - math.Log(p.Scale)
	share := 1 / (1 + math.Exp(-2*gap)) // x/(1+x), x = e^{2 gap}
	soft := math.Log1p(math.Exp(-2 * math.Abs(gap)))
	if gap > 0 {
		soft += 2 * gap
	}
	value = math.Ln2 - logBeta(p.A, p.B) + 2*p.A*gap - (p.A+p.B)*soft
	return value, 2*p.A - 2*(p.A+p.B)*share, -4 * (p.A + p.B) * share * (1 - share)
}

func logBeta(a, b float64) float64 {
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	return la + lb - lab
}

// Normal is the prior u ~ N(Mean, SD²): log-normal of the parameter itself.
type Normal struct{ Mean, SD float64 }

// At implements [Prior].
func (p Normal) At(u float64) (value, slope, curvature float64) {
	z := (u - p.Mean) / p.SD
	return -z*z/2 - math.Log(p.SD) - math.Log(2*math.Pi)/2, -z / p.SD, -1 / (p.SD * p.SD)
}

// LogGamma is the prior of u = log x under which x ~ Gamma(Shape, Rate).
type LogGamma struct{ Shape, Rate float64 }

// At implements [Prior].
func (p LogGamma) At(u float64) (value, slope, curvature float64) {
	x := p.Rate * math.Exp(u)
	constant, _ := math.Lgamma(p.Shape)
	return p.Shape*(u+math.Log(p.Rate)) - x - constant, p.Shape - x, -x
}

// Flat is no prior: type-II maximum likelihood.
type Flat struct{}

// At implements [Prior].
func (Flat) At(float64) (value, slope, curvature float64) { return 0, 0, 0 }
