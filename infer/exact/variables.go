package exact

import (
	"context"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/param"
)

// Bounds and starts of the climb. They come from a study of evidence
// optimisation on the UCI regression sets: noise that starts below a tenth of the
// target's variance ends in bad maxima, and data without noise drive it to zero.
const (
	startNoise   = 0.1  // of the target's variance
	noiseFloor   = 1e-6 // of the target's variance
	noiseCeiling = 1e3
	priorAbove   = 12.0 // of log λ, above its reference
	priorBelow   = 24.0 // below, where a block that explains nothing goes
	maxLogStep   = 1.0  // largest change of a logarithm in one iteration
)

// variable is a coordinate of the climb: the logarithm of a value.
type variable struct {
	name         string
	value        func(p *point) *float64
	slope        func(s *slopes) float64
	lower, upper float64 // of the logarithm
	curvature    float64 // guess of the second derivative of −evidence
	prior        hyper.Prior
	// unit is the coordinate of the prior and of integration over the logarithm: ½ for a variance,
	// whose coordinate is the logarithm of the standard deviation.
	unit   float64
	hung   bool    // the prior's scale is multiplied by the common one
	common bool    // it is the common scale
	own    bool    // of the features
	plain  bool    // it has no unit: a correlation
	step   float64 // of differences, in their usual one; 0 means 1
	group  int     // whose prior variance it is, or -1
	hyper  int     // which of the features' hyper-parameters it is, where it is their own
}

// Starts of the climb under priors: the noise and what each block explains, as standard deviations in
// units of the target's; and where blocks begin a second time, above the scale of their prior.
const (
	beginNoise = 0.7
	beginBlock = 0.5
	againBlock = 2 // of the logarithm
)

// referenceVariance is the variance of the target in units, or for a constant
// target its square, so that it is positive.
func referenceVariance(f form) float64 {
	if v := f.base().summary.variance(); v > 0 {
		return v
	}
	if v := secondMoment(f); v > 0 {
		return v
	}
	return 1
}

// referenceNoise is the noise variance of a row of precision 1 where nothing is explained.
func referenceNoise(f form) float64 {
	s := f.base().summary
	return referenceVariance(f) * (s.precise / s.weight)
}

// measure finds what priors are in units of for the rows of a form, whose features have been loaded. s² is 1 in the
// target's own unit where the target does not vary.
func (e *Engine) measure(ctx context.Context, f form) (err error) {
	b := f.base()
	v := b.summary.variance()
	if !e.intercept {
		v = secondMoment(f)
	}
	if v == 0 {
		v = math.Max(1e-280, math.Min(1/b.summary.units.Scale/b.summary.units.Scale, 1e280))
	}
	sums := problem.Sums{Weight: b.summary.weight, Square: b.summary.precise, Totals: b.totals, Squares: b.squares, Latent: &problem.Latent{Square: v}}
	if problem.Moving(e.groups) {
		if sums.Squares, err = b.rows.MeanSquares(ctx, b.ws, e.model.Features); err != nil {
			return err
		}
		kernel.Scale(sums.Square, sums.Squares)
	}
	b.scales = sums.Scales(e.model, e.groups)
	for k, g := range e.groups {
		if g.Unit && g.Count == g.Of {
			b.scales.C[k] = 1 // without the rounding of sums
		}
	}
	return nil
}

// priorOr returns the prior of a coordinate, or none where priors are left out.
func (e *Engine) priorOr(p hyper.Prior) hyper.Prior {
	if e.priors() {
		return p
	}
	return hyper.Flat{}
}

// secondMoment is E y² of the uncentred target in units.
func secondMoment(f form) float64 {
	s := f.base().summary
	mean := s.sum/s.precise + s.units.Centre/s.units.Scale
	return s.variance() + mean*mean
}

// references returns for every group the prior variance at which its block alone
// would explain the target's variance, given the sizes of its features: 1/d for the
// d standardised columns of a linear block and 1 for random Fourier features, in
// terms of the target's variance. It makes start and bounds follow any
// scaling of the columns. An intercept's is the one that it has.
func (e *Engine) references(f form) []float64 {
	weight, squares := f.base().summary.precise, f.base().squares
	variance := referenceVariance(f)
	out := make([]float64, len(e.groups))
	for k, g := range e.groups {
		if g.Intercept {
			out[k] = f.base().scales.Intercept.Variance
			continue
		}
		total := 0.0
		for j := g.First; j < g.End(); j += g.Step() {
			size := squares[j]
			if deviation := f.base().deviation; deviation != nil {
				size *= deviation[j] * deviation[j]
			}
			total += size
		}
		total *= float64(g.Of) / float64(g.Count)
		out[k] = variance
		if total > 0 {
			out[k] = variance / (total / weight)
		}
	}
	return out
}

// variables sets the values that current starts from and returns those to be learned.
func (e *Engine) variables(f form, current *point, t ascent, floor float64, references, fine []float64) []variable {
	weight := f.base().summary.weight
	own := func(v float64) float64 { return v / current.unit / current.unit }
	var list []variable

	noise := e.likelihood.NoiseVariance.State
	current.noise = startNoise * referenceNoise(f)
	scales := f.base().scales
	scale, noiseScale, spreads := math.Sqrt(scales.Square), scales.Noise, scales.C
	current.common = scale * scale / float64(len(e.groups))
	if t.noiseFactor > 0 {
		current.noise *= t.noiseFactor
	}
	if noise != param.Learned {
		current.noise = own(e.likelihood.NoiseVariance.Value)
	}
	current.prior = append(append([]float64(nil), references...), e.odds...)
	if e.priors() && !e.tuned && noise == param.Learned {
		current.noise = beginNoise * beginNoise * noiseScale * noiseScale
	}
	for k, g := range e.groups {
		switch {
		case g.Stated.State != param.Learned && !g.Intercept:
			current.prior[k] = own(g.Stated.Value)
		case e.priors() && g.Learned && spreads[k] == 0:
			current.prior[k] = scale * scale
		case e.priors() && g.Learned && t.again:
			current.prior[k] = scale * scale / (spreads[k] * spreads[k]) * math.Exp(2*againBlock)
		case e.priors() && g.Learned && !e.tuned:
			current.prior[k] = beginBlock * beginBlock * scale * scale / (spreads[k] * spreads[k])
		}
	}
	if t.before != nil {
		moved := t.before.in(current.unit, len(e.groups))
		current.values, current.hyper = moved.values, moved.hyper
		if e.intercept {
			current.prior[0] = references[0]
		}
	}
	if noise != param.Held {
		list = append(list, variable{
			name: "noise_variance", value: func(p *point) *float64 { return &p.noise }, slope: func(s *slopes) float64 { return s.noise },
			lower: math.Log(floor), upper: math.Log(noiseCeiling * math.Max(referenceNoise(f), secondMoment(f))), curvature: weight / 2, group: -1,
			prior: e.priorOr(hyper.HalfCauchy(noiseScale)), unit: 0.5,
		})
	}
	hung := 0
	for k, g := range e.groups {
		if !g.Learned || e.priors() && spreads[k] == 0 {
			continue
		}
		hangs := e.priors() && e.prior.ARD && !g.Covaried
		scaled := hyper.BetaPrime{A: 1, B: 0.5, Scale: scale / spreads[k]}
		if hangs {
			hung++
			scaled = hyper.HalfCauchy(1 / spreads[k])
		}
		list = append(list, variable{
			name: "prior_variance." + g.Name, value: func(p *point) *float64 { return &p.prior[k] }, slope: func(s *slopes) float64 { return s.prior[k] },
			lower: math.Log(references[k]) - priorBelow, upper: math.Log(fine[k]) + priorAbove,
			curvature: math.Max(1, math.Min(weight, float64(g.Count))) / 2, group: k,
			prior: e.priorOr(scaled), unit: 0.5, hung: hangs,
		})
	}
	list = append(list, e.correlations()...)
	if hung > 0 {
		list = append(list, variable{
			name: commonName, value: func(p *point) *float64 { return &p.common }, slope: func(*slopes) float64 { return 0 },
			lower: math.Log(current.common) - 2*priorBelow, upper: math.Log(current.common) + 2*priorAbove, curvature: float64(hung) / 4, group: -1,
			prior: hyper.HalfCauchy(scale / math.Sqrt(float64(hung))), unit: 0.5, common: true,
		})
	}
	if !t.tune && !e.apart {
		return list
	}
	for h, info := range t.features.(credence.Tunable).Hyper() {
		if info.Held {
			continue
		}
		v := variable{
			name: info.Name, value: func(p *point) *float64 { return &p.hyper[h] }, slope: func(s *slopes) float64 { return s.hyper[h] },
			curvature: weight / 8, group: -1, prior: hyper.Flat{}, unit: 1, own: true, hyper: h,
		}
		if e.apart { // as that of a block's variance: rows know the lengthscale by the weights
			v.curvature = 2
		}
		if info.Step > 0 {
			v.step, v.curvature = info.Step, v.curvature/(info.Step*info.Step)
		}
		v.lower, v.upper = problem.LogBounds(info)
		if info.PriorSD > 0 {
			v.prior = hyper.Normal{Mean: info.PriorMean, SD: info.PriorSD}
			v.curvature += 1 / (info.PriorSD * info.PriorSD)
		}
		list = append(list, v)
	}
	return list
}

// Columns of a block that are not scaled may differ by orders of magnitude, or vary little about a
// large mean. The variance at which their weights together would explain the target is then that of
// the largest column, at which the others explain nothing, and a climb from there may never find
// what they do. So such a block begins where the evidence is largest among beginSteps variances
// between that one and the one by its finest column.
const beginSteps = 8

// fine returns for every group the prior variance at which its column that varies least would explain
// the target's variance if all were like it, where that is problem.MixedRatio times its reference, and
// elsewhere the reference itself. Blocks with hyper-parameters are left out: their
// features are of one size by construction.
func (e *Engine) fine(f form, references []float64) []float64 {
	squares, weight := f.base().squares, f.base().summary.precise
	means := f.base().means
	out := append([]float64(nil), references...)
	for k, g := range e.groups {
		if g.Intercept || g.Tuned {
			continue
		}
		least := math.Inf(1)
		for j := g.First; j < g.End(); j += g.Step() {
			variance := squares[j] / weight
			if means != nil {
				variance -= means[j] * means[j]
			}
			least = math.Min(least, problem.Size(squares[j]/weight, variance))
		}
		if v := referenceVariance(f) / (float64(g.Of) * least); v > problem.MixedRatio*references[k] && !math.IsInf(v, 1) {
			out[k] = v
		}
	}
	return out
}

// begin moves the prior variances of mixed blocks, one after the other, to where the evidence is largest.
func (e *Engine) begin(ctx context.Context, f form, current *point, references, fine []float64) error {
	for k := range e.groups {
		if fine[k] <= references[k] || e.groups[k].Stated.State != param.Learned {
			continue
		}
		if e.groups[k].Count == 1 { // a column of its own
			current.prior[k] = fine[k]
			continue
		}
		best, bestEvidence := current.prior[k], math.Inf(-1)
		for step := range beginSteps {
			share := float64(step) / (beginSteps - 1)
			current.prior[k] = references[k] * math.Pow(fine[k]/references[k], share)
			evidence, err := f.evaluate(ctx, &current.values, nil)
			if err != nil {
				return err
			}
			if evidence > bestEvidence { // false for NaN
				best, bestEvidence = current.prior[k], evidence
			}
		}
		current.prior[k] = best
	}
	return nil
}

// correlations returns the variables of correlations that are learned.
func (e *Engine) correlations() (list []variable) {
	place := len(e.groups)
	for _, t := range e.together {
		for r := range t.K {
			for c := range r {
				i := place
				if place++; !t.Learned {
					continue
				}
				list = append(list, variable{
					name: t.PairName(r, c), value: func(p *point) *float64 { return &p.prior[i] }, slope: func(s *slopes) float64 { return s.prior[i] },
					lower: -problem.LongestOdds, upper: problem.LongestOdds, curvature: math.Max(1, float64(t.Levels)) / 4, group: -1, plain: true,
					prior: e.priorOr(hyper.LKJ(t.K, c)), unit: 0.5,
				})
			}
		}
	}
	return list
}
