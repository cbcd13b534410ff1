// Package problem is what every algorithm of svi starts from: the model, its rows in blocks, the
// starting values, and what the likelihood expects of a row under f ~ N(mean, variance).
package problem

import (
	"context"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/arrow"
	"github.com/credence-ml/credence/internal/gauss"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// Likelihood is what svi asks of p(y|f): derivatives for starting values, and for
// f ~ N(mean, variance) the expectations of log p and their gradients, row by row.
// likelihood.Quadrature gives them to any family with derivatives.
type Likelihood interface {
	credence.Likelihood
	Derivatives(y, f float64) (value, first, second float64)
	ExpectedLogDensities(value, dMean, dVariance, y, trials, mean, variance []float64)
}

// Problem is a model and the rows that it is fitted to.
type Problem struct {
	Engine     string // stands before errors
	Workspace  *credence.Workspace
	Data       *base.Rows        // all of them
	Features   credence.Features // at the values learned so far
	Likelihood Likelihood
	Prior      prior.Normal
	Groups     []base.Group
	Dims       int // number d of weights
	Hyper      param.Treatment
	Pattern    *arrow.Pattern  // that the rows have, where weights of levels are eliminated; nil for dense matrices
	Together   []base.Together // columns that vary together by level, with a Pattern alone
	// of their partial correlations, at first; they stand behind the prior variances of groups
	Odds       []float64
	Intercept  *Intercept  // set by Start; nil without one
	Priors     *Priors     // set by Start; nil for maximum likelihood
	References []Reference // of each group, set by Start
	Asker      base.Asker  // of rows that lie apart, of which Data has some; nil where it has all
	all        *Rows
	// mean squares of the columns at the values that hyper-parameters of features start from; nil where none moves
	began []float64
}

// Measure looks at the rows for the sizes that columns begin with, where they move with what is learned.
func (p *Problem) Measure(ctx context.Context) (err error) {
	if base.Moving(p.Groups) {
		p.began, err = p.Rows(0).MeanSquares(ctx, p.Workspace, p.Features)
	}
	return err
}

// All returns all rows with the features learned so far, every time the same: they may be in memory.
func (p *Problem) All() *Rows {
	if p.all == nil {
		p.all = p.Rows(0)
	}
	return p.all
}

// SetFeatures gives the problem other features.
func (p *Problem) SetFeatures(features credence.Features) { p.Features, p.all = features, nil }

// LearnedGroups returns the groups whose prior variance is learned.
func (p *Problem) LearnedGroups() []int {
	var learned []int
	for k, g := range p.Groups {
		if g.Learned {
			learned = append(learned, k)
		}
	}
	return learned
}

// LearnedPriors returns the places of learned prior variances and odds.
func (p *Problem) LearnedPriors() []int {
	learned, at := p.LearnedGroups(), len(p.Groups)
	for _, t := range p.Together {
		for range special.Pairs(t.K) {
			if t.Learned {
				learned = append(learned, at)
			}
			at++
		}
	}
	return learned
}

// CountOf returns how many weights a prior variance is that of, or a correlation of two.
func (p *Problem) CountOf(k int) int {
	if k < len(p.Groups) {
		return p.Groups[k].Count
	}
	at := len(p.Groups)
	for _, t := range p.Together {
		if at += special.Pairs(t.K); k < at {
			return t.Levels
		}
	}
	return 0
}

// LogPrior returns the log density of weights under the prior variances of the groups. It changes the
// weights to centred coordinates, of which that of the intercept alone differs, and back.
func (p *Problem) LogPrior(w, priors []float64) float64 {
	value := 0.0
	if p.Intercept != nil {
		was := w[0]
		p.Intercept.Centre(w, w)
		defer func() { w[0] = was }()
	}
	for k, g := range p.Groups {
		sum := 0.0
		for j := g.First; j < g.End(); j += g.Step() {
			sum += w[j] * w[j]
		}
		value -= (sum/priors[k] + float64(g.Count)*math.Log(2*math.Pi*priors[k])) / 2
	}
	return value
}

// Finite says whether every number is neither infinite nor NaN.
func Finite(x ...float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// Intercept is where the intercept stands, b̃ = b0 + x̄ᵀw ~ N(Mean, Variance). In the centred coordinates (b̃ − Mean,
// w) the prior is diagonal.
type Intercept base.Intercept

// Centre stores the centred coordinates of weights in dst, which may be w. p may be nil.
func (p *Intercept) Centre(dst, w []float64) {
	copy(dst, w)
	if p != nil {
		dst[0] += kernel.Dot(p.Columns, w) - p.Mean
	}
}

// Weights stores the weights of centred coordinates in dst, which may be c.
func (p *Intercept) Weights(dst, c []float64) {
	copy(dst, c)
	if p != nil {
		dst[0] += p.Mean - kernel.Dot(p.Columns, c)
	}
}

// AddExpected returns −E (b̃ − Mean)²/2·Variance under independent weights of the given means and
// variances, and adds share times its gradients in them.
func (p *Intercept) AddExpected(dMean, dVariance, mean, variance []float64, share float64) float64 {
	gap := mean[0] + kernel.Dot(p.Columns, mean) - p.Mean
	square := gap*gap + variance[0]
	dMean[0] -= share * gap / p.Variance
	dVariance[0] -= share / (2 * p.Variance)
	for j, x := range p.Columns {
		square += x * x * variance[j]
		dMean[j] -= share * gap * x / p.Variance
		dVariance[j] -= share * x * x / (2 * p.Variance)
	}
	return -square / (2 * p.Variance)
}

// CentreSlope takes a gradient in the weights, in place, to one in the centred coordinates.
func (p *Intercept) CentreSlope(g []float64) {
	if p != nil {
		kernel.Axpy(-g[0], p.Columns, g)
	}
}

// CentreCurvature does the same to second derivatives.
func (p *Intercept) CentreCurvature(l gauss.Values, h []float64) {
	if p != nil {
		l.Centre(h, p.Columns)
	}
}

// WeightFactor takes the upper triangular factor of a covariance of centred coordinates, in place, to
// that of the weights, and returns what takes it back.
func (p *Intercept) WeightFactor(f []float64) (back func()) {
	if p == nil || f == nil {
		return func() {}
	}
	was := append([]float64{}, f[:len(p.Columns)]...)
	base.UncentreFactor(p.Columns, f)
	return func() { copy(f, was) }
}
