package svi

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/blocks"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/internal/kernel"
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

// drawCount is the number of draws for so many rows.
func (r *fit) drawCount(rows int) int {
	if r.config.Diagnostics != 0 {
		return max(0, r.config.Diagnostics)
	}
	return max(200, min(int(diagnosticTerms/float64(rows)), 1000))
}

// logPrior is the log density of weights under prior variances of every group.
func (r *fit) logPrior(w, priors []float64) float64 {
	value := 0.0
	for k, g := range r.groups {
		sum := 0.0
		for _, v := range w[g.first : g.first+g.count] {
			sum += v * v
		}
		value -= (sum/priors[k] + float64(g.count)*math.Log(2*math.Pi*priors[k])) / 2
	}
	return value
}

// addAll adds the log densities of all rows of t.
func (r *fit) addAll(ctx context.Context, t *table, s *diagnose.Draws, f *family) error {
	for k := range t.blocks() {
		b, err := t.at(ctx, k)
		if err != nil {
			return err
		}
		s.AddRows(r.ws, f.Likelihood, b.phi, b.outcomes())
	}
	return nil
}

// judge turns the logarithms of importance weights into the figures of the report.
func (r *fit) judge(logs []float64, remedy string) {
	if !diagnose.Judge(&r.report, logs) && !r.separable && r.targets.low < r.targets.high {
		r.warn("Pareto-k̂ of the posterior is %.2f, above %.1f: its spread may be too small, though its mean is often good; %s", *r.report.ParetoK, diagnose.LimitK, remedy)
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
	s := diagnose.Draw(credence.Rand(r.config.Seed, credence.SVIDiagnostics, 0), count, d, func(w []float64, rng *rand.Rand) float64 {
		squares := 0.0
		for j := range z {
			z[j] = rng.NormFloat64()
			squares += z[j] * z[j]
		}
		for j := range w {
			w[j] = at.Mean[j] + kernel.Dot(n.factor[j*d+j:(j+1)*d], z[j:])
		}
		return -(squares + at.logDet + float64(d)*math.Log(2*math.Pi)) / 2
	}, func(w []float64) float64 { return r.logPrior(w, at.Prior) })
	for limit := pilotRows; ; {
		t := whole
		if rows >= 2*max(limit, credence.BlockRows) {
			t = r.open(limit)
		}
		if t.count == rows {
			clear(s.LogLikelihood)
			if err := r.addAll(ctx, t, s, at.family); err != nil {
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
	r.judge(s.LogWeights(), "with few rows a weight, or rare events, this is the limit of a normal posterior: compare predictions on held-out rows, state a tighter prior, or use fewer columns")
	return nil
}

// byDifference estimates log likelihoods from the rows of t and returns the median
// standard error.
func (r *fit) byDifference(ctx context.Context, n *newton, at *point, stats *statistics, s *diagnose.Draws, t *table) (float64, error) {
	d, count := r.d, s.Count
	sums, squares := make([]float64, count), make([]float64, count)
	terms := &n.terms
	for k := range t.blocks() {
		b, err := t.at(ctx, k)
		if err != nil {
			return 0, err
		}
		logs, latent := s.LogDensities(r.ws, at.family.Likelihood, b.phi, b.outcomes())
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
	}
	m, scale := float64(t.count), t.scale()
	noise := make([]float64, count)
	delta, product := make([]float64, d), make([]float64, d)
	for l := range count {
		for j := range delta {
			delta[j] = s.Weights[l*d+j] - at.Mean[j]
		}
		n.mulSites(product, stats.curvature, delta)
		s.LogLikelihood[l] = stats.value + kernel.Dot(stats.gradient, delta) - (kernel.Dot(product, delta)-stats.trace)/2 + scale*sums[l]
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
		s := diagnose.Draw(rng, min(group, count-len(logs)), r.d, fill, func(w []float64) float64 { return r.logPrior(w, q.prior) })
		if err := r.addAll(ctx, t, s, q.family); err != nil {
			return err
		}
		logs = append(logs, s.LogWeights()...)
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
			median, blocks.WeightName(r.features, least), smallest)
	}
	return nil
}
