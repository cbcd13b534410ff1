package svi

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
)

// newton is variational inference with a full covariance by natural gradients.
// At the optimum of the bound over q = N(m, V),
//
//	V⁻¹ = Λ⁻¹ + H,  H = −2 Φᵀ diag(∂e/∂variance) Φ      Λ⁻¹m = Φᵀ ∂e/∂mean = g
//
// (Opper & Archambeau 2009, eqs. 5–6), and a natural-gradient step of length ρ is
//
//	H ← (1−ρ) H + ρ H(m, V)      m ← m + V ρ (g − Λ⁻¹m)
//
// (conjugate-computation variational inference, Khan & Lin 2017). With ρ = 1 it is
// Newton's method with expected derivatives; every ρ small enough raises the bound,
// so steps that lower the bound are halved. H and b = H m + ρg + (1−ρ)Λ⁻¹m are the
// natural parameters of a normal likelihood that stands for the rows, and prior
// variances are set to the maximum of its evidence
//
//	log Z(Λ) = −½ log|I + Λ^½ H Λ^½| + ½ bᵀ (H + Λ⁻¹)⁻¹ b
//
// at no pass over the rows. At a fixed point its slope is that of the bound itself. This goes
// further at a step than the mean of m² + diag V, which is the maximum at fixed q. The learned
// parameters γ of the likelihood take the joint Newton step with m, through ∂²e/∂mean∂γ.
type newton struct {
	ws         *credence.Workspace
	d          int
	groups     []group
	references []reference // of each group
	terms      rowTerms
	product    []float64
	denseCols  int
	clamp      bool      // leave out rows of negative curvature, where nothing else makes V positive
	upper      []float64 // d×d scratch: Cholesky factors
	factor     []float64 // d×d: F with FFᵀ = V of the last factorise
	s          []float64 // √λ of every weight
	work       [4][]float64
	about      []float64 // of the next sums of a Gaussian family; nil for the mean of the next pass
	targets    moments   // of the rows of the last pass
	gain       float64   // of the bound in the last step
	promise    float64   // what a whole step would gain by the slope where no step raised the bound, or 0
}

func newNewton(ws *credence.Workspace, d int, groups []group) *newton {
	r := &newton{ws: ws, d: d, groups: groups, s: make([]float64, d)}
	r.upper, r.factor = make([]float64, d*d), make([]float64, d*d)
	for i := range r.work {
		r.work[i] = make([]float64, d)
	}
	return r
}

// point is a q and the values of everything else that is learned.
type point struct {
	Mean   []float64 // m
	Prior  []float64 // prior variance of each group
	Free   []float64 // learned likelihood parameters, unconstrained
	Sites  []float64 // H, d×d upper; nil means V = 0
	family *family
	psi    []float64 // diag V
	logDet float64   // log|V|
	bound  float64
}

func (p *point) clone() *point {
	c := *p
	c.Mean, c.Prior, c.Free = clone(p.Mean), clone(p.Prior), clone(p.Free)
	c.Sites, c.psi = clone(p.Sites), clone(p.psi)
	return &c
}

func clone(x []float64) []float64 {
	if x == nil {
		return nil
	}
	return append([]float64{}, x...)
}

// deviations stores √λ of every weight.
func (r *newton) deviations(dst, prior []float64) {
	for k, g := range r.groups {
		s := math.Sqrt(prior[k])
		for j := g.first; j < g.first+g.count; j++ {
			dst[j] = s
		}
	}
}

// factorise makes r.factor the F = S U⁻¹ of V = (Λ⁻¹ + H)⁻¹, UᵀU = I + S H S and
// S² = Λ: no prior variance, however small or large, is inverted. It reports
// whether the matrix is positive definite, and log|I + SHS|.
func (r *newton) factorise(sites, prior []float64) (logDet float64, ok bool) {
	d := r.d
	r.deviations(r.s, prior)
	inTasks(r.ws.Pool(), d, func(from, to int) {
		for i := from; i < to; i++ {
			row, source := r.upper[i*d:(i+1)*d], sites[i*d:(i+1)*d]
			for j := i; j < d; j++ {
				row[j] = r.s[i] * r.s[j] * source[j]
			}
			row[i]++
			clear(r.factor[i*d : (i+1)*d])
			r.factor[i*d+i] = r.s[i]
		}
	})
	if _, ok := r.ws.Pool().Cholesky(d, r.upper, d); !ok {
		return 0, false
	}
	for i := range d {
		logDet += 2 * math.Log(r.upper[i*d+i])
	}
	r.ws.Pool().TrsmRight(false, d, d, r.upper, d, r.factor, d)
	return logDet, finite(logDet)
}

// solve stores V x = F Fᵀ x in dst, which may be x.
func (r *newton) solve(dst, x []float64) {
	d, t := r.d, r.work[3]
	pool := r.ws.Pool()
	clear(t)
	pool.Run((d+stripe-1)/stripe, func(task, _ int) {
		from := task * stripe
		to := min(d, from+stripe)
		for i := range to { // F is upper triangular
			low := max(i, from)
			kernel.Axpy(x[i], r.factor[i*d+low:i*d+to], t[low:to])
		}
	})
	inTasks(pool, d, func(from, to int) {
		for i := from; i < to; i++ {
			dst[i] = kernel.Dot(r.factor[i*d+i:(i+1)*d], t[i:])
		}
	})
}

// diagonal stores diag V.
func (r *newton) diagonal(dst []float64) {
	d := r.d
	inTasks(r.ws.Pool(), d, func(from, to int) {
		for i := from; i < to; i++ {
			row := r.factor[i*d+i : (i+1)*d]
			dst[i] = kernel.Dot(row, row)
		}
	})
}

// mulSites stores H x.
func (r *newton) mulSites(dst, sites, x []float64) {
	d := r.d
	clear(dst)
	for i := range d {
		row := sites[i*d+i : (i+1)*d]
		dst[i] += kernel.Dot(row, x[i:])
		kernel.Axpy(x[i], row[1:], dst[i+1:])
	}
}

// place factorises the point's V and takes its diagonal and determinant.
func (r *newton) place(p *point) bool {
	logDet, ok := r.factorise(p.Sites, p.Prior)
	if !ok {
		return false
	}
	p.psi = grow(p.psi, r.d)
	r.diagonal(p.psi)
	p.logDet = -logDet
	for _, s := range r.s {
		p.logDet += 2 * math.Log(s)
	}
	return true
}

// divergence is KL[q‖p(w)].
func (r *newton) divergence(p *point) float64 {
	sum := -float64(r.d) - p.logDet
	for k, g := range r.groups {
		squares := 0.0
		for j := g.first; j < g.first+g.count; j++ {
			squares += p.Mean[j]*p.Mean[j] + p.psi[j]
		}
		sum += squares/p.Prior[k] + float64(g.count)*math.Log(p.Prior[k])
	}
	return sum / 2
}

// step is what a proposal expects to change, in nats or posterior standard deviations.
type step struct {
	decrement float64 // δmᵀ V⁻¹ δm
	spread    float64 // greatest |Δ log diag V|
	gain      float64 // first-order gain of prior variances and likelihood parameters
}

// negligible says whether a step is below the tolerance.
func (s *step) negligible(tolerance float64) bool {
	return s.decrement <= tolerance*tolerance && s.spread <= tolerance && s.gain <= tolerance*tolerance
}

// propose stores in to the step of length rho from a point whose rows have the given
// statistics. A careful step moves prior variances only to their maximum at fixed q, so that
// a short enough one cannot fail.
func (r *newton) propose(to, at *point, s *statistics, rho float64, careful bool, tolerance float64) (step, bool) {
	d := r.d
	var made step
	to.Sites = grow(to.Sites, d*d)
	inTasks(r.ws.Pool(), d, func(from, until int) {
		for i := from * d; i < until*d; i++ {
			to.Sites[i] = s.curvature[i]
			if rho < 1 {
				to.Sites[i] = (1-rho)*at.Sites[i] + rho*s.curvature[i]
			}
		}
	})
	// h = b − H m.
	h := r.work[0]
	for k, g := range r.groups {
		for j := g.first; j < g.first+g.count; j++ {
			h[j] = rho*s.gradient[j] + (1-rho)*at.Mean[j]/at.Prior[k]
		}
	}
	to.Mean = append(to.Mean[:0], at.Mean...)
	to.Prior = append(to.Prior[:0], at.Prior...)
	if careful {
		r.meanSquares(to.Prior, at)
	} else if !r.learnPrior(to, h, tolerance) {
		return made, false
	}
	if !r.place(to) {
		return made, false
	}
	for k, g := range r.groups {
		// The slope of the bound in log λ at the point left behind.
		if g.learned && at.psi != nil {
			slope := 0.0
			for j := g.first; j < g.first+g.count; j++ {
				slope += (at.Mean[j]*at.Mean[j]+at.psi[j])/at.Prior[k] - 1
			}
			made.gain += math.Abs(slope / 2 * math.Log(to.Prior[k]/at.Prior[k]))
		}
	}
	residual := r.work[1]
	for k, g := range r.groups {
		for j := g.first; j < g.first+g.count; j++ {
			residual[j] = h[j] - at.Mean[j]/to.Prior[k]
		}
	}
	delta := r.work[2]
	r.solve(delta, residual)
	made.gain += r.stepParameters(to, at, s, residual, delta, rho, careful)
	product := r.work[0]
	r.mulSites(product, to.Sites, delta)
	for k, g := range r.groups {
		for j := g.first; j < g.first+g.count; j++ {
			made.decrement += delta[j] * (product[j] + delta[j]/to.Prior[k])
			to.Mean[j] += delta[j]
		}
	}
	made.spread = math.Inf(1)
	if at.psi != nil {
		made.spread = 0
		for j, v := range to.psi {
			made.spread = math.Max(made.spread, math.Abs(math.Log(v/at.psi[j])))
		}
	}
	return made, finite(to.Mean...) && finite(to.Free...)
}

// meanSquares sets the learned prior variances to the mean of m² + diag V, the
// maximum of the bound at fixed q.
func (r *newton) meanSquares(prior []float64, at *point) {
	if at.psi == nil {
		return
	}
	for k, g := range r.groups {
		if !g.learned {
			continue
		}
		sum := 0.0
		for j := g.first; j < g.first+g.count; j++ {
			sum += at.Mean[j]*at.Mean[j] + at.psi[j]
		}
		prior[k] = r.references[k].bounded(sum / float64(g.count))
	}
}
