package score

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/metric"
)

// Evaluate measures the predictions of a model on rows with known targets.
func Evaluate(ctx context.Context, scorer *Scorer, rows credence.Source) (*metric.Evaluation, error) {
	table, err := scorer.Table(rows, RequireTargets)
	if err != nil {
		return nil, err
	}
	e := NewEvaluation(scorer.fitted)
	e.Expect(table.Rows())
	if err := table.Each(ctx, e.Add); err != nil {
		return nil, err
	}
	return table.Criticise(ctx, e)
}

// Criticise returns the result of an evaluation of the table with the warnings of package criticism, which
// looks at an evenly spread sample of the rows.
func (t *Table) Criticise(ctx context.Context, e *Evaluation) (*metric.Evaluation, error) {
	out, err := e.Result()
	if err != nil || out.ZeroDensityRows > 0 { // there are targets that no row of the model can have
		return out, err
	}
	options := criticism.Options{Seed: t.scorer.fitted.Recipe.Seed, Threads: t.scorer.options.Threads, Fitted: e.leaver != nil, Beside: t.source}
	found, err := criticism.Of(ctx, t.scorer.fitted, t.bound, options)
	out.Warnings, out.Remarks, _ = criticism.Texts(found)
	own := e.sums.training()
	if out.Training = own || e.leaver != nil; own {
		out.Warnings = append([]string{"these are the rows that the model was fitted to, which it predicts better than others: --loo leaves each row out, --cv 10 fits again without"}, out.Warnings...)
	}
	return out, err
}

// Placed adds to a warning of [Table.Criticise] where the rows that it names stand.
func (t *Table) Placed(text string) string { return criticism.Placed(t.source, text) }

// Evaluation gathers the metrics that apply to a family.
type Evaluation struct {
	measures
	none         measures // of a group without rows yet
	seed         uint64
	discrete     bool
	unitDeviance func(y, trials, mean float64) float64
	size         float64 // of a negative binomial family, for the unit deviance
	back         *original
	leaver       *Leaver // nil where rows are not left out
	// Of rows of which there are as many as in the fit: sums that tell whether they are its rows.
	expected    int
	sums        trainingSums
	closed      bool
	every, seen int // one of so many rows has its CRPS taken, of those so far
	room        []rowFigures
	by          []string
	groupOf     func(rows *Rows, i int) ([]string, error) // nil without groups
	groups      map[string]*group
}

// measures gather metrics of some rows.
type measures struct {
	regression     metric.Regression
	intervals      metric.Intervals
	pit            metric.PIT
	places         *rand.Rand // of discrete targets in their probabilities, in the order of the rows
	calibration    metric.Calibration
	classification *metric.Classification
	deviance       *metric.Deviance
	crps           mean
	unscored       int64 // rows without a CRPS
	// Of a transformed target, what its own log densities have more.
	slope mean
}

// mean is a weighted mean.
type mean struct {
	sum, weight float64
	rows        int64
}

func (m *mean) add(x, weight float64) {
	if weight > 0 {
		m.sum += weight * x
		m.weight += weight
		m.rows++
	}
}

func (m *mean) value() float64 { return m.sum / m.weight }

// rowFigures are what measures take of a row.
type rowFigures struct {
	y, mean, logDensity, crps, slope, below, upTo, chance, unit, weight float64
	// of each of the levels, and the median
	bounds []float64
}

// Add takes a row.
func (m *measures) add(f *rowFigures) {
	m.regression.Add(f.y, f.mean, f.logDensity, f.weight)
	place := 0.0
	if f.below < f.upTo && f.weight > 0 {
		place = m.places.Float64()
	}
	m.pit.Add(f.below, f.upTo, place, f.weight)
	for k, level := range metric.Levels() {
		m.intervals.Add(level, f.y, f.bounds[2*k], f.bounds[2*k+1], f.weight)
	}
	m.intervals.AddMedian(f.y, f.bounds[len(f.bounds)-1], f.weight)
	if m.classification != nil {
		m.classification.Add(f.y, f.chance, f.weight)
	} else {
		m.calibration.Add(f.y, f.mean, f.weight)
	}
	if m.deviance != nil {
		m.deviance.Add(f.unit, f.weight)
	}
	if f.crps == f.crps {
		m.crps.add(f.crps, f.weight)
		if math.IsInf(f.crps, 1) {
			m.unscored++
		}
	}
	m.slope.add(f.slope, f.weight)
}

// NewEvaluation returns an evaluation of no rows yet.
func NewEvaluation(fitted *credence.Fitted) *Evaluation {
	e := &Evaluation{every: 1, seed: fitted.Recipe.Seed}
	e.places = e.draws()
	e.discrete = discrete(fitted)
	e.regression.TrainMean = fitted.TargetMean
	e.back, _ = originalOf(fitted) // an error means that there is no way back
	switch l := fitted.Members[0].Model.Likelihood.(type) {
	case likelihood.Poisson:
		e.unitDeviance = func(y, _, mean float64) float64 { return metric.PoissonDeviance(y, mean) }
	case likelihood.NegativeBinomial:
		e.unitDeviance = func(y, _, mean float64) float64 { return metric.NegativeBinomialDeviance(y, mean, e.size) }
	case likelihood.Binomial:
		e.unitDeviance = func(y, trials, mean float64) float64 {
			if trials == 0 {
				trials = max(1, l.Trials)
			}
			return metric.BinomialDeviance(y, trials, mean)
		}
	case likelihood.Gamma:
		e.unitDeviance = func(y, _, mean float64) float64 { return metric.GammaDeviance(y, mean) }
	case likelihood.Gaussian:
		e.closed = len(fitted.Members) == 1 || !l.StudentPredictive()
	}
	switch _, of := likelihood.Describe(fitted.Members[0].Model.Likelihood); of {
	case likelihood.Classes:
		e.classification, e.closed = &metric.Classification{}, true
	case likelihood.Measurements:
		e.regression.TrainVariance = fitted.TargetVariance
	}
	if e.unitDeviance != nil {
		e.deviance = &metric.Deviance{}
	}
	e.closed = e.closed && (fitted.Calibration == nil || fitted.Calibration.Classes)
	e.none = e.measures
	return e
}

// draws returns the places of the rows of an evaluation, or of one of its groups: a group has those that it has by
// itself.
func (e *Evaluation) draws() *rand.Rand { return credence.Rand(e.seed, credence.EvaluationDraws, 0) }

// mostScored is about how many rows the CRPS is taken of, where it has no closed form: integrals of rows with many
// parts take milliseconds.
const mostScored = 10_000

// Expect says how many rows are to come, of which the CRPS is taken of about 10,000 evenly spread ones, where they are
// more and it has no closed form.
func (e *Evaluation) Expect(rows int) {
	e.expected = rows
	if !e.closed {
		e.every = everyOf(rows)
	}
}

func everyOf(rows int) int { return max(1, (rows+mostScored-1)/mostScored) }

// Reliability asks for reliability tables.
func (e *Evaluation) Reliability() { e.calibration.Table, e.none.calibration.Table = true, true }

// sizeOf returns the size of a negative binomial distribution that has the variance m + m²/size of the
// mixture over members, for a mean m that they share.
func sizeOf(fitted *credence.Fitted) float64 {
	inverse := 0.0
	for i := range fitted.Members {
		if l, ok := fitted.Members[i].Model.Likelihood.(likelihood.NegativeBinomial); ok {
			inverse += fitted.Share(i) / l.Size.Value
		}
	}
	return 1 / inverse
}

// LeaveOneOut asks for the density of each row given the others too: the rows to come are those that
// the model was fitted to.
func (e *Evaluation) LeaveOneOut(fitted *credence.Fitted) { e.leaver = NewLeaver(fitted) }

// Add takes scored rows with targets. What costs root finding is computed on all threads, and added
// in order.
func (e *Evaluation) Add(rows *Rows) error {
	if e.leaver != nil {
		if err := e.leaver.Add(rows); err != nil {
			return err
		}
	}
	var tails []float64
	for _, level := range metric.Levels() {
		tails = append(tails, (1-level)/2, (1+level)/2)
	}
	tails = append(tails, 0.5)
	if e.unitDeviance != nil {
		e.size = sizeOf(rows.scorer.fitted) // of the fit that scores these rows
	}
	if rows.scorer.back != nil { // the rows are taken back, and the training moments are not
		e.back, e.regression.TrainVariance, e.none.regression.TrainVariance = nil, 0, 0
	}
	if e.leaver == nil && e.expected == rows.scorer.fitted.Report.Rows {
		e.sums.addAll(rows)
	}
	if len(e.room) < rows.Len() { // the same for every block: a row's own would be most of what is allocated
		bounds := make([]float64, rows.Len()*len(tails))
		e.room = make([]rowFigures, rows.Len())
		for i := range e.room {
			e.room[i].bounds = bounds[i*len(tails):][:len(tails)]
		}
	}
	all := e.room[:rows.Len()]
	rows.Each(func(i int) { e.measure(&all[i], rows, i, tails) })
	for i := range all {
		f := &all[i]
		if math.IsNaN(f.logDensity) || math.IsInf(f.logDensity, 1) {
			return rows.tooFar(i, "the density of its target is beyond all numbers")
		}
		e.add(f)
		if e.groupOf == nil {
			continue
		}
		own, err := e.group(rows, i)
		if err != nil {
			return err
		}
		own.add(f)
	}
	e.seen += len(all)
	return nil
}

// measure stores what measures take of row i.
func (e *Evaluation) measure(f *rowFigures, rows *Rows, i int, tails []float64) {
	y := rows.Target(i)
	*f = rowFigures{y: y, logDensity: rows.LogDensity(i, y), weight: rows.Weight(i), crps: math.NaN(), bounds: f.bounds}
	f.mean, _ = rows.Moments(i)
	if f.below, f.upTo = rows.transform(i, e.discrete); e.discrete && !rows.scorer.binary && rows.scorer.fitted.Calibration != nil {
		f.below = rows.placed(i)
		f.upTo = f.below
	}
	rows.Quantiles(f.bounds, i, tails)
	if e.classification != nil {
		f.chance, _, _ = rows.chance(i)
	}
	if e.back != nil {
		f.slope = e.back.expr.LogSlope(y)
	}
	if (e.seen+i)%e.every == 0 && f.weight > 0 {
		if f.crps = rows.CRPS(i, y); f.crps != f.crps {
			f.crps = math.Inf(1)
		}
	}
	if e.deviance != nil {
		trials := 0.0
		if rows.batch.Trials != nil {
			trials = rows.batch.Trials[i]
		}
		// of a mean beyond all numbers, and of a target that the family cannot have, as a count below 0
		f.unit = math.Inf(1)
		if f.mean == f.mean && !math.IsInf(f.logDensity, -1) {
			f.unit = e.unitDeviance(y, trials, f.mean)
		}
	}
}

// Result returns the metrics.
func (e *Evaluation) Result() (*metric.Evaluation, error) {
	out, err := e.result(e)
	if err == nil && e.leaver != nil {
		out.LOO, err = e.leaver.Result()
	}
	if err != nil {
		return nil, err
	}
	inOrder := func(a, b *group) int { return cmp.Or(a.name.Compare(b.name), strings.Compare(a.key, b.key)) }
	for _, g := range slices.SortedFunc(maps.Values(e.groups), inOrder) {
		of, err := g.result(e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.name, err)
		}
		out.Groups = append(out.Groups, metric.GroupEvaluation{By: g.name, Evaluation: *of})
	}
	return out, nil
}

// result returns the metrics of some rows of an evaluation.
func (m *measures) result(e *Evaluation) (*metric.Evaluation, error) {
	out := &metric.Evaluation{}
	var err error
	if out.RegressionResult, err = result(m.regression.Result); err == nil {
		out.Rows = out.RegressionResult.Rows
		if e.back != nil {
			out.NLPDOriginal = defined(float64(out.NLPD) - m.slope.value())
		}
		if out.CRPS = defined(m.crps.value()); out.CRPS != nil && m.crps.rows < m.slope.rows {
			out.CRPSRows = m.crps.rows
		}
		out.CRPSUnknown = m.unscored
	}
	if err == nil && m.classification != nil {
		out.ClassificationResult, err = result(m.classification.Result)
	}
	if err == nil {
		out.CalibrationResult, err = result(func() (metric.CalibrationResult, error) {
			if m.classification != nil {
				return m.classification.Calibration(m.calibration.Table)
			}
			return m.calibration.Result()
		})
	}
	if err == nil {
		out.IntervalsResult, err = result(m.intervals.Result)
	}
	if err == nil {
		var pit metric.PITResult
		if pit, err = m.pit.Result(); pit.Coverage != nil {
			out.PIT, out.PITValue = pit.Histogram, &pit.PValue
			if e.discrete {
				out.Held, out.IntervalsResult.Coverage = out.IntervalsResult.Coverage, pit.Coverage
			}
		}
	}
	if err == nil && m.deviance != nil {
		out.DevianceResult, err = result(m.deviance.Result)
	}
	return out, err
}

func result[T any](of func() (T, error)) (*T, error) {
	r, err := of()
	return &r, err
}

// defined returns a score that is a finite number, or nil.
func defined(x float64) *metric.Score {
	if s := metric.Score(x); s.Defined() {
		return &s
	}
	return nil
}
