package svi

import (
	"math"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/lbfgs"
)

// priorStep bounds the change of log λ in one Newton iteration, since the normal
// likelihood that stands for the rows is theirs only nearby.
const priorStep = 3

// learnPrior moves p.Prior to the maximum of log Z(Λ) (see newton) with H = p.Sites
// and b = H p.Mean + h. It reports false where nothing
// can be factorised.
func (r *newton) learnPrior(p *point, h []float64, tolerance float64) bool {
	var learned []int
	for k, g := range r.groups {
		if g.learned {
			learned = append(learned, k)
		}
	}
	if len(learned) == 0 {
		return true
	}
	d := r.d
	b := make([]float64, d)
	r.mulSites(b, p.Sites, p.Mean)
	kernel.Axpy(1, h, b)
	x := make([]float64, len(learned))
	cfg := lbfgs.Config{
		Lower: make([]float64, len(x)), Upper: make([]float64, len(x)), Curvature: make([]float64, len(x)),
		MaxIterations: 20, Patience: 1, Tolerance: math.Max(1e-13, tolerance*tolerance/10),
	}
	if d > 500 {
		cfg.MaxIterations = 5 // an evaluation costs as much as a pass over d rows; the next step goes on
	}
	for i, k := range learned {
		x[i] = math.Log(p.Prior[k])
		cfg.Curvature[i] = float64(r.groups[k].count)/2 + 0.1
		cfg.Lower[i] = math.Max(x[i]-priorStep, math.Log(r.references[k].bounded(0)))
		cfg.Upper[i] = math.Min(x[i]+priorStep, math.Log(r.references[k].bounded(math.Inf(1))))
	}
	mean, projected := make([]float64, d), make([]float64, d)
	psi := make([]float64, d)
	result, err := lbfgs.Minimise(x, func(x, gradient []float64) (float64, error) {
		for i, k := range learned {
			p.Prior[k] = math.Exp(x[i])
		}
		logDet, ok := r.factorise(p.Sites, p.Prior)
		if !ok {
			return math.NaN(), nil
		}
		r.solve(mean, b)
		copy(projected, r.work[3]) // Fᵀb
		r.diagonal(psi)
		for i, k := range learned {
			g := r.groups[k]
			sum := 0.0
			for j := g.first; j < g.first+g.count; j++ {
				sum += (psi[j]+mean[j]*mean[j])/p.Prior[k] - 1
			}
			gradient[i] = -sum / 2
		}
		return (logDet - kernel.Dot(projected, projected)) / 2, nil
	}, cfg)
	if err != nil || !finite(result.F) {
		return false
	}
	for i, k := range learned {
		p.Prior[k] = math.Exp(x[i])
	}
	return true
}
