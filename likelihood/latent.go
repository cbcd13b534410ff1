package likelihood

// What priors of weights know of f before there are data: its unit, and how far it may go.

// LatentScale returns the size s of f that priors of weights are in units of: 1 for a log link, by
// which e is much; 2.5 for the logit and 1.5 for the probit and the complementary log-log, beyond
// which a class is all but certain. It returns 0 where f has the unit of y, and s is the data's.
func LatentScale(l Family) float64 {
	if _, ok := l.(Additive); ok {
		return 0
	}
	switch link, _ := Describe(l); link {
	case Identity, Softplus:
		return 0
	case Logit:
		return 2.5
	case Probit, Cloglog:
		return 1.5
	}
	return 1
}

// PriorTail returns the b of the prior τ² ~ s²·BetaPrime(1, b) of the standard deviation τ of a block
// of weights. With b = ½ one weight has Cauchy tails. Where classes may be separable, the likelihood
// bounds a weight on one side only and the prior needs a variance: b = 3/2.
func PriorTail(l Family) float64 {
	switch link, _ := Describe(l); link {
	case Logit, Probit, Cloglog:
		return 1.5
	}
	return 0.5
}
