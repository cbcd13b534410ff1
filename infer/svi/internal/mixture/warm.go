package mixture

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
)

// warmIterations is the number of deterministic iterations on some rows from which minibatches start.
const warmIterations = 20

// warm brings at.X near the optimum on some rows, from which it takes the units of the variables.
func (c *stochastic) warm(ctx context.Context, at *State) error {
	st, x := &at.Minibatches, at.X
	rows := c.Rows(problem.StartRows)
	if c.Tunable == nil {
		if _, _, err := c.ascend(ctx, rows, at, 0.1, warmIterations); err != nil {
			return err
		}
	}
	c.Begin(x)
	c.SetPrior(x)
	st.scale = make([]float64, len(x))
	gain := math.Log(rows.Scale()) // the rows left out narrow Ψ
	for k := range c.Components {
		_, logs := c.Component(x, k)
		sm, sl := c.Component(st.scale, k)
		for j := range logs {
			shrunk := -math.Log(math.Exp(-logs[j]+gain) + (1-math.Exp(gain))/c.WeightPrior[j])
			if problem.Finite(shrunk) {
				logs[j] = shrunk
			}
			sm[j], sl[j] = math.Exp(logs[j]/2), 1
		}
	}
	free, hyper := c.Parameters(st.scale)
	for _, s := range [][]float64{free, hyper} {
		for i := range s {
			s[i] = 1 / math.Sqrt(float64(rows.Total()))
		}
	}
	var err error
	if st.Largest, err = c.largestCurvature(ctx, rows, x); err != nil {
		return err
	}
	st.z = make([]float64, len(x))
	for i, s := range st.scale {
		st.z[i] = x[i] / s
	}
	return nil
}

// largestCurvature estimates by power iteration the largest eigenvalue of the curvature in the mean
// of the first component, in units of its standard deviations: 1 for uncorrelated features, up to d
// for equal ones.
func (c *stochastic) largestCurvature(ctx context.Context, rows *problem.Rows, x []float64) (float64, error) {
	c.Begin(x)
	c.SetPrior(x)
	d, psi := c.Dims, c.Variances(0)
	rng := credence.Rand(c.Seed, credence.SVICurvature, 0)
	v, scaled, product := make([]float64, d), make([]float64, d), make([]float64, d)
	for j := range v {
		v[j] = rng.NormFloat64()
	}
	largest := 1.0
	for range 10 {
		length := 0.0
		for _, e := range v {
			length += e * e
		}
		for j := range v {
			v[j] /= math.Sqrt(length)
			scaled[j] = v[j] * math.Sqrt(psi[j])
		}
		clear(product)
		err := c.EachCurvature(ctx, rows, x, func(b *problem.Block, along []float64) {
			for i := range along {
				along[i] = along[i] * b.Phi.RowDot(i, scaled) * rows.Scale()
			}
			b.Phi.AddMulTrans(c.Workspace, product, along)
		})
		if err != nil {
			return 0, err
		}
		along := 0.0
		for j := range v {
			e := math.Sqrt(psi[j])*product[j] + psi[j]/c.WeightPrior[j]*v[j]
			along += e * v[j]
			v[j] = e
		}
		largest = math.Max(1, along)
	}
	return 1.2 * largest, nil // power iteration comes from below
}

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
		floats.AddScaled(z, rate, gradient)
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
