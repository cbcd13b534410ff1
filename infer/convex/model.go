package convex

import (
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/prior"
)

// storedDraws is the number of draws that a posterior of many weights is kept in.
const storedDraws = 100

// setSystem takes system and sites to the learned values, going on from where the loop was.
func (f *fit) setSystem() {
	noise, y := f.noise(), make([]float64, f.d)
	f.normal = make([]float64, f.d)
	if f.first == 1 {
		f.normal[0] = noise / (f.interceptSD * f.interceptSD)
		y[0] = math.Sqrt(f.normal[0]) * f.interceptMean
	}
	var groups []Group
	if f.classes {
		shift := make([]float64, f.n)
		for i, t := range f.rows.Target {
			shift[i] = t - 0.5
		}
		groups = append(groups, Group{Count: f.n, Potential: Logistic{1}, Shift: shift, Copies: f.rows.Weight})
	}
	for k, g := range f.groups[f.first:] {
		if f.heavy {
			groups = append(groups, Group{Count: g.Count, Potential: f.potential(f.logPrior[k], noise)})
			continue
		}
		for j := g.First; j < g.End(); j++ {
			f.normal[j] = noise * math.Exp(-2*f.logPrior[k])
		}
	}
	*f.measured = f.operators()
	f.measured.y, f.measured.noise = append(slices.Clone(f.target), y...), noise
	if f.classes {
		f.measured.offset = f.rows.Offset
	}
	if f.free != nil && f.free.thin != nil {
		f.free.thin.take(f.free)
	}
	if f.loop != nil {
		f.loop.groups, f.loop.noise, f.loop.factored = groups, noise, false
		return
	}
	count, _ := checkGroups(groups)
	f.loop = newLoop(f.ws, f.system, groups, count, noise)
	if f.config.Start != nil {
		f.loop.rough = false
		f.goOn(f.config.Start.Members[0].Posterior)
	} else if f.first == 1 {
		f.loop.u[0] = f.interceptMean
	}
}

// goOn starts from the means and the variances that a posterior has of the weights and of the rows' f.
func (f *fit) goOn(q credence.Posterior) {
	variance, unit := make([]float64, f.d), 1/(f.noise()*f.units.Scale*f.units.Scale)
	u := f.loop.u
	q.Marginals(u, variance)
	if f.first == 1 {
		u[0] -= f.units.Centre
		for j, mean := range f.table.means {
			u[0] += mean * u[j] // the intercept's own mean is 0
		}
	}
	kernel.Scale(1/f.units.Scale, u)
	rows := 0
	if f.classes {
		rows = f.n
		q.Latent(f.ws, make([]float64, f.n), f.loop.z[:rows], &f.rows.Design)
	}
	if f.heavy {
		copy(f.loop.z[rows:], variance[f.first:])
	}
	kernel.Scale(unit, f.loop.z)
}

// potential is that of a weight at a scale, the noise being σ².
func (f *fit) potential(logScale, noise float64) Potential {
	scale := math.Exp(logScale)
	if p, ok := f.model.Prior.(prior.StudentT); ok {
		return StudentT{Rate: noise / (scale * scale), DF: p.Degrees()}
	}
	return Laplace{Rate: math.Sqrt(noise) / scale}
}
