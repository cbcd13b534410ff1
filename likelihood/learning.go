package likelihood

import (
	"cmp"
	"fmt"
	"math"
)

// What engines that learn a family's parameters ask beside its gradients.

// Additive is the ability of a family y = f + noise, whose f has the unit of y.
type Additive interface {
	Family
	// HeavyTailed says whether a single target may lie anywhere, so that the scale of targets is
	// told by their quantiles and not by their mean and variance.
	HeavyTailed() bool
	// UnitPower returns the power of the unit of y that a parameter has: 2 for a variance, 1 for a
	// scale, 0 for a shape.
	UnitPower(parameter string) float64
	// LatentVarianceLimit returns the largest variance of f at which expectations make sense.
	LatentVarianceLimit() float64
}

// LatentVarianceLimit is the largest variance of f, in units of a family's own width, at which
// expectations make sense: no model has more, and an optimiser that asks has gone astray.
const LatentVarianceLimit = 1e6

// HeavyTailed implements [Additive].
func (l Gaussian) HeavyTailed() bool { return false }

// UnitPower implements [Additive].
func (l Gaussian) UnitPower(string) float64 { return 2 }

// LatentVarianceLimit implements [Additive]: the expectations have closed forms.
func (l Gaussian) LatentVarianceLimit() float64 { return math.MaxFloat64 }

// HeavyTailed implements [Additive].
func (l StudentT) HeavyTailed() bool { return true }

// UnitPower implements [Additive].
func (l StudentT) UnitPower(parameter string) float64 {
	if parameter == "scale" {
		return 1
	}
	return 0
}

// LatentVarianceLimit implements [Additive].
func (l StudentT) LatentVarianceLimit() float64 { return LatentVarianceLimit * (l.scale() * l.scale()) }

// Separable is the ability of a family of successes and failures, of which a large f makes one
// certain and a small f the other.
type Separable interface {
	// Certain says whether y is all successes, or all failures. trials are those of the row, 0 where
	// rows have none of their own.
	Certain(y, trials float64) (successes, failures bool)
}

// Certain implements [Separable].
func (l Bernoulli) Certain(y, _ float64) (successes, failures bool) { return y == 1, y == 0 }

// Certain implements [Separable].
func (l Binomial) Certain(y, trials float64) (successes, failures bool) {
	return y == cmp.Or(trials, l.trials()), y == 0
}

// Ceiling is the ability of a family to say how large its parameter may become.
type Ceiling interface {
	// LogCeiling returns the largest logarithm of the parameter that can be told from infinity where
	// the largest target is given.
	LogCeiling(largestTarget float64) float64
}

// LogCeiling implements [Ceiling]: seven above the logarithm of the largest count the variance is a
// thousandth above Poisson's, and at 24 the distribution function has four digits left.
func (l NegativeBinomial) LogCeiling(largestCount float64) float64 {
	return math.Min(math.Log(largestCount)+7, 24)
}

// Limited is the ability of a family to say what it means that learning a parameter ended at a bound
// of what is tried.
type Limited interface {
	// AtLimit returns what it means, and what to do, or "" where nothing special can be said. value is
	// the bound, and low says that it is the lower one.
	AtLimit(parameter string, value float64, low bool) string
}

// NoiseFloor is the least noise variance that is learned, as a share of the target's variance. For
// Student's t, whose outliers may be any number, it bounds the square of the scale as a share of the
// variance that the target's quartiles imply.
const NoiseFloor = 1e-6

// noiseAtFloor explains a noise at its floor. A trend that ranges over a thousand times its noise,
// or more, looks the same as no noise.
func noiseAtFloor(share, remedy string) string {
	return fmt.Sprintf("the noise is at its floor, %g of %s: either the data are nearly noise-free, or the target ranges over so much more than its noise; state the noise, %s, if it is smaller", NoiseFloor, share, remedy)
}

// AtLimit implements [Limited].
func (l Gaussian) AtLimit(_ string, _ float64, low bool) string {
	if low {
		return noiseAtFloor("the target's variance", "gaussian(variance=…)")
	}
	return ""
}

// AtLimit implements [Limited].
func (l StudentT) AtLimit(parameter string, value float64, low bool) string {
	switch {
	case parameter == "scale" && low:
		return noiseAtFloor("the variance that the target's quartiles imply", "studentt(scale=…)")
	case parameter == "df" && !low:
		return fmt.Sprintf("df is at the largest that is tried, %.3g: the noise is normal; use --family gaussian", value)
	}
	return ""
}

// AtLimit implements [Limited].
func (l NegativeBinomial) AtLimit(_ string, value float64, low bool) string {
	if low {
		return ""
	}
	return fmt.Sprintf("the size is at the largest that is tried, %.3g: the counts vary no more than Poisson's; use --family poisson", value)
}

// AtLimit implements [Limited].
func (l Gamma) AtLimit(_ string, value float64, low bool) string {
	if low {
		return ""
	}
	return fmt.Sprintf("the shape is at the largest that is tried, %.3g: the data are nearly noise-free; state the shape, gamma(shape=…), if it is larger", value)
}
