package likelihood

import (
	"cmp"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mathext"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// Poisson is a count y with mean eᶠ (link Log, the default) or log(1+eᶠ)
// (link Softplus), which grows only linearly in f.
type Poisson struct {
	Link Link `json:"link,omitempty"`
}

// Name is "poisson".
func (l Poisson) Name() string { return "poisson" }

// LinkFunction is Link, or [Log].
func (l Poisson) LinkFunction() Link { return cmp.Or(l.Link, Log) }

// TargetKind is Counts.
func (l Poisson) TargetKind() TargetKind { return Counts }

func readPoisson(a *spec.Arguments) Named {
	return Poisson{Link: Link(a.Word("link", "", string(Log), string(Softplus)))}
}

// String returns poisson or poisson(link=…).
func (l Poisson) String() string {
	t := param.Text{Name: l.Name()}
	if l.Link != "" {
		t.Add("link", string(l.Link))
	}
	return t.String()
}

// Validate refuses a link that a Poisson does not have.
func (l Poisson) Validate() error { return checkLink("poisson", l.Link, Log, Softplus) }

// logMean is log E[y|f].
func (l Poisson) logMean(f float64) float64 {
	if l.Link == Softplus {
		return logSoftplus(f)
	}
	return f
}

// logSoftplus is log log(1+eᶠ), which is f − eᶠ/2 to rounding below −36.
func logSoftplus(f float64) float64 {
	if f < -36 {
		return f
	}
	return math.Log(special.Softplus(f))
}

// LogDensity returns y log μ − μ − log y!.
func (l Poisson) LogDensity(y, f float64) float64 {
	if !isCount(y) {
		return math.Inf(-1)
	}
	if y == 0 {
		return -l.Mean(f)
	}
	return poissonAtMode(y) - y*special.ExpRemainder(l.logMean(f)-math.Log(y))
}

// poissonAtMode is the Poisson log probability of y > 0 at mean y. The rest of
// the density is the deviance, so that large terms never meet (Loader 2000).
func poissonAtMode(y float64) float64 {
	return -special.StirlingError(y) - special.LogSqrt2Pi - math.Log(y)/2
}

// Mean returns eᶠ or log(1+eᶠ).
func (l Poisson) Mean(f float64) float64 {
	if l.Link == Softplus {
		return special.Softplus(f)
	}
	return math.Exp(f)
}

// Variance returns the mean.
func (l Poisson) Variance(f float64) float64 { return l.Mean(f) }

// Derivatives returns log p(y|f) and its derivatives in f.
func (l Poisson) Derivatives(y, f float64) (value, first, second float64) {
	value = l.LogDensity(y, f)
	if l.Link == Softplus {
		first, second = softplusDerivatives(y, f)
		return value, first, second
	}
	mu := math.Exp(f)
	return value, y - mu, -mu
}

// softplusDerivatives are those of y log μ − μ at μ = log(1+eᶠ). With p = σ(f)
// and ρ = p/μ they are yρ − p and yρ(1−p−ρ) − p(1−p).
func softplusDerivatives(y, f float64) (first, second float64) {
	p, q := special.Sigmoid(f), special.Sigmoid(-f)
	var rho, curvature float64 // p/μ and 1 − p − p/μ
	if x := math.Exp(f); x < 1e-3 {
		// Series of x/((1+x) log(1+x)) and of its sum with x/(1+x), less one:
		// the direct form cancels.
		rho = 1 + x*(-1.0/2+x*(5.0/12+x*(-3.0/8+x*251/720)))
		curvature = x * (-1.0/2 + x*(7.0/12+x*(-5.0/8+x*469/720)))
	} else {
		rho = p / special.Softplus(f)
		curvature = q - rho
	}
	return y*rho - p, y*rho*curvature - p*q
}

// Discrete returns true.
func (l Poisson) Discrete() bool { return true }

// Support is 0, 1, 2, …
func (l Poisson) Support() (lower, upper float64) { return 0, math.Inf(1) }

// CheckTarget refuses what is not a count.
func (l Poisson) CheckTarget(y float64) error { return checkCount("poisson", y) }

// CDF returns P(Y ≤ y|f), an incomplete gamma function.
func (l Poisson) CDF(y, f float64) float64 {
	return poissonCDF(y, l.Mean(f))
}

func poissonCDF(y, mean float64) float64 {
	switch {
	case y < 0:
		return 0
	case math.IsInf(y, 1):
		return 1
	case math.IsInf(mean, 1):
		return 0
	}
	return mathext.GammaIncRegComp(math.Floor(y)+1, mean)
}

// Quantile returns the smallest y with CDF(y, f) ≥ p.
func (l Poisson) Quantile(p, f float64) float64 {
	mean := l.Mean(f)
	z := special.NormalQuantile(math.Min(math.Max(p, 1e-12), 1-1e-12))
	return quad.Count(func(y float64) float64 { return poissonCDF(y, mean) }, p,
		mean+math.Sqrt(mean)*z+(z*z-1)/6, 1, 0, math.Inf(1))
}

// Sample returns a draw of the count.
func (l Poisson) Sample(rng *rand.Rand, f float64) float64 {
	return drawPoisson(rng, l.Mean(f))
}
