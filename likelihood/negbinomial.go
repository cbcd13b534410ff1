package likelihood

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// NegativeBinomial is a count y with mean μ = eᶠ and variance μ + μ²/Size: a
// Poisson whose mean is multiplied by a gamma variable of mean 1 and shape Size.
type NegativeBinomial struct {
	Size param.Parameter `json:"size,omitzero"` // left out: learned, from 1
}

func (l NegativeBinomial) size() float64 { return l.Size.Or(1) }

// Name is "negbinomial".
func (l NegativeBinomial) Name() string { return "negbinomial" }

// LinkFunction is [Log].
func (l NegativeBinomial) LinkFunction() Link { return Log }

// TargetKind is Counts.
func (l NegativeBinomial) TargetKind() TargetKind { return Counts }

func readNegativeBinomial(a *spec.Arguments) Named {
	return NegativeBinomial{Size: a.Setting("size", spec.Positive())}
}

// String returns negbinomial or negbinomial(size=…).
func (l NegativeBinomial) String() string {
	t := param.Text{Name: l.Name()}
	t.Parameter("size", l.Size)
	return t.String()
}

// Validate refuses a size that is not positive.
func (l NegativeBinomial) Validate() error { return checkPositive("negbinomial", "size", l.Size) }

// LogDensity returns the log probability of y. It is a binomial probability of
// Size successes before y failures at success probability Size/(Size+μ),
// written as a divergence from the observed proportion so that neither large
// counts nor a large Size cancel (Loader 2000).
func (l NegativeBinomial) LogDensity(y, f float64) float64 {
	if !isCount(y) {
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
	p, q := sigmoids(t)
	return l.LogDensity(y, f), y*q - r*p, -(y + r) * p * q
}

// Discrete returns true.
func (l NegativeBinomial) Discrete() bool { return true }

// Support is 0, 1, 2, …
func (l NegativeBinomial) Support() (lower, upper float64) { return 0, math.Inf(1) }

// CheckTarget refuses what is not a count.
func (l NegativeBinomial) CheckTarget(y float64) error { return checkCount("negbinomial", y) }

// CDF returns P(Y ≤ y|f), an incomplete beta function.
func (l NegativeBinomial) CDF(y, f float64) float64 {
	r, k := l.size(), math.Floor(y)
	switch {
	case k < 0:
		return 0
	case math.IsInf(k, 1):
		return 1
	}
	t := f - math.Log(r)
	if n := k + (r+1)/2; n*n > 1e10*(1+r)*(1+r)*(1+r) {
		// The gamma limit of the beta function (Wise 1950), whose error is of the
		// order of r³/24n²; the incomplete beta function itself loses digits here.
		return mathext.GammaIncReg(r, n*special.Softplus(-t))
	}
	if t > 0 { // the smaller of the two success probabilities has all its digits
		return mathext.RegIncBeta(r, k+1, special.Sigmoid(-t))
	}
	return 1 - mathext.RegIncBeta(k+1, r, special.Sigmoid(t))
}

// Quantile returns the smallest y with CDF(y, f) ≥ p.
func (l NegativeBinomial) Quantile(p, f float64) float64 {
	start, scale := logLinkStart(p, f, 0, math.Exp(-f)+1/l.size())
	return quad.Count(func(y float64) float64 { return l.CDF(y, f) }, p, start, scale, 0, math.Inf(1))
}

// Sample returns a draw of the count: a Poisson whose mean is a gamma draw.
func (l NegativeBinomial) Sample(rng *rand.Rand, f float64) float64 {
	r := l.size()
	return drawPoisson(rng, drawGamma(rng, r)*math.Exp(f-math.Log(r)))
}
