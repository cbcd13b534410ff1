package convex

import (
	"math"

	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
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
	f.table = &columns{ws: f.ws, phi: &f.phi}
	totals, squares, weights := make([]float64, f.d), make([]float64, f.d), make([]float64, f.n)
	for i := range weights {
		weights[i] = at(f.weight, i, 1)
	}
	f.phi.AddMulTrans(f.ws, totals, weights)
	f.phi.AddMulSquaresTrans(f.ws, squares, weights)
	if f.groups[0].Intercept {
		f.first = 1
		f.table.means = problem.Means(f.groups, totals, f.total)
		f.table.means[0] = 0
	}
	for i, y := range f.target {
		f.targetMean += weights[i] / f.total * y
	}
	for i, y := range f.target {
		f.targetSD += weights[i] / f.total * (y - f.targetMean) * (y - f.targetMean)
	}
	f.targetSD = math.Sqrt(f.targetSD)
	_, f.classes = f.model.Likelihood.(likelihood.Bernoulli)
	tail := 0.5
	if f.classes {
		ones := 0.5
		for i, y := range f.target {
			ones += weights[i] * y
		}
		f.latent, tail = likelihood.LatentScale(likelihood.Bernoulli{}), likelihood.PriorTail(likelihood.Bernoulli{})
		f.interceptMean = special.Logit(ones / (f.total + 1))
	} else {
		f.unitsOf(weights)
	}
	f.interceptSD = problem.InterceptSpread * f.latent
	spreads := problem.Spreads(f.groups, squares, f.table.means, f.total)
	for k, g := range f.groups[f.first:] {
		size := spreads[f.first+k]
		if !(size > 0) {
			size = 1
		}
		f.take(f.latent/size, tail, g)
	}
}

// unitsOf puts normal targets in units of their standard deviation about their mean.
func (f *fit) unitsOf(weights []float64) {
	mean, square := 0.0, 0.0
	for i, y := range f.target {
		mean += weights[i] / f.total * (y - at(f.offset, i, 0))
	}
	if f.first == 0 {
		mean = 0
	}
	for i, y := range f.target {
		gap := y - at(f.offset, i, 0) - mean
		square += weights[i] / f.total * gap * gap
	}
	if f.centre = mean; square > 0 {
		f.scale = math.Sqrt(square)
	}
	if f.weight != nil {
		f.table.roots = make([]float64, f.n)
		for i, w := range weights {
			f.table.roots[i] = math.Sqrt(w)
		}
	}
	noise := f.model.Likelihood.(likelihood.Gaussian).NoiseVariance
	f.logNoise, f.noisePrior = math.Log(0.7), hyper.HalfCauchy(1)
	if noise.State != param.Learned {
		f.logNoise = math.Log(noise.Value)/2 - math.Log(f.scale)
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
		start = math.Log(stated.Value) - math.Log(f.scale)
		if _, normal := f.model.Prior.(prior.Normal); normal {
			start = math.Log(stated.Value)/2 - math.Log(f.scale)
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

// heavy says whether weights are sites of their own.
func (f *fit) heavy() bool { _, normal := f.model.Prior.(prior.Normal); return !normal }

// noise is σ² in units, 1 for classes.
func (f *fit) noise() float64 {
	if f.classes {
		return 1
	}
	return math.Exp(2 * f.logNoise)
}
