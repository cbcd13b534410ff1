package effect

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/score"
)

// member is one of the models that a fit averages over.
type member struct {
	*credence.Member
	share  float64
	curve  *curve
	phi    credence.Design
	draws  []float64 // count × d, row-major; nil where none were drawn
	curves []*curve  // of each draw, where they differ
	count  int
	probe  []float64 // a random direction, which tells whether two designs differ
}

// newMembers returns the members of a fit.
func newMembers(scorer *score.Scorer, c *curve, seed uint64) (list []*member) {
	fitted := scorer.Fitted()
	for k := range fitted.Members {
		of := &fitted.Members[k]
		if fitted.Share(k) == 0 {
			continue
		}
		m := &member{Member: of, share: fitted.Share(k), curve: c.under(of.Model.Likelihood), probe: make([]float64, of.Posterior.Weights())}
		rng := credence.Rand(seed, credence.EffectDraws, uint64(k)<<1)
		for j := range m.probe {
			m.probe[j] = rng.NormFloat64()
		}
		list = append(list, m)
	}
	return list
}

// mostDrawn is the largest number of weights that are held in all draws: half a gigabyte.
const mostDrawn = 1 << 26

// drawMembers draws the weights of all members, each as often as its share says, and says how often in all. Members must have
// transformed rows before.
func drawMembers(ws *credence.Workspace, fitted *credence.Fitted, list []*member, count int, seed uint64) (total int, err error) {
	if list[0].draws != nil {
		for _, m := range list {
			total += m.count
		}
		return total, nil
	}
	share := 0.0
	for k, m := range list {
		share += m.share
		m.count = max(1, int(math.Round(share*float64(count)))-total)
		stored, sampled := m.Posterior.(*posterior.Draws)
		if sampled = sampled && stored.Mean == nil; sampled && len(list) == 1 {
			m.count = min(m.count, stored.Count)
		}
		total += m.count
		d := m.Posterior.Weights()
		if m.count*d > mostDrawn {
			return 0, fmt.Errorf("%d draws of %d weights are more than memory should hold: ask for fewer with --draws", m.count, d)
		}
		m.draws = make([]float64, m.count*d)
		if sampled { // evenly spread, so that none stands twice
			for s := range m.count {
				at := s * stored.Count / m.count
				copy(m.draws[s*d:(s+1)*d], stored.Values[at*d:(at+1)*d])
			}
			continue
		}
		if err := m.draw(ws, fitted, list, uint64(k), seed); err != nil {
			return 0, err
		}
	}
	return total, nil
}

// pooled is the distribution of the weights over all members, in its mean and covariance.
type pooled struct{ list []*member }

func (p pooled) Weights() int { return p.list[0].Posterior.Weights() }

func (p pooled) Marginals(mean, variance []float64) {
	clear(mean)
	clear(variance)
	for _, m := range p.list {
		w, v := m.moments()
		for j := range w {
			mean[j] += m.share * w[j]
			variance[j] += m.share * (v[j] + w[j]*w[j])
		}
	}
	for j := range mean {
		variance[j] -= mean[j] * mean[j]
	}
}

func (p pooled) Latent(ws *credence.Workspace, mean, variance []float64, phi *credence.Design) {
	panic("effect: of pooled members weights are drawn")
}

func (p pooled) Covariance(ws *credence.Workspace, dst *linop.Dense, a, b *credence.Design) {
	d, n := p.Weights(), dst.Rows
	mean, variance := make([]float64, d), make([]float64, d)
	p.Marginals(mean, variance)
	left, right, part := make([]float64, n), make([]float64, dst.Cols), linop.NewDense(n, dst.Cols)
	clear(dst.Data)
	for _, m := range p.list {
		m.Posterior.(credence.Joint).Covariance(ws, &part, a, b)
		gap, _ := m.moments()
		kernel.Axpy(-1, mean, gap)
		a.Mul(ws, left, gap)
		b.Mul(ws, right, gap)
		for i := range n {
			kernel.Axpy(m.share, part.Row(i), dst.Row(i))
			kernel.Axpy(m.share*left[i], right, dst.Row(i))
		}
	}
}

// ordinal says whether cutpoints are drawn with the weights.
func ordinal(fitted *credence.Fitted) bool {
	_, is := fitted.Members[0].Model.Likelihood.(likelihood.Ordinal)
	return is && fitted.Family != nil
}

// draw draws the weights of a member, together with the cutpoints of an ordinal family where their posterior is known.
func (m *member) draw(ws *credence.Workspace, fitted *credence.Fitted, all []*member, place, seed uint64) error {
	d := m.Posterior.Weights()
	var apart *linop.Dense
	var family *score.FamilyDraws
	if ordinal(fitted) {
		var err error
		if family, err = score.DrawFamily(fitted, m.count, place); err != nil {
			return err
		}
		p := fitted.Family.Axes()
		rows := linop.NewDense(p, d)
		for j := range d {
			for k := range p {
				rows.Row(k)[j] = fitted.Family.Slopes[j*p+k] * family.SD[k]
			}
		}
		apart = &rows
	}
	var q credence.Posterior = m.Posterior
	if apart != nil { // cutpoints vary over members, too, who share them
		q = pooled{all}
	}
	sampler, err := posterior.NewSampler(ws, q, m.phi.Dense.Cols, apart)
	if err != nil {
		return err
	}
	rng := credence.Rand(seed, credence.EffectDraws, place<<1|1)
	for s := range m.count {
		w := m.draws[s*d : (s+1)*d]
		sampler.Draw(rng, w)
		for k := 0; family != nil && k < apart.Rows; k++ {
			kernel.Axpy(family.Moved[k][s]/family.SD[k], apart.Row(k), w)
		}
		if family != nil {
			m.curves = append(m.curves, m.curve.under(family.Likelihoods[s]))
		}
	}
	return nil
}

// moments returns the means and variances of the weights.
func (m *member) moments() (mean, variance []float64) {
	d := m.Posterior.Weights()
	mean, variance = make([]float64, d), make([]float64, d)
	m.Posterior.Marginals(mean, variance)
	return mean, variance
}

// parts returns the posterior of each of some vectors under a member, one part a component of the posterior.
func (m *member) parts(ws *credence.Workspace, vectors []vector) []mixture {
	out := make([]mixture, len(vectors))
	df, components := 0.0, 1
	if t, ok := m.Posterior.(credence.LatentDF); ok && !math.IsInf(t.LatentDF(), 1) {
		df = t.LatentDF()
	}
	mixed, isMixture := m.Posterior.(credence.MixturePosterior)
	if isMixture {
		components = mixed.Components()
	}
	dense := m.phi.Dense.Cols
	const together = 256
	for first := 0; first < len(vectors); first += together {
		some := vectors[first:min(len(vectors), first+together)]
		var phi credence.Design
		phi.Dense.Reshape(len(some), dense)
		phi.Sparse.Reset(m.phi.Sparse.Cols)
		for i, v := range some {
			copy(phi.Dense.Row(i), v.gradient[:dense])
			var columns []int32
			var values []float64
			for j, g := range v.gradient[dense:] {
				if g != 0 {
					columns, values = append(columns, int32(j)), append(values, g)
				}
			}
			phi.Sparse.AppendRow(columns, values)
		}
		mean, variance, all := make([]float64, len(some)), make([]float64, len(some)), make([]float64, len(some))
		m.Posterior.Latent(ws, all, nil, &phi)
		for k := range components {
			if isMixture {
				mixed.LatentComponent(ws, k, mean, variance, &phi)
			} else {
				m.Posterior.Latent(ws, mean, variance, &phi)
			}
			for i, v := range some {
				out[first+i] = append(out[first+i], part{mean: v.value + mean[i] - all[i], sd: math.Sqrt(math.Max(0, variance[i])), df: df, share: m.share / float64(components)})
			}
		}
	}
	return out
}
