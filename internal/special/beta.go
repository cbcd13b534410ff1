package special

import "math"

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
