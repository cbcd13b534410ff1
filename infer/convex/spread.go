package convex

import (
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
)

const (
	// spreadRounds is how often widths are taken anew at most, and widthsRest the mean relative change of
	// curvatures at which they rest.
	spreadRounds = 20
	widthsRest   = 0.01
	// comparedDraws is the number of draws whose squares are compared where variances are not exact, or of all that
	// there are: those with the same ε differ by the precisions alone.
	comparedDraws = 16
)

// compareSpread tells how much narrower Q is than the Gaussian at its mean whose precision is what log t curves on
// average over it, E[−∂² log t_i] in place of 1/γ_i: that of the best Gaussian in the sense of Kullback and Leibler
// (Opper & Archambeau 2009), where the bound by 1/γ lies below log t everywhere but at two points.
func (f *fit) compareSpread(ctx context.Context) error {
	l := f.loop
	if l.count == 0 {
		return nil
	}
	own, z := make([]float64, f.d), slices.Clone(l.z)
	seen, now := slices.Clone(z), make([]float64, l.count)
	s, weights := system(f.exact), f.marginals
	var draws *free
	if f.exact == nil {
		part := *f.free
		compared := f.free.last[:min(comparedDraws, len(f.free.last))]
		part.draws, part.last, part.products, part.steps = len(compared), nil, 0, 0
		for _, xi := range compared {
			part.last = append(part.last, slices.Clone(xi))
		}
		draws = &part
		if err := draws.variances(ctx, seen); err != nil {
			return err
		}
		s, weights = draws, func(context.Context) ([]float64, error) { return squaresOf(draws.last, f.d), nil }
	}
	before, err := weights(ctx)
	if err != nil {
		return err
	}
	bent := f.bent(z)
	for round := range spreadRounds {
		if err := s.factor(ctx, bent); err != nil {
			return err
		}
		if err := s.variances(ctx, now); err != nil {
			return err
		}
		after, err := weights(ctx)
		if err != nil {
			return err
		}
		for j, v := range after {
			own[j] = math.Sqrt(before[j] / v)
		}
		for i, v := range now {
			if z[i] = v; draws != nil { // moves by as much as that of the draws: what draws have of chance is in both
				z[i] = l.z[i] * (v / seen[i])
			}
		}
		last := bent
		bent = f.bent(z)
		moved, size := 0.0, 0.0
		for i, v := range bent {
			moved += math.Abs(v - last[i])
			size += v
		}
		if moved < widthsRest*size || draws != nil && round == 1 {
			break
		}
	}
	if draws != nil {
		f.free.products, f.free.steps = f.free.products+draws.products, f.free.steps+draws.steps
	} else if err := f.exact.factor(ctx, l.precision); err != nil { // as it was
		return err
	}
	f.spread = own[f.first:]
	return nil
}

// bent is E[−∂² log t] of every site over σ⁻², for its mean and σ²z, copies counted.
func (f *fit) bent(z []float64) []float64 {
	out, before := make([]float64, len(z)), 0
	for _, g := range f.loop.groups {
		f.ws.Each(g.Count, func(k int) {
			i := before + k
			out[i] = f.loop.noise * at(g.Copies, k, 1) * expectedCurvature(g.Potential, f.loop.s[i], f.loop.noise*z[i], f.loop.noise)
		})
		before += g.Count
	}
	return out
}

// expectedCurvature is E[−∂² log t(s)] for s ~ N(mean, variance).
func expectedCurvature(p Potential, mean, variance, noise float64) float64 {
	switch p := p.(type) {
	case Logistic:
		scale := p.Slope * p.Slope / noise
		_, _, half := quad.Softplus(mean*math.Sqrt(scale), variance*scale)
		return 2 * scale * half
	case Laplace: // a kink
		sd := math.Sqrt(variance)
		return 2 * p.Rate / math.Sqrt(noise) * special.NormalDensity(mean/sd) / sd
	}
	value, _, _ := quad.Normal(func(s float64) (a, b, c float64) {
		x := s * s / noise
		_, first, second := p.At(x)
		return -(2*first + 4*x*second) / noise, 0, 0
	}, mean, variance)
	return math.Max(value, 0)
}

// squaresOf adds the squares of draws of d weights up.
func squaresOf(draws [][]float64, d int) []float64 {
	out := make([]float64, d)
	for _, xi := range draws {
		for j, v := range xi {
			out[j] += v * v
		}
	}
	return out
}
