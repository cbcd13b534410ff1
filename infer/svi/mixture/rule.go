package mixture

import "math"

// Rule names a rule for stochastic steps.
type Rule string

// The rules.
const (
	Adam     Rule = "adam"
	AdaGrad  Rule = "adagrad"
	AdaDelta Rule = "adadelta"
	Momentum Rule = "momentum"
	SGD      Rule = "sgd"
)

// DefaultRate is the first step of a rule: in approximate posterior standard deviations for Adam, AdaGrad
// and AdaDelta, whose steps do not depend on the size of the gradient (AdaDelta has no rate, and this
// multiplies its step), and as a share of the inverse largest curvature for SGD and momentum.
func (r Rule) DefaultRate() float64 {
	switch r {
	case AdaGrad:
		return 0.3
	case AdaDelta:
		return 1
	case SGD:
		return 0.2
	case Momentum:
		return 0.05
	}
	return 0.1
}

// byCurvature says whether steps are in proportion to the gradient, so that their rate is limited by
// the largest curvature.
func (r Rule) byCurvature() bool { return r == SGD || r == Momentum }

// memory is what a rule remembers of earlier steps.
type memory struct{ first, second []float64 }

// step moves z uphill; steps counts this one.
func (r Rule) step(m *memory, steps int, z, gradient []float64, rate float64) {
	if m.first == nil {
		m.first, m.second = make([]float64, len(z)), make([]float64, len(z))
	}
	switch r {
	case SGD:
		for i, g := range gradient {
			z[i] += rate * g
		}
	case Momentum: // Polyak (1964), with the usual 0.9
		const memory = 0.9
		for i, g := range gradient {
			m.first[i] = memory*m.first[i] + rate*g
			z[i] += m.first[i]
		}
	case AdaGrad: // Duchi, Hazan & Singer (2011)
		for i, g := range gradient {
			m.first[i] += g * g
			z[i] += rate * g / (math.Sqrt(m.first[i]) + 1e-12)
		}
	case AdaDelta: // Zeiler (2012), algorithm 1
		const memory, floor = 0.95, 1e-6
		for i, g := range gradient {
			m.first[i] = memory*m.first[i] + (1-memory)*g*g
			move := g * math.Sqrt((m.second[i]+floor)/(m.first[i]+floor))
			m.second[i] = memory*m.second[i] + (1-memory)*move*move
			z[i] += rate * move
		}
	default: // Kingma & Ba (2015), algorithm 1
		const first, second, floor = 0.9, 0.999, 1e-8
		t := float64(steps)
		one, two := 1-math.Pow(first, t), 1-math.Pow(second, t)
		for i, g := range gradient {
			m.first[i] = first*m.first[i] + (1-first)*g
			m.second[i] = second*m.second[i] + (1-second)*g*g
			z[i] += rate * (m.first[i] / one) / (math.Sqrt(m.second[i]/two) + floor)
		}
	}
}
