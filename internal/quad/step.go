package quad

import (
	"math"

	"github.com/credence-ml/credence/internal/special"
)

const (
	// sharpStep is the width of a step, by itself or in standard deviations of the normal, below which it is
	// as good as a normal one: its skewness is about its width.
	sharpStep = 1e-10
	// negligibleTerm is the share of a sum at which terms of a bump end.
	negligibleTerm = 1e-12
	// mostBumpTerms on either side are more than any bump here has.
	mostBumpTerms = 1 << 16
	// exponentialSlope is the distance from which on slopes of a width of 1 fall exponentially, to rounding.
	exponentialSlope = 40
)

// Bump returns ∫ g for a g ≥ 0 with a single peak, about start, by the trapezium rule with step h, and where its terms
// end before they are negligible: above the limit, or nowhere, which is +∞.
func Bump(g func(x float64) float64, start, h, limit float64) (sum, end float64) {
	sum, end = g(start), math.Inf(1)
	for _, sign := range [2]float64{h, -h} {
		for k := 1.0; k < mostBumpTerms; k++ {
			x := start + sign*k
			if x > limit {
				end = x
				break
			}
			v := g(x)
			sum += v
			if !(v > negligibleTerm*sum) && k >= 6 { // also where v is no number
				break
			}
		}
	}
	return sum * h, end
}

// Step returns E g(f) under f ~ N(mean, variance) for a g that falls from 1 to 0, such as P(Y ≤ y | f).
// slope(d) is −g'(centre+d), a bump that is smooth at the scale of width about d = 0; both affect speed
// only, as long as they are of the right order. The absolute error is about 1e-9.
//
// Where the normal is the narrower, g is evaluated once, at the mean, and slopes give the rest. Elsewhere
// E g = ∫ slope(d) Φ((centre+d−mean)/sd) dd, which does without g. Distances from the centre keep the digits
// of a slope that is narrow beside the size of f.
func Step(g, slope func(x float64) float64, mean, variance, centre, width float64) float64 {
	sd := math.Sqrt(variance)
	switch {
	case mean+38*sd == mean: // no f but the mean
		return g(mean)
	case width < sharpStep || width < sharpStep*sd:
		return special.NormalCDF((centre - mean) / math.Sqrt(variance+width*width))
	case sd <= narrow*width:
		return math.Min(math.Max(g(mean)+Narrow(slope, mean-centre, sd), 0), 1)
	}
	about := (centre - mean) / sd
	// The peak of the product, were both normal, and no further out than where Φ is a number.
	start := math.Max(0, math.Max(-about*sd*width*width/(variance+width*width), (-lowest-about)*sd))
	// The step is of the order of the narrower of the two. Slopes of a width of 1 are analytic for
	// |Im d| < π/2, much narrower ones are nearly normal.
	h := width * sd / math.Sqrt(variance+width*width) * (0.72 - 0.3*math.Min(width, 1))
	limit := math.Max(exponentialSlope, (certain-about)*sd)
	p, end := Bump(func(d float64) float64 { return slope(d) * special.NormalCDF(about+d/sd) }, start, h, limit)
	if !math.IsInf(end, 1) {
		// The terms beyond are a geometric series: what is left of g, times what the rule makes of an exponential.
		if half := math.Log(slope(end)/slope(end+h)) / 2; half > 0 {
			p += g(centre+end-h/2) * half / math.Sinh(half)
		}
	}
	return math.Min(math.Max(p, 0), 1)
}

// lowest is how far below 0 the normal distribution function is far from underflow, certain where it is 1 to rounding.
const lowest, certain = 30, 8.3

// narrow is the standard deviation, in units of the width of a step, up to which [Narrow] is used: for the
// slopes of the families here it is off by less than 1e-9 there.
const narrow = 0.45

// Narrow returns E g(f) − g(mean) under f ~ N(mean, sd²), from slope = −g', where g hardly bends within
// sd: by parts it is
//
//	sd ∫₀^∞ [slope(mean − sd z) − slope(mean + sd z)] Φ(−z) dz.
func Narrow(slope func(f float64) float64, mean, sd float64) float64 {
	sum := 0.0
	for _, node := range halfLine {
		d := sd * node.z
		sum += node.weight * (slope(mean-d) - slope(mean+d))
	}
	return sd * sum
}

// halfLine is the Gauss rule of seven nodes for ∫₀^∞ h(z) Φ(−z) dz with an odd h: for the weight zΦ(−z)
// and polynomials in z². A test derives it anew from its moments.
var halfLine = [7]struct{ z, weight float64 }{
	{0.550066631855543785, 0.218122154314494251},
	{1.32991388021627882, 0.0736643672277956139},
	{2.15068049418339324, 0.013214425123290966},
	{3.01058764896559079, 0.00115156224401340269},
	{3.9246912507460793, 0.0000412608263916016639},
	{4.92764240971424945, 4.44696279316690561e-7},
	{6.11250183154653469, 6.63823546157872609e-10},
}
