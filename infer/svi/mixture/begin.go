package mixture

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/problem"
)

// begin stores the variables that a start begins with in state.X.
//
// One component begins at the starting values with the variances that the rows' curvature there
// implies; later starts begin at draws from the prior. Several components begin apart: around the
// optimum of one, at draws from the prior in odd starts, which finds distant modes, and in even ones
// at its standard deviation, which finds the shape of one mode.
func (f *Fit) begin(ctx context.Context, state *State) error {
	if state.Single == nil {
		single := New(NewBound(f.Problem, 1, f.References, f.Base), f.start, f.Options)
		single.Save = nil
		x, err := single.initial(ctx)
		if err != nil {
			return err
		}
		if f.Components > 1 {
			if err := single.climb(ctx, &State{X: x, Start: state.Start}); err != nil {
				return err
			}
		}
		state.Single = x
	}
	rng := credence.Rand(f.Seed, credence.SVIStarts, uint64(state.Start))
	d := f.Dims
	m, logs := state.Single[:d], state.Single[d:2*d]
	x := make([]float64, f.Size())
	free, logHyper := f.Parameters(x)
	copy(free, state.Single[2*d:])
	for i, g := range f.Groups {
		sd := math.Sqrt(f.References[i].Wide)
		for j := g.First; j < g.End(); j++ {
			for k := range f.Components {
				mean, log := f.Component(x, k)
				mean[j], log[j] = m[j], logs[j]
				switch {
				case f.Components == 1 && state.Start == 0:
				case f.Components == 1:
					mean[j] += sd * rng.NormFloat64()
				case state.Start%2 == 0:
					mean[j] += math.Exp(logs[j]/2) * rng.NormFloat64()
				case !g.Intercept || len(f.Groups) == 1:
					mean[j] = sd * rng.NormFloat64()
				}
			}
		}
	}
	for l, i := range f.hypers {
		logHyper[l] = math.Log(f.Tunable.Hyper()[i].Value)
	}
	state.X = x
	return nil
}

// initial returns variables of one component at the starting values: with β = −ℓ” there,
// Ψ_j = 1/(1/λ_j + Σ_n β_n φ_nj²), some rows standing for all.
func (f *Fit) initial(ctx context.Context) ([]float64, error) {
	x := make([]float64, f.Size())
	m, logs := f.Component(x, 0)
	f.Intercept.Weights(m, f.start.Mean)
	free, _ := f.Parameters(x)
	copy(free, f.start.Family.Free())
	for j := range logs {
		logs[j] = math.Inf(-1) // Ψ = 0: derivatives at the mean
	}
	f.Begin(x)
	rows, t := f.Rows(problem.StartRows), &f.terms
	err := rows.Each(ctx, func(b *problem.Block) {
		t.Resize(b.Rows(), f.Base.Count())
		b.Means(f.Workspace, t.Mean, m)
		clear(t.Variance)
		t.Expect(f.Workspace, b, f.Family, false)
		for i, v := range t.DVariance {
			t.DVariance[i] = math.Max(0, -2*v)
		}
		b.Phi.AddMulSquaresTrans(f.Workspace, f.DPsi, t.DVariance)
	})
	scale := rows.Scale()
	for i, g := range f.Groups {
		for j := g.First; j < g.End(); j++ {
			logs[j] = -math.Log(1/f.start.Prior[i] + scale*f.DPsi[j])
		}
	}
	return x, err
}
