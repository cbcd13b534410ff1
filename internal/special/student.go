package special

import "math"

// StudentCDF is P(T ≤ t) for a Student-t variable with df degrees of freedom; the lower tail keeps
// its relative accuracy.
func StudentCDF(t, df float64) float64 {
	cdf, _ := student(t, df, LogStudentPeak(df, math.Sqrt(df)))
	return cdf
}

// student is the distribution function and the density, whose logarithm at 0 is peak.
func student(t, df, peak float64) (cdf, density float64) {
	if math.IsNaN(t) || math.IsInf(t, 0) {
		return NormalCDF(t), 0
	}
	excess := math.Log1p(t / df * t)
	density = math.Exp(peak - (df+1)/2*excess)
	switch {
	case df > manyDF:
		// Hill (1970), algorithm 395: the next term is below 1e-13 here.
		a := df - 0.5
		w := math.Copysign(math.Sqrt(a*excess), t)
		return NormalCDF(w + w*(w*w+3)/(48*a*a)), density
	case t*t*(df+2) > 3*df:
		// The density times |t| is ½ xᵃyᵇ/B(a, b) at these (Abramowitz & Stegun 26.7.1).
		if tail := math.Abs(t) * density * BetaFraction(df/2, 0.5, df/(df+t*t), 1/(1+df/(t*t))) / 2; t < 0 {
			return tail, density
		} else {
			return 1 - tail, density
		}
	}
	// t times the density times ₂F₁(½(df+1), 1; 3/2; y), y = t²/(df+t²) (Abramowitz & Stegun 26.5.4).
	y, sum, term := t*t/(df+t*t), 1.0, 1.0
	for k := 1.0; term > 1e-17*sum; k++ {
		term *= y * (df + 2*k - 1) / (2*k + 1)
		sum += term
	}
	return 0.5 + t*density*sum, density
}

// manyDF is where a Student-t variable is next to a normal one.
const manyDF = 1e4

// LogStudentPeak is the log density of a Student-t variable at its centre, width being √df times
// its scale: at distance x it is lower by ½(df+1) log(1 + x²/width²).
func LogStudentPeak(df, width float64) float64 {
	return LogGammaHalfStep(df/2) - math.Log(math.Pi)/2 - math.Log(width)
}

// StudentQuantile is the p-quantile of a Student-t variable with df degrees of freedom; ∓Inf at 0 and 1.
func StudentQuantile(p, df float64) float64 {
	if p > 0.5 {
		return -StudentQuantile(1-p, df)
	}
	z := NormalQuantile(p)
	if !(z < 0) || math.IsInf(z, -1) {
		return z
	}
	// Newton's iteration on Φ⁻¹(CDF(t)) = z, which is nearly a straight line, from the expansion of Cornish and
	// Fisher: four terms where they fall (Abramowitz & Stegun 26.7.5), so that one step does, else the first.
	u, t, peak := z*z, z+z*(z*z+1)/(4*df), LogStudentPeak(df, math.Sqrt(df))
	if u < df {
		t += z * ((3+u*(16+5*u))/96 + ((-15+u*(17+u*(19+3*u)))/384+(-945+u*(-1920+u*(1482+u*(776+79*u))))/(92160*df))/df) / (df * df)
	}
	for range 100 {
		cdf, density := student(t, df, peak)
		at := NormalQuantile(cdf)
		step := (z - at) * NormalDensity(at) / density
		if t += step; !(math.Abs(step) > 1e-8*math.Abs(t)) { // the next would be its square
			break
		}
	}
	return t
}
