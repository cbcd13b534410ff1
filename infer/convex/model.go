package convex

import (
	"cmp"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

func at(values []float64, i int, otherwise float64) float64 {
	if values == nil {
		return otherwise
	}
	return values[i]
}

// begin takes units, priors and starting values.
func (f *fit) begin() {
	f.n, f.d = f.rows.Design.Dims()
	f.beside = &beside{table: &columns{ws: f.ws, phi: &f.rows.Design}}
	f.tails, f.heavy = tailsOf(f.model.Prior)
	scales := f.rows.Sums.Scales(f.model, f.groups)
	at := scales.Intercept
	if at != nil {
		f.first, f.table.means = 1, at.Columns
	}
	f.units = f.rows.Units(scales, f.table.means)
	if at != nil {
		f.interceptMean, f.interceptSD = (at.Mean-f.units.Centre)/f.units.Scale, math.Sqrt(at.Variance)/f.units.Scale
	}
	if latent := math.Sqrt(scales.Square) / f.units.Scale; f.heavy {
		c := 0.0
		for _, of := range scales.C[f.first:] {
			c = math.Hypot(c, of)
		}
		f.logPrior = make([]float64, 1)
		f.addScale(latent / cmp.Or(c, 1))
	} else {
		f.logPrior = make([]float64, len(f.groups)-f.first)
		for k := f.first; k < len(f.groups); k++ {
			f.addGroup(k, latent/cmp.Or(scales.C[k], 1))
		}
	}
	var roots []float64
	if g, ok := f.model.Likelihood.(likelihood.Gaussian); ok {
		roots, f.logNoise = f.rows.Roots(), math.Log(0.7)
		f.target = f.units.Targets(f.rows, roots)
		f.add(coordinate{prior: f.priorOr(hyper.HalfCauchy(1)), group: -1, count: f.rows.Sums.Weight, name: "noise_variance", log: 2}, &f.logNoise, g.NoiseVariance, f.units.Noise)
	} else {
		f.classes = true
	}
	f.newSystem(roots)
}

// newSystem settles how variances are found, and multiplies the rows by roots, nil for ones.
func (f *fit) newSystem(roots []float64) {
	design, small := &f.rows.Design, min(f.n, f.d) <= exactUnknowns
	way := f.config.Variances.of(small)
	factors := way == Exact || way == LanczosMethod && small
	f.measured = new(measured)
	if d := (diagonal{measured: f.measured, beside: f.beside}); factors && f.n < f.d {
		f.exact = newDual(d, problem.NewColumns(design, f.table.means, roots))
	} else if factors {
		f.exact = newExact(d)
	}
	if roots != nil {
		linop.Diagonal(roots).MulBlock(&design.Dense, &design.Dense)
		design.Sparse = design.Sparse.ScaleRows(roots)
	}
	products := &free{measured: f.measured, ws: f.ws, seed: f.config.Seed, several: f.config.Steps != 1 && f.config.Start == nil, near: f.preconditioner}
	f.system = products.by(way, f.config.K, storedDraws)
	if by, ok := f.system.(*lanczos); ok && factors {
		by.system = f.exact
	} else if factors {
		f.system = f.exact
	} else {
		f.free = products
	}
	if !factors && design.Sparse.Cols > 0 {
		byColumn := design.Sparse.Transpose()
		f.table.byColumn = &byColumn
	}
	if way == Sampled && f.classes {
		products.thin = newThin(f.beside)
	}
}

// add takes what is stated of a coordinate, in the target's own units, as value, which stays what it is where nothing
// is stated.
func (f *fit) add(c coordinate, value *float64, stated param.Parameter, unit float64) {
	if c.group >= 0 {
		c.count = float64(c.end - c.first)
	}
	if c.value = value; stated.State != param.Learned {
		*value = math.Log(stated.Value)/c.log - math.Log(unit)
	}
	if stated.State != param.Held {
		f.learned = append(f.learned, c)
	}
}

// priorOr is the prior of a coordinate, flat where the likelihood alone decides.
func (f *fit) priorOr(p hyper.Prior) hyper.Prior {
	if f.config.Hyper == param.MaximumLikelihood {
		return hyper.Flat{}
	}
	return p
}

// sizePrior is the prior of a standard deviation or scale of weights, whose starting value is half of size.
func (f *fit) sizePrior(size float64) hyper.Prior {
	return f.priorOr(hyper.BetaPrime{A: 1, B: likelihood.PriorTail(f.model.Likelihood), Scale: size})
}

// addGroup adds the prior standard deviation of a group.
func (f *fit) addGroup(k int, size float64) {
	g := f.groups[k]
	c := coordinate{prior: f.sizePrior(size), group: k, first: g.First, end: g.End(), name: "prior_variance." + g.Name, log: 2}
	stated := f.model.Prior.(prior.Normal).Variance
	if f.treatment == param.Heldout && stated.State != param.Held {
		unit := f.units.Scale * f.units.Scale
		stated = param.Hold(f.config.Start.Report.Hyper.Of(c.name, unit*math.Exp(2*f.logPrior[k-f.first])))
	}
	f.logPrior[k-f.first] = math.Log(size / 2)
	f.add(c, &f.logPrior[k-f.first], stated, f.units.Scale)
}

// addScale adds the scale of heavier tails, which all weights but the intercept have in common.
func (f *fit) addScale(size float64) {
	f.logPrior[0] = math.Log(size / 2)
	f.add(coordinate{prior: f.sizePrior(size), group: f.first, first: f.first, end: f.d, name: "prior_scale", log: 1}, &f.logPrior[0], f.tails.scale(), f.units.Scale)
}

// logScale is the logarithm of the prior standard deviation, or scale, of group k behind the intercept's.
func (f *fit) logScale(k int) float64 {
	if f.heavy {
		k = 0
	}
	return f.logPrior[k]
}

// noise is σ² in units, 1 for classes.
func (f *fit) noise() float64 {
	if f.classes {
		return 1
	}
	return math.Exp(2 * f.logNoise)
}

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
			groups = append(groups, Group{Count: g.Count, Potential: f.tails.potential(math.Exp(f.logScale(k)), noise)})
			continue
		}
		for j := g.First; j < g.End(); j++ {
			f.normal[j] = noise * math.Exp(-2*f.logScale(k))
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
