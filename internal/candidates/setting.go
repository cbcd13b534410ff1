package candidates

import (
	"cmp"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/hyper"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
)

// Coordinate is an unconstrained number that may be learned.
type Coordinate struct {
	Start   float64
	Learned bool
}

// Setting is what engines begin with: units, and priors of what is learned. Normal targets are in
// units of their standard deviation about their mean.
type Setting struct {
	Candidates []Candidate
	own        []float64   // stated prior log odds by column, NaN where there are none; nil for none at all
	Shared     int         // candidates without odds of their own, of which π is the probability
	Kept       []float64   // prior variance of columns that are always in, in units; 0 for candidates
	KeptMean   []float64   // and prior mean
	KeptBlocks []KeptBlock // of which the prior variance is learned
	Classes    bool
	Link       likelihood.Link // of classes
	scale      float64         // of the units
	Target     []float64       // normal: in units, times the roots of the weights; classes: 0 and 1

	// Rest is what is left of Σ target² once the rows are compressed; see [Table.Compress].
	Rest float64

	Noise Coordinate // log σ; not learned for classes
	Slab  Coordinate // log √r₁
	Odds  Coordinate // logit π

	Size     float64 // mean over the candidates of the mean square of a column
	Expected float64 // candidates that are in before anything is known

	NoisePrior, SlabPrior hyper.BetaPrime
	OddsA, OddsB          float64 // of the Beta prior of π
}

// expectedCandidates is how many of them are taken to be in the model before anything is known.
const expectedCandidates = 20

// Sparse is the Beta prior of π of normal targets: a tenth of the candidates are expected to be in. Under a flat prior
// noise has half of them in at next to no weight, wherever the rows do not tell. [Flat] is that of engines that find
// one mode.
var Sparse, Flat = [2]float64{1, 9}, [2]float64{1, 1}

// NewSetting returns the setting of a model with normal targets, or classes with the link logit or
// probit; slab and inclusion are those of a spike-and-slab prior, odds the Beta prior of π of normal targets where none
// is stated. Without together every column is a candidate of its own, those of groups too, and priors are of columns.
// engine stands before errors.
func (t *Table) NewSetting(engine string, model credence.Model, odds [2]float64, together bool) (*Setting, error) {
	d := t.Count()
	s := &Setting{Kept: make([]float64, d), KeptMean: make([]float64, d), scale: t.Units.Scale}
	for _, b := range ability.Candidates(model.Features, together) {
		s.Candidates = append(s.Candidates, Candidate{b.First, b.Count})
	}
	if len(s.Candidates) == 0 {
		return nil, fmt.Errorf("%s: the model has no columns to select from: name some in the formula", engine)
	}
	latent, tail := math.Sqrt(t.scales.Square)/t.Units.Scale, likelihood.PriorTail(model.Likelihood)
	s.OddsA, s.OddsB = odds[0], odds[1]
	switch l := model.Likelihood.(type) {
	case likelihood.Gaussian:
		s.Target = t.Units.Targets(t.Held, t.Unit())
		// below rounding
		if l.NoiseVariance.State != param.Held && (kernel.Dot(s.Target, s.Target) == 0 || t.Units.Scale < 1e-13*math.Abs(t.Units.Centre)) {
			return nil, fmt.Errorf("%s: the target does not vary, and there is nothing to select for: name another target, or multiply it where its values differ by less than 1e-150", engine)
		}
		s.Noise = Coordinate{math.Log(0.5) / 2, l.NoiseVariance.State != param.Held} // high: half of the variance
		if l.NoiseVariance.State != param.Learned {
			s.Noise.Start = math.Log(l.NoiseVariance.Value)/2 - math.Log(t.Units.Noise)
		}
		if s.Noise.Learned {
			s.Noise.Start = math.Max(s.Noise.Start, hyper.LeastLogNoise)
		}
	case likelihood.Bernoulli:
		s.Classes, s.Link, s.Target = true, cmp.Or(l.Link, likelihood.Logit), t.Held.Target
		// With a flat prior the maximum for weak data is π = 0.
		if s.OddsB = 4; len(s.Candidates) >= 200 {
			s.OddsA, s.OddsB = 3, 99
		}
	default:
		return nil, fmt.Errorf("%s: likelihood %v is neither gaussian nor bernoulli", engine, l)
	}
	if at := t.scales.Intercept; at != nil {
		s.Kept[0], s.KeptMean[0] = at.Variance/(s.scale*s.scale), (at.Mean-t.Units.Centre)/s.scale
	}
	squares := make([]float64, d)
	t.Squares(squares, nil)
	s.takeKept(t, model.Features, latent, tail)
	s.takeSize(t, squares)
	if p, ok := model.Prior.(prior.SpikeSlab); ok {
		if err := s.takePrior(t, p, latent, tail); err != nil {
			return nil, fmt.Errorf("%s: %w", engine, err)
		}
	}
	return s, nil
}

// Compress replaces the n rows of normal targets by as many as there are columns, where those are
// fewer: with XᵀX = RᵀR, R takes the place of X and R⁻ᵀXᵀy that of y. Every likelihood of normal rows
// with one noise variance is as it was, but for the constants that Setting.Rest and Table.Total keep.
func (t *Table) Compress(ws *credence.Workspace, s *Setting) {
	d := t.Count()
	if s.Classes || t.Rows <= d {
		return
	}
	products, y := make([]float64, d*d), make([]float64, d)
	t.Products(ws, products, nil)
	t.MulTrans(ws, y, s.Target)
	upper := make([]float64, d*d)
	for jitter := 1e-13; ; jitter *= 10 { // equal columns have a product that is not of full rank
		copy(upper, products)
		for j := range d {
			upper[j*d+j] += jitter * (products[j*d+j] + 1e-300)
		}
		if _, ok := ws.Pool().Cholesky(d, upper, d); ok {
			break
		}
		if jitter > 1e-3 {
			return
		}
	}
	ws.Pool().TrsmLeft(true, d, 1, upper, d, y, 1)
	s.Rest = math.Max(0, kernel.Dot(s.Target, s.Target)-kernel.Dot(y, y))
	columns := linop.NewDense(d, d)
	for j := range d {
		for i := range j + 1 {
			columns.Row(j)[i] = upper[i*d+j]
		}
	}
	t.Columns = t.With(columns, t.Means, t.Intercept)
	s.Target = y
}

// takeSize takes what priors of candidates are in units of, and the prior of the noise.
func (s *Setting) takeSize(t *Table, squares []float64) {
	count := float64(len(s.Candidates))
	for j, v := range squares {
		if s.Kept[j] == 0 {
			s.Size += v / t.Total / count
		}
	}
	if !(s.Size > 0) {
		s.Size = 1
	}
	s.Expected = math.Min(expectedCandidates, count/2)
	s.NoisePrior = hyper.HalfCauchy(1)
}

// takePrior takes the priors of slab and inclusion and where they start.
func (s *Setting) takePrior(t *Table, p prior.SpikeSlab, latent, tail float64) error {
	if err := s.takeOdds(t, p.Odds); err != nil {
		return err
	}
	expected, count := s.Expected, float64(len(s.Candidates))
	if before := s.OddsA / (s.OddsA + s.OddsB) * count; s.Classes { // whose prior of π says more
		expected = math.Max(expected, before)
	} else {
		expected = math.Min(expected, before)
	}
	if p.Inclusion.State != param.Learned {
		expected = p.Inclusion.Value * count
	}
	if a, b := p.InclusionPrior[0], p.InclusionPrior[1]; a > 0 {
		s.OddsA, s.OddsB = a, b
		expected = a / (a + b) * count
	}
	s.SlabPrior = hyper.BetaPrime{A: 1, B: tail, Scale: latent / math.Sqrt(s.Size*math.Max(1, expected))}
	s.Slab = Coordinate{math.Log(s.SlabPrior.Scale), p.Slab.State != param.Held}
	if p.Slab.State != param.Learned {
		s.Slab.Start = math.Log(p.Slab.Value)/2 - math.Log(s.scale)
	}
	s.Odds = Coordinate{special.Logit(math.Min(0.5, math.Max(expected, 0.5)/count)), p.Inclusion.State != param.Held}
	if p.Inclusion.State != param.Learned {
		s.Odds.Start = special.Logit(p.Inclusion.Value)
	}
	if s.Shared == 0 {
		s.Odds.Learned = false
	}
	return nil
}

// takeOdds takes the candidates' own prior odds.
func (s *Setting) takeOdds(t *Table, odds []float64) error {
	if s.Shared = len(s.Candidates); len(odds) == 0 {
		return nil
	}
	if len(odds) != t.Count() {
		return fmt.Errorf("there are prior odds of %d weights, and the model has %d", len(odds), t.Count())
	}
	s.own = make([]float64, t.Count())
	for j, v := range odds {
		if s.own[j] = math.NaN(); v > 0 {
			s.own[j] = math.Log(v)
		}
	}
	s.Shared = 0
	for _, c := range s.Candidates {
		if _, own := s.OddsOf(c.First, 0); !own {
			s.Shared++
		}
	}
	return nil
}

// OddsOf returns the prior log odds of the candidate with first column j, where those of the others are
// shared; own says that they are its own.
func (s *Setting) OddsOf(j int, shared float64) (odds float64, own bool) {
	if s.own == nil || math.IsNaN(s.own[j]) {
		return shared, false
	}
	return s.own[j], true
}

// Supports says why an engine for spike-and-slab priors cannot fit a pair, nil if it can. engine
// stands before errors.
func Supports(engine string, l credence.Likelihood, p credence.Prior) error {
	if err := Family(engine, l); err != nil {
		return err
	}
	s, ok := p.(prior.SpikeSlab)
	if !ok {
		return fmt.Errorf("%s: it needs the prior spikeslab, not %v", engine, p)
	}
	return s.Validate()
}

// Family is Supports of the family alone.
func Family(engine string, l credence.Likelihood) error {
	switch l := l.(type) {
	case likelihood.Gaussian:
		if err := l.Validate(); err != nil {
			return err
		}
	case likelihood.Bernoulli:
		if l.Link == likelihood.Cloglog {
			return fmt.Errorf("%s: it needs the link logit or probit, not %v", engine, l.Link)
		}
	default:
		return fmt.Errorf("%s: it needs the family gaussian or bernoulli, not %v", engine, l)
	}
	return nil
}

// PointSpike is Supports for an engine whose spike is the point 0.
func PointSpike(engine string, l credence.Likelihood, p credence.Prior) error {
	if err := Supports(engine, l, p); err != nil {
		return err
	}
	if v := p.(prior.SpikeSlab).Spike.Value; v > 0 {
		return fmt.Errorf("%s: its spike is the point 0, not a variance of %v: leave spike out, or use engine laplace", engine, v)
	}
	return nil
}

// Check refuses a model without features, a pair that the engine does not support, and options that
// make no sense.
func Check(model credence.Model, engine string, supports func(credence.Likelihood, credence.Prior) error, options error) error {
	if model.Features == nil {
		return fmt.Errorf("%s: the model has no features", engine)
	}
	if err := supports(model.Likelihood, model.Prior); err != nil {
		return err
	}
	return options
}
