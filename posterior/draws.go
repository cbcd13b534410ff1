package posterior

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Draws is a posterior in S draws of w, as samplers give them. Its moments are those of all
// draws. Predictive distributions are mixtures over at most MaxComponents of them, evenly spread,
// so that the memory of a prediction does not grow with S. A row costs Sd operations.
//
// With a Mean it is the normal distribution of that mean, with the covariance that the draws, of N(0, C), estimate.
type Draws struct {
	Count  int       `json:"draws"`                // S
	Values []float64 `json:"-" tensor:"draws,S,d"` // row-major
	Mean   []float64 `json:"-" tensor:"mean,d,optional"`
	// Probability is P(w_j ≠ 0), which a sampler knows better than by counting draws; nil if
	// every weight is included.
	Probability []float64 `json:"-" tensor:"inclusion,d,optional"`
	// EPInclusion is P(w_j ≠ 0) by expectation propagation, from which the sampler started; nil if it did not.
	EPInclusion []float64 `json:"-" tensor:"ep_inclusion,d,optional"`
}

// MaxComponents is the largest number of draws that a predictive distribution is a mixture of.
const MaxComponents = 64

var (
	_ credence.MixturePosterior = (*Draws)(nil)
	_ credence.Joint            = (*Draws)(nil)
	_ credence.Selector         = (*Draws)(nil)
)

// Weights returns d.
func (p *Draws) Weights() int { return len(p.Values) / max(1, p.Count) }

// draw returns draw s.
func (p *Draws) draw(s int) []float64 {
	d := p.Weights()
	return p.Values[s*d : (s+1)*d]
}

// Components returns the number of draws in a predictive distribution, 1 with a Mean.
func (p *Draws) Components() int {
	if p.Mean != nil {
		return 1
	}
	return min(p.Count, MaxComponents)
}

// LatentComponent stores Φw of one draw, and variances of 0; with a Mean it is Latent.
func (p *Draws) LatentComponent(ws *credence.Workspace, k int, mean, variance []float64, phi *credence.Design) {
	if p.Mean != nil {
		p.Latent(ws, mean, variance, phi)
		return
	}
	check("Draws.LatentComponent", p.Weights(), mean, variance, phi)
	phi.Mul(ws, mean, p.draw(k*p.Count/p.Components()))
	clear(variance)
}

// Latent stores the mean and the variance of Φw over all draws.
func (p *Draws) Latent(ws *credence.Workspace, mean, variance []float64, phi *credence.Design) {
	check("Draws.Latent", p.Weights(), mean, variance, phi)
	defer ws.Release(ws.Mark())
	phi.Mul(ws, mean, p.mean(ws.Floats(p.Weights())))
	if variance == nil {
		return
	}
	clear(variance)
	latent := ws.Floats(min(len(mean), panel) * min(p.Count, MaxComponents))
	for first := 0; first < len(mean); first += panel {
		part := phi.Window(first, min(panel, len(mean)-first))
		p.each(func(from, count int) {
			p.latents(ws, latent, &part, mean[first:], from, count)
			for i := range part.Dense.Rows {
				row := latent[i*count : (i+1)*count]
				variance[first+i] += kernel.Dot(row, row) / float64(p.Count)
			}
		})
	}
}

// each calls do for runs of draws.
func (p *Draws) each(do func(first, count int)) {
	for first := 0; first < p.Count; first += MaxComponents {
		do(first, min(MaxComponents, p.Count-first))
	}
}

// latents stores Φw of some draws, one column each, in dst, less the mean where that is theirs.
func (p *Draws) latents(ws *credence.Workspace, dst []float64, phi *credence.Design, mean []float64, first, count int) {
	n, d := phi.Dims()
	phi.MulTransposed(ws, dst, p.Values[first*d:], count)
	for i := 0; i < n && p.Mean == nil; i++ {
		for s := range count {
			dst[i*count+s] -= mean[i]
		}
	}
}

// Covariance stores the covariance over all draws.
func (p *Draws) Covariance(ws *credence.Workspace, dst *linop.Dense, a, b *credence.Design) {
	m, n := checkCovariance("Draws.Covariance", p.Weights(), dst, a, b)
	defer ws.Release(ws.Mark())
	centre, means := p.mean(ws.Floats(p.Weights())), ws.Floats(m+n)
	a.Mul(ws, means[:m], centre)
	b.Mul(ws, means[m:], centre)
	together := min(p.Count, MaxComponents)
	left, right := ws.Floats(m*together), ws.Floats(n*together)
	dst.Clear()
	p.each(func(first, count int) {
		p.latents(ws, left, a, means[:m], first, count)
		p.latents(ws, right, b, means[m:], first, count)
		ws.Pool().Gemm(false, true, m, n, count, 1/float64(p.Count), left, count, right, count, 1, dst.Data, max(1, dst.Stride))
	})
}

// Marginals stores the means and variances of the weights.
func (p *Draws) Marginals(mean, variance []float64) {
	p.mean(mean)
	clear(variance)
	for s := range p.Count {
		for j, w := range p.draw(s) {
			gap := w
			if p.Mean == nil {
				gap -= mean[j]
			}
			variance[j] += gap * gap / float64(p.Count)
		}
	}
}

// mean stores E w in dst, which it returns.
func (p *Draws) mean(dst []float64) []float64 {
	if p.Mean != nil {
		copy(dst, p.Mean)
		return dst
	}
	clear(dst)
	for s := range p.Count {
		kernel.Axpy(1/float64(p.Count), p.draw(s), dst)
	}
	return dst
}

// Selects reports whether weights may be 0.
func (p *Draws) Selects() bool { return p.Probability != nil }

// InclusionProbability returns P(w_j ≠ 0).
func (p *Draws) InclusionProbability(j int) float64 { return included(p.Probability, j) }
