package quad

import (
	"math"

	"github.com/credence-ml/credence/internal/special"
)

const (
	// stepSettled is the absolute difference of two successive sums at which Step
	// and Line accept the second.
	stepSettled = 1e-8
	// sharpStep is the width of a step, in standard deviations of the normal, below which the bump that
	// Step sums is negligible: its area is at most about its width.
	sharpStep = 1e-10
	// stepRounding is a difference of two numbers near 1 that is nothing but rounding, and would keep
	// the bump from ending.
	stepRounding = 1e-15
	// mostLineTerms is mostTerms of Line, which a search for a quantile calls some hundred times.
	mostLineTerms = 1 << 9
)

// Line returns ∫ g for a g that is negligible (below 1e-17 of the sum) beyond
// its single bump, by the trapezium rule about centre, outward until terms no
// longer count and with the step, at first width, halved until two sums differ
// by less than 1e-8 of the sum or absolutely.
func Line(g func(x float64) float64, centre, width float64) float64 {
	h := width
	sum := g(centre)
	size := math.Abs(sum)
	limit := [2]float64{}
	for side, sign := range [2]float64{1, -1} {
		k := 1.0
		for ; k < 1e5; k++ {
			v := g(centre + sign*k*h)
			sum += v
			size += math.Abs(v)
			if !(math.Abs(v) > negligible*size) && k >= 6 { // also where v is no number
				break
			}
		}
		limit[side] = k * h
	}
	for range halvings {
		before := sum
		for side, sign := range [2]float64{1, -1} {
			for k := 0.5; k*h < limit[side]; k++ {
				sum += g(centre + sign*k*h)
			}
		}
		h /= 2
		if !(math.Abs(sum-2*before)*h > stepSettled) || limit[0]+limit[1] > mostLineTerms*h {
			break
		}
	}
	return sum * h
}

// Step returns E g(f) under f ~ N(mean, variance) for a g that falls from 1 to 0,
// such as P(Y ≤ y | f), around centre and over about width; both affect speed
// only, as long as they are of the right order. The absolute error is about
// 1e-10.
//
// A normal step Φ((centre−f)/width) is taken out, whose expectation is known.
// What is left is a small bump, so that the cost, 30 to 100 evaluations, does not
// grow when the step is much sharper than the normal. The bump is summed over z = (f−mean)/sd,
// whose density falls off even where a spread is below the rounding of the mean.
func Step(g func(f float64) float64, mean, variance, centre, width float64) float64 {
	sd := math.Sqrt(variance)
	if mean+38*sd == mean { // no f but the mean
		return g(mean)
	}
	p := special.NormalCDF((centre - mean) / math.Sqrt(variance+width*width))
	if width < sharpStep*sd {
		return p
	}
	about, h := (centre-mean)/sd, math.Min(0.9, width/sd)
	if sd < width { // the normal is the narrower of the two
		about = 0
	}
	rest := Line(func(z float64) float64 {
		f := mean + sd*z
		difference := g(f) - special.NormalCDF((centre-f)/width)
		if math.Abs(difference) < stepRounding {
			return 0
		}
		return difference * special.NormalDensity(z)
	}, about, h)
	return math.Min(math.Max(p+rest, 0), 1)
}
