package quad

import (
	"math"

	"github.com/credence-ml/credence/internal/kernel"
)

// The logistic distribution is a scale mixture of normals: x = 2λz with z
// standard normal and λ of the Kolmogorov distribution (Andrews & Mallows 1974),
// so that
//
//	σ(f) = E Φ(f/2λ)   and, for f ~ N(m, v),   E σ(f) = E Φ(m/√(4λ²+v)).
//
// logistic is the Gauss rule of 14 nodes for the Kolmogorov distribution of log λ,
// as pairs of a normal variance 4λ² and its weight. A test derives it anew from
// the density. The largest error of σ is 6.9e-11 and of log(1+eᶠ) 2.8e-11;
// convolution with a normal can only make them smaller.
var logistic = [14]struct{ variance, weight float64 }{
	{0.26626314322727185, 6.0775626104047047e-07},
	{0.38277485338116946, 8.832181174652568e-05},
	{0.54164834229050474, 0.0022546957763316176},
	{0.77059014022810957, 0.019996366562793459},
	{1.1107998640104459, 0.082395070724232994},
	{1.62643737011233, 0.18642697624914498},
	{2.4151103562979288, 0.25860690022766347},
	{3.6160446495312581, 0.23582944281054743},
	{5.4088838441578435, 0.14417290208627045},
	{8.0098698570452473, 0.056300471662034113},
	{11.691774753612943, 0.012541675176245298},
	{16.841558095990763, 0.0013357624113994513},
	{24.116048690737745, 5.0466588562658226e-05},
	{35.069984942656312, 3.4015676639666354e-07},
}

// Softplus returns e = E log(1+eᶠ) for f ~ N(mean, variance) with
//
//	∂e/∂mean = E σ(f)   and   ∂e/∂variance = ½ E σ(f)σ(−f).
//
// Each is off by at most 1e-10, at any mean and variance; the gradients are those
// of the value returned. The part that is linear in the mean is exact.
func Softplus(mean, variance float64) (value, dMean, dVariance float64) {
	a := math.Abs(mean)
	if variance <= narrowVariance {
		e := math.Exp(-a)
		return narrowSoftplus(mean, variance, e/(1+e), math.Log1p(e))
	}
	if variance <= middleVariance {
		return middleSoftplus(mean, variance)
	}
	for i := range logistic {
		s := logistic[i].variance + variance
		scale := math.Sqrt(s)
		z := a / scale
		density := math.Exp(-z * z / 2)
		tail := math.Erfc(z/math.Sqrt2) / 2 // Φ(−|z|)
		density *= logistic[i].weight / (scale * math.Sqrt(2*math.Pi))
		tail *= logistic[i].weight
		dVariance += density
		dMean += tail
		value += density*s - tail*a
	}
	value = math.Max(value, 0) // rounding, far out
	if mean > 0 {
		return mean + value, 1 - dMean, dVariance / 2
	}
	return value, dMean, dVariance / 2
}

// ruleNodes is the number of nodes in whole vectors: those behind the rule's own have no weight.
const ruleNodes = 16

var ruleVariance, ruleWeight = func() (variance, weight [ruleNodes]float64) {
	for i := range variance {
		variance[i] = 1
	}
	for i, node := range logistic {
		variance[i], weight[i] = node.variance, node.weight
	}
	return variance, weight
}()

// ruleTail returns E σ(−|f|), with |f| ~ N(|mean|, variance), and stores the nodes' −|mean|/√s and √s.
func ruleTail(z, scale *[ruleNodes]float64, mean, variance float64) float64 {
	a := math.Abs(mean)
	for i, v := range ruleVariance {
		scale[i] = math.Sqrt(v + variance)
		z[i] = -a / scale[i]
	}
	var below [ruleNodes]float64
	kernel.NormalCDF(below[:], z[:])
	tail := 0.0
	for i, w := range ruleWeight {
		tail += w * below[i]
	}
	return tail
}

// leastTail is the probability below which the mixture's normal tails end.
const leastTail = 1e-2

// isTail says that E σ(f) is below leastTail whatever the mixture gives.
func isTail(mean, variance float64) bool { return mean < 0 && mean*mean > 9*(variance+2) }

// Sigmoid returns E σ(f) for f ~ N(mean, variance), with the relative error of [LogSigmoid] where it is below ½.
func Sigmoid(mean, variance float64) float64 {
	if !isTail(-math.Abs(mean), variance) {
		var z, scale [ruleNodes]float64
		switch tail := ruleTail(&z, &scale, mean, variance); {
		case mean > 0:
			return 1 - tail
		case tail >= leastTail:
			return tail
		}
	}
	logZ, _, _ := tiltedLogSigmoid(-math.Abs(mean), variance)
	if mean > 0 {
		return -math.Expm1(logZ)
	}
	return math.Exp(logZ)
}

// LogSigmoid returns log E σ(f) for f ~ N(mean, variance) and its derivatives in
// the mean and the variance, by the mixture where E σ(f) is above 1e-2 (relative
// error below 1e-8) and by Tilted below, where the mixture's normal tails end.
func LogSigmoid(mean, variance float64) (logZ, dMean, dVariance float64) {
	if isTail(mean, variance) {
		return tiltedLogSigmoid(mean, variance)
	}
	var z, scale, density [ruleNodes]float64
	tail := ruleTail(&z, &scale, mean, variance)
	if mean < 0 && tail < leastTail {
		return tiltedLogSigmoid(mean, variance)
	}
	for i, v := range z {
		density[i] = -v * v / 2
	}
	kernel.Exp(density[:], density[:])
	first, second := 0.0, 0.0
	for i, w := range ruleWeight {
		d := density[i] * w / (scale[i] * math.Sqrt(2*math.Pi))
		first += d
		second += d / (scale[i] * scale[i])
	}
	second *= -mean / 2 // ∂Φ(m/√s)/∂s = −m φ/(2 s^{3/2})
	if mean >= 0 {
		z := 1 - tail
		return math.Log1p(-tail), first / z, second / z
	}
	return math.Log(tail), first / tail, second / tail
}

func tiltedLogSigmoid(mean, variance float64) (logZ, dMean, dVariance float64) {
	// Under the tilted distribution f ~ N(mean+variance, variance) is where σ(f) = eᶠ to the last digit.
	// A sum over f as far as an offset of 1e200 would have no steps that change f.
	if mean+variance+9*math.Sqrt(variance) < -37 {
		return mean + variance/2, 1, 0.5
	}
	return Tilted(func(f float64) (value, first, second float64) {
		// log σ(f) and σ(−f), σ(f) from one exponential.
		e := math.Exp(-math.Abs(f))
		small, large := e/(1+e), 1/(1+e)
		if f < 0 {
			return f - math.Log1p(e), large, -large * small
		}
		return -math.Log1p(e), small, -large * small
	}, mean, variance)
}

// SoftplusExact is Softplus by adaptive quadrature, with a relative error below
// 1e-12 in the far tails too: for callers that multiply it by large counts. It
// costs 1 to 5 µs.
func SoftplusExact(mean, variance float64) (value, dMean, dVariance float64) {
	return Normal(func(f float64) (float64, float64, float64) {
		e := math.Exp(-math.Abs(f))
		small, large := e/(1+e), 1/(1+e)
		if f > 0 {
			return f + math.Log1p(e), large, small * large / 2
		}
		return math.Log1p(e), small, small * large / 2
	}, mean, variance)
}
