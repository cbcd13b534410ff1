package posterior

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Mixture is w ~ (1/K) Σ_k N(m_k, diag v_k): revrand report, eq. 21. Its predictive
// distributions are mixtures too, which [credence.Fitted] takes component by
// component.
type Mixture struct {
	Count     int       `json:"components"`           // K
	Means     []float64 `json:"-" tensor:"means,K,d"` // row-major
	Variances []float64 `json:"-" tensor:"variances,K,d"`
}

var (
	_ credence.MixturePosterior = (*Mixture)(nil)
	_ credence.Joint            = (*Mixture)(nil)
)

// Weights returns d.
func (p *Mixture) Weights() int { return len(p.Means) / max(1, p.Count) }

// Components returns K.
func (p *Mixture) Components() int { return p.Count }

// LatentComponent stores Φm_k and (Φ⊙Φ)v_k.
func (p *Mixture) LatentComponent(ws *credence.Workspace, k int, mean, variance []float64, phi *credence.Design) {
	d := p.Weights()
	check("Mixture.LatentComponent", d, mean, variance, phi)
	diagonalLatent(ws, mean, variance, phi, p.Means[k*d:(k+1)*d], p.Variances[k*d:(k+1)*d])
}

// Latent stores the mean and the variance of f under the whole mixture: that of the
// component means is added to the mean of the component variances.
func (p *Mixture) Latent(ws *credence.Workspace, mean, variance []float64, phi *credence.Design) {
	check("Mixture.Latent", p.Weights(), mean, variance, phi)
	defer ws.Release(ws.Mark())
	n := len(mean)
	means := ws.Floats(p.Count * n)
	variances := ws.Floats(p.Count * n)
	for k := range p.Count {
		of := variances[k*n : (k+1)*n]
		if variance == nil {
			of = nil
		}
		p.LatentComponent(ws, k, means[k*n:(k+1)*n], of, phi)
	}
	p.collect(mean, variance, means, variances)
}

// Covariance stores the mean of the components' covariances and the covariance of their means.
func (p *Mixture) Covariance(ws *credence.Workspace, dst *linop.Dense, a, b *credence.Design) {
	m, n := checkCovariance("Mixture.Covariance", p.Weights(), dst, a, b)
	defer ws.Release(ws.Mark())
	dst.Clear()
	d, share := p.Weights(), 1/float64(p.Count)
	centre, spread := make([]float64, d), make([]float64, d)
	for k := range p.Count {
		kernel.Axpy(share, p.Means[k*d:(k+1)*d], centre)
		kernel.Axpy(share, p.Variances[k*d:(k+1)*d], spread)
	}
	addDiagonalCovariance(dst, a, b, spread)
	left, right := ws.Floats(m), ws.Floats(n)
	gap := make([]float64, d)
	for k := range p.Count {
		copy(gap, p.Means[k*d:(k+1)*d])
		kernel.Axpy(-1, centre, gap)
		a.Mul(ws, left, gap)
		b.Mul(ws, right, gap)
		for i, v := range left {
			kernel.Axpy(share*v, right, dst.Row(i))
		}
	}
}

// Marginals stores the means and variances of the weights.
func (p *Mixture) Marginals(mean, variance []float64) {
	p.collect(mean, variance, p.Means, p.Variances)
}

// collect stores mean and variance of the mixture of K n-vectors of normals.
func (p *Mixture) collect(mean, variance, means, variances []float64) {
	n := len(mean)
	share := 1 / float64(p.Count)
	for i := range n {
		sum := 0.0
		for k := range p.Count {
			sum += means[k*n+i]
		}
		mean[i] = sum * share
		if variance == nil {
			continue
		}
		sum = 0
		for k := range p.Count {
			gap := means[k*n+i] - mean[i]
			sum += variances[k*n+i] + gap*gap
		}
		variance[i] = sum * share
	}
}
