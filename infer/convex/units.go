package convex

import (
	"cmp"
	"math"

	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/hyper"
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
	_, normal := f.model.Prior.(prior.Normal)
	f.heavy = !normal
	scales := f.rows.Sums.Scales(f.model, f.groups)
	at := scales.Intercept
	if at != nil {
		f.first, f.table.means = 1, at.Columns
	}
	f.units = f.rows.Units(scales, f.table.means)
	if at != nil {
		f.interceptMean, f.interceptSD = (at.Mean-f.units.Centre)/f.units.Scale, math.Sqrt(at.Variance)/f.units.Scale
	}
	var roots []float64
	if g, ok := f.model.Likelihood.(likelihood.Gaussian); ok {
		roots = f.rows.Roots()
		f.target = f.units.Targets(f.rows, roots)
		f.setNoise(g.NoiseVariance)
	} else {
		f.classes = true
	}
	f.newSystem(roots)
	for k, g := range f.groups[f.first:] {
		f.take(math.Sqrt(scales.Square)/f.units.Scale/cmp.Or(scales.C[f.first+k], 1), likelihood.PriorTail(f.model.Likelihood), g)
	}
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
	if factors {
		if by, ok := f.system.(*lanczos); ok {
			f.system = &lanczosFactored{f.exact, by}
		} else {
			f.system = f.exact
		}
		return
	}
	f.free = products
	if design.Sparse.Cols > 0 {
		byColumn := design.Sparse.Transpose()
		f.table.byColumn = &byColumn
	}
	if way == Sampled && f.classes {
		f.free.thin = newThin(f.beside)
	}
}

func (f *fit) setNoise(noise param.Parameter) {
	f.logNoise, f.noisePrior = math.Log(0.7), hyper.HalfCauchy(1)
	if noise.State != param.Learned {
		f.logNoise = math.Log(noise.Value)/2 - math.Log(f.units.Noise)
	}
	if noise.State == param.Held {
		f.noisePrior = nil
	}
}

// take adds the scale of a block: a prior standard deviation, or the scale of heavier tails.
func (f *fit) take(size, tail float64, g problem.Group) {
	stated := f.scaleOf()
	var p hyper.Prior = hyper.BetaPrime{A: 1, B: tail, Scale: size}
	start := math.Log(size / 2)
	if f.config.Hyper == hyper.MaximumLikelihood {
		p = hyper.Flat{}
	}
	switch stated.State {
	case param.Held:
		p = nil
		fallthrough
	case param.Guess:
		start = math.Log(stated.Value) - math.Log(f.units.Scale)
		if _, normal := f.model.Prior.(prior.Normal); normal {
			start = math.Log(stated.Value)/2 - math.Log(f.units.Scale)
		}
	}
	f.logPrior, f.priors = append(f.logPrior, start), append(f.priors, p)
}

// scaleOf returns the stated variance or scale of the weights.
func (f *fit) scaleOf() param.Parameter {
	switch p := f.model.Prior.(type) {
	case prior.Normal:
		return p.Variance
	case prior.Laplace:
		return p.Scale
	case prior.StudentT:
		return p.Scale
	}
	return param.Parameter{}
}

// noise is σ² in units, 1 for classes.
func (f *fit) noise() float64 {
	if f.classes {
		return 1
	}
	return math.Exp(2 * f.logNoise)
}
