package special

import "math"

// LogGamma is log Γ(x) for x > 0.
func LogGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// LogBeta is log B(a, b) for a, b > 0.
func LogBeta(a, b float64) float64 { return LogGamma(a) + LogGamma(b) - LogGamma(a+b) }

// StirlingError is log Γ(x+1) − [(x+½) log x − x + ½ log 2π] for x > 0, the
// part of a log factorial that Stirling's formula leaves out. Densities of
// large counts are built on it so that their large terms never meet
// (Loader 2000).
func StirlingError(x float64) float64 {
	if x < 15 {
		if k := int(x); k > 0 && float64(k) == x { // a count
			return stirlingErrors[k]
		}
		return stirlingError(x)
	}
	// Asymptotic series (Abramowitz & Stegun 6.1.41).
	u := 1 / (x * x)
	return (1.0/12 + u*(-1.0/360+u*(1.0/1260+u*(-1.0/1680+u*(1.0/1188+u*(-691.0/360360)))))) / x
}

func stirlingError(x float64) float64 {
	return LogGamma(x+1) - (x+0.5)*math.Log(x) + x - LogSqrt2Pi
}

// stirlingErrors are those of counts, of which likelihoods ask once a row.
var stirlingErrors = func() (list [15]float64) {
	for k := 1; k < len(list); k++ {
		list[k] = stirlingError(float64(k))
	}
	return list
}()

// DigammaMinusLog is ψ(x) − log x for x > 0, which falls as −1/(2x): the two
// terms cancel at large x and are never formed. (mathext.Digamma is good to 1e-10
// only.)
func DigammaMinusLog(x float64) float64 {
	sum := 0.0
	for ; x < 12; x++ { // ψ(x+1) = ψ(x) + 1/x
		sum += LogRemainder(1 / x)
	}
	// Abramowitz & Stegun 6.3.18.
	u := 1 / (x * x)
	return sum + -0.5/x + u*(-1.0/12+u*(1.0/120+u*(-1.0/252+u*(1.0/240+u*(-1.0/132+u*691.0/32760)))))
}

// LogGammaHalfStep is log Γ(x+½) − log Γ(x) for x > 0, by its asymptotic series
// where the two would cancel.
func LogGammaHalfStep(x float64) float64 {
	if x < 20 {
		return LogGamma(x+0.5) - LogGamma(x)
	}
	u := 1 / (x * x)
	return 0.5*math.Log(x) + (-1.0/8+u*(1.0/192+u*(-1.0/640+u*(17.0/14336-u*31.0/18432))))/x
}

// BetaFraction is I_x(a, b) B(a, b)/(xᵃ yᵇ) of the regularised incomplete beta function I_x, with y = 1 − x,
// for a, b > 0 and x up to about a/(a+b): the continued fraction of Didonato & Morris (1992, eq. 9), two terms
// of the classical one (Abramowitz & Stegun 26.5.8) at a time. It takes some √(a+b) steps next to the mean and few
// far below it. Its relative error is about 1e-15, and that of a y − b x beside the largest of 1 and √(a+b).
func BetaFraction(a, b, x, y float64) float64 {
	const most = 1e7
	lambda := a*y - b*x
	below := 1 / (a + 1)
	// Numerators and denominators of successive convergents. All terms are positive, but for a and b below 1.
	top, bottom := 1.0, a*(lambda+1)*below
	topBefore, bottomBefore := 0.0, 1.0
	for m := 1.0; m < most; m++ {
		at := m * (b - m) * x * below // below is 1/(a + 2m − 1)
		numerator := (a + m - 1) * (a + b + m - 1) * x * below * at
		below = 1 / (a + 2*m + 1)
		denominator := m + at + (a+m)*(lambda+1+m*(1+y))*below
		top, topBefore = denominator*top+numerator*topBefore, top
		bottom, bottomBefore = denominator*bottom+numerator*bottomBefore, bottom
		if change := top*bottomBefore - topBefore*bottom; math.Abs(change) <= 1e-16*math.Abs(top*bottomBefore) {
			break
		}
		if math.Abs(bottom) > 0x1p+300 {
			top, topBefore, bottom, bottomBefore = top*0x1p-300, topBefore*0x1p-300, bottom*0x1p-300, bottomBefore*0x1p-300
		}
	}
	return top / bottom
}
