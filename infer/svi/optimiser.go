package svi

import "math"

// defaultRate is the first step of a rule, in approximate posterior standard
// deviations for adam, adagrad and adadelta (whose steps do not depend on the size of the
// gradient; adadelta's rule has no rate, and this multiplies it), and as a share of the inverse largest
// curvature for sgd and momentum.
func defaultRate(o Optimiser) float64 {
	switch o {
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

// rule changes variables z by the gradient of what is to rise. First and Second are
// its memory, and Steps the number of steps taken: all that a checkpoint needs.
type rule struct {
	Kind          Optimiser
	Steps         int
	First, Second []float64
}

func newRule(kind Optimiser, n int) *rule {
	u := &rule{Kind: kind}
	if kind != SGD {
		u.First = make([]float64, n)
	}
	if kind == Adam || kind == AdaDelta {
		u.Second = make([]float64, n)
	}
	return u
}

// step moves z uphill.
func (u *rule) step(z, gradient []float64, rate float64) {
	u.Steps++
	switch u.Kind {
	case SGD:
		for i, g := range gradient {
			z[i] += rate * g
		}
	case Momentum: // Polyak (1964), with the usual 0.9
		const memory = 0.9
		for i, g := range gradient {
			u.First[i] = memory*u.First[i] + rate*g
			z[i] += u.First[i]
		}
	case AdaGrad: // Duchi, Hazan & Singer (2011)
		for i, g := range gradient {
			u.First[i] += g * g
			z[i] += rate * g / (math.Sqrt(u.First[i]) + 1e-12)
		}
	case AdaDelta: // Zeiler (2012), algorithm 1
		const memory, floor = 0.95, 1e-6
		for i, g := range gradient {
			u.First[i] = memory*u.First[i] + (1-memory)*g*g
			move := g * math.Sqrt((u.Second[i]+floor)/(u.First[i]+floor))
			u.Second[i] = memory*u.Second[i] + (1-memory)*move*move
			z[i] += rate * move
		}
	default: // Kingma & Ba (2015), algorithm 1
		const first, second, floor = 0.9, 0.999, 1e-8
		t := float64(u.Steps)
		one, two := 1-math.Pow(first, t), 1-math.Pow(second, t)
		for i, g := range gradient {
			u.First[i] = first*u.First[i] + (1-first)*g
			u.Second[i] = second*u.Second[i] + (1-second)*g*g
			z[i] += rate * (u.First[i] / one) / (math.Sqrt(u.Second[i]/two) + floor)
		}
	}
}
