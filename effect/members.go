package effect

import (
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/score"
)

// member is one of the models that a fit averages over.
type member struct {
	*credence.Member
	place  int // among the members of the fit
	share  float64
	curve  *curve
	phi    credence.Design
	draws  []float64 // d × count, row-major; nil before they are drawn
	start  start
	curves []*curve // of each draw, where they differ
	count  int
	probe  []float64 // a random direction, which tells whether two designs differ
}

// curveOf returns the curve of a draw.
func (m *member) curveOf(s int) *curve {
	if m.curves == nil {
		return m.curve
	}
	return m.curves[s]
}

// newMembers returns the members of a fit.
func newMembers(scorer *score.Scorer, c *curve, seed uint64) (list []*member) {
	fitted := scorer.Fitted()
	for k := range fitted.Members {
		of := &fitted.Members[k]
		if fitted.Share(k) == 0 {
			continue
		}
		m := &member{Member: of, place: k, share: fitted.Share(k), curve: c.under(of.Model.Likelihood), probe: make([]float64, of.Posterior.Weights())}
		rng := credence.Rand(seed, credence.EffectDraws, uint64(k)<<1)
		for j := range m.probe {
			m.probe[j] = rng.NormFloat64()
		}
		list = append(list, m)
	}
	return list
}

// drawMembers draws the weights of all members, each as often as its share says, and says how often in all.
func drawMembers(scorer *score.Scorer, list []*member, count int, seed uint64) (total int, err error) {
	if list[0].draws == nil {
		drawn, err := scorer.Draw(count, seed)
		if err != nil {
			return 0, err
		}
		for k, m := range list {
			from := &drawn.Members[k]
			m.draws, m.count = acrossDraws(from.Weights, m.Posterior.Weights()), from.Count()
			for s := 0; ordinal(scorer.Fitted()) && s < m.count; s++ {
				m.curves = append(m.curves, m.curve.under(from.Likelihoods[s]))
			}
		}
	}
	for _, m := range list {
		total += m.count
	}
	return total, nil
}

// ordinal says whether cutpoints are drawn with the weights.
func ordinal(fitted *credence.Fitted) bool {
	_, is := fitted.Members[0].Model.Likelihood.(likelihood.Ordinal)
	return is && fitted.Family != nil
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
