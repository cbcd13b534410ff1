package criticism

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
)

const (
	// leastDispersion is the ratio of variances that matters: it makes intervals of 90 % hold 88 %.
	leastDispersion = 1.1
	// leastZeros is the ratio of zeros that matters, and fewestZeros their difference.
	leastZeros  = 1.1
	fewestZeros = 5
	// drawsInAll and fewestDraws are how many targets are replicated: of all rows, and of each. The
	// moments of a sum over rows, not of rows, are what they are for.
	drawsInAll  = 40000
	fewestDraws = 10
)

// dispersion compares the squares of residuals with 1, of a family whose mean fixes the variance.
func (s *sample) dispersion() *Finding {
	if !s.kind.fixedDispersion {
		return nil
	}
	sum := 0.0
	for _, i := range s.used {
		sum += s.residual[i] * s.residual[i]
	}
	under := s.replicate(func(e float64) float64 { return e * e })
	n := float64(len(s.used))
	// The mean of a squared residual is 1, and the error of f moves it by the derivative of log V.
	under.mean = n
	under.variance += s.shared(func(l family, f float64) float64 { return math.Log(l.Variance(f)) })
	p := under.above(sum)
	ratio := sum / n
	if p > share || ratio < leastDispersion {
		return nil
	}
	f := &Finding{
		Check: "dispersion", Statistic: ratio, Expected: 1, P: p,
		Text:   fmt.Sprintf("these counts vary %s times as much as %s allows", twoDigits(ratio), s.kind.name),
		Remedy: "--family negbinomial",
	}
	if s.kind.name == "binomial" {
		f.Remedy = "intervals are too narrow; add columns that tell the rows apart, such as onehot(group)"
	}
	return f
}

// twoDigits formats a number to two digits, without exponents.
func twoDigits(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2g", v)
}

// moment3 are the first three cumulants of a sum.
type moment3 struct{ mean, variance, third float64 }

// shared bounds the variance of the sum over rows of g, which depends on f, for rows other than those of
// the fit: as if the error of f were the same in all of them. That of rows of the fit is 0, for the error
// of f follows their targets, which makes sums vary less.
func (s *sample) shared(g func(l family, f float64) float64) float64 {
	if s.options.Fitted {
		return 0
	}
	sum := 0.0
	for _, i := range s.used {
		sd := math.Sqrt(s.variance[i])
		sum += math.Abs(g(s.family[i], s.mean[i]+sd)-g(s.family[i], s.mean[i]-sd)) / 2
	}
	return sum * sum
}

// replicate returns the cumulants of the sum of g(e) over the rows used, e being the residual of a
// target drawn from the model: at the mean of f for rows of the fit, else with its error. Cumulants of
// rows are estimated from few draws each, and without bias, so that those of the sum are as good as
// all draws together.
func (s *sample) replicate(g func(e float64) float64) moment3 {
	rows := s.replicates(g)
	var sum moment3
	for _, i := range s.used {
		sum.mean += rows[i].mean
		sum.variance += rows[i].variance
		sum.third += rows[i].third
	}
	return sum
}

// replicates returns the cumulants of g(e) of every row.
func (s *sample) replicates(g func(e float64) float64) []moment3 {
	out := make([]moment3, len(s.target))
	draws := max(fewestDraws, drawsInAll/len(s.target))
	s.ws.InRuns(len(out), func(from, to int) {
		values := make([]float64, draws)
		for i := from; i < to; i++ {
			rng := credence.Rand(s.options.Seed, credence.CriticismDraws, uint64(s.place[i]))
			centre, spread := moments(s.family[i], s.mean[i])
			sd := 0.0
			if !s.options.Fitted { // the error of f is in the residuals of other rows, and in their size
				sd = math.Sqrt(s.variance[i])
				spread *= math.Sqrt(1 + s.variance[i]*s.information[i])
			}
			mean := 0.0
			for k := range values {
				f := s.mean[i]
				if sd > 0 {
					f += sd * rng.NormFloat64()
				}
				values[k] = g((s.family[i].Sample(rng, f) - centre) / spread)
				mean += values[k]
			}
			n := float64(draws)
			mean /= n
			var second, third float64
			for _, v := range values {
				d := v - mean
				second += d * d
				third += d * d * d
			}
			out[i] = moment3{mean, second / (n - 1), third * n / ((n - 1) * (n - 2))} // the k-statistics
		}
	})
	return out
}

// zeros compares the number of zero counts with that which the family expects.
func (s *sample) zeros(dispersed bool) *Finding {
	if !s.kind.counts {
		return nil
	}
	var zeros float64
	var under moment3
	for _, i := range s.used {
		if s.target[i] == 0 {
			zeros++
		}
		p := math.Exp(s.family[i].LogDensity(0, s.mean[i]))
		q := 1 - p
		under.mean += p
		under.variance += p * q
		under.third += p * q * (q - p)
	}
	under.variance += s.shared(func(l family, f float64) float64 { return math.Exp(l.LogDensity(0, f)) })
	more := zeros > under.mean
	p := under.above(zeros)
	if !more {
		p = under.below(zeros)
	}
	p = math.Min(1, 2*p)
	ratio := (zeros + 1) / (under.mean + 1)
	if p > share || math.Abs(zeros-under.mean) < fewestZeros || ratio < leastZeros && ratio > 1/leastZeros {
		return nil
	}
	f := &Finding{
		Check: "zeros", Statistic: zeros, Expected: under.mean, P: p,
		Text:   fmt.Sprintf("%.0f of %d counts are zero where %s expects %.0f", zeros, len(s.used), s.kind.name, under.mean),
		Remedy: "a count of zero seems to be a matter of its own; fit whether it is zero (bernoulli) and the counts above zero apart",
	}
	if !more {
		f.Remedy = "if zeros cannot be or were left out of the data, predictions near zero are wrong; fit the counts less one"
	}
	if expected, ok := s.overdispersedZeros(); dispersed && ok && expected > under.mean {
		f.Remedy = fmt.Sprintf("--family negbinomial, which expects about %.0f", expected)
		if expected < zeros/leastZeros {
			f.Remedy += "; if zeros are still too many, fit whether a count is zero (bernoulli) and the counts above zero apart"
		}
	}
	return f
}

// overdispersedZeros returns the number of zeros that a negative binomial expects whose size has the
// squares of the residuals.
func (s *sample) overdispersedZeros() (expected float64, ok bool) {
	var squares, excess float64
	for _, i := range s.used {
		mu := s.family[i].Mean(s.mean[i])
		d := s.target[i] - mu
		squares += mu * mu
		excess += d*d - mu
	}
	if !(excess > 0) {
		return 0, false
	}
	size := squares / excess
	for _, i := range s.used {
		expected += math.Exp(-size * math.Log1p(s.family[i].Mean(s.mean[i])/size))
	}
	return expected, true
}
