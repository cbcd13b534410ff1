package hyper

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence/internal/special"
)

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

// LeastLogNoise is that of the logarithm of a noise standard deviation that is learned, in units of the
// target's: half that of a millionth. Targets that the columns explain to the last digit have no
// posterior, and no maximum, without it.
var LeastLogNoise = math.Log(1e-6) / 2

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
	value = math.Ln2 - special.LogBeta(p.A, p.B) + 2*p.A*gap - (p.A+p.B)*soft
	return value, 2*p.A - 2*(p.A+p.B)*share, -4 * (p.A + p.B) * share * (1 - share)
}

// Normal is the prior u ~ N(Mean, SD²): log-normal of the parameter itself.
type Normal struct{ Mean, SD float64 }

// At implements [Prior].
func (p Normal) At(u float64) (value, slope, curvature float64) {
	z := (u - p.Mean) / p.SD
	return -z*z/2 - math.Log(p.SD) - math.Log(2*math.Pi)/2, -z / p.SD, -1 / (p.SD * p.SD)
}

// Cauchy is the prior of u = log(x − From) under which x ~ half-Cauchy(Scale), given that x > From. Then 1/x is
// half-Cauchy(1/Scale) below 1/From:
//
//	p(x) = Scale / ((½π − arctan(From/Scale)) (x² + Scale²))
type Cauchy struct{ Scale, From float64 }

// At implements [Prior].
func (p Cauchy) At(u float64) (value, slope, curvature float64) {
	above := math.Exp(u)
	x := p.From + above
	square := x*x + p.Scale*p.Scale
	pull := 2 * x * above / square // of log square
	value = math.Log(p.Scale/math.Atan2(p.Scale, p.From)) + u - math.Log(square)
	return value, 1 - pull, pull*pull - 2*above*(above+x)/square
}

// Cutpoints is the prior of the K−1 cutpoints of a cumulative logit under which the probabilities of
// the K grades at f = 0 are Dirichlet(1, …, 1), as a density of the first cutpoint and the logarithms
// of the gaps (Betancourt 2019).
type Cutpoints struct{}

// At returns the log density and adds its gradient to slope and its second derivatives to bend, both
// of length K−1 and (K−1)²; either may be nil.
func (Cutpoints) At(u, slope, bend []float64) float64 {
	p := len(u)
	value, _ := math.Lgamma(float64(p + 1))
	gaps, pull, curl := make([]float64, p), make([]float64, p), make([]float64, p)
	cut := 0.0
	for k, v := range u {
		gaps[k] = 1 // the derivative of this cutpoint and all after it
		if k == 0 {
			cut = v
		} else {
			gaps[k] = math.Exp(v)
			cut += gaps[k]
			value += v
		}
		s := special.Sigmoid(cut)
		value += special.LogSigmoid(cut) + special.LogSigmoid(-cut)
		pull[k], curl[k] = 1-2*s, -2*s*(1-s)
	}
	for k := p - 2; k >= 0; k-- {
		pull[k] += pull[k+1]
		curl[k] += curl[k+1]
	}
	for k := range slope {
		slope[k] += gaps[k] * pull[k]
		if k > 0 {
			slope[k]++
		}
	}
	if bend == nil {
		return value
	}
	for k := range p {
		for l := range p {
			bend[k*p+l] += gaps[k] * gaps[l] * curl[max(k, l)]
		}
		if k > 0 {
			bend[k*p+k] += gaps[k] * pull[k]
		}
	}
	return value
}

// Flat is no prior: type-II maximum likelihood.
type Flat struct{}

// At implements [Prior].
func (Flat) At(float64) (value, slope, curvature float64) { return 0, 0, 0 }

// ScaleMode maximises −count·u − square/(2e^{2u}) + log p(u) over u, the logarithm of a standard
// deviation of count normal numbers whose expected sum of squares is given, by Newton steps of at most
// 1 from a start.
func ScaleMode(count, square float64, prior Prior, start float64) float64 {
	u := start
	for range 100 {
		ratio := square * math.Exp(-2*u)
		_, slope, curvature := prior.At(u)
		slope += ratio - count
		curvature = math.Min(curvature-2*ratio, -1e-8)
		move := math.Max(-1, math.Min(-slope/curvature, 1))
		u += move
		if math.Abs(move) < 1e-10 {
			break
		}
	}
	return u
}

// Held is what a report says where every hyper-parameter is stated.
const Held = "held"

// Joint is the prior of all coordinates of θ, independent but for a common scale: the priors of
// the coordinates that Hung marks have their scale multiplied by exp(θ_Common).
type Joint struct {
	Priors []Prior
	Hung   []bool // nil where there is no common scale
	Common int    // the coordinate of its logarithm
}

// AddTo returns value plus the log density at θ, added coordinate by coordinate. It adds the gradient to
// gradient and the second derivatives to hessian; either may be nil.
func (j *Joint) AddTo(value float64, theta, gradient []float64, hessian *mat.SymDense) float64 {
	for i, prior := range j.Priors {
		hung, u := j.Hung != nil && j.Hung[i], theta[i]
		if hung {
			u -= theta[j.Common]
		}
		v, slope, curvature := prior.At(u)
		value += v
		if gradient != nil {
			gradient[i] += slope
			if hung {
				gradient[j.Common] -= slope
			}
		}
		if hessian == nil {
			continue
		}
		hessian.SetSym(i, i, hessian.At(i, i)+curvature)
		if hung {
			hessian.SetSym(j.Common, j.Common, hessian.At(j.Common, j.Common)+curvature)
			hessian.SetSym(i, j.Common, hessian.At(i, j.Common)-curvature)
		}
	}
	return value
}

// Shape is η of the LKJ prior of correlations, whose density is |R|^(η−1).
const Shape = 2

// LKJ is the prior of the coordinate of a partial correlation with column c, of k: the odds of a symmetric Beta
// distribution.
func LKJ(k, c int) BetaPrime {
	b := Shape + float64(k-2-c)/2
	return BetaPrime{A: b, B: b, Scale: 1}
}
