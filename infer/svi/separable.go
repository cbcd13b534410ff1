package svi

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
)

// separated says whether every row of a block is all successes where f > 0 and all
// failures where f < 0. Rows without weight say nothing.
func (b *block) separated(l credence.Likelihood, latent []float64) bool {
	if !likelihood.TwoValued(l) {
		return false
	}
	trials := 1.0
	if binomial, ok := l.(likelihood.Binomial); ok && binomial.Trials > 0 {
		trials = binomial.Trials
	}
	for i, f := range latent {
		if b.trials != nil {
			trials = b.trials[i]
		}
		switch {
		case b.weight != nil && b.weight[i] == 0:
		case f > 0 && b.y[i] == trials, f < 0 && b.y[i] == 0:
		default:
			return false
		}
	}
	return true
}

// separableGain is what an iteration must gain, in nats, for a fit to go on once its classes are
// separated. Then the likelihood is all but constant in the scale of the weights, and the learned
// prior variance creeps upwards for hundreds of iterations, through values that the data do not
// tell apart.
const separableGain = 0.05

// creeping says whether an accepted step is one of those: two in a row end the climb.
func (r *newton) creeping(s *statistics) bool {
	if !s.correct || r.gain >= separableGain || r.targets.low == r.targets.high {
		return false
	}
	for _, g := range r.groups {
		if g.learned {
			return true
		}
	}
	return false
}

// warnSeparable tells of classes that are separated.
func (r *fit) warnSeparable(priors []float64) {
	learned := 0.0
	for k, g := range r.groups {
		if g.learned {
			learned = max(learned, priors[k])
		}
	}
	if learned > 0 {
		r.warn("the classes are perfectly separable: ever larger weights fit them ever better, and the fit stopped at a prior variance of %.3g, where that gains next to nothing: state the variance, such as normal(variance=1), if you know the scale of the weights", learned)
		return
	}
	r.warn("the classes are perfectly separable: the size of the weights is set by the prior alone; predictions far from 0 and 1 rest on it, so state a variance that you believe in")
}
