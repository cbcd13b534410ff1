package credence

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// bisect is the quantile by halving the bracket to its last digits.
func bisect(d *Distribution, i int, p float64) float64 {
	low, high := d.bracket(i, p)
	for range 2000 {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			break
		}
		if d.CDF(i, middle) >= p {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// heavyFamily is y ~ f + scale·Cauchy, whose moments do not exist.
type heavyFamily struct{ normalFamily }

func (heavyFamily) PredictiveMean(float64, float64) float64     { return math.NaN() }
func (heavyFamily) PredictiveVariance(float64, float64) float64 { return math.Inf(1) }
func (l heavyFamily) TiltedMoments(y, mean, variance float64) (logDensity, dMean, dVariance float64) {
	square := variance + l.noise
	d := y - mean
	return -math.Log(math.Pi * (square + d*d) / math.Sqrt(square)), 2 * d / (square + d*d), 1/(2*square) - 1/(square+d*d)
}
func (l heavyFamily) PredictiveCDF(y, mean, variance float64) float64 {
	return math.Atan2(1, (mean-y)/math.Sqrt(variance+l.noise)) / math.Pi
}
func (l heavyFamily) PredictiveQuantile(p, mean, variance float64) float64 {
	return mean - math.Sqrt(variance+l.noise)/math.Tan(math.Pi*p)
}

// counted counts how often distribution functions are evaluated.
type counted struct {
	Predictive
	calls *int
}

func (c counted) PredictiveCDF(y, mean, variance float64) float64 {
	*c.calls++
	return c.Predictive.PredictiveCDF(y, mean, variance)
}

// countedCounts is counted of a family of counts, which keeps that it is one.
type countedCounts struct {
	counted
	support
}

type support interface {
	Discrete() bool
	Support() (lower, upper float64)
}

type countFamily interface {
	Predictive
	support
}

func countCalls(l countFamily, calls *int) Predictive {
	return countedCounts{counted{l, calls}, l}
}

// mixtureOf is a distribution of one row with the given parts.
func mixtureOf(likelihood Predictive, means, variances []float64) *Distribution {
	d := &Distribution{rows: 1}
	for k := range means {
		d.parts = append(d.parts, part{likelihood: likelihood, mean: means[k : k+1], variance: variances[k : k+1], factor: 1, share: 1})
		d.total++
	}
	return d
}

// Quantiles are those of bisection to 1e-7, whatever the mixture.
func TestQuantilesAgainstBisection(t *testing.T) {
	var calls, most, total, count int
	normal, heavy := counted{normalFamily{0}, &calls}, counted{heavyFamily{}, &calls}
	probabilities := []float64{1e-12, 1e-6, 0.005, 0.05, 0.25, 0.5, 0.75, 0.95, 0.995, 1 - 1e-6, 1 - 1e-12}
	check := func(what string, d *Distribution, sd float64) {
		t.Helper()
		got := make([]float64, len(probabilities))
		d.Quantiles(got, 0, probabilities)
		for k, p := range probabilities {
			// Where the quantile is near 0, rounding of the distribution function moves it by
			// rounding of the standard deviation.
			want := bisect(d, 0, p)
			if !(math.Abs(got[k]-want) <= 1e-7*math.Abs(want)+1e-14*sd) {
				t.Errorf("%s: the %g quantile is %v, by bisection %v", what, p, got[k], want)
			}
			calls = 0
			if alone := d.Quantile(0, p); alone != got[k] {
				t.Errorf("%s: the %g quantile is %v alone, %v among others", what, p, alone, got[k])
			}
			if p > 0.001 && p < 0.999 {
				total, count, most = total+calls/len(d.parts), count+1, max(most, calls/len(d.parts))
			}
		}
	}
	for _, likelihood := range []counted{normal, heavy} {
		check("equal parts", mixtureOf(likelihood, []float64{1, 1}, []float64{2, 2}), 0)
		check("apart", mixtureOf(likelihood, []float64{0, 1000}, []float64{1, 1}), 1)
		check("far apart", mixtureOf(likelihood, []float64{-1e9, 0, 1e9}, []float64{1, 1e-6, 1}), 1e-3)
		check("tiny variances", mixtureOf(likelihood, []float64{1, 2, 3}, []float64{1e-24, 1e-20, 1e-26}), 1e-10)
		check("a spike on a plain", mixtureOf(likelihood, []float64{0, 0.3}, []float64{1e6, 1e-12}), 1e3)
		check("symmetric", mixtureOf(likelihood, []float64{-3, 3}, []float64{1, 1}), 1)
		check("unlike magnitudes", mixtureOf(likelihood, []float64{1e-8, 1e8}, []float64{1e-20, 1e12}), 1e6)
		check("the smallest numbers", mixtureOf(likelihood, []float64{1e-150, 3e-150}, []float64{1e-300, 1e-301}), 1e-150)
		check("the largest numbers", mixtureOf(likelihood, []float64{-1e150, 3e150}, []float64{1e300, 1e290}), 1e150)
	}
	// Bisection takes about 55 evaluations of each part.
	rng := rand.New(rand.NewPCG(3, 1))
	for _, c := range []struct {
		what   string
		spread float64 // of the parts' means, in units of about their standard deviation
		atMost float64
	}{{"parts much alike", 0.3, 6.5}, {"parts with gaps between", 2, 12}} {
		total, count, most = 0, 0, 0
		for range 300 {
			n := 2 + rng.IntN(5)
			means, variances := make([]float64, n), make([]float64, n)
			for k := range n {
				means[k], variances[k] = 5+c.spread*rng.NormFloat64(), math.Pow(1+rng.Float64(), c.spread)
			}
			check(c.what, mixtureOf(normal, means, variances), 1)
		}
		if mean := float64(total) / float64(count); mean > c.atMost {
			t.Errorf("%s: a quantile takes %.1f evaluations of each part on average, and %d at most", c.what, mean, most)
		}
	}
}

// Quantiles of mixtures of positive numbers are those of bisection to 1e-7, in the logarithm, in which they may be far
// below 1, far above it and spread over many magnitudes.
func TestQuantilesOfPositiveNumbers(t *testing.T) {
	for _, l := range []Predictive{likelihood.Gamma{Shape: param.Hold(2)}, likelihood.Gamma{Shape: param.Hold(0.1)}} {
		for _, mean := range []float64{-12, 0, 12} {
			for _, variance := range []float64{0.01, 1, 100, 3000} {
				d := mixtureOf(l, []float64{mean, mean + 0.7, mean - 0.4}, []float64{variance, variance / 6, 4 * variance})
				for _, p := range []float64{1e-4, 0.005, 0.05, 0.15, 0.25, 0.4, 0.5, 0.6, 0.75, 0.85, 0.95, 0.995, 1 - 1e-4} {
					got, want := d.Quantile(0, p), bisect(d, 0, p)
					if !(math.Abs(got-want) <= 1e-7*want) {
						t.Errorf("%v about e^%v, variance %v: the %g quantile is %v, by bisection %v", l, mean, variance, p, got, want)
					}
				}
			}
		}
	}
}

// Quantiles of counts, of several probabilities in any order, are the smallest counts that reach them.
func TestQuantilesOfCounts(t *testing.T) {
	probabilities := []float64{0.25, 0.75, 0.1, 0.9, 0.05, 0.95, 0.025, 0.975, 0.5, 0.003, 0.26}
	for _, l := range []Predictive{likelihood.Poisson{}, likelihood.NegativeBinomial{Size: param.From(2)}, likelihood.Binomial{Trials: 30}} {
		for _, mean := range []float64{-3, -0.5, 0.4, 1.5, 3} {
			d := mixtureOf(l, []float64{mean, mean + 0.7, mean - 0.4}, []float64{0.3, 0.05, 1.2})
			got := make([]float64, len(probabilities))
			d.Quantiles(got, 0, probabilities)
			for k, p := range probabilities {
				want := 0.0
				for d.CDF(0, want) < p {
					want++
				}
				if got[k] != want {
					t.Errorf("%v, f about %v: the %v quantile is %v, want %v", l, mean, p, got[k], want)
				}
			}
		}
	}
}

// Quantiles of counts beyond what distribution functions tell apart reach their probability to rounding, after few
// evaluations. Counts so large are log-normal here.
func TestQuantilesOfVastCounts(t *testing.T) {
	calls := 0
	l := countCalls(likelihood.NegativeBinomial{Size: param.From(2)}, &calls)
	for _, mean := range []float64{40, 100, 500} {
		d := mixtureOf(l, []float64{mean, mean + 7, mean - 4}, []float64{30, 50, 120})
		for _, p := range []float64{0.025, 0.1, 0.5, 0.9, 0.975} {
			calls = 0
			got := d.Quantile(0, p)
			if evaluated := calls / 3; evaluated > 12 {
				t.Errorf("f about %v: the %v quantile takes %d evaluations", mean, p, evaluated)
			}
			if cdf := d.CDF(0, got); !(math.Abs(cdf-p) <= 1e-8) {
				t.Errorf("f about %v: the %v quantile is %v, up to which lie %v", mean, p, got, cdf)
			}
		}
	}
}

// Rows that are scored again and again allocate nothing.
func TestDistributionReusesItsMemory(t *testing.T) {
	fitted := &Fitted{Members: []Member{member(1, 0.5, 0.5), member(-3, 3, 1)}}
	batch, ws, dist := batchOf(1, 2), NewWorkspace(1), &Distribution{}
	probabilities, quantiles := []float64{0.05, 0.95}, make([]float64, 2)
	sum := 0.0
	allocated := testing.AllocsPerRun(20, func() {
		if err := fitted.DistributionTo(ws, dist, batch); err != nil {
			t.Fatal(err)
		}
		for i := range dist.Rows() {
			mean, variance := dist.Moments(i)
			dist.Quantiles(quantiles, i, probabilities)
			sum += mean + variance + dist.LogDensity(i, 0.3) + quantiles[0]
		}
	})
	if allocated != 0 {
		t.Errorf("scoring into a distribution that is used again allocates %v times", allocated)
	}
	fresh, err := fitted.Distribution(ws, batch)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if m, v := dist.Moments(i); func() bool { a, b := fresh.Moments(i); return a != m || b != v }() {
			t.Errorf("row %d has other moments in memory that is used again", i)
		}
	}
	if err := fitted.DistributionTo(ws, dist, batchOf(5)); err != nil || dist.Rows() != 1 {
		t.Errorf("after a smaller batch there are %d rows (%v)", dist.Rows(), err)
	}
}
