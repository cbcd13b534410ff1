package svi

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
)

// mixture is the bound of the revrand report for q(w) = (1/K) Σ_k N(m_k, diag Ψ_k),
// its eq. 27 with the prior at m_k and the last term inside the sum over k:
//
//	L = (1/K) Σ_k { Σ_n E_{q_k} log p(y_n|φ_nᵀw) + log N(m_k|0, Λ) − ½ Σ_d Ψ_kd/λ_d
//	                − log Σ_j (1/K) N(m_k|m_j, Ψ_k+Ψ_j) }
//
// The last term bounds the entropy from below (eq. 24). For K = 1 it is (D/2)(1 − log 2) too low
// whatever m and Ψ are. Learned prior variances are at their maximum given the components, the mean
// of m² + Ψ over a block, so they are no variables. Those are
//
//	m_1, log Ψ_1, …, m_K, log Ψ_K, learned likelihood parameters, log hyper-parameters
//
// in one vector x.
type mixture struct {
	ws         *credence.Workspace
	d, k       int
	groups     []group
	references []reference // of each group
	base       *family     // whose learned parameters x holds
	tunable    credence.Tunable
	hypers     []int // learned ones among tunable.Hyper()
	// lower and upper bound what x holds after the components.
	lower, upper []float64

	terms rowTerms
	psi   []float64 // K×d
	// sums over rows and their gradients in m (K×d), Ψ (K×d), parameters and hypers
	value        float64
	mean, spread []float64
	slope, hyper []float64
	pull         []float64 // gradient of all hyper-parameters
	slab         []float64 // dPhi
	prior        []float64 // of each group, at the last finish
	weightPrior  []float64 // of each weight
	correct      bool
	targets      moments
	family       *family
}

func newMixture(r *fit, k int, references []reference, base *family) *mixture {
	q := &mixture{
		ws: r.ws, d: r.d, k: k, groups: r.groups, references: references, base: base,
		psi: make([]float64, k*r.d), mean: make([]float64, k*r.d), spread: make([]float64, k*r.d),
		lower: clone(base.floor), upper: clone(base.ceiling),
		slope: make([]float64, base.count()), prior: make([]float64, len(r.groups)), weightPrior: make([]float64, r.d),
	}
	return q
}

// tune makes the learned hyper-parameters of the features variables too.
func (q *mixture) tune(features credence.Features) {
	tunable, ok := features.(credence.Tunable)
	if !ok {
		return
	}
	list := tunable.Hyper()
	for i, h := range list {
		if !h.Held {
			q.hypers = append(q.hypers, i)
			lower, upper := logBounds(h)
			q.lower, q.upper = append(q.lower, lower), append(q.upper, upper)
		}
	}
	if len(q.hypers) > 0 {
		q.tunable = tunable
		q.hyper, q.pull = make([]float64, len(q.hypers)), make([]float64, len(list))
	}
}

// size is the number of variables.
func (q *mixture) size() int { return 2*q.k*q.d + q.base.count() + len(q.hypers) }

// component returns the mean and the log variances of component k in x.
func (q *mixture) component(x []float64, k int) (mean, logs []float64) {
	from := 2 * k * q.d
	return x[from : from+q.d], x[from+q.d : from+2*q.d]
}

// parameters returns what x holds after the components.
func (q *mixture) parameters(x []float64) (free, logHyper []float64) {
	from := 2 * q.k * q.d
	to := from + q.base.count()
	return x[from:to], x[to:]
}

// clip brings parameters and hyper-parameters in x within their bounds; unit, where it is not nil,
// is that of every variable.
func (q *mixture) clip(x, unit []float64) {
	from := 2 * q.k * q.d
	for i := range q.lower {
		lower, upper := q.lower[i], q.upper[i]
		if unit != nil {
			lower, upper = lower/unit[from+i], upper/unit[from+i]
		}
		x[from+i] = math.Max(lower, math.Min(x[from+i], upper))
	}
}

// begin sets the point and empties the sums.
func (q *mixture) begin(x []float64) {
	for k := range q.k {
		_, logs := q.component(x, k)
		kernel.Exp(q.psi[k*q.d:(k+1)*q.d], logs)
	}
	free, _ := q.parameters(x)
	q.family = q.base.at(free)
	q.value, q.correct = 0, true
	clear(q.mean)
	clear(q.spread)
	clear(q.slope)
	clear(q.pull)
	q.targets.reset()
}

// featuresAt returns the features at the hyper-parameters in x.
func (q *mixture) featuresAt(features credence.Features, x []float64) credence.Features {
	if q.tunable == nil {
		return features
	}
	_, logs := q.parameters(x)
	list := q.tunable.Hyper()
	values := make([]float64, len(list))
	for i, h := range list {
		values[i] = h.Value
	}
	for l, i := range q.hypers {
		values[i] = math.Exp(logs[l])
	}
	return q.tunable.WithHyper(values)
}

// add adds rows to the sums, each times scale: the factor N/M of a minibatch, or 1.
// sampler draws weights instead of integrating over f; nil integrates.
func (q *mixture) add(b *block, x []float64, scale float64, sampler *sampler, features credence.Features) {
	d, p, share := q.d, q.base.count(), scale/float64(q.k)
	pool := q.ws.Pool()
	t := &q.terms
	t.resize(b.rows, p)
	q.targets.add(b)
	dense := b.phi.Dense.Cols
	if q.tunable != nil {
		q.slab = grow(q.slab, b.rows*dense)
		clear(q.slab)
	}
	for k := range q.k {
		m, _ := q.component(x, k)
		psi := q.psi[k*d : (k+1)*d]
		mean, spread := q.mean[k*d:(k+1)*d], q.spread[k*d:(k+1)*d]
		latentMeans(pool, t.mean, b, m)
		q.correct = q.correct && b.separated(q.family.Likelihood, t.mean)
		if sampler != nil {
			q.value += share * sampler.add(q, b, m, psi, share, mean, spread)
			continue
		}
		latentVariances(pool, t.variance, b.phi, psi)
		if !t.bearable(q.family.Likelihood) {
			q.value = math.NaN()
			return
		}
		t.expect(pool, b, q.family, false)
		for i, v := range t.value {
			q.value += share * v
			t.dMean[i] *= share
			t.dVariance[i] *= share
			for l := range p {
				q.slope[l] += share * t.slope[i*p+l]
			}
		}
		addTrans(pool, mean, b.phi, t.dMean)
		addTransSquare(pool, spread, b.phi, t.dVariance)
		if q.tunable != nil {
			q.addPull(b, m[:dense], psi[:dense])
		}
	}
	if q.tunable != nil {
		features.(credence.Tunable).Pullback(q.ws, q.pull, b.batch, b.phi, q.slab)
	}
}

// addPull adds ∂L/∂Φ = dMean mᵀ + 2 dVariance φ⊙Ψ for the dense columns.
func (q *mixture) addPull(b *block, m, psi []float64) {
	t := &q.terms
	dense := len(m)
	inTasks(q.ws.Pool(), b.rows, func(from, to int) {
		for i := from; i < to; i++ {
			row := q.slab[i*dense : (i+1)*dense]
			phi := b.phi.Dense.Row(i)
			for j, v := range phi {
				row[j] += t.dMean[i]*m[j] + 2*t.dVariance[i]*v*psi[j]
			}
		}
	})
}

// finish adds prior and entropy to what add has summed, stores the gradient of the
// bound in all variables and returns the bound.
func (q *mixture) finish(gradient, x []float64) float64 {
	d, share := q.d, 1/float64(q.k)
	q.setPrior(x)
	bound := q.value
	for k := range q.k {
		m, _ := q.component(x, k)
		gm, gl := q.component(gradient, k)
		for j, lambda := range q.weightPrior {
			psi := q.psi[k*d+j]
			bound -= share / 2 * ((m[j]*m[j]+psi)/lambda + math.Log(2*math.Pi*lambda))
			gm[j] = q.mean[k*d+j] - share*m[j]/lambda
			gl[j] = q.spread[k*d+j] - share/(2*lambda)
		}
	}
	bound += q.entropyBound(gradient, x)
	for k := range q.k {
		_, gl := q.component(gradient, k)
		for j := range gl { // from Ψ to log Ψ
			gl[j] *= q.psi[k*d+j]
		}
	}
	free, hyper := q.parameters(gradient)
	copy(free, q.slope)
	if q.tunable != nil {
		list := q.tunable.Hyper()
		_, at := q.parameters(x)
		for l, i := range q.hypers {
			hyper[l] = q.pull[i]
			if h := list[i]; h.PriorSD > 0 {
				z := (at[l] - h.PriorMean) / h.PriorSD
				hyper[l] -= z / h.PriorSD
				bound -= z * z / 2 // without its constant: what is penalised is not reported
			}
		}
	}
	return bound
}

// setPrior sets the prior variances for the components in x.
func (q *mixture) setPrior(x []float64) {
	d := q.d
	for i, g := range q.groups {
		v := q.references[i].wide
		if g.learned {
			sum := 0.0
			for k := range q.k {
				m, _ := q.component(x, k)
				for j := g.first; j < g.first+g.count; j++ {
					sum += m[j]*m[j] + q.psi[k*d+j]
				}
			}
			v = q.references[i].bounded(sum / float64(g.count*q.k))
		}
		q.prior[i] = v
		for j := g.first; j < g.first+g.count; j++ {
			q.weightPrior[j] = v
		}
	}
}

// entropyBound returns −(1/K) Σ_k log Σ_j (1/K) N(m_k|m_j, V_kj), V_kj = Ψ_k + Ψ_j
// (eq. 24), and adds its gradients in m and Ψ. With the responsibilities
// R_kj = softmax_j log N(m_k|m_j, V_kj), S = R + Rᵀ and Δ = m_k − m_j they are
//
//	∂/∂m_k = (1/K) Σ_j S_kj Δ/V_kj      ∂/∂Ψ_k = (1/2K) Σ_j S_kj (1/V_kj − Δ²/V_kj²).
func (q *mixture) entropyBound(gradient, x []float64) float64 {
	count, d := q.k, q.d
	logs := make([]float64, count*count)
	for k := range count {
		mk, _ := q.component(x, k)
		for l := k; l < count; l++ {
			ml, _ := q.component(x, l)
			sum := 0.0
			for j := range d {
				v := q.psi[k*d+j] + q.psi[l*d+j]
				gap := mk[j] - ml[j]
				sum += gap*gap/v + math.Log(2*math.Pi*v)
			}
			logs[k*count+l], logs[l*count+k] = -sum/2, -sum/2
		}
	}
	bound := 0.0
	share := 1 / float64(count)
	for k := range count {
		row := logs[k*count : (k+1)*count]
		total := special.LogSumExp(row)
		bound -= share * (total - math.Log(float64(count)))
		for l := range row {
			row[l] = math.Exp(row[l] - total) // R
		}
	}
	for k := range count {
		mk, _ := q.component(x, k)
		gm, gl := q.component(gradient, k)
		for l := range count {
			weight := share * (logs[k*count+l] + logs[l*count+k])
			if weight == 0 {
				continue
			}
			ml, _ := q.component(x, l)
			for j := range d {
				v := q.psi[k*d+j] + q.psi[l*d+j]
				gap := (mk[j] - ml[j]) / v
				gm[j] += weight * gap
				gl[j] += weight / 2 * (1/v - gap*gap)
			}
		}
	}
	return bound
}

// evaluate is the bound over all rows of t, with its gradient.
func (q *mixture) evaluate(ctx context.Context, t *table, gradient, x []float64) (float64, error) {
	q.begin(x)
	if q.tunable != nil {
		t.moving, t.keep = true, nil
		t.features = q.featuresAt(t.features, x)
	}
	for k := range t.blocks() {
		b, err := t.at(ctx, k)
		if err != nil {
			return 0, err
		}
		q.add(b, x, 1, nil, t.features)
	}
	return q.finish(gradient, x), nil
}
