package newton

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/lbfgs"
	"github.com/credence-ml/credence/internal/order"
)

// step is what a proposal expects to change, in nats or posterior standard deviations.
type step struct {
	decrement float64 // δmᵀ V⁻¹ δm
	widening  float64 // greatest |Δ log diag V|
	gain      float64 // first-order gain of prior variances and likelihood parameters
}

// negligible says whether a step is below the tolerance.
func (s *step) negligible(tolerance float64) bool {
	return s.decrement <= tolerance*tolerance && s.widening <= tolerance && s.gain <= tolerance*tolerance
}

// propose stores in to the step of length rho from a point whose rows have the given statistics. A
// safeguarded step moves prior variances only to their maximum at fixed q, so that a short enough one
// cannot fail.
func (n *Newton) propose(to, at *Point, s *Statistics, mixed mixture, rho float64, safeguarded bool, tolerance float64) (step, bool) {
	var made step
	to.Sites = order.Resized(to.Sites, n.Layout.Len())
	h := n.work[0] // b − H m
	n.mix(mixed, to.Sites, h, n.natural(at, s), at, rho)
	to.Mean = append(to.Mean[:0], at.Mean...)
	to.Prior = append(to.Prior[:0], at.Prior...)
	to.Free = append(to.Free[:0], at.Free...)
	switch {
	case n.fixed:
	case safeguarded:
		n.meanSquares(to.Prior, at)
	case !n.learnPrior(to, h, tolerance):
		return made, false
	}
	if _, ok := n.Place(to); !ok {
		return made, false
	}
	if pull := n.Priors.Slopes(at.Prior); at.Psi != nil {
		slopes := n.PriorSlopes(at)
		for _, k := range n.LearnedPriors() {
			made.gain += math.Abs((slopes[k] + pull[k]) * math.Log(to.Prior[k]/at.Prior[k]))
		}
	}
	residual := n.work[1]
	n.precision(residual, at.Mean, to.Prior)
	for j, v := range h {
		residual[j] = v - residual[j]
	}
	delta := n.work[2]
	n.solve(delta, residual)
	made.gain += n.stepParameters(to, at, s, residual, delta, rho, safeguarded)
	product := n.work[0]
	n.Layout.Mul(product, to.Sites, delta)
	n.precision(residual, delta, to.Prior)
	for j, v := range delta {
		made.decrement += v * (product[j] + residual[j])
		to.Mean[j] += v
	}
	made.widening = math.Inf(1)
	if at.Psi != nil {
		made.widening = 0
		for j, v := range to.Psi {
			made.widening = math.Max(made.widening, math.Abs(math.Log(v/at.Psi[j])))
		}
	}
	return made, problem.Finite(to.Mean...) && problem.Finite(to.Free...)
}

// meanSquares sets the learned prior variances to the maximum of the bound at fixed q, without priors
// the mean of m² + diag V.
func (n *Newton) meanSquares(prior []float64, at *Point) {
	if at.Psi == nil {
		return
	}
	n.Fill(prior, func(k int) (sum float64, count int) {
		g := n.Groups[k]
		for j := g.First; j < g.End(); j++ {
			sum += at.Mean[j]*at.Mean[j] + at.Psi[j]
		}
		return sum, g.Count
	})
}

// learnPrior moves p.Prior to the maximum of log Z(Λ), and its log density, with H = p.Sites and
// b = H p.Mean + h. It reports false where nothing can be factorised.
func (n *Newton) learnPrior(p *Point, h []float64, tolerance float64) bool {
	learned := n.LearnedPriors()
	if len(learned) == 0 {
		return true
	}
	d, count := n.Dims, len(learned)
	b := make([]float64, d)
	n.Layout.Mul(b, p.Sites, p.Mean)
	kernel.Axpy(1, h, b)
	x := make([]float64, count)
	cfg := lbfgs.Config{
		Lower: make([]float64, count), Upper: make([]float64, count), Curvature: make([]float64, count),
		MaxIterations: 20, Patience: 1, Tolerance: math.Max(1e-13, tolerance*tolerance/10),
	}
	if d > 500 && n.levels == nil {
		cfg.MaxIterations = 5 // an evaluation costs as much as a pass over d rows; the next step goes on
	}
	for i, k := range learned {
		x[i] = math.Log(p.Prior[k])
		cfg.Curvature[i] = float64(n.CountOf(k))/2 + 0.1
		cfg.Lower[i], cfg.Upper[i] = n.References[k].LogBounds(x[i])
	}
	at, projected := Point{Mean: make([]float64, d), Prior: p.Prior, Psi: make([]float64, d)}, make([]float64, d)
	result, err := lbfgs.Minimise(x, func(x, gradient []float64) (float64, error) {
		for i, k := range learned {
			p.Prior[k] = math.Exp(x[i])
		}
		logDet, ok := n.factorise(p.Sites, p.Prior)
		if !ok {
			return math.NaN(), nil
		}
		n.solve(at.Mean, b)
		copy(projected, n.work[3]) // Fᵀb
		at.inner = n.diagonal(at.Psi)
		slopes, pull := n.PriorSlopes(&at), n.Priors.Slopes(p.Prior)
		for i, k := range learned {
			gradient[i] = -slopes[k] - pull[k]
		}
		return (logDet-kernel.Dot(projected, projected))/2 - n.Priors.Density(p.Prior, p.Free), nil
	}, cfg)
	if err != nil || !problem.Finite(result.F) {
		return false
	}
	for i, k := range learned {
		p.Prior[k] = math.Exp(x[i])
	}
	return true
}

// stepParameters moves the learned likelihood parameters, and changes delta, which
// is V·residual, to go with them:
//
//	[ V⁻¹  −C ] [δm]   [residual]
//	[ −Cᵀ   B ] [δγ] = [ slope  ],   B = −bend.
//
// It returns the first-order gain.
func (n *Newton) stepParameters(to, at *Point, s *Statistics, residual, delta []float64, rho float64, safeguarded bool) float64 {
	p, d := len(at.Free), n.Dims
	to.Free = append(to.Free[:0], at.Free...)
	if p == 0 || n.fixed {
		to.Family = at.Family
		return 0
	}
	covaried := make([]float64, p*d) // V Cᵀ, row by row
	matrix := make([]float64, p*p)
	right := make([]float64, p)
	for k := range p {
		n.solve(covaried[k*d:(k+1)*d], s.Cross[k*d:(k+1)*d])
	}
	slope, bend := slices.Clone(s.Slope), slices.Clone(s.Bend)
	n.Priors.AddFree(at.Free, slope, bend)
	coupled := !safeguarded
	for {
		for k := range p {
			right[k] = slope[k]
			if coupled {
				right[k] += kernel.Dot(covaried[k*d:(k+1)*d], residual)
			}
			for l := range p {
				matrix[k*p+l] = -(bend[k*p+l] + bend[l*p+k]) / 2
				if coupled {
					matrix[k*p+l] -= kernel.Dot(s.Cross[k*d:(k+1)*d], covaried[l*d:(l+1)*d])
				}
			}
		}
		if solvePositive(p, matrix, right, slope, coupled) {
			break
		}
		coupled = false
	}
	largest := floats.Norm(right, math.Inf(1))
	// A change by a factor e is as much as one quadratic model can be trusted with.
	shrink := rho * math.Min(1, 1/math.Max(largest, 1e-300))
	gain := 0.0
	for k := range p {
		change := shrink * right[k]
		gain += math.Abs(change * slope[k])
		to.Free[k] = math.Max(at.Family.Floor[k], math.Min(to.Free[k]+change, at.Family.Ceiling[k]))
		if coupled {
			kernel.Axpy(change, covaried[k*d:(k+1)*d], delta)
		}
	}
	to.Family = at.Family.At(to.Free)
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
