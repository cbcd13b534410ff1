package metric

import "math"

// A unit deviance is twice the log likelihood that a row loses by having the
// predicted mean instead of its target for a mean, the dispersion taken as 1
// (McCullagh & Nelder 1989, §2.3). All are 0 where mean and target agree,
// positive elsewhere, +Inf where the mean rules the target out, and NaN outside
// the domain of the family.
//
// The textbook forms subtract nearly equal numbers when the mean is near the
// target. Each is a sum of terms −c·(log(1+x) − x) here, c > 0: the linear
// parts of the logarithms cancel on paper, and every term is ≥ 0.

// PoissonDeviance returns 2[y log(y/mean) − (y − mean)] for y ≥ 0, which is
// 2 mean for y = 0.
func PoissonDeviance(y, mean float64) float64 {
	if !(y >= 0 && mean >= 0) || math.IsInf(y, 1) {
		return math.NaN()
	}
	return 2 * entropyTerm(y, mean)
}

// BinomialDeviance returns 2[y log(y/mean) + (n−y) log((n−y)/(n−mean))] for y
// of n trials, where mean is n times the probability and 0 log 0 = 0. For one
// trial it is twice the log loss.
func BinomialDeviance(y, trials, mean float64) float64 {
	if !(y >= 0 && y <= trials && mean >= 0 && mean <= trials) || math.IsInf(trials, 1) {
		return math.NaN()
	}
	return 2 * (entropyTerm(y, mean) + entropyTerm(trials-y, trials-mean))
}

// NegativeBinomialDeviance returns
// 2[y log(y/mean) − (y+size) log((y+size)/(mean+size))] for y ≥ 0, with the
// first term 0 for y = 0. The variance is mean + mean²/size; an infinite size
// is the Poisson family.
func NegativeBinomialDeviance(y, mean, size float64) float64 {
	if !(size > 0) {
		return math.NaN()
	}
	if math.IsInf(size, 1) || !(y >= 0 && mean >= 0) || math.IsInf(y, 1) {
		return PoissonDeviance(y, mean)
	}
	if math.IsInf(mean, 1) {
		return math.Inf(1)
	}
	if y == 0 {
		return 2 * size * math.Log1p(mean/size)
	}
	if mean == 0 {
		return math.Inf(1)
	}
	// y(mean+size)/(mean(y+size)) = 1/(1+a), (y+size)/(mean+size) = 1+b, and
	// y·a + size·b = 0.
	total := mean + size
	a := logMinus(mean/y*((y+size)/total), size/y*((mean-y)/total))
	b := logMinus((y+size)/total, (y-mean)/total)
	return -2 * (y*a + size*b)
}

// GammaDeviance returns 2[−log(y/mean) + (y − mean)/mean] for y > 0.
func GammaDeviance(y, mean float64) float64 {
	if !(y > 0 && mean >= 0) || math.IsInf(y, 1) {
		return math.NaN()
	}
	if math.IsInf(y/mean, 1) || math.IsInf(mean, 1) {
		return math.Inf(1)
	}
	return -2 * logMinus(y/mean, (y-mean)/mean)
}

// entropyTerm returns y log(y/mean) − (y − mean) for y, mean ≥ 0.
func entropyTerm(y, mean float64) float64 {
	if y == 0 || math.IsInf(mean/y, 1) {
		return mean // what the rest comes to beside it
	}
	return -y * logMinus(mean/y, (mean-y)/y)
}

// logMinus returns log(ratio) − x, where ratio = 1+x > 0. Both are needed: far
// below 1 the ratio is lost in x, near 1 x is lost in the ratio.
//
// Near 0, where the difference cancels, it sums the series of
// 2 artanh(r) = log(1+x) with r = x/(2+x), whose first term combines with x:
//
//	log(1+x) − x = r (2r²(1/3 + r²/5 + r⁴/7 + …) − x)
func logMinus(ratio, x float64) float64 {
	if x < -0.4 || x > 0.7 {
		return math.Log(ratio) - x // about a quarter of x or more: two bits are lost
	}
	r := x / (2 + x)
	square := r * r
	// |r| ≤ 0.26: the first term left out is 0.26³⁰/33, far below 2⁻⁵³/3.
	series := 0.0
	for k := 31; k >= 3; k -= 2 {
		series = series*square + 1/float64(k)
	}
	return r * (2*square*series - x)
}

// Deviance sums unit deviances. The zero value is ready.
type Deviance struct {
	guard    guard
	total    sum
	infinite int64
}

// DevianceResult is what Deviance answers: the total, not the mean.
type DevianceResult struct {
	Deviance     Score `json:"deviance,omitzero"`               // the total over rows, of counts
	InfiniteRows int64 `json:"infinite_deviance_rows,omitzero"` // rows the model rules out; Deviance is then infinite
}

// Add takes the unit deviance of a row and its weight.
func (d *Deviance) Add(unit, weight float64) {
	g := &d.guard
	switch {
	case !g.row(weight):
	case !(unit >= 0):
		g.fail("deviance is %g: target or mean is outside the domain of the family", unit)
	case weight == 0:
	case math.IsInf(unit, 1):
		d.infinite++
	default:
		d.total.add(weight * unit)
	}
}

// Result returns the total of the rows so far, or an error that names the first
// row that makes no sense.
func (d *Deviance) Result() (DevianceResult, error) {
	total := d.total.value()
	switch {
	case d.guard.err != nil:
		return DevianceResult{}, d.guard.err
	case d.infinite > 0:
		total = math.Inf(1)
	case d.guard.rows == 0:
		total = math.NaN()
	}
	return DevianceResult{Deviance: Score(total), InfiniteRows: d.infinite}, nil
}
