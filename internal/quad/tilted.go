package quad

import "math"

// Tilted returns the logarithm of
//
//	Z = ∫ exp(ℓ(f)) N(f|mean, variance) df
//
// and its derivatives in the mean, E ℓ', and in the variance, ½ E[ℓ” + ℓ'²],
// both expectations under the tilted distribution. These forms do not cancel at
// small variances, as those in the tilted moments do. ell returns ℓ, ℓ' and ℓ”.
//
// The sum is centred on the mode of the integrand, which must have a single
// peak (log-concave ℓ always does), and scaled to its curvature, so that neither
// far tails nor sharp likelihoods lose relative accuracy.
func Tilted(ell func(f float64) (value, first, second float64), mean, variance float64) (logZ, dMean, dVariance float64) {
	if variance <= 0 {
		value, first, second := ell(mean)
		return value, first, (second + first*first) / 2
	}
	// All positions are displacements from the mean: f − mean would round.
	mode, peak, width := tiltedMode(ell, mean, variance)
	h := width * firstStep(width)
	var s sums
	add := func(d float64) (small bool) {
		value, first, second := ell(mean + d)
		t := value - d*d/(2*variance) - peak
		if !(t > -700) { // nothing left, and derivatives may not be finite
			return true
		}
		w := math.Exp(math.Min(t, 700)) // above 1 only where rounding exceeds the spread
		return s.addTerms(w, w*first, w*(second+first*first))
	}
	limit := [2]float64{}
	// outward adds terms on either side of the mode until they no longer count, and says whether so
	// many steps were enough.
	outward := func() bool {
		const farthest = 1e5
		s = sums{}
		add(mode)
		for side, sign := range [2]float64{1, -1} {
			k := 1.0
			for ; k < farthest; k++ {
				if add(mode+sign*k*h) && k >= 4 {
					break
				}
			}
			if k == farthest {
				return false
			}
			limit[side] = k * h
		}
		return true
	}
	if !outward() {
		// The mode is the corner of a plateau as wide as the normal density: the plateau counts.
		sd := math.Sqrt(variance)
		mode, h = 0, sd*firstStep(sd)
		outward()
	}
	before := s.total
	for range halvings {
		for side, sign := range [2]float64{1, -1} {
			for k := 0.5; k*h < limit[side]; k++ {
				add(mode + sign*k*h)
			}
		}
		h /= 2
		if s.settled(before) || limit[0]+limit[1] > mostTerms*h {
			break
		}
		before = s.total
	}
	logZ = peak + math.Log(s.total[0]*h/math.Sqrt(2*math.Pi*variance))
	return logZ, s.total[1] / s.total[0], s.total[2] / s.total[0] / 2
}

// modeSteps bounds the search for a mode. Newton's steps down an exponential are of length 1, from as
// far as the logarithm of the largest number.
const modeSteps = 800

// tiltedMode returns the displacement of the mode of ℓ(mean+d) − d²/2variance,
// its value there and the width 1/√−curvature, by Newton steps that are halved
// until they climb.
func tiltedMode(ell func(float64) (float64, float64, float64), mean, variance float64) (mode, peak, width float64) {
	value, first, second := ell(mean)
	peak = value
	for range modeSteps {
		slope := first - mode/variance
		precision := 1/variance - second
		if !(precision > 0) {
			precision = 1 / variance
		}
		width = 1 / math.Sqrt(precision)
		step := slope / precision
		if math.Abs(step) <= 0.1*width { // the centre need not be exact
			break
		}
		climbed := false
		for range 60 {
			d := mode + step
			v, d1, d2 := ell(mean + d)
			if h := v - d*d/(2*variance); h > peak {
				mode, peak, first, second = d, h, d1, d2
				climbed = true
				break
			}
			step /= 2
		}
		if !climbed {
			break
		}
	}
	return mode, peak, width
}
