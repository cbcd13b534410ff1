package criticism

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
)

const (
	// leastDispersion is the ratio of variances that matters: it makes intervals of 90 % hold 88 %.
	leastDispersion = 1.1
	// leastWidth is how much too wide intervals are that matter: of 90 %, they hold 93 %.
	leastWidth = 1.1
	// leastZeros is the ratio of zeros that matters, and fewestZeros their difference.
	leastZeros  = 1.1
	fewestZeros = 5
	// drawsInAll and fewestDraws are how many targets are replicated: of all rows, and of each. The
	// moments of a sum over rows, not of rows, are what they are for.
	drawsInAll  = 40000
	fewestDraws = 5
	// mostOrdinal is the largest number of values of counts that are fitted as grades.
	mostOrdinal = 20
)

// dispersion compares how counts vary with what the family allows. Of a Poisson the sum of (y − μ)² − y is taken,
// of which the model knows the variance, 2 μ², and which a negative binomial moves most (Dean & Lawless 1989);
// of others that of squared residuals. A negative binomial can be too wide alone, where a Poisson is: that it is wider
// than counts which vary more than a Poisson's shows that their zeros are another matter.
func (s *sample) dispersion() *Finding {
	poisson, n := s.kind.name == "poisson", float64(len(s.used))
	var squares, beyond, free float64 // of residuals; beyond a Poisson, and free of an error of f
	for _, i := range s.used {
		e, mu := s.residual[i], s.family[i].Variance(s.mean[i]) // the mean of a Poisson
		squares += e * e
		beyond += mu*e*e - s.target[i]
		free += mu * mu * s.variance[i]
	}
	sum := squares
	var under moment3
	if poisson {
		sum, under = beyond, s.replicate(func(centre, y, e float64) float64 { return centre*e*e - y })
		if under.mean = 0; !s.options.Fitted {
			under.variance += free * free
		}
	} else {
		under = s.replicate(func(_, _, e float64) float64 { return e * e })
		// The mean of a squared residual is 1, and the error of f moves it by the derivative of log V.
		under.mean = n
		under.variance += s.shared(func(l family, f float64) float64 { return math.Log(l.Variance(f)) })
	}
	ratio := squares / n
	p, more := under.beyond(sum)
	if !s.kind.fixedDispersion && (more || beyond > 0) || more != (ratio > 1) {
		return nil
	}
	f := &Finding{Statistic: ratio, Expected: 1, P: p, Text: fmt.Sprintf("these counts vary %s times as much as %s allows", twoDigits(ratio), s.kind.name)}
	if more && ratio < leastDispersion || !more && ratio*leastWidth*leastWidth > 1 {
		f.Tone = Detail
	}
	switch {
	case !more:
		f.Text += ", so that intervals are too wide"
		if s.kind.name == "binomial" || distinct(s.target) > mostOrdinal {
			f.Text += ", and no family of counts is narrower"
		} else { // grades have any spread
			f.Remedy = "--family ordinal"
		}
	case poisson:
		f.Remedy = "--family negbinomial"
	default:
		f.Text += ", so that intervals are too narrow"
		f.Remedy = "add columns that tell the rows apart, such as " + s.effects(column{name: "group"}, 0)
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

// replicate returns the cumulants of the sum of g over the rows used.
func (s *sample) replicate(g func(centre, y, e float64) float64) (sum moment3) {
	rows := s.replicates(g)
	for _, i := range s.used {
		sum = moment3{sum.mean + rows[i].mean, sum.variance + rows[i].variance, sum.third + rows[i].third}
	}
	return sum
}

// replicates returns the cumulants of g(mean, y, e) of every row, e being the residual of a target drawn from the
// model: at the mean of f for rows of the fit, else with its error. They are estimated from few draws each, and without
// bias, so that those of sums over rows are as good as all draws together.
func (s *sample) replicates(g func(centre, y, e float64) float64) []moment3 {
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
				y := s.family[i].Sample(rng, f)
				values[k] = g(centre, y, (y-centre)/spread)
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
func (s *sample) zeros() *Finding {
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
	p, more := under.beyond(zeros)
	if more && s.options.Fitted && s.kind.name == "negbinomial" {
		p = min(p, 2*special.NormalCDF(-s.inflation()))
	}
	ratio, explains := (zeros+1)/(under.mean+1), math.Abs(zeros-under.mean)/float64(len(s.used))
	narrow := s.counted != nil && s.counted.Statistic < 1
	if math.Abs(zeros-under.mean) < fewestZeros || ratio < leastZeros && ratio > 1/leastZeros || narrow && zeros > 0 {
		return nil
	}
	const apart = " zero (bernoulli) and the counts above zero, less one, apart"
	f := &Finding{
		Statistic: zeros, Expected: under.mean, P: p, explains: &explains, Remedy: "a count of zero seems to be a matter of its own; fit whether it is" + apart,
		Text: fmt.Sprintf("%.0f of %d counts are zero where %s expects %.0f", zeros, len(s.used), s.kind.name, under.mean),
	}
	if !more {
		f.Remedy = "if zeros cannot be or were left out of the data, predictions near zero are wrong; fit the counts less one"
	}
	if expected := s.overdispersedZeros(); s.counted != nil && !narrow && expected > under.mean {
		f.Remedy = fmt.Sprintf("--family negbinomial, which expects about %.0f", expected)
		if expected < zeros/leastZeros {
			f.Remedy += "; if zeros are still too many, fit whether a count is" + apart
		}
	}
	return f
}

// inflation is the score of a share of zeros that no negative binomial makes, over its standard deviation, once those
// of f and of the size, which have followed the zeros, are taken out (van den Broek 1995, with nuisance parameters).
// Scores of zeros that are few are skewed, so that the positive side alone is to be relied on.
func (s *sample) inflation() float64 {
	const step = 1e-3
	// scores of f, of f times f, of the size, and that of zeros
	x, ones := make([][]float64, 4), make([]float64, len(s.used))
	for r := range x {
		x[r] = make([]float64, len(s.used))
	}
	for k, i := range s.used {
		l, ok := s.family[i].(likelihood.NegativeBinomial)
		if !ok {
			return 0
		}
		f, y := s.mean[i], s.target[i]
		less, more := l, l
		less.Size.Value *= 1 - step
		more.Size.Value *= 1 + step
		ones[k], x[0][k], x[1][k], x[3][k] = 1, s.score[i], s.score[i]*f, -1
		if x[2][k] = (more.LogDensity(y, f) - less.LogDensity(y, f)) / (2 * step); y == 0 {
			x[3][k] += math.Exp(-l.LogDensity(0, f))
		}
	}
	return lastGiven(gram(x, ones, ones))
}

// overdispersedZeros returns the number of zeros that a negative binomial expects whose size has the
// squares of the residuals, 0 where they are none too large.
func (s *sample) overdispersedZeros() (expected float64) {
	var squares, excess float64
	for _, i := range s.used {
		mu := s.family[i].Mean(s.mean[i])
		d := s.target[i] - mu
		squares += mu * mu
		excess += d*d - mu
	}
	if !(excess > 0) {
		return 0
	}
	size := squares / excess
	for _, i := range s.used {
		expected += math.Exp(-size * math.Log1p(s.family[i].Mean(s.mean[i])/size))
	}
	return expected
}
