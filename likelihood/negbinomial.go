package likelihood

import (
	"math"

	"github.com/credence-ml/credence/internal/special"
)

// NegativeBinomial is a count y with mean μ = eᶠ and variance μ + μ²/Size: a
// Poisson whose mean is multiplied by a gamma variable of mean 1 and shape Size.
type NegativeBinomial struct {
	Size  float64 `json:"size,omitempty"`  // 0 means left out: learned, from 1
	Learn bool    `json:"learn,omitempty"` // learn from Size instead of holding it
}

func (l NegativeBinomial) size() float64 {
	if l.Size == 0 {
		return 1
	}
	return l.Size
}

// String returns negbinomial or negbinomial(size=…).
func (l NegativeBinomial) String() string {
	t := text{name: "negbinomial"}
	t.parameter("size", l.Size, l.Learn)
	return t.String()
}

// Validate refuses a size that is not positive.
func (l NegativeBinomial) Validate() error { return checkPositive("negbinomial", "size", l.Size) }

// LogDensity returns the log probability of y. It is a binomial probability of
// Size successes before y failures at success probability Size/(Size+μ),
// written as a divergence from the observed proportion so that neither large
// counts nor a large Size cancel (Loader 2000).
func (l NegativeBinomial) LogDensity(y, f float64) float64 {
	if !(y >= 0) || y != math.Floor(y) {
		return math.Inf(-1)
	}
	r := l.size()
	if y == 0 {
		return -r * special.Softplus(f-math.Log(r))
	}
	n := r + y
	return negbinomialAtMode(y, r) -
		n*special.BernoulliDivergence(r/n, y/n, math.Log(y)-f)
}

// negbinomialAtMode is the log probability of y > 0 at mean y.
func negbinomialAtMode(y, r float64) float64 {
	n := r + y
	return special.StirlingError(n) - special.StirlingError(r) - special.StirlingError(y) -
		special.LogSqrt2Pi + math.Log(r/n/y)/2
}

// Mean returns eᶠ.
func (l NegativeBinomial) Mean(f float64) float64 { return math.Exp(f) }

// Variance returns μ + μ²/Size.
func (l NegativeBinomial) Variance(f float64) float64 {
	mu := math.Exp(f)
	return mu * (1 + mu/l.size())
}

// Derivatives returns log p(y|f), y σ(−t) − r σ(t) and −(y+r) σ(t) σ(−t), where
// t = f − log r and r = Size.
func (l NegativeBinomial) Derivatives(y, f float64) (value, first, second float64) {
	r := l.size()
	t := f - math.Log(r)
	p, q := special.Sigmoid(t), special.Sigmoid(-t)
	return l.LogDensity(y, f), y*q - r*p, -(y + r) * p * q
}

// Discrete returns true.
func (l NegativeBinomial) Discrete() bool { return true }

// Support is 0, 1, 2, …
func (l NegativeBinomial) Support() (lower, upper float64) { return 0, math.Inf(1) }

// CheckTarget refuses what is not a count.
func (l NegativeBinomial) CheckTarget(y float64) error { return checkCount("negbinomial", y) }
