package svi

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/posterior"
)

// member is a part of the posterior with its own parameters of the likelihood, or prior variances.
type member struct {
	family    *problem.Family
	posterior credence.Posterior
	law       []float64 // prior variance of each group; nil where it is that of all
	weight    float64   // 0: all are alike
}

// moments are those of the weights in centred coordinates: their mean and covariance (in the layout), and degrees of
// freedom.
func (g *integration) moments() (mean, covariance []float64, df float64) {
	d := g.Dims
	if g.all.Outcome == hyper.Summed {
		df = hyper.MedianDF(g.all.Variance[:d], g.all.Fourth[:d])
	}
	return g.all.Mean[:d], g.all.Linear[:g.newton.Layout.Len()], df
}

// likelihoodShares is the number of values that parameters of a likelihood take in the posterior.
const likelihoodShares = 5

// certain is the standard deviation of the logarithms of such parameters (and of the first cutpoint) below
// which they are as good as known: a scale that is uncertain by so much moves a quantile by s²/2, about 0.1 %.
const certain = 0.05

// members returns the parts of the posterior: one, or with uncertain parameters of the likelihood five of
// equal weight, at quantiles of the parameter, or of several along the direction in which they are
// least certain. The weights of a part have the mean that goes with its parameters, and what is left
// of the covariance.
func (g *integration) members() []member {
	d, theta := g.Dims, g.all.Theta
	mean, covariance, df := g.moments()
	first := len(g.newton.LearnedPriors())
	count := len(g.mode.Free)
	noise, gaussian := g.mode.Family.Likelihood.(likelihood.Gaussian)
	var direction []float64
	length := 0.0
	if g.all.Outcome != hyper.Skipped && count > 0 && !gaussian {
		direction, length = g.widest(first, count)
	}
	if length < certain {
		family := g.mode.Family.At(theta[first : first+count])
		if gaussian && count > 0 && g.all.Outcome == hyper.Summed {
			value := g.all.Linear[g.newton.Layout.Len()]
			family = g.mode.Family.At([]float64{math.Log(value) / 2})
			noise = family.Likelihood.(likelihood.Gaussian)
			noise.PredictiveDF = hyper.DF(g.all.Variance[d], g.all.Fourth[d])
			family = family.With(noise)
		}
		return []member{{family: family, posterior: g.posterior(mean, covariance, df)}}
	}
	// The covariance of the weights with the parameter, in units of the parameter's spread.
	shift := make([]float64, d)
	for k := range g.theta {
		along := 0.0
		for i, v := range direction {
			along += g.top.Axes.Covariance().At(k, first+i) * v
		}
		kernel.Axpy(along/length, g.top.Slopes.Mean[k*d:(k+1)*d], shift)
	}
	left := g.without(covariance, shift)
	shared := g.posterior(mean, left, df)
	var list []member
	free, moved := make([]float64, count), make([]float64, d)
	for _, z := range quantiles(likelihoodShares) {
		copy(free, theta[first:])
		kernel.Axpy(z*length, direction, free)
		copy(moved, mean)
		kernel.Axpy(z, shift, moved)
		own := make([]float64, d)
		g.Intercept.Weights(own, moved)
		list = append(list, member{family: g.mode.Family.At(free), posterior: at(shared, own)})
	}
	return list
}

// family returns the posterior of the parameters of the likelihood along the axes of the integration; nil without any,
// and of the noise variance, for which a normal likelihood has a closed form.
func (g *integration) family() *credence.FamilyPosterior {
	first, count, d, p := len(g.newton.LearnedPriors()), len(g.mode.Free), g.Dims, len(g.theta)
	if _, gaussian := g.mode.Family.Likelihood.(likelihood.Gaussian); gaussian || count == 0 {
		return nil
	}
	root := g.top.Axes.Root()
	f := &credence.FamilyPosterior{Coordinates: g.mode.Family.Coordinates(), Mode: slices.Clone(g.top.Axes.Theta[first : first+count])}
	for i := range count {
		for k := range p {
			f.Root = append(f.Root, root.At(first+i, k))
		}
	}
	var slopes [][]float64 // of all weights, along each axis
	still, along := make([]float64, d), make([]float64, d)
	g.Intercept.Weights(still, along)
	for k := range p {
		clear(along)
		for i := range p {
			kernel.Axpy(root.At(i, k), g.top.Slopes.Mean[i*d:(i+1)*d], along)
		}
		g.Intercept.Weights(along, along)
		kernel.Axpy(-1, still, along)
		if slopes = append(slopes, slices.Clone(along)); g.few != nil {
			slopes[k] = g.few.combined(along)
		}
	}
	for j := range slopes[0] {
		for k := range p {
			f.Slopes = append(f.Slopes, slopes[k][j])
		}
	}
	f.Widths = g.widths(root)
	if g.all.Outcome == hyper.Summed {
		f.Nodes, f.Gains = g.top.Axes.Nodes(), g.all.Gains
	}
	return f
}

// widths are the slopes of log E φᵀV(θ)φ along the axes, φ of a row: the columns of a group count by their mean square,
// as if they were uncorrelated and of one size.
func (g *integration) widths(root *mat.SymDense) []float64 {
	p, d := len(g.theta), g.Dims
	list, total := make([]float64, p), 0.0
	for k, group := range g.Groups {
		square := 1.0
		if !group.Intercept {
			square = g.start.Sizes[k] * g.start.Sizes[k] / float64(group.Count)
		}
		for j := group.First; j < group.End(); j += group.Step() {
			total += square * g.top.At.Variance[j]
			for i := range p {
				for a := range p {
					list[a] += square * g.top.Slopes.Variance[i*d+j] * root.At(i, a)
				}
			}
		}
	}
	kernel.Scale(1/total, list)
	return list
}

// finish reports what was integrated.
func (g *integration) finish(o *outcome) {
	o.members, o.parameters = g.members(), g.family()
	evidence, mode := g.all.LogDensity, g.mode.Bound
	if g.quadrature != nil {
		evidence = g.all.Uncorrected
		g.report.EvidenceCorrection = new(g.all.LogDensity - evidence)
	}
	g.report.HyperEvaluations = g.evaluations
	if g.config.Approximation == Laplace {
		g.report.EvidenceEstimate = &evidence
	} else {
		g.report.ELBO, g.report.ELBOMode = &evidence, &mode
	}
	final := g.mode.Clone()
	g.newton.MoveTo(final, g.all.Theta)
	o.priors, o.law, o.family, o.common = final.Prior, g.all.Law, final.Family, g.all.Theta[len(g.all.Theta)-1]
	if len(o.members) == 1 {
		o.family = o.members[0].family
	}
	g.uncertainty()
}

// widest returns the direction in which the parameters of the likelihood are least certain, and their
// standard deviation along it.
func (g *integration) widest(first, count int) (direction []float64, length float64) {
	block := mat.NewSymDense(count, nil)
	for i := range count {
		for j := i; j < count; j++ {
			block.SetSym(i, j, g.top.Axes.Covariance().At(first+i, first+j))
		}
	}
	var eigen mat.EigenSym
	eigen.Factorize(block, true) // of a positive definite matrix
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	return mat.Col(nil, count-1, &vectors), math.Sqrt(eigen.Values(nil)[count-1])
}

// without takes shift shiftᵀ from a covariance, or as much of the shift, which it then shortens, as
// leaves nine tenths of no variance.
func (g *integration) without(covariance, shift []float64) []float64 {
	const most = 0.9
	d, share, layout := g.Dims, 0.0, g.newton.Layout
	u := append([]float64{}, covariance...)
	if g.Pattern != nil { // of C⁻¹ there is that of the mode, of which C has more
		share = g.newton.Square(g.mode.Point, shift)
	} else if _, ok := g.Workspace.Pool().Cholesky(d, u, d); ok {
		x := append([]float64{}, shift...)
		g.Workspace.Pool().TrsmLeft(true, d, 1, u, d, x, 1)
		share = kernel.Dot(x, x) // shiftᵀ C⁻¹ shift
	}
	if share > most {
		kernel.Scale(math.Sqrt(most/share), shift)
	}
	left := append([]float64{}, covariance...)
	layout.AddOuter(left, -1, shift)
	return left
}

// quantiles returns the middles of count equal shares of a standard normal distribution, stretched to
// a variance of 1.
func quantiles(count int) []float64 {
	list, square := make([]float64, count), 0.0
	for i := range list {
		list[i] = special.NormalQuantile((float64(i) + 0.5) / float64(count))
		square += list[i] * list[i] / float64(count)
	}
	kernel.Scale(1/math.Sqrt(square), list)
	return list
}

// posterior returns that of the weights for moments in centred coordinates. A covariance that sums
// have left without being positive definite loses its negative part, which is said.
func (g *integration) posterior(mean, covariance []float64, df float64) credence.Posterior {
	d, leaf, own := g.Dims, covariance, make([]float64, g.Dims)
	if g.Pattern != nil {
		d = g.Pattern.Rest()
		leaf = covariance[g.Pattern.Len()-d*d:]
	}
	factor, ok := gauss.Repair(g.Workspace.Pool(), d, leaf)
	if !ok {
		g.warn("the integration over hyper-parameters left a covariance with negative variances, which are set to nothing: state the prior variance, as in normal(variance=1), or compare with hyper=mode")
	}
	g.Intercept.Weights(own, mean)
	if g.Pattern == nil {
		g.Intercept.WeightFactor(factor)
		return &posterior.Full{Mean: own, Factor: factor, DF: df}
	}
	if !ok {
		gauss.Root(factor).Covariance(g.Workspace, leaf, d)
	}
	values := slices.Clone(covariance)
	if g.Intercept != nil {
		g.Pattern.Uncentre(values, g.Intercept.Columns)
	}
	return posterior.NewArrow(own, g.Pattern, values, df)
}

// at returns a posterior with another mean.
func at(of credence.Posterior, mean []float64) credence.Posterior {
	if full, ok := of.(*posterior.Full); ok {
		return &posterior.Full{Mean: mean, Factor: full.Factor, DF: full.DF}
	}
	arrow := of.(*posterior.Arrow)
	return &posterior.Arrow{Mean: mean, Dense: arrow.Dense, Heads: arrow.Heads, Cells: arrow.Cells, Values: arrow.Values, DF: arrow.DF}
}
