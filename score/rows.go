package score

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/metric"
)

// Rows is a run of scored rows: the predictive distribution of each, in the target's own values. An
// ordinal target has its grades, which the likelihood counts from 0; of two classes the positive one
// is 1 and the other 0. Figures of rows may be read by several goroutines, and Score and Each are for one at a time.
type Rows struct {
	scorer *Scorer
	ws     *credence.Workspace
	batch  credence.Batch
	dist   credence.Distribution
	bound  *frame.Bound // that the rows came from; nil for batches of other origin
	at     int          // the first of its rows
	before int          // rows of the runs before
	keys   *Keys        // that the rows came from, of a model that was learned online
	// momentless counts the rows so far whose mean or variance is beyond all numbers, and whose interval is not.
	momentless int
	// beyond counts the rows so far with a column outside the box of a Hilbert-space process.
	beyond int
	texts  []string        // of the column by which rows are calibrated; nil without
	source credence.Source // that texts are read of
	chunk  credence.Chunk
	// unseenGroups counts the rows so far that are of a group without a calibration of its own.
	unseenGroups int
	drawn        *Draws // that intervals of the mean are read from, where they are
}

// NewRows returns room for rows that [Rows.Score] fills.
func (s *Scorer) NewRows() *Rows {
	r := &Rows{scorer: s, ws: credence.NewWorkspace(s.options.Threads)}
	r.dist.Share(s.tables)
	return r
}

// Score predicts model rows, which it shares.
func (r *Rows) Score(batch *credence.Batch) error {
	r.batch = *batch
	return r.score()
}

// score predicts the rows of the batch.
func (r *Rows) score() error {
	if err := r.scorer.fitted.DistributionTo(r.ws, &r.dist, &r.batch); err != nil {
		return err
	}
	if err := r.readGroups(); err != nil {
		return err
	}
	if set, ok := r.scorer.fitted.Members[0].Model.Features.(*feature.Set); ok {
		r.beyond += set.Beyond(&r.batch)
	}
	moments := r.scorer.Momentless() == "" && !r.scorer.binary
	for i := range r.Len() {
		mean, variance := r.dist.Latent(i)
		switch {
		case !special.Finite(mean) || !special.Finite(variance):
			return r.tooFar(i, "its prediction is no number")
		case !moments || r.ordinary(i) && r.batch.Precision == nil || r.Lacks(i):
			continue
		}
		if mean, variance = r.Moments(i); mean == mean && variance == variance {
			continue
		}
		tail := (1 - r.scorer.options.Interval) / 2
		bounds := [2]float64{tail, 1 - tail}
		if r.Quantiles(bounds[:], i, []float64{tail, 1 - tail}); !special.Finite(bounds[0]) || !special.Finite(bounds[1]) {
			return r.tooFar(i, "its prediction is beyond all numbers")
		}
		r.momentless++
	}
	return nil
}

// mostMoment is the largest mean and variance that are told: that of exp(f) is e^(E f + Var f/2), beyond all numbers
// where f is known so little as to have a variance of 1,400, and says nothing of y long before.
const mostMoment = 1e300

// ordinaryLatent is what |E f| + 2 Var f is at most where no moment of y can be beyond all numbers: those of exp(f) are
// below e^(2 E f + 2 Var f), and e^709 is the largest number.
const ordinaryLatent = 300

// ordinary says whether every part of row i has moments that are numbers. The moments of all parts together may hide a
// rare part that has none.
func (r *Rows) ordinary(i int) bool {
	for k := range r.dist.Parts() {
		if _, _, mean, variance := r.dist.Part(i, k); !(math.Abs(mean)+2*variance <= ordinaryLatent) {
			return false
		}
	}
	return true
}

// tooFar refuses row i, whose farthest value it names.
func (r *Rows) tooFar(i int, what string) error {
	name, value := "", 0.0
	switch {
	case r.keys != nil:
		name, value = r.keys.binder.Farthest(r.RunRow(i))
	case r.bound != nil:
		name, value = r.bound.Farthest(&r.batch, i)
	}
	subject := "the row is"
	if name != "" {
		subject = fmt.Sprintf("%s is %.6g,", name, value)
	}
	return fmt.Errorf("%s: %s so far from the rows of training that %s: correct it or leave the row out; if f is as wide in other rows, state a prior variance, as normal(variance=1)", r.Place(i), subject, what)
}

// Batch returns the model rows, which are valid as long as r is not scored again.
func (r *Rows) Batch() *credence.Batch { return &r.batch }

// Scorer returns the scorer.
func (r *Rows) Scorer() *Scorer { return r.scorer }

// First returns the index of the first row.
func (r *Rows) First() int { return r.batch.First }

// Len returns the number of rows.
func (r *Rows) Len() int { return r.batch.Rows() }

// SourceRow returns the row of the table that row i came from, which may have others that are left
// out.
func (r *Rows) SourceRow(i int) int {
	switch {
	case r.keys != nil:
		return r.before + r.RunRow(i)
	case r.bound == nil:
		return r.First() + i
	}
	return r.before + r.bound.SourceRow(r.at+i)
}

// RunRow returns the row of the run that row i came from, of rows that come in runs.
func (r *Rows) RunRow(i int) int {
	if r.keys != nil {
		return r.keys.binder.From[i]
	}
	return r.at + i
}

// Place says where row i stands, for messages: "train.csv:17".
func (r *Rows) Place(i int) string {
	if r.keys != nil {
		return r.keys.binder.Place(r.RunRow(i))
	}
	if r.bound == nil {
		return fmt.Sprintf("row %d", r.First()+i+1)
	}
	return frame.Place(r.bound, r.at+i)
}

// Each calls do for every row, on all threads: calls for different rows may run at once.
func (r *Rows) Each(do func(i int)) { r.dist.Each(r.ws, do) }

// Weight returns how many times row i counts.
func (r *Rows) Weight(i int) float64 { return r.batch.WeightOf(i) }

// Target returns the target of row i, NaN if it has none.
func (r *Rows) Target(i int) float64 {
	if r.batch.Target == nil {
		return math.NaN()
	}
	return r.own(r.batch.Target[i])
}

// own is the target's own value for y, which is what the likelihood sees.
func (r *Rows) own(y float64) float64 {
	if r.scorer.back != nil {
		return r.scorer.back.expr.Invert(y)
	}
	if k := int(y); r.scorer.grades != nil && y == y && k >= 0 && k < len(r.scorer.grades) {
		return r.scorer.grades[k]
	}
	return y
}

// Latent returns the mean and the variance of f for row i.
func (r *Rows) Latent(i int) (mean, variance float64) { return r.dist.Latent(i) }

// Moments returns E y and Var y of row i: NaN for what does not exist or is beyond 10³⁰⁰, as of a count whose f is
// hardly known.
func (r *Rows) Moments(i int) (mean, variance float64) {
	mean, variance = r.moments(i)
	if !(math.Abs(mean) <= mostMoment) {
		mean, variance = math.NaN(), math.NaN()
	}
	if !(variance <= mostMoment) {
		variance = math.NaN()
	}
	return mean, variance
}

func (r *Rows) moments(i int) (mean, variance float64) {
	grades := r.scorer.grades
	if grades == nil {
		mean, variance = r.dist.Moments(i)
		if r.scorer.back != nil {
			return r.scorer.back.moments(mean, variance)
		}
		return mean, variance
	}
	probability := r.gradeProbabilities(make([]float64, 0, len(grades)), i, func(_ int, u, _ float64) float64 { return u })
	for k, grade := range grades {
		mean += probability[k] * grade
	}
	for k, grade := range grades {
		variance += probability[k] * (grade - mean) * (grade - mean)
	}
	return mean, variance
}

// Probabilities appends those of the classes in row i, in the order of [Scorer.Classes].
func (r *Rows) Probabilities(dst []float64, i int) []float64 {
	if r.scorer.binary {
		p, _, _ := r.chance(i)
		return append(dst, 1-p, p)
	}
	return r.gradeProbabilities(dst, i, r.calibrated)
}

// gradeProbabilities appends those of the grades in row i, of a distribution function that is made of the model's.
func (r *Rows) gradeProbabilities(dst []float64, i int, of func(i int, u, y float64) float64) []float64 {
	below := 0.0
	for k := range r.scorer.grades {
		upTo := 1.0
		if k < len(r.scorer.grades)-1 {
			upTo = of(i, r.dist.CDF(i, float64(k)), float64(k))
		}
		dst, below = append(dst, upTo-below), upTo
	}
	return dst
}

// Quantiles stores in dst, for every one of the probabilities, the smallest value of row i with at
// least that probability up to it.
func (r *Rows) Quantiles(dst []float64, i int, probabilities []float64) {
	if r.scorer.binary {
		one, _, _ := r.chance(i)
		ofClasses(dst, one, probabilities)
		return
	}
	r.quantiles(dst, i, probabilities)
	for k, q := range dst {
		dst[k] = r.own(q)
	}
}

// ofClasses stores the quantiles of two classes, of which the probability of 1 says all.
func ofClasses(dst []float64, one float64, probabilities []float64) {
	for k, p := range probabilities {
		dst[k] = 1
		if p <= 1-one {
			dst[k] = 0
		}
	}
}

// LogDensity returns the logarithm of the predictive density of the value y in row i.
func (r *Rows) LogDensity(i int, y float64) float64 {
	if r.scorer.grades != nil {
		k := slices.Index(r.scorer.grades, y)
		if k < 0 {
			return math.Inf(-1)
		}
		y = float64(k)
	}
	if r.scorer.back != nil {
		inside, logSlope := r.scorer.back.transformed(y)
		if math.IsInf(logSlope, -1) {
			return logSlope
		}
		return r.dist.LogDensity(i, inside) + logSlope
	}
	return r.dist.LogDensity(i, y)
}

// CRPS returns the continuous ranked probability score of the value y in row i, see [credence.Distribution.CRPS]: of
// two classes the Brier score, of grades the sum over them (RPS), and of a target that is taken back that of its
// column. It is NaN where it is infinite. Of calibrated numbers it is that of the calibrated distribution, within 1e-3
// of its size.
func (r *Rows) CRPS(i int, y float64) float64 {
	if back := r.scorer.back; back != nil {
		inside, _ := back.transformed(y)
		return r.crps(i, inside, back)
	}
	if r.scorer.grades != nil {
		if y = float64(slices.Index(r.scorer.grades, y)); y < 0 {
			return math.NaN()
		}
	}
	return r.crps(i, y, nil)
}

// crps is CRPS of y as the likelihood sees it, in units of the column where there is a way back.
func (r *Rows) crps(i int, y float64, back *original) float64 {
	var slope func(y float64) float64
	switch {
	case r.scorer.binary:
		one, _, _ := r.chance(i)
		return (one - y) * (one - y)
	case back != nil && back.heavy:
		return math.NaN()
	case r.scorer.fitted.Calibration != nil:
		return r.calibratedCRPS(i, y, back)
	case back != nil:
		slope = func(y float64) float64 {
			if slope := math.Exp(-back.expr.LogSlope(y)); slope == slope {
				return slope
			}
			return 0 // of what the transform never is, as sqrt(x) = −1
		}
	}
	return r.dist.CRPS(i, y, slope)
}

// transform returns the probabilities below the target of row i and up to it, the same for a continuous
// target. A monotone transform of the target, back or forth, has the same.
func (r *Rows) transform(i int, discrete bool) (below, upTo float64) {
	if r.scorer.binary && r.scorer.fitted.Calibration != nil {
		if one, _, _ := r.chance(i); r.batch.Target[i] == 1 {
			return 1 - one, 1
		} else {
			return 0, 1 - one
		}
	}
	y := r.batch.Target[i]
	if below, upTo = r.modelTransform(i, discrete); !discrete {
		below = r.calibrated(i, below, y)
		return below, below
	}
	return r.calibrated(i, below, y-1), r.calibrated(i, upTo, y)
}

// modelTransform is transform without calibration.
func (r *Rows) modelTransform(i int, discrete bool) (below, upTo float64) {
	y := r.batch.Target[i]
	upTo = math.Min(r.dist.CDF(i, y), 1)
	if !discrete {
		return upTo, upTo
	}
	return math.Max(0, math.Min(r.dist.CDF(i, y-1), upTo)), upTo
}

// PIT returns the probabilities below the target of row i and up to it, which are the same for a continuous target: its
// probability integral transform.
func (r *Rows) PIT(i int) (below, upTo float64) { return r.transform(i, r.scorer.Discrete()) }

// Sample returns a draw of y for row i.
func (r *Rows) Sample(i int, rng *rand.Rand) (float64, error) {
	if c := r.scorer.fitted.Calibration; c != nil && c.Classes {
		if one, _, _ := r.chance(i); rng.Float64() < one {
			return 1, nil
		}
		return 0, nil
	} else if c != nil {
		var at [1]float64
		r.atScores(at[:], i, []float64{c.Score(r.groupOf(i), 1-rng.Float64())})
		return r.own(at[0]), nil
	}
	draw, err := r.dist.Sample(i, rng)
	return r.own(draw), err
}

// Lacks says whether row i lacks a value without which the model does not predict, see [Options]: nothing
// else that is said of the row is about it.
func (r *Rows) Lacks(i int) bool {
	switch {
	case r.keys != nil:
		return slices.Contains(r.keys.binder.Lacking, i)
	case r.bound == nil:
		return false
	}
	return r.bound.Lacks(i)
}

// Predict returns what is commonly asked of row i, not a number where it lacks a value.
func (r *Rows) Predict(i int) Prediction {
	if r.Lacks(i) {
		none := math.NaN()
		return Prediction{none, none, none, none, none, none, none, none}
	}
	mean, variance := r.Moments(i)
	p := Prediction{Mean: mean, SD: math.Sqrt(variance)}
	tail := (1 - r.scorer.options.Interval) / 2
	levels := [3]float64{tail, (1 + r.scorer.options.Interval) / 2, 0.5}
	var bounds [3]float64
	asked := 2
	if r.scorer.options.Original {
		asked = 3
	}
	if r.scorer.binary {
		var lower, upper float64
		if p.Probability, lower, upper = r.calibratedChance(i, mean); r.scorer.fitted.Calibration != nil {
			p.ProbabilityLower, p.ProbabilityUpper = lower, upper
		}
		ofClasses(bounds[:asked], p.Probability, levels[:asked])
	} else {
		r.Quantiles(bounds[:asked], i, levels[:asked])
	}
	p.Lower, p.Upper, p.Median = bounds[0], bounds[1], bounds[2]
	return p
}

// Prediction is the predictive distribution of a row in a few numbers, in the target's own values. What there is none
// of is NaN: a mean or sd beyond all numbers, and all of a row that lacks a value. JSON leaves it out.
type Prediction struct {
	Mean        float64 `json:"mean"`  // of y
	SD          float64 `json:"sd"`    // of y: that of the mean and of the noise
	Lower       float64 `json:"lower"` // ends of the central interval
	Upper       float64 `json:"upper"`
	Probability float64 `json:"probability,omitempty"` // of the positive class, where there are two
	Median      float64 `json:"median,omitempty"`      // under [Options].Original
	// ProbabilityLower and ProbabilityUpper are the two between which a calibrated probability lies.
	ProbabilityLower float64 `json:"probability_lower,omitempty"`
	ProbabilityUpper float64 `json:"probability_upper,omitempty"`
}

// MarshalJSON leaves out what is not a number, which JSON has no word for.
func (p Prediction) MarshalJSON() ([]byte, error) {
	type told struct {
		Mean        metric.Score `json:"mean,omitzero"`
		SD          metric.Score `json:"sd,omitzero"`
		Lower       metric.Score `json:"lower,omitzero"`
		Upper       metric.Score `json:"upper,omitzero"`
		Probability metric.Score `json:"probability,omitempty,omitzero"`
		Median      metric.Score `json:"median,omitempty,omitzero"`
		Below       metric.Score `json:"probability_lower,omitempty,omitzero"`
		Above       metric.Score `json:"probability_upper,omitempty,omitzero"`
	}
	return json.Marshal(told{
		metric.Score(p.Mean), metric.Score(p.SD), metric.Score(p.Lower), metric.Score(p.Upper), metric.Score(p.Probability), metric.Score(p.Median),
		metric.Score(p.ProbabilityLower), metric.Score(p.ProbabilityUpper),
	})
}
