package svi

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/posterior"
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
// at no pass over the rows. At a fixed point its slope is that of the bound itself. This goes further at a step
// than the mean of m² + diag V, which is the maximum at fixed q. The learned
// parameters γ of the likelihood take the joint Newton step with m, through
// ∂²e/∂mean∂γ.
type newton struct {
	ws        *credence.Workspace
	d         int
	groups    []group
	reference []float64 // prior variance of each group from which it may go e^±12
	terms     rowTerms
	product   []float64
	denseCols int
	clamp     bool      // leave out rows of negative curvature, where nothing else makes V positive
	upper     []float64 // d×d scratch: Cholesky factors
	factor    []float64 // d×d: F with FFᵀ = V of the last factorise
	s         []float64 // √λ of every weight
	work      [4][]float64
	targets   moments // of the rows of the last pass
	gain      float64 // of the bound in the last step
}

// priorRange bounds learned prior variances to e^±12 of their reference.
const priorRange = 12

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
		prior[k] = r.bounded(k, sum/float64(g.count))
	}
}

func (r *newton) bounded(k int, v float64) float64 {
	low, high := r.reference[k]*math.Exp(-priorRange), r.reference[k]*math.Exp(priorRange)
	return math.Max(low, math.Min(v, high))
}

// stepParameters moves the learned likelihood parameters, and changes delta, which
// is V·residual, to go with them:
//
//	[ V⁻¹  −C ] [δm]   [residual]
//	[ −Cᵀ   B ] [δγ] = [ slope  ],   B = −bend.
//
// It returns the first-order gain.
func (r *newton) stepParameters(to, at *point, s *statistics, residual, delta []float64, rho float64, careful bool) float64 {
	p, d := len(at.Free), r.d
	to.Free = append(to.Free[:0], at.Free...)
	if p == 0 {
		to.family = at.family
		return 0
	}
	spread := make([]float64, p*d) // V Cᵀ, row by row
	matrix := make([]float64, p*p)
	right := make([]float64, p)
	for k := range p {
		r.solve(spread[k*d:(k+1)*d], s.cross[k*d:(k+1)*d])
	}
	coupled := !careful
	for {
		for k := range p {
			right[k] = s.slope[k]
			if coupled {
				right[k] += kernel.Dot(spread[k*d:(k+1)*d], residual)
			}
			for l := range p {
				matrix[k*p+l] = -(s.bend[k*p+l] + s.bend[l*p+k]) / 2
				if coupled {
					matrix[k*p+l] -= kernel.Dot(s.cross[k*d:(k+1)*d], spread[l*d:(l+1)*d])
				}
			}
		}
		if solvePositive(p, matrix, right, s.slope, coupled) {
			break
		}
		coupled = false
	}
	largest := 0.0
	for _, v := range right {
		largest = math.Max(largest, math.Abs(v))
	}
	// A change by a factor e is as much as one quadratic model can be trusted with.
	shrink := rho * math.Min(1, 1/math.Max(largest, 1e-300))
	gain := 0.0
	for k := range p {
		change := shrink * right[k]
		gain += math.Abs(change * s.slope[k])
		to.Free[k] = math.Max(at.family.floor[k], math.Min(to.Free[k]+change, at.family.ceiling[k]))
		if coupled {
			kernel.Axpy(change, spread[k*d:(k+1)*d], delta)
		}
	}
	to.family = at.family.at(to.Free)
	return gain
}

// solvePositive solves the p×p system in place. If the matrix is not positive definite it
// reports false when that may be because of the coupling, and otherwise stores a step
// along the slope.
func solvePositive(p int, a, x, slope []float64, coupled bool) bool {
	u := append([]float64{}, a...)
	for k := range p {
		for l := range k {
			f := u[l*p+k] / u[l*p+l]
			for c := k; c < p; c++ {
				u[k*p+c] -= f * u[l*p+c]
			}
			x[k] -= f * x[l]
		}
		if !(u[k*p+k] > 1e-12*math.Abs(a[k*p+k])) {
			if coupled {
				return false
			}
			for i := range p {
				x[i] = slope[i] / math.Max(math.Abs(a[i*p+i]), math.Abs(slope[i])+1e-300)
			}
			return true
		}
	}
	for k := p - 1; k >= 0; k-- {
		for c := k + 1; c < p; c++ {
			x[k] -= u[k*p+c] * x[c]
		}
		x[k] /= u[k*p+k]
	}
	return true
}

// task is what a climb is to do.
type task struct {
	stage      string
	tolerance  float64
	iterations int
	progress   func(credence.Progress)
	saved      *progressState // to go on from, or nil
	save       func(*progressState) error
}

// progressState is where a climb stands between iterations: all that the next one depends on.
type progressState struct {
	Iteration int
	At        point
	Bound     float64
	Rho       float64
	Failures  int
	Quiet     int
	Gain      float64 // of the last step
}

// climb maximises the bound over the rows of t from a point, which it moves to where it ends;
// r.factor is then its F and the statistics are those there.
func (r *newton) climb(ctx context.Context, t *table, at *point, s *statistics, job task) (credence.Status, int, error) {
	next, to := newStatistics(r.d, len(at.Free)), &point{}
	rho, failures, quiet, iteration := 1.0, 0, 0, 0
	if job.saved != nil {
		f := at.family
		*at = *job.saved.At.clone()
		rho, failures, quiet, iteration = job.saved.Rho, job.saved.Failures, job.saved.Quiet, job.saved.Iteration
		r.gain = job.saved.Gain
		at.family = f.at(job.saved.At.Free)
	}
	begun := at.Sites != nil
	if begun && !r.place(at) {
		return "", iteration, fmt.Errorf("svi: the precision of the weights is not positive definite: two feature columns may be equal; state a smaller prior variance or drop one")
	}
	factor := r.factor
	if !begun {
		factor = nil
	}
	r.clamp = !begun
	err := r.pass(ctx, t, s, at.Mean, factor, at.family)
	r.clamp = false
	if err != nil {
		return "", iteration, err
	}
	if begun {
		at.bound = s.value - r.divergence(at)
	} else {
		at.Sites, at.psi, at.bound = clone(s.curvature), nil, math.Inf(-1)
	}
	for ; iteration < job.iterations; iteration++ {
		if job.save != nil && at.psi != nil {
			state := progressState{Iteration: iteration, At: *at, Bound: at.bound, Rho: rho, Failures: failures, Quiet: quiet, Gain: r.gain}
			if err := job.save(&state); err != nil {
				return "", iteration, err
			}
		}
		made, ok := r.propose(to, at, s, rho, failures > 1, job.tolerance)
		if ok && failures < 2 && made.negligible(rho*job.tolerance) || quiet >= 5 {
			r.place(at)
			return credence.Converged, iteration, nil
		}
		if ok {
			if err := r.pass(ctx, t, next, to.Mean, r.factor, to.family); err != nil {
				return "", iteration, err
			}
			to.bound = next.value - r.divergence(to)
			ok = r.better(to, at, next, s)
		}
		if !ok {
			rho, failures = rho/2, failures+1
			if rho < 1e-9 {
				break
			}
			continue
		}
		r.gain = to.bound - at.bound
		if r.gain < 1e-12*math.Abs(at.bound) {
			quiet++ // the bound has come to its last digits
		} else {
			quiet = 0
		}
		*at, *to = *to, *at // the caller's point is always the accepted one
		*s, *next = *next, *s
		rho, failures = math.Min(1, 1.2*rho), 0
		if job.progress != nil {
			job.progress(credence.Progress{Stage: job.stage, Done: iteration + 1, Total: job.iterations, Objective: at.bound})
		}
	}
	if at.psi == nil {
		return "", iteration, fmt.Errorf("svi: no step from the starting values raised the bound: scale the columns, or state a smaller prior variance")
	}
	r.place(at)
	return credence.IterationLimit, iteration, nil
}

// better says whether a step may be taken. From V = 0 there is no bound to compare
// with. The theory of a normal posterior takes d/2 nats of the rows' expected log
// density for V, and much more can only be a step that went astray.
func (r *newton) better(to, at *point, next, s *statistics) bool {
	if !finite(to.bound) {
		return false
	}
	if at.psi == nil {
		return next.value >= s.value-(10+2*float64(r.d)+math.Abs(s.value))
	}
	return to.bound >= at.bound-1e-11*(math.Abs(next.value)+math.Abs(s.value)+1)
}

// full returns the posterior at the last place.
func (r *newton) full(p *point) *posterior.Full {
	return &posterior.Full{Mean: clone(p.Mean), Factor: clone(r.factor)}
}
