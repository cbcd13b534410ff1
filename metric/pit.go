package metric

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// PITBins is the number of bins of a [PITResult].
const PITBins = 10

// PIT measures how targets lie within their predictive distributions, by the probability integral
// transform: P(Y ≤ y) of a continuous target, which is uniform where the model is right, and of a
// discrete one a uniform draw between P(Y < y) and P(Y ≤ y), which then is uniform too. Shares are
// their expectations over all such draws, none of which is made (Czado, Gneiting & Held 2009), and only the p-value is
// of one draw for each row. An interval of whole numbers, by contrast, holds more than it promises whenever the model
// is right. It keeps 8 bytes a row. The zero value is ready.
type PIT struct {
	guard  guard
	weight sum
	levels []sum // of Levels
	bins   [PITBins]sum
	draws  []float64
}

// PITResult is what PIT answers.
type PITResult struct {
	Coverage map[string]float64 // of the central interval of each of Levels; keys as in [IntervalsResult]
	// Histogram holds the shares of the transforms in [0, 0.1), [0.1, 0.2), …: 0.1 each where the model is
	// right, more in the middle where distributions are too wide, more at the ends where they are too narrow.
	Histogram []float64
	// PValue is that of the test of Kolmogorov and Smirnov that the transforms are uniform, within .01 for 5 rows and
	// .003 from 10 on. Rows count once each, whatever their weights.
	PValue float64
}

// Add takes P(Y < y) and P(Y ≤ y) for the target y of a row, which are equal where y is continuous, and a draw from
// [0, 1) of the place between them that the p-value is of.
func (p *PIT) Add(below, upTo, place, weight float64) {
	if !p.guard.row(weight) {
		return
	}
	if !(below >= 0 && below <= upTo && upTo <= 1) {
		p.guard.fail("the probabilities %g below the target and %g up to it are none", below, upTo)
		return
	}
	if weight == 0 {
		return
	}
	if p.levels == nil {
		p.levels = make([]sum, len(Levels()))
	}
	p.weight.add(weight)
	if n := len(p.draws); n == cap(p.draws) { // twice as many, since append copies large slices four times as often
		p.draws = slices.Grow(p.draws, n+1)
	}
	p.draws = append(p.draws, below+(upTo-below)*place)
	for k, level := range Levels() {
		p.levels[k].add(weight * overlap(below, upTo, (1-level)/2, (1+level)/2))
	}
	for k := range p.bins {
		from, to := float64(k)/PITBins, float64(k+1)/PITBins
		if below == upTo && (upTo < from || upTo >= to && to < 1) {
			continue
		}
		p.bins[k].add(weight * overlap(below, upTo, from, to))
	}
}

// overlap is the share of [below, upTo] that lies in [from, to].
func overlap(below, upTo, from, to float64) float64 {
	if below == upTo {
		if from <= upTo && upTo <= to {
			return 1
		}
		return 0
	}
	return math.Max(0, math.Min(upTo, to)-math.Max(below, from)) / (upTo - below)
}

// Result returns the measures of the rows so far, or an error that names the first row that makes no sense.
func (p *PIT) Result() (PITResult, error) {
	if p.guard.err != nil {
		return PITResult{}, p.guard.err
	}
	total := p.weight.value()
	if total == 0 {
		return PITResult{}, nil
	}
	r := PITResult{Coverage: map[string]float64{}, Histogram: make([]float64, PITBins), PValue: uniformity(p.draws)}
	for k, level := range Levels() {
		r.Coverage[levelKey(level)] = p.levels[k].value() / total
	}
	for k := range r.Histogram {
		r.Histogram[k] = p.bins[k].value() / total
	}
	return r, nil
}

// uniformity is the p-value of the test of Kolmogorov and Smirnov that values are draws from [0, 1], which it sorts:
// the series of the limit at the statistic as Vrbik (2018) shifts it for few values.
func uniformity(values []float64) float64 {
	slices.Sort(values)
	n := float64(len(values))
	distance := 0.0
	for i, u := range values {
		distance = math.Max(distance, math.Max(float64(i+1)/n-u, u-float64(i)/n))
	}
	x := distance * math.Sqrt(n)
	x += 1/(6*math.Sqrt(n)) + (x-1)/(4*n)
	if x < 0.2 { // where the series is 1 but for rounding, and slow
		return 1
	}
	sum := 0.0
	for k := 1.0; k < 100; k++ {
		term := 2 * math.Exp(-2*k*k*x*x)
		if math.Mod(k, 2) == 0 {
			term = -term
		}
		sum += term
	}
	return math.Max(0, math.Min(sum, 1))
}

// EnvelopePoints is the number of parts of [0, 1] between which [Envelope] is told.
const EnvelopePoints = 100

// envelopes are, for n uniform numbers, the probability γ with which a single point of their empirical distribution
// function may lie outside its interval so that all of the 99 points k/100 lie inside theirs with 99 %: by the exact
// recursion over the points of Säilynoja, Bürkner & Vehtari (2022), Algorithm 1.
var envelopes = []struct{ n, gamma float64 }{
	{5, 3.9402e-3}, {10, 2.0191e-3}, {20, 1.3859e-3}, {50, 9.3401e-4}, {100, 6.7916e-4}, {200, 5.6918e-4}, {500, 4.9363e-4}, {1000, 4.5549e-4},
	{2000, 4.2220e-4}, {5000, 3.9445e-4}, {10_000, 3.8282e-4}, {20_000, 3.7499e-4}, {50_000, 3.6605e-4},
}

// Envelope returns the points k/100 and, at each, the ends between which the empirical distribution function of n
// independent uniform numbers less the uniform one lies, at all of them in 99 % of the sets.
func Envelope(n int) (at, low, high []float64) {
	count := math.Max(1, float64(n))
	gamma := envelopes[0].gamma
	for k, e := range envelopes {
		if count < e.n {
			break
		}
		gamma = e.gamma
		if k+1 < len(envelopes) {
			next := envelopes[k+1]
			share := math.Min(1, math.Log(count/e.n)/math.Log(next.n/e.n))
			gamma = e.gamma * math.Pow(next.gamma/e.gamma, share)
		}
	}
	for k := 0; k <= EnvelopePoints; k++ {
		z := float64(k) / EnvelopePoints
		at = append(at, z)
		if k == 0 || k == EnvelopePoints {
			low, high = append(low, 0), append(high, 0)
			continue
		}
		low = append(low, binomialQuantile(count, z, gamma/2)/count-z)
		high = append(high, binomialQuantile(count, z, 1-gamma/2)/count-z)
	}
	return at, low, high
}

// binomialQuantile returns the smallest k with P(K ≤ k) ≥ p for K ~ Binomial(n, z).
func binomialQuantile(n, z, p float64) float64 {
	from, to := -1.0, n // P(K ≤ from) < p ≤ P(K ≤ to)
	for to-from > 1 {
		k := math.Floor((from + to) / 2)
		if mathext.RegIncBeta(n-k, k+1, 1-z) >= p {
			to = k
		} else {
			from = k
		}
	}
	return to
}
