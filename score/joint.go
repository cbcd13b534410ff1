package score

import (
	"errors"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
)

// jointDraws is the number of draws of f of a row and of the parameters of its family together.
const jointDraws = 4000

// joint is what the rows of a model have in common of draws from the posterior of f of a row and of the learned
// parameters θ of the family, along the axes z of a [credence.FamilyPosterior] and with u standard normal:
//
//	f = E f + slopesᵀ(z − E z) + √(v e^{widthsᵀ(z − E z)}/c) u      θ = Mode + Root z
//
// with v what the slopes leave of the variance of f, and c a constant. Every one of z and u is spread evenly over its
// distribution (a Latin hypercube). Without the widths f would be as uncertain where a scale is small as where it is
// large, and rows would be told up to .03 nat too badly at 25 rows.
type joint struct {
	*FamilyDraws
	unit  []float64 // of each draw, u times the root: of mean square 1
	width []float64 // of each draw, what is under the root for a v of 1
}

// FamilyDraws are draws of the learned parameters of a family, evenly spread over their distribution (a Latin
// hypercube) along the axes z of a [credence.FamilyPosterior].
type FamilyDraws struct {
	Likelihoods []credence.Likelihood // of each draw
	Moved       [][]float64           // z − E z on each axis, of each draw
	SD          []float64             // of z on each axis
}

// DrawFamily draws from the posterior of a fit that knows that of the parameters of its family; other sets of draws are
// independent.
func DrawFamily(fitted *credence.Fitted, count int, set uint64) (*FamilyDraws, error) {
	if fitted == nil || fitted.Family == nil {
		return nil, errors.New("the fit does not know how uncertain the parameters of its family are")
	}
	f, axes := fitted.Family, axesOf(fitted.Family)
	d := &FamilyDraws{}
	for k := range axes {
		place := axes[k].quantiles(count)
		rng := credence.Rand(fitted.Recipe.Seed, credence.LeftOutDraws, uint64(k)+set*uint64(len(axes)))
		rng.Shuffle(len(place), func(a, b int) { place[a], place[b] = place[b], place[a] })
		d.Moved, d.SD = append(d.Moved, place), append(d.SD, axes[k].sd)
	}
	x := make([]float64, len(f.Mode))
	for s := range count {
		copy(x, f.Mode)
		for i := range x {
			for k, place := range d.Moved {
				x[i] += f.Root[i*len(axes)+k] * place[s]
			}
		}
		family, err := familyAt(fitted.Members[0].Model.Likelihood, f.Coordinates, x)
		if err != nil {
			return nil, err
		}
		d.Likelihoods = append(d.Likelihoods, family)
	}
	for k, place := range d.Moved {
		for s := range place {
			place[s] -= axes[k].mean
		}
	}
	return d, nil
}

// newJoint draws from the posterior of a fit that knows that of the parameters of its family.
func newJoint(fitted *credence.Fitted) (*joint, error) {
	drawn, err := DrawFamily(fitted, jointDraws, 0)
	if err != nil {
		return nil, err
	}
	j := &joint{drawn, normalQuantiles(jointDraws), make([]float64, jointDraws)}
	square := 0.0
	for s := range j.unit {
		width := 0.0
		for k, place := range j.Moved {
			width += fitted.Family.Widths[k] * place[s]
		}
		j.width[s] = math.Exp(width)
		j.unit[s] *= math.Sqrt(j.width[s])
		square += j.unit[s] * j.unit[s] / jointDraws
	}
	kernel.Scale(1/math.Sqrt(square), j.unit)
	kernel.Scale(1/square, j.width)
	return j, nil
}

// normalQuantiles are the middles of count equal shares of a standard normal distribution.
func normalQuantiles(count int) []float64 {
	list := make([]float64, count)
	for s := range list {
		list[s] = special.NormalQuantile((float64(s) + 0.5) / float64(count))
	}
	return list
}

// leastShare is the share of the variance of f that is left at known parameters of the family at the least.
const leastShare = 0.1

// leaveJoint returns what the other rows tell of row i, of weight copies of the row, by the importance weights 1/p(y|f,
// θ)^weight; slopes are those of f of the row along the axes.
func (l *Leaver) leaveJoint(rows *Rows, i int, weight float64, slopes []float64) left {
	j := l.joint
	mean, variance := rows.dist.Latent(i)
	explained, share := 0.0, 1.0 // the variance along the axes, and how much of the slopes is taken
	for k, slope := range slopes {
		explained += slope * slope * j.SD[k] * j.SD[k]
	}
	if most := (1 - leastShare) * variance; explained > most {
		explained, share = most, math.Sqrt(most/explained)
	}
	f := slices.Repeat([]float64{mean}, jointDraws)
	kernel.Axpy(math.Sqrt(variance-explained), j.unit, f)
	for k, slope := range slopes {
		kernel.Axpy(share*slope, j.Moved[k], f)
	}
	y, logs := rows.batch.Target[i], make([]float64, jointDraws)
	for s := range f {
		logs[s] = rows.batch.LikelihoodOf(j.Likelihoods[s], i).LogDensity(y, f[s])
	}
	out := l.without(logs, f, y, weight, func(s int) credence.Likelihood { return rows.batch.LikelihoodOf(j.Likelihoods[s], i) })
	if out.k <= diagnose.LimitK || weight != 1 {
		return out
	}
	if left, ok := l.leaveByCavities(rows, i, func(s int) (float64, float64) {
		centre := mean
		for k, slope := range slopes {
			centre += share * slope * j.Moved[k][s]
		}
		return centre, (variance - explained) * j.width[s]
	}); ok && left.k < out.k {
		return left
	}
	return out
}

// pitDraws is the number of draws that the distribution function of a row given the others is an average over: it costs
// more than the density does.
const pitDraws = 500

// without returns what the other rows tell of a row from its log densities under draws of f from the posterior of all
// rows, of which weight are copies of it.
func (l *Leaver) without(logs, f []float64, y, weight float64, family func(s int) credence.Likelihood) (out left) {
	ratios := make([]float64, len(logs))
	for s, v := range logs {
		ratios[s] = -weight * v
	}
	if out.k = diagnose.Smooth(ratios); math.IsNaN(out.k) {
		out.k = 0
	}
	kernel.Axpy(1, ratios, logs)
	largest := diagnose.LogMean(ratios)
	out.logDensity, out.removed = diagnose.LogMean(logs)-largest, largest
	if weight == 1 { // the mean of p/p is 1, whatever smoothing makes of it
		out.removed = -out.logDensity
	}
	if !l.pit {
		return out
	}
	sum := 0.0
	for s := 0; s < len(f); s += max(1, len(f)/pitDraws) {
		cumulative, ok := family(s).(likelihood.Cumulative)
		if !ok {
			out.below, out.upTo = math.NaN(), math.NaN()
			return out
		}
		share := math.Exp(ratios[s] - largest)
		sum += share
		upTo := cumulative.CDF(y, f[s])
		out.upTo += share * upTo
		if l.discrete {
			upTo = math.Max(0, upTo-math.Exp(logs[s]-ratios[s]))
		}
		out.below += share * upTo
	}
	out.below, out.upTo = out.below/sum, out.upTo/sum
	return out
}

// leaveByDraws is leaveJoint of f ~ N(mean, variance) alone.
func (l *Leaver) leaveByDraws(family credence.Predictive, y, weight, mean, variance float64) left {
	count := len(l.unit)
	f := make([]float64, count)
	for s := range f {
		f[s] = mean + math.Sqrt(variance)*l.unit[s]
	}
	logs := slices.Clone(f)
	likelihood.LogDensities(family, logs, y, logs)
	return l.without(logs, f, y, weight, func(int) credence.Likelihood { return family })
}
