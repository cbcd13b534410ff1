package quad

import "math"

const (
	// settled is the relative difference of two successive trapezium sums at
	// which the second is accepted. Its own error is that to a power between
	// 1.7 and 2 for analytic integrands: below 1e-12.
	settled = 1e-8
	// halvings and mostTerms bound the work for integrands that never settle: whose rounding exceeds
	// what is asked for, or that are as sharp as a step beside the normal.
	halvings  = 10
	mostTerms = 1 << 16
	// negligible is the share of a sum below which a term is left out.
	negligible = 1e-17
	// finest is the least first step in standard deviations.
	finest = 0.01
)

// firstStep is the coarsest step in standard deviations: 0.9, at which an
// integrand that is smooth on that scale has settled already (the trapezium
// error of the normal density is 2exp(−2π²/0.9²) = 5e-11), or what keeps the step
// within 2 on the axis of f, where likelihoods live at a scale of about 1. Beyond a standard
// deviation of some hundreds what happens at that scale is a corner in a wide curve, which
// halving the step resolves as far as it counts: the cost stays bounded.
func firstStep(sd float64) float64 {
	if sd > 2.2 {
		return math.Max(2/sd, finest)
	}
	return 0.9
}

// Normal returns the expectations of three functions of f ~ N(mean, variance),
// computed together. g must be finite; its growth may be anything that the
// normal density overcomes. A feature of g narrower than a quarter of the
// smaller of 1 and the standard deviation may be missed.
func Normal(g func(f float64) (a, b, c float64), mean, variance float64) (a, b, c float64) {
	if variance <= 0 {
		return g(mean)
	}
	sd := math.Sqrt(variance)
	h := firstStep(sd)
	var s sums
	s.add(1, g, mean)
	// Outward on either side until terms no longer count.
	limit := [2]float64{}
	for side, sign := range [2]float64{1, -1} {
		k := 1.0
		for ; k*h < 38; k++ {
			z := k * h
			if small := s.add(math.Exp(-z*z/2), g, mean+sign*z*sd); small && z >= 8 {
				break
			}
		}
		limit[side] = k * h
	}
	before := s.total
	for range halvings {
		// The midpoints of the present step.
		for side, sign := range [2]float64{1, -1} {
			for k := 0.5; k*h < limit[side]; k++ {
				z := k * h
				s.add(math.Exp(-z*z/2), g, mean+sign*z*sd)
			}
		}
		h /= 2
		if s.settled(before) || limit[0]+limit[1] > mostTerms*h {
			break
		}
		before = s.total
	}
	w := h / math.Sqrt(2*math.Pi)
	return w * s.total[0], w * s.total[1], w * s.total[2]
}

// sums are three running sums and those of the absolute terms.
type sums struct {
	total, size [3]float64
}

// add adds w·g(f) and reports whether the term was negligible in all three.
func (s *sums) add(w float64, g func(float64) (float64, float64, float64), f float64) bool {
	a, b, c := g(f)
	return s.addTerms(w*a, w*b, w*c)
}

func (s *sums) addTerms(a, b, c float64) bool {
	s.total[0] += a
	s.total[1] += b
	s.total[2] += c
	a, b, c = math.Abs(a), math.Abs(b), math.Abs(c)
	s.size[0] += a
	s.size[1] += b
	s.size[2] += c
	return a <= negligible*s.size[0] && b <= negligible*s.size[1] && c <= negligible*s.size[2]
}

// settled compares the sums with those of twice the step, which weigh double.
func (s *sums) settled(before [3]float64) bool {
	for i, t := range s.total {
		if math.Abs(t-2*before[i]) > settled*s.size[i]+math.SmallestNonzeroFloat64/settled {
			return false
		}
	}
	return true
}
