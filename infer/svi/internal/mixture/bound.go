package mixture

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/order"
)

// Bound is the bound of the revrand report for q(w) = (1/K) Σ_k N(m_k, diag Ψ_k), its eq. 27 with the
// prior at m_k and the last term inside the sum over k:
//
//	L = (1/K) Σ_k { Σ_n E_{q_k} log p(y_n|φ_nᵀw) + log N(m_k|0, Λ) − ½ Σ_d Ψ_kd/λ_d
//	                − log Σ_j (1/K) N(m_k|m_j, Ψ_k+Ψ_j) }
//
// The last term bounds the entropy from below (eq. 24). For K = 1 it is (D/2)(1 − log 2) too low
// whatever m and Ψ are. Learned prior variances are at their maximum given the components, the mean
// of m² + Ψ over a group, so they are no variables. Those are
//
//	m_1, log Ψ_1, …, m_K, log Ψ_K, learned likelihood parameters, log hyper-parameters
//
// in one vector x.
type Bound struct {
	*problem.Problem
	Components int              // K
	Base       *problem.Family  // whose learned parameters x holds
	Tunable    credence.Tunable // nil unless x holds hyper-parameters
	hypers     []int            // learned ones among Tunable.Hyper()
	// Lower and Upper bound what x holds after the components.
	Lower, Upper []float64

	// At the x of the last Begin:
	Family      *problem.Family
	Psi         []float64 // K×d
	Prior       []float64 // of each group, set by SetPrior
	WeightPrior []float64 // of each weight, set by SetPrior
	// Sums over the rows added since, with their gradients:
	Targets   base.Moments
	Separated bool
	DPsi      []float64 // K×d
	Slope     []float64 // in the likelihood parameters
	DPhi      []float64 // of the last rows, rows × dense columns, where hyper-parameters are variables
	value     float64
	dMean     []float64 // K×d
	dHyper    []float64 // of all hyper-parameters
	terms     problem.Terms
}

// NewBound returns the bound of k components.
func NewBound(p *problem.Problem, k int, base *problem.Family) *Bound {
	d := p.Dims
	return &Bound{
		Problem: p, Components: k, Base: base,
		Psi: make([]float64, k*d), dMean: make([]float64, k*d), DPsi: make([]float64, k*d),
		Lower: slices.Clone(base.Floor), Upper: slices.Clone(base.Ceiling),
		Slope: make([]float64, base.Count()), Prior: make([]float64, len(p.Groups)), WeightPrior: make([]float64, d),
	}
}

// Tune makes the learned hyper-parameters of the features variables too.
func (q *Bound) Tune() {
	tunable, learned := base.LearnedHypers(q.Features)
	if len(learned) == 0 {
		return
	}
	list := tunable.Hyper()
	for _, i := range learned {
		lower, upper := base.LogBounds(list[i])
		q.Lower, q.Upper = append(q.Lower, lower), append(q.Upper, upper)
	}
	q.Tunable, q.hypers, q.dHyper = tunable, learned, make([]float64, len(list))
}

// Size is the number of variables.
func (q *Bound) Size() int { return q.tail() + q.Base.Count() + len(q.hypers) }

// tail is the place in x after the components.
func (q *Bound) tail() int { return 2 * q.Components * q.Dims }

// Component returns the mean and the log variances of component k in x.
func (q *Bound) Component(x []float64, k int) (mean, logs []float64) {
	from := 2 * k * q.Dims
	return x[from : from+q.Dims], x[from+q.Dims : from+2*q.Dims]
}

// Variances returns Ψ_k at the last Begin.
func (q *Bound) Variances(k int) []float64 { return q.Psi[k*q.Dims : (k+1)*q.Dims] }

// Parameters returns what x holds after the components.
func (q *Bound) Parameters(x []float64) (free, logHyper []float64) {
	from := q.tail()
	to := from + q.Base.Count()
	return x[from:to], x[to:]
}

// Clip brings parameters and hyper-parameters in x within their bounds; unit, where it is not nil,
// is the unit of every variable.
func (q *Bound) Clip(x, unit []float64) {
	from := q.tail()
	for i := range q.Lower {
		lower, upper := q.Lower[i], q.Upper[i]
		if unit != nil {
			lower, upper = lower/unit[from+i], upper/unit[from+i]
		}
		x[from+i] = math.Max(lower, math.Min(x[from+i], upper))
	}
}

// Begin sets the point and empties the sums.
func (q *Bound) Begin(x []float64) {
	for k := range q.Components {
		_, logs := q.Component(x, k)
		kernel.Exp(q.Variances(k), logs)
	}
	free, _ := q.Parameters(x)
	q.Family = q.Base.At(free)
	q.value, q.Separated, q.Targets = 0, true, base.Moments{}
	for _, s := range [][]float64{q.dMean, q.DPsi, q.Slope, q.dHyper} {
		clear(s)
	}
}

// FeaturesAt returns the features at the hyper-parameters in x.
func (q *Bound) FeaturesAt(x []float64) credence.Features {
	if q.Tunable == nil {
		return q.Features
	}
	_, logs := q.Parameters(x)
	values := base.HyperValues(q.Tunable)
	for l, i := range q.hypers {
		values[i] = math.Exp(logs[l])
	}
	return q.Tunable.WithHyper(values)
}

// add adds rows to the sums, each times scale: the factor N/M of a minibatch, or 1. features are
// those of the rows. Without a sampler expectations are integrals over f.
func (q *Bound) add(b *problem.Block, x []float64, scale float64, draws *sampler, features credence.Features) {
	d, p, share := q.Dims, q.Base.Count(), scale/float64(q.Components)
	ws, t := q.Workspace, &q.terms
	t.Resize(b.Rows(), p)
	q.Targets.AddTargets(b.Batch)
	dense := b.Phi.Dense.Cols
	if q.Tunable != nil {
		q.DPhi = order.Resized(q.DPhi, b.Rows()*dense)
		clear(q.DPhi)
	}
	for k := range q.Components {
		m, _ := q.Component(x, k)
		psi := q.Variances(k)
		dMean, dPsi := q.dMean[k*d:(k+1)*d], q.DPsi[k*d:(k+1)*d]
		b.Means(ws, t.Mean, m)
		q.Separated = q.Separated && b.Separated(q.Family.Likelihood, t.Mean)
		if draws != nil {
			q.value += share * draws.add(q, b, m, psi, share, dMean, dPsi)
			continue
		}
		b.Phi.MulSquares(ws, t.Variance, psi)
		if !t.WithinReach(b, q.Family.Likelihood) {
			q.value = math.NaN()
			return
		}
		for i, w := range b.Weight {
			if w == 0 { // which says nothing, and is done with soonest there
				t.Mean[i], t.Variance[i] = 0, 0
			}
		}
		t.Expect(ws, b, q.Family, false, nil)
		for i, v := range t.Value {
			q.value += share * v
			t.DMean[i] *= share
			t.DVariance[i] *= share
			for l := range p {
				q.Slope[l] += share * t.Slope[i*p+l]
			}
		}
		b.Phi.AddMulTrans(ws, dMean, t.DMean)
		b.Phi.AddMulSquaresTrans(ws, dPsi, t.DVariance)
		if q.Tunable != nil {
			q.addDPhi(b, m[:dense], psi[:dense])
		}
	}
	if q.Tunable != nil {
		features.(credence.Tunable).Pullback(ws, q.dHyper, b.Batch, b.Phi, q.DPhi)
	}
}

// addDPhi adds ∂L/∂Φ = dMean mᵀ + 2 dVariance φ⊙Ψ for the dense columns.
func (q *Bound) addDPhi(b *problem.Block, m, psi []float64) {
	t, dense := &q.terms, len(m)
	q.Workspace.Each(b.Rows(), func(i int) {
		row := q.DPhi[i*dense : (i+1)*dense]
		for j, v := range b.Phi.Dense.Row(i) {
			row[j] += t.DMean[i]*m[j] + 2*t.DVariance[i]*v*psi[j]
		}
	})
}

// Finish adds prior and entropy to what add has summed, stores the gradient of the bound in all
// variables and returns the bound.
func (q *Bound) Finish(gradient, x []float64) float64 {
	d, share := q.Dims, 1/float64(q.Components)
	q.SetPrior(x)
	bound := q.value
	for i, g := range q.Groups {
		bound -= float64(g.Count) / 2 * math.Log(2*math.Pi*q.Prior[i])
	}
	for k := range q.Components {
		m, _ := q.Component(x, k)
		gm, gl := q.Component(gradient, k)
		for j, lambda := range q.WeightPrior {
			psi := q.Psi[k*d+j]
			gm[j], gl[j] = q.dMean[k*d+j], q.DPsi[k*d+j]
			if j == 0 && q.Intercept != nil {
				continue
			}
			bound -= share / 2 * (m[j]*m[j] + psi) / lambda
			gm[j] -= share * m[j] / lambda
			gl[j] -= share / (2 * lambda)
		}
		if q.Intercept != nil {
			bound += share * q.Intercept.AddExpected(gm, gl, m, q.Variances(k), share)
		}
	}
	bound += q.entropyBound(gradient, x) + q.HyperDensity(x)
	for k := range q.Components {
		_, gl := q.Component(gradient, k)
		floats.Mul(gl, q.Psi[k*d:(k+1)*d]) // from Ψ to log Ψ
	}
	free, hyper := q.Parameters(gradient)
	copy(free, q.Slope)
	at, _ := q.Parameters(x)
	q.Priors.AddFree(at, free, nil)
	if q.Tunable != nil {
		list := q.Tunable.Hyper()
		_, at := q.Parameters(x)
		for l, i := range q.hypers {
			value, slope := base.LogHyperPrior(list[i], at[l])
			hyper[l] = q.dHyper[i] + slope
			bound += value // without its constant: what is penalised is not reported
		}
	}
	return bound
}

// SetPrior sets the prior variances for the components in x.
func (q *Bound) SetPrior(x []float64) {
	for i := range q.Groups {
		q.Prior[i] = q.References[i].Wide
	}
	q.Fill(q.Prior, func(i int) (sum float64, count int) {
		g := q.Groups[i]
		for k := range q.Components {
			m, _ := q.Component(x, k)
			for j, psi := range q.Variances(k)[g.First:g.End()] {
				sum += m[g.First+j]*m[g.First+j] + psi
			}
		}
		return sum / float64(q.Components), g.Count
	})
	base.Spread(q.WeightPrior, q.Groups, func(k int) float64 { return q.Prior[k] })
}

// HyperDensity is the log density of the hyper-parameters in x under their priors, which the bound has
// in it, at the prior variances of the last SetPrior.
func (q *Bound) HyperDensity(x []float64) float64 {
	free, _ := q.Parameters(x)
	return q.Priors.Density(q.Prior, free)
}

// Evaluate is the bound over all rows, with its gradient.
func (q *Bound) Evaluate(ctx context.Context, rows *problem.Rows, gradient, x []float64) (float64, error) {
	q.Begin(x)
	features := q.FeaturesAt(x)
	if q.Tunable != nil {
		rows.Move(features)
	}
	if err := rows.Each(ctx, func(b *problem.Block) { q.add(b, x, 1, nil, features) }); err != nil {
		return 0, err
	}
	return q.Finish(gradient, x), nil
}
