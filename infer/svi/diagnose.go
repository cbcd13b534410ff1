package svi

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/pareto"
	"github.com/credence-ml/credence/likelihood"
)

const (
	// diagnosticTerms is about how many log densities of rows the diagnostics may
	// take where nothing asks for more.
	diagnosticTerms = 2e6
	// pilotRows are those on which it is first tried whether some rows can stand for all.
	pilotRows = 1024
	// diagnosticNoise is the standard error of a log weight above which more rows are taken.
	diagnosticNoise = 0.2
)

// draws are weights from q with what their importance weights need.
type draws struct {
	count  int
	w      []float64 // count×d
	logQ   []float64
	logP   []float64 // log prior, then the log joint density
	logLik []float64
}

// drawCount is the number of draws for so many rows.
func (r *fit) drawCount(rows int) int {
	if r.config.Diagnostics != 0 {
		return max(0, r.config.Diagnostics)
	}
	return max(200, min(int(diagnosticTerms/float64(rows)), 1000))
}

// newDraws returns draws that fill makes, with their log densities under q and the prior.
func (r *fit) newDraws(rng *rand.Rand, count int, priors []float64, fill func(w []float64, rng *rand.Rand) (logQ float64)) *draws {
	s := &draws{count: count, w: make([]float64, count*r.d), logQ: make([]float64, count), logP: make([]float64, count), logLik: make([]float64, count)}
	for i := range count {
		w := s.w[i*r.d : (i+1)*r.d]
		s.logQ[i] = fill(w, rng)
		for k, g := range r.groups {
			sum := 0.0
			for _, v := range w[g.first : g.first+g.count] {
				sum += v * v
			}
			s.logP[i] -= (sum/priors[k] + float64(g.count)*math.Log(2*math.Pi*priors[k])) / 2
		}
	}
	return s
}

// logDensities calls visit for every block of t with log p(y|f) of its rows under
// every draw, weights included, rows×draws; and with f itself, offset included.
func (r *fit) logDensities(ctx context.Context, t *table, s *draws, f *family, visit func(b *block, logs, latent []float64)) error {
	var latent, logs []float64
	for k := range t.blocks() {
		b, err := t.at(ctx, k)
		if err != nil {
			return err
		}
		latent, logs = grow(latent, b.rows*s.count), grow(logs, b.rows*s.count)
		dense := b.phi.Dense.Cols
		if dense > 0 {
			r.ws.Pool().Gemm(false, true, b.rows, s.count, dense, 1, b.phi.Dense.Data, b.phi.Dense.Stride, s.w, r.d, 0, latent, s.count)
		} else {
			clear(latent)
		}
		inTasks(r.ws.Pool(), b.rows, func(from, to int) {
			for i := from; i < to; i++ {
				r.logRow(b, i, s, f, latent[i*s.count:(i+1)*s.count], logs[i*s.count:(i+1)*s.count])
			}
		})
		visit(b, logs, latent)
	}
	return nil
}

func (r *fit) logRow(b *block, i int, s *draws, f *family, latent, logs []float64) {
	var family credence.Likelihood = f.Likelihood
	if b.trials != nil {
		if perRow, ok := family.(likelihood.PerRow); ok {
			family = perRow.WithTrials(b.trials[i])
		}
	}
	w := 1.0
	if b.weight != nil {
		w = b.weight[i]
	}
	if b.phi.Sparse.Cols > 0 {
		columns, values := b.phi.Sparse.Row(i)
		for l := range latent {
			rest := s.w[l*r.d+b.phi.Dense.Cols : (l+1)*r.d]
			for k, j := range columns {
				v := 1.0
				if values != nil {
					v = values[k]
				}
				latent[l] += v * rest[j]
			}
		}
	}
	if b.offset != nil {
		for l := range latent {
			latent[l] += b.offset[i]
		}
	}
	if w == 0 {
		clear(logs)
		return
	}
	likelihood.LogDensities(family, logs, b.y[i], latent)
	if w != 1 {
		kernel.Scale(w, logs)
	}
}

// logWeights returns the logarithms of the importance weights.
func (s *draws) logWeights() []float64 {
	logs := make([]float64, s.count)
	for i := range logs {
		logs[i] = s.logP[i] + s.logLik[i] - s.logQ[i]
		if !finite(logs[i]) {
			logs[i] = -1e300 // a draw without density
		}
	}
	return logs
}

// judge turns the logarithms of importance weights into the figures of the report.
func (r *fit) judge(logs []float64, remedy string) {
	k := pareto.Smooth(logs)
	if math.IsNaN(k) {
		return
	}
	share := pareto.EffectiveShare(logs)
	r.report.ParetoK, r.report.EffectiveShare = &k, &share
	if r.report.ELBO != nil {
		gap := pareto.LogMean(logs) - *r.report.ELBO
		r.report.EvidenceGap = &gap
	}
	if !reliable(k, share) && !r.separable && r.targets.low < r.targets.high {
		r.warn("Pareto-k̂ of the posterior is %.2f, above %.1f: its spread may be too small, though its mean is often good; %s", k, limitK, remedy)
	}
}

// diagnoseFull judges N(m, FFᵀ). Where rows are many, log densities of some of them
// stand for all, as differences from their second-order expansions about the
// optimum,
//
//	e_n + g_n (f−a) − ½ β_n ((f−a)² − v_n),
//
// whose sum over all rows is known: Σe + gᵀδ − ½(δᵀHδ − Σβv), δ = w − m (the difference estimator
// of Magnusson, Andersen, Jonasson & Vehtari 2019). More rows are taken, at least four times as
// many, until the sum has a standard error below a fifth of a nat.
func (r *fit) diagnoseFull(ctx context.Context, n *newton, whole *table, at *point, stats *statistics) error {
	d, rows := r.d, r.data.Rows()
	count := r.drawCount(min(rows, 10000))
	if count == 0 {
		return nil
	}
	z := make([]float64, d)
	s := r.newDraws(credence.Rand(r.config.Seed, credence.SVIDiagnostics, 0), count, at.Prior, func(w []float64, rng *rand.Rand) float64 {
		squares := 0.0
		for j := range z {
			z[j] = rng.NormFloat64()
			squares += z[j] * z[j]
		}
		for j := range w {
			w[j] = at.Mean[j] + kernel.Dot(n.factor[j*d+j:(j+1)*d], z[j:])
		}
		return -(squares + at.logDet + float64(d)*math.Log(2*math.Pi)) / 2
	})
	for limit := pilotRows; ; {
		t := whole
		if rows >= 2*max(limit, credence.BlockRows) {
			t = r.open(limit)
		}
		if t.count == rows {
			clear(s.logLik)
			if err := r.logDensities(ctx, t, s, at.family, func(b *block, logs, _ []float64) {
				for i := range b.rows {
					kernel.Axpy(1, logs[i*count:(i+1)*count], s.logLik)
				}
			}); err != nil {
				return err
			}
			break
		}
		noise, err := r.byDifference(ctx, n, at, stats, s, t)
		if err != nil {
			return err
		}
		if noise <= diagnosticNoise {
			break
		}
		// The standard error falls with the square root of the rows.
		gap := math.Min(noise/diagnosticNoise, 100)
		limit = int(math.Max(4, 1.2*gap*gap) * float64(t.count))
	}
	r.judge(s.logWeights(), "with few rows a weight, or rare events, this is the limit of a normal posterior: compare predictions on held-out rows, state a tighter prior, or use fewer columns")
	return nil
}

// byDifference estimates log likelihoods from the rows of t and returns the median
// standard error.
func (r *fit) byDifference(ctx context.Context, n *newton, at *point, stats *statistics, s *draws, t *table) (float64, error) {
	d, count := r.d, s.count
	sums, squares := make([]float64, count), make([]float64, count)
	terms := &n.terms
	err := r.logDensities(ctx, t, s, at.family, func(b *block, logs, latent []float64) {
		terms.resize(b.rows, at.family.count())
		latentMeans(r.ws.Pool(), terms.mean, b, at.Mean)
		n.variances(terms.variance, b, n.factor)
		terms.expect(r.ws.Pool(), b, at.family, false)
		for i := range b.rows {
			g, beta, v := terms.dMean[i], -2*terms.dVariance[i], terms.variance[i]
			for l := range count {
				gap := latent[i*count+l] - terms.mean[i]
				rest := logs[i*count+l] - terms.value[i] - g*gap + beta/2*(gap*gap-v)
				sums[l] += rest
				squares[l] += rest * rest
			}
		}
	})
	if err != nil {
		return 0, err
	}
	m, scale := float64(t.count), t.scale()
	noise := make([]float64, count)
	delta, product := make([]float64, d), make([]float64, d)
	for l := range count {
		for j := range delta {
			delta[j] = s.w[l*d+j] - at.Mean[j]
		}
		n.mulSites(product, stats.curvature, delta)
		s.logLik[l] = stats.value + kernel.Dot(stats.gradient, delta) - (kernel.Dot(product, delta)-stats.trace)/2 + scale*sums[l]
		noise[l] = scale * math.Sqrt(math.Max(0, squares[l]-sums[l]*sums[l]/m))
	}
	slices.Sort(noise)
	return noise[count/2], nil
}

// drawBytes bounds the memory of the draws of a mixture, of which so many are taken to
// the rows at a time.
const drawBytes = 64 << 20

// diagnoseMixture judges a mixture, on all rows.
func (r *fit) diagnoseMixture(ctx context.Context, q *mixture, x []float64) error {
	count := r.drawCount(r.data.Rows()) / q.k * q.k
	if count == 0 {
		return nil
	}
	drawn := 0
	fill := func(w []float64, rng *rand.Rand) float64 {
		k := drawn % q.k // as many from every component
		drawn++
		m, _ := q.component(x, k)
		for j := range w {
			w[j] = m[j] + math.Sqrt(q.psi[k*q.d+j])*rng.NormFloat64()
		}
		return q.logDensity(x, w)
	}
	rng := credence.Rand(r.config.Seed, credence.SVIDiagnostics, 0)
	group := max(1, drawBytes/8/r.d)
	if group < count {
		count = min(count, max(100/q.k*q.k, group)) // passes over the rows are dear
	}
	t := r.open(0)
	var logs []float64
	for len(logs) < count {
		s := r.newDraws(rng, min(group, count-len(logs)), q.prior, fill)
		if err := r.logDensities(ctx, t, s, q.family, func(b *block, logs, _ []float64) {
			for i := range b.rows {
				kernel.Axpy(1, logs[i*s.count:(i+1)*s.count], s.logLik)
			}
		}); err != nil {
			return err
		}
		logs = append(logs, s.logWeights()...)
	}
	remedy := "state covariance=full"
	if r.d > FullWeights {
		remedy = "state more components, or covariance=full with fewer columns"
	}
	r.judge(logs, remedy)
	return nil
}

// compareSpread tells how much narrower independent weights come out than correlated
// ones would, from the curvature at the optimum of one component: a mean field's
// variances are the reciprocals of the precision's diagonal.
func (r *fit) compareSpread(ctx context.Context, q *mixture, x []float64) error {
	if q.k > 1 || r.d > FullWeights || float64(r.data.Rows())*float64(r.d)*float64(r.d) > affordable {
		return nil
	}
	n := newNewton(r.ws, r.d, r.groups)
	stats := newStatistics(r.d, q.family.count())
	for j, v := range q.psi {
		n.factor[j*r.d+j] = math.Sqrt(v)
	}
	m, _ := q.component(x, 0)
	if err := n.pass(ctx, r.open(0), stats, m, n.factor, q.family); err != nil {
		return err
	}
	at := &point{Mean: m, Prior: q.prior, Sites: stats.curvature}
	if !n.place(at) {
		return nil
	}
	ratios := make([]float64, r.d)
	least := 0
	for j, v := range at.psi {
		ratios[j] = math.Sqrt(q.psi[j] / v)
		if ratios[j] < ratios[least] {
			least = j
		}
	}
	smallest := ratios[least]
	slices.Sort(ratios)
	if median := ratios[r.d/2]; smallest < 0.8 || median < 0.9 {
		r.warn("the features are correlated, which a diagonal covariance leaves out: standard deviations of weights are about %.2f of what they should be (least: %s, %.2f); state covariance=full for them, predictions suffer less",
			median, weightName(r.features, least), smallest)
	}
	return nil
}
