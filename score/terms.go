package score

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/prior"
)

// Term is a weight of a model with its posterior, in the units of the data's own column: Σ mean ×
// column = f. An ordinal model has cutpoints in the place of the intercept, "2|3" the one between grades 2 and 3:
// the cutpoint less f is the logarithm of the odds of a grade up to 2.
type Term struct {
	Block string  `json:"block"` // the block of features
	Name  string  `json:"name"`  // the column, level, product or feature
	Mean  float64 `json:"mean"`  // of the posterior, in the data's own units
	// SD is that of the posterior, there too where Intervals says that people are told none. With the ends it is NaN,
	// and absent in JSON, for learned cutpoints of a fit that did not integrate over them, and of a file of an earlier
	// version.
	SD    metric.Score `json:"sd,omitzero"`
	Lower metric.Score `json:"lower,omitzero"` // end of the central interval, which holds 90 % or --interval
	// Upper is its other end. Where the weight may be 0 they are quantiles of 0 and a normal law by its inclusion, of
	// which one is 0 where 0 is likely enough; other weights, and sums of several, are taken for normal.
	Upper metric.Score `json:"upper,omitzero"`
	// Inclusion is P(w ≠ 0) of the weight as it was fitted, of centred columns, where weights may be 0; nil
	// for intercepts and what is kept.
	Inclusion *float64 `json:"inclusion,omitempty"`
	// Base says that the weight is 0 because the other levels are told against this one.
	Base bool `json:"base,omitempty"`
	// Exp is what a unit of the column multiplies, if it was asked for.
	Exp *Factor `json:"exp,omitempty"`

	intercept bool
}

// Factor is the exponential of a weight: its median and the ends of its interval.
type Factor struct {
	Estimate float64      `json:"estimate"`
	Lower    metric.Score `json:"lower,omitzero"`
	Upper    metric.Score `json:"upper,omitzero"`
}

// TermOptions say how weights are told. The zero value is that of the command without flags.
type TermOptions struct {
	Interval float64 // probability from Lower to Upper; 0 means 0.9
	// Bases are the levels that the others of their categories are told against: see [ability.Rescaled].
	Bases []string
	// Exp adds exponentials, of a model whose weights multiply.
	Exp  bool
	Sort Order
	// Block leaves out the weights of all blocks but one: "linear", or a term as a formula writes it.
	Block string
}

// Terms returns the weights of a model, averaged over its members as far as they mean the same in all of
// them, and of the first otherwise. The standard deviation of a sum of fitted weights is that of their
// joint distribution.
func Terms(fitted *credence.Fitted, options TermOptions) ([]Term, error) {
	if fitted == nil || len(fitted.Members) == 0 {
		return nil, errors.New("there is no model: fit one, or load one by modelfile.Load")
	}
	interval := cmp.Or(options.Interval, 0.9)
	if !(interval > 0 && interval < 1) {
		return nil, fmt.Errorf("interval %v is not a probability between 0 and 1", interval)
	}
	if options.Exp && !multiplies(fitted) {
		return nil, fmt.Errorf("the exponential of a weight means nothing under %v: it multiplies the mean under a log link, odds under a logit, hazards under a cloglog, and y where the target is log(y)",
			fitted.Members[0].Model.Likelihood)
	}
	if err := options.Sort.Validate(); err != nil {
		return nil, err
	}
	own, err := ownUnits(fitted.Members[0].Model.Features, options.Bases)
	if err != nil {
		return nil, err
	}
	weights, cutpoints := len(own.Columns), addCutpoints(fitted, own)
	mean, sd, err := ownMoments(fitted, own, cutpoints)
	if err != nil {
		return nil, err
	}
	selector, selects := fitted.Members[0].Posterior.(credence.Selector)
	selects = selects && selector.Selects()
	candidate := make([]bool, fitted.Members[0].Model.Features.Weights())
	for c := range ability.EachCandidate(fitted.Members[0].Model.Features, fitted.Report.Together) {
		for j := c.First; j < c.First+c.Count; j++ {
			candidate[j] = true
		}
	}
	spike, _ := fitted.Members[0].Model.Prior.(prior.SpikeSlab)
	points := len(fitted.Members) == 1 && spike.Spike.Value == 0 // weights that are out are 0
	z := halfWidth(fitted.Members[0].Posterior, interval)
	lower, upper := make([]float64, len(mean)), make([]float64, len(mean))
	for i := range mean {
		if math.IsNaN(mean[i]) {
			return nil, fmt.Errorf("the weight of %s is no number: the file is damaged: fit again", cmp.Or(own.Columns[min(i, weights-1)].Name, "a column"))
		}
		mean[i], sd[i] = held(mean[i]), held(sd[i])
		lower[i], upper[i] = held(mean[i]-z*sd[i]), held(mean[i]+z*sd[i])
		if i > weights { // quantiles of cutpoints ascend as these do
			lower[i], upper[i] = max(lower[i], lower[i-1]), max(upper[i], upper[i-1])
		}
	}
	terms := make([]Term, len(own.Columns))
	for i := range terms {
		column := &own.Columns[i]
		t := Term{Block: column.Block, Name: column.Name, Base: column.Base, intercept: column.Intercept,
			Mean: mean[i], SD: metric.Score(sd[i]), Lower: metric.Score(lower[i]), Upper: metric.Score(upper[i])}
		if selects && i < own.Map.Cols && candidate[i] && !fitted.Report.Stuck {
			probability := selector.InclusionProbability(i)
			t.Inclusion = &probability
			if columns, _ := own.Map.Row(i); points && len(columns) == 1 {
				lower[i], upper[i] = mixtureEnds(mean[i], sd[i], probability, interval)
				t.Lower, t.Upper = metric.Score(lower[i]), metric.Score(upper[i])
			}
		}
		if options.Exp {
			t.Exp = &Factor{held(math.Exp(t.Mean)), metric.Score(held(math.Exp(float64(t.Lower)))), metric.Score(held(math.Exp(float64(t.Upper))))}
		}
		terms[i] = t
	}
	if cutpoints > 0 { // in the place of the intercept
		terms = slices.Concat(terms[weights:], slices.DeleteFunc(terms[:weights], func(t Term) bool { return t.intercept }))
	}
	if options.Block != "" {
		var names []string
		of := slices.DeleteFunc(slices.Clone(terms), func(t Term) bool {
			if !slices.Contains(names, t.Block) {
				names = append(names, t.Block)
			}
			return canonical(t.Block) != canonical(options.Block)
		})
		if len(of) == 0 {
			return nil, fmt.Errorf("the model has no block %s: it has %s", options.Block, strings.Join(names, ", "))
		}
		terms = of
	}
	options.Sort.sort(terms)
	return terms, nil
}

// held holds what overflows at the largest number, which JSON has and infinity it has not.
func held(x float64) float64 { return max(-math.MaxFloat64, min(x, math.MaxFloat64)) }

// multiplies reports whether the exponentials of weights are factors: of the mean, of odds, or of a
// target whose logarithm is modelled.
func multiplies(fitted *credence.Fitted) bool {
	switch link, _ := likelihood.Describe(fitted.Members[0].Model.Likelihood); link {
	case likelihood.Log, likelihood.Logit, likelihood.Cloglog:
		return true
	case likelihood.Identity:
		fr, ok := fitted.Frame.(*frame.Frame)
		if !ok || fr.Target == nil {
			return false
		}
		steps := fr.Target.Expr.Steps
		return len(steps) > 0 && steps[len(steps)-1].Function == frame.Log
	}
	return false
}

// halfWidth returns how many standard deviations the central interval of a weight reaches to each side.
func halfWidth(p credence.Posterior, interval float64) float64 {
	upper := (1 + interval) / 2
	if tails, ok := p.(credence.LatentDF); ok {
		if df := tails.LatentDF(); df > 2 && !math.IsInf(df, 1) {
			return special.StudentQuantile(upper, df) * math.Sqrt((df-2)/df)
		}
	}
	return special.NormalQuantile(upper)
}

// mixtureEnds returns the ends of the central interval of a weight with a mean and a standard deviation that is 0 but
// with the probability of its inclusion, and then normal.
func mixtureEnds(mean, sd, inclusion, interval float64) (lower, upper float64) {
	if inclusion == 0 {
		return 0, 0
	}
	in := mean / inclusion
	spread := math.Sqrt(max(0, (sd*sd-mean*in*(1-inclusion))/inclusion))
	below := inclusion * special.NormalCDF(-in/spread)
	if spread == 0 {
		below = 0
		if in < 0 {
			below = inclusion
		}
	}
	at := func(p float64) float64 {
		switch {
		case p < below:
			return held(in + spread*special.NormalQuantile(p/inclusion))
		case p > below+1-inclusion:
			return held(in + spread*special.NormalQuantile((p-(1-inclusion))/inclusion))
		}
		return 0
	}
	return at((1 - interval) / 2), at((1 + interval) / 2)
}

// Order is an order of weights.
type Order string

// The orders of weights. Ties keep the order of the model.
const (
	ByModel     Order = ""
	ByInclusion Order = "inclusion" // the highest first
	ByStrength  Order = "abs"       // |mean| over sd, the largest first
	ByName      Order = "name"
)

// Validate refuses an order that there is not.
func (o Order) Validate() error {
	if !slices.Contains([]Order{ByModel, ByInclusion, ByStrength, ByName}, o) {
		return fmt.Errorf("sort %s is unknown: use inclusion, abs or name", o)
	}
	return nil
}

// sort orders the weights.
func (o Order) sort(terms []Term) {
	strength := func(t Term) float64 {
		if t.SD == 0 {
			return math.Abs(t.Mean)
		}
		return math.Abs(t.Mean) / float64(t.SD)
	}
	inclusion := func(t Term) float64 {
		if t.Inclusion == nil { // it is always in
			return 1
		}
		return *t.Inclusion
	}
	byStrength := func(a, b Term) int { return cmp.Compare(strength(b), strength(a)) }
	switch o {
	case ByInclusion:
		slices.SortStableFunc(terms, func(a, b Term) int {
			return cmp.Or(cmp.Compare(inclusion(b), inclusion(a)), byStrength(a, b))
		})
	case ByStrength:
		slices.SortStableFunc(terms, byStrength)
	case ByName:
		slices.SortStableFunc(terms, func(a, b Term) int { return cmp.Compare(a.Name, b.Name) })
	}
}

// leastCoverage is the share of the weights that 90 % intervals hold from which on they are told.
const leastCoverage = 0.8

// Intervals says whether standard deviations and intervals of weights are told to people, and else why not. JSON and
// files of weights have them, beside the share of the weights that they hold.
func Intervals(report *credence.Report) (told bool, why string) {
	if c := report.WeightCoverage; c != nil && *c < leastCoverage {
		return false, "weights to rank features by, and no estimates: their intervals are too narrow and are not shown; credence select has intervals, by ep or gibbs"
	}
	if report.Point() {
		return false, "weights are the point of least penalised loss, with no posterior about it: they have no standard deviations and no intervals, and those of predictions are of the noise alone; fit without --engine has all of them"
	}
	if report.Heldout() {
		return false, "prior variances are those that predict left-out rows best, averaged over those that do so about as well: weights have no intervals then, predictions have"
	}
	return true, ""
}
