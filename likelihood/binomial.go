package likelihood

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// Binomial is the number y of successes in n trials, each with probability
// σ(f). n is Trials for all rows, or that of each row through [Batch] and
// [PerRow].
type Binomial struct {
	Trials float64 `json:"trials,omitempty"` // 0 means 1, where rows do not state their own
}

func (l Binomial) trials() float64 {
	if l.Trials == 0 {
		return 1
	}
	return l.Trials
}

// WithTrials returns the distribution of a row with its own number of trials.
func (l Binomial) WithTrials(trials float64) Family { return Binomial{Trials: trials} }

// Name is "binomial".
func (l Binomial) Name() string { return "binomial" }

// Describe implements [Described].
func (l Binomial) Describe() (Link, TargetKind) { return Logit, Successes }

// readBinomial reads trials=, where it is a number: a column of trials belongs to the rows.
func readBinomial(a *spec.Arguments) Named {
	trials, stated := a.Argument("trials")
	if !stated {
		return Binomial{}
	}
	if _, number := trials.Value.(spec.Number); number {
		return Binomial{Trials: float64(a.Int("trials", 0, spec.AtLeast(1)))}
	}
	if trials.Guess {
		a.Errorf(trials, "trials are not learned, so they cannot be a starting guess").WithRemedy("drop the ~")
	}
	return Binomial{}
}

// String returns binomial or binomial(trials=…).
func (l Binomial) String() string {
	t := param.Text{Name: l.Name()}
	if l.Trials != 0 {
		t.Add("trials", param.Number(l.Trials))
	}
	return t.String()
}

// Validate refuses trials that are not a positive whole number.
func (l Binomial) Validate() error {
	if l.Trials < 0 || l.Trials != math.Floor(l.Trials) || math.IsInf(l.Trials, 0) {
		return fmt.Errorf("likelihood: binomial: trials %v is not a positive whole number: state one, or name the column that holds them", l.Trials)
	}
	return nil
}

// LogDensity returns log C(n,y) + y f − n log(1+eᶠ), as a divergence from the
// observed proportion so that large counts do not cancel.
func (l Binomial) LogDensity(y, f float64) float64 {
	n := l.trials()
	if !(y >= 0 && y <= n) || y != math.Floor(y) {
		return math.Inf(-1)
	}
	if y == 0 {
		return -n * special.Softplus(f)
	}
	if y == n {
		return -n * special.Softplus(-f)
	}
	return logChooseAtMode(y, n) -
		n*special.BernoulliDivergence(y/n, (n-y)/n, f-math.Log(y/(n-y)))
}

// logChooseAtMode is the binomial log probability of y out of n, 0 < y < n, at
// success probability y/n (Loader 2000).
func logChooseAtMode(y, n float64) float64 {
	return special.StirlingError(n) - special.StirlingError(y) - special.StirlingError(n-y) -
		special.LogSqrt2Pi - math.Log(y*((n-y)/n))/2
}

// Mean returns n σ(f).
func (l Binomial) Mean(f float64) float64 { return l.trials() * special.Sigmoid(f) }

// Variance returns n σ(f) σ(−f).
func (l Binomial) Variance(f float64) float64 {
	return l.trials() * special.Sigmoid(f) * special.Sigmoid(-f)
}

// Derivatives returns log p(y|f), y σ(−f) − (n−y) σ(f) and −n σ(f) σ(−f).
func (l Binomial) Derivatives(y, f float64) (value, first, second float64) {
	n := l.trials()
	p, q := sigmoids(f)
	return l.LogDensity(y, f), y*q - (n-y)*p, -n * p * q
}

// Discrete returns true.
func (l Binomial) Discrete() bool { return true }

// Support is 0, …, n.
func (l Binomial) Support() (lower, upper float64) { return 0, l.trials() }

// CheckTarget refuses what is not a whole number from 0 to n, and a number of
// trials that is not a positive whole number.
func (l Binomial) CheckTarget(y float64) error {
	n := l.trials()
	if !(n >= 1) || n != math.Floor(n) || math.IsInf(n, 0) {
		return fmt.Errorf("trials %v is not a positive whole number: binomial needs one in every row; drop rows without trials", n)
	}
	if err := checkCount("binomial", y); err != nil {
		return err
	}
	if y > n {
		return fmt.Errorf("target %v is more than the %v trials: binomial(trials=…) names the number of trials, and the target counts successes among them", y, n)
	}
	return nil
}

// CDF returns P(Y ≤ y|f), an incomplete beta function.
func (l Binomial) CDF(y, f float64) float64 {
	n, k := l.trials(), math.Floor(y)
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	return logitBetaCDF(n-k, k+1, -f)
}

// Sample returns a draw of the number of successes.
func (l Binomial) Sample(rng *rand.Rand, f float64) float64 {
	return drawBinomial(rng, l.trials(), f)
}

// ExpectedLogDensity is a constant plus y·mean − n E log(1+eᶠ), by the logistic
// mixture up to 20 trials and by quadrature beyond.
func (l Binomial) ExpectedLogDensity(y, mean, variance float64) (value, dMean, dVariance float64) {
	n := l.trials()
	softplus, p, curvature := softplusTimes(n, mean, variance)
	return fromSoftplus(l.LogDensity(y, mean), y, n, mean, softplus, p, curvature)
}

// fromSoftplus makes the expectation of y·f − n log(1+eᵗ), up to a constant and with its gradients, from
// the log density at the mean and from that of log(1+eᵗ), whose t has mean t.
func fromSoftplus(logDensity, y, n, t, softplus, p, curvature float64) (value, dMean, dVariance float64) {
	// n times the Jensen gap of log(1+eᵗ) is the small part.
	return logDensity - n*(softplus-special.Softplus(t)), y - n*p, -n * curvature
}

// TiltedMoments is by quadrature.
func (l Binomial) TiltedMoments(y, mean, variance float64) (logZ, dMean, dVariance float64) {
	n := l.trials()
	if y <= 0 || y >= n || variance <= 0 {
		return tiltedMoments(l, y, mean, variance)
	}
	// Derivatives with what depends on y alone taken out of the loop.
	peak, logit := logChooseAtMode(y, n), math.Log(y/(n-y))
	w, complement := y/n, (n-y)/n
	return quad.Tilted(func(f float64) (value, first, second float64) {
		p, q := sigmoids(f)
		return peak - n*special.BernoulliDivergence(w, complement, f-logit), y*q - (n-y)*p, -n * p * q
	}, mean, variance)
}

// sigmoids are σ(f) and σ(−f), from one exponential.
func sigmoids(f float64) (p, q float64) {
	e := math.Exp(-math.Abs(f))
	small, large := e/(1+e), 1/(1+e)
	if f > 0 {
		return large, small
	}
	return small, large
}

// PredictiveMean returns n E σ(f).
func (l Binomial) PredictiveMean(mean, variance float64) float64 {
	return l.trials() * Bernoulli{}.PredictiveMean(mean, variance)
}

// PredictiveVariance returns n p(1−p) + n(n−1) Var σ(f), p = E σ(f).
func (l Binomial) PredictiveVariance(mean, variance float64) float64 {
	n := l.trials()
	one, zero := Bernoulli{}.predictive(mean, variance)
	if n == 1 || variance <= 0 {
		return n * one * zero
	}
	// E y² by the variance of the probability, taken about σ(mean).
	_, spread := predictiveMoments(logisticCurve{}, mean, variance)
	return n*one*zero + n*(n-1)*spread
}

// logisticCurve is y = σ(f) without noise.
type logisticCurve struct{}

func (logisticCurve) LogDensity(_, _ float64) float64 { return 0 }
func (logisticCurve) Mean(f float64) float64          { return special.Sigmoid(f) }
func (logisticCurve) Variance(float64) float64        { return 0 }

// PredictiveCDF is by quadrature.
func (l Binomial) PredictiveCDF(y, mean, variance float64) float64 {
	n, k := l.trials(), math.Floor(y)
	switch {
	case k < 0:
		return 0
	case k >= n:
		return 1
	}
	// σ(f) is below a beta variable.
	a, b := k+1, n-k
	peak := logitBetaAtMode(a, b)
	return quad.Step(func(f float64) float64 { return l.CDF(k, f) },
		func(d float64) float64 {
			return math.Exp(peak - (n+1)*special.BernoulliDivergence(b/(n+1), a/(n+1), -d))
		},
		mean, variance, math.Log(a/b), math.Min(math.Sqrt(1/a+1/b), 1))
}

// PredictiveQuantile returns the smallest y with PredictiveCDF ≥ p.
func (l Binomial) PredictiveQuantile(p, mean, variance float64) float64 {
	sd := math.Sqrt(l.PredictiveVariance(mean, variance))
	return countQuantile(l, p, mean, variance, l.PredictiveMean(mean, variance)+sd*roughQuantile(p), sd/4)
}

// ExpectedLogDensities is ExpectedLogDensity for every row, with the trials of
// the row unless trials is nil.
func (l Binomial) ExpectedLogDensities(value, dMean, dVariance, y, trials, mean, variance []float64) {
	checkRows(len(y), value, dMean, dVariance, mean, variance)
	times := func(i int) float64 {
		if trials == nil {
			return l.trials()
		}
		return Binomial{Trials: trials[i]}.trials()
	}
	eachSoftplus(mean, variance, 0, times,
		func(i int, n, softplus, p, curvature float64) {
			density := Binomial{Trials: n}.LogDensity(y[i], mean[i])
			value[i], dMean[i], dVariance[i] = fromSoftplus(density, y[i], n, mean[i], softplus, p, curvature)
		})
}

// manyTimes is the number of times from which on the logistic mixture, off by 1e-10, is not good enough.
const manyTimes = 20

// softplusTimes is E log(1+eᶠ) with its gradients for a caller that multiplies it
// by n.
func softplusTimes(n, mean, variance float64) (value, dMean, dVariance float64) {
	if n > manyTimes {
		return quad.SoftplusExact(mean, variance)
	}
	return quad.Softplus(mean, variance)
}
