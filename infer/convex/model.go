package convex

import (
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/prior"
)

// storedDraws is the number of draws that a posterior of many weights is kept in.
const storedDraws = 100

// setSystem makes the system and the sites at the learned values, going on from where the loop was.
func (f *fit) setSystem() {
	noise := f.noise()
	normal := make([]float64, f.d) // prior precisions times σ²
	y := make([]float64, f.d)
	if f.first == 1 {
		normal[0] = noise / (f.interceptSD * f.interceptSD)
		y[0] = math.Sqrt(normal[0]) * f.interceptMean
	}
	for k, g := range f.groups[f.first:] {
		for j := g.First; j < g.End() && !f.heavy(); j++ {
			normal[j] = noise * math.Exp(-2*f.logPrior[k])
		}
	}
	roots := make(linop.Diagonal, f.d)
	for j, v := range normal {
		roots[j] = math.Sqrt(v)
	}
	var groups []Group
	var b []linop.Matrix
	m := measured{x: roots, y: y, noise: noise}
	if f.classes {
		shift := make([]float64, f.n)
		for i, t := range f.rows.Target {
			shift[i] = t - 0.5
		}
		m.offset = f.rows.Offset
		groups, b = append(groups, Group{Count: f.n, Potential: Logistic{1}, Shift: shift, Copies: f.rows.Weight}), append(b, f.table)
	} else {
		m.x, m.y = linop.NewStack(f.table, roots), append(slices.Clone(f.target), y...)
	}
	if f.heavy() {
		places := make([]int, f.d-f.first)
		for k := range places {
			places[k] = f.first + k
		}
		b = append(b, &linop.Selection{Cols: f.d, Places: places})
		for k, g := range f.groups[f.first:] {
			groups = append(groups, Group{Count: g.Count, Potential: f.potential(f.logPrior[k], noise)})
		}
	} else if !f.classes {
		// Everything is normal: a row of no weight stands for the sites.
		b, groups = append(b, &linop.Selection{Cols: f.d}), nil
	}
	m.b = linop.NewStack(b...)
	count, _ := checkGroups(groups)
	before := f.loop
	products := &free{measured: m, ws: f.ws, seed: f.config.Seed, several: f.config.Steps != 1 && f.config.Start == nil}
	f.system = products.by(f.way, f.config.K, storedDraws)
	if f.exact != nil {
		f.exact.take(m, normal)
		if lanczos, ok := f.system.(*lanczos); ok {
			f.system = &lanczosFactored{f.exact, lanczos}
		} else {
			f.system = f.exact
		}
	} else {
		t := &freeTable{products, beside{f.table, f.classes, normal, f.first}}
		t.near = t.preconditioner
		if f.free != nil {
			t.products, t.steps, t.last, t.thin = f.free.products, f.free.steps, f.free.last, f.free.thin
		} else if f.way == Sampled && f.classes {
			t.thin = newThin(f.table)
		}
		if t.thin != nil {
			t.thin.take(t, f.heavy())
		}
		f.free = products
	}
	f.loop = newLoop(f.ws, f.system, groups, count, noise)
	switch {
	case before != nil:
		copy(f.loop.u, before.u)
		copy(f.loop.z, before.z)
		f.loop.newton, f.loop.phi, f.loop.rough = before.newton, before.phi, false
	case f.config.Start != nil:
		f.loop.rough = false
		f.goOn(f.config.Start.Members[0].Posterior)
	case f.first == 1:
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
	if f.heavy() {
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
