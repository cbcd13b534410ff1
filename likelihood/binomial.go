package likelihood

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence/internal/special"
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

// String returns binomial or binomial(trials=…).
func (l Binomial) String() string {
	t := text{name: "binomial"}
	t.parameter("trials", l.Trials, false)
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
	p, q := special.Sigmoid(f), special.Sigmoid(-f)
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
