package score

import (
	"context"
	"math"

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
	options := criticism.Options{Seed: t.scorer.fitted.Recipe.Seed, Threads: t.scorer.options.Threads, Fitted: e.leaver != nil, Beside: t.rows}
	found, err := criticism.Of(ctx, t.scorer.fitted, t.bound, options)
	out.Warnings, out.Remarks, _ = criticism.Texts(found)
	return out, err
}

// Placed adds to a warning of [Table.Criticise] where the rows that it names stand.
func (t *Table) Placed(text string) string { return criticism.Placed(t.rows, text) }

// Evaluation gathers the metrics that apply to a family.
type Evaluation struct {
	regression     metric.Regression
	intervals      metric.Intervals
	pit            metric.PIT
	discrete       bool
	classification *metric.Classification
	deviance       *metric.Deviance
	unitDeviance   func(y, trials, mean float64) float64
	size           float64 // of a negative binomial family, for the unit deviance
	// Of a transformed target, what its own log densities have more: Σ w log slope, and Σ w.
	back          *original
	slope, weight float64
	leaver        *Leaver // nil where rows are not left out
}

// NewEvaluation returns an evaluation of no rows yet.
func NewEvaluation(fitted *credence.Fitted) *Evaluation {
	e := &Evaluation{}
	support, ok := fitted.Members[0].Model.Likelihood.(likelihood.Supported)
	e.discrete = ok && support.Discrete()
	e.regression.TrainMean = fitted.TargetMean
	e.back, _ = originalOf(fitted) // an error means that there is no way back
	switch l := fitted.Members[0].Model.Likelihood.(type) {
	case likelihood.Bernoulli:
		e.classification = &metric.Classification{}
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
		e.regression.TrainVariance = fitted.TargetVariance
		e.unitDeviance = func(y, _, mean float64) float64 { return metric.GammaDeviance(y, mean) }
	case likelihood.Ordinal: // probabilities, which no density is a measure of
	default:
		e.regression.TrainVariance = fitted.TargetVariance
	}
	if e.unitDeviance != nil {
		e.deviance = &metric.Deviance{}
	}
	return e
}

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
	levels := metric.Levels()
	tails := make([]float64, 0, 2*len(levels))
	for _, level := range levels {
		tails = append(tails, (1-level)/2, (1+level)/2)
	}
	if e.unitDeviance != nil {
		e.size = sizeOf(rows.scorer.fitted) // of the fit that scores these rows
	}
	n := rows.Len()
	chance := make([]float64, n) // of the class
	mean, logDensity, bounds := make([]float64, n), make([]float64, n), make([]float64, n*len(tails))
	below, upTo := make([]float64, n), make([]float64, n)
	rows.Each(func(i int) {
		mean[i], _ = rows.Moments(i)
		logDensity[i] = rows.LogDensity(i, rows.Target(i))
		if below[i], upTo[i] = rows.transform(i, e.discrete); e.discrete && !rows.scorer.binary && rows.scorer.fitted.Calibration != nil {
			below[i] = rows.placed(i)
			upTo[i] = below[i]
		}
		own := bounds[i*len(tails) : (i+1)*len(tails)]
		if rows.Quantiles(own, i, tails); e.classification != nil {
			chance[i], _, _ = rows.chance(i)
		}
	})
	if rows.scorer.back != nil { // the rows are taken back, and the training moments are not
		e.back, e.regression.TrainVariance = nil, 0
	}
	for i := range n {
		if math.IsNaN(logDensity[i]) || math.IsInf(logDensity[i], 1) {
			return rows.tooFar(i, "the density of its target is beyond all numbers")
		}
		y, weight := rows.Target(i), rows.Weight(i)
		e.regression.Add(y, mean[i], logDensity[i], weight)
		if e.back != nil && weight > 0 {
			e.slope += weight * e.back.expr.LogSlope(y)
			e.weight += weight
		}
		e.pit.Add(below[i], upTo[i], weight)
		own := bounds[i*len(tails):]
		for k, level := range levels {
			e.intervals.Add(level, y, own[2*k], own[2*k+1], weight)
		}
		if e.classification != nil {
			e.classification.Add(y, chance[i], weight)
		}
		if e.deviance != nil {
			trials := 0.0
			if rows.batch.Trials != nil {
				trials = rows.batch.Trials[i]
			}
			unit := math.Inf(1) // of a mean beyond all numbers
			if mean[i] == mean[i] {
				unit = e.unitDeviance(y, trials, mean[i])
			}
			e.deviance.Add(unit, weight)
		}
	}
	return nil
}

// Result returns the metrics.
func (e *Evaluation) Result() (*metric.Evaluation, error) {
	out := &metric.Evaluation{}
	var err error
	if out.RegressionResult, err = result(e.regression.Result); err == nil {
		out.Rows = out.RegressionResult.Rows
		if e.back != nil {
			if nlpd := out.NLPD - metric.Score(e.slope/e.weight); nlpd.Defined() {
				out.NLPDOriginal = &nlpd
			}
		}
	}
	if err == nil && e.classification != nil {
		out.ClassificationResult, err = result(e.classification.Result)
	}
	if err == nil {
		out.IntervalsResult, err = result(e.intervals.Result)
	}
	if err == nil {
		var pit metric.PITResult
		pit, err = e.pit.Result()
		out.PIT = pit.Histogram
		if e.discrete && pit.Coverage != nil {
			out.Held, out.IntervalsResult.Coverage = out.IntervalsResult.Coverage, pit.Coverage
		}
	}
	if err == nil && e.deviance != nil {
		out.DevianceResult, err = result(e.deviance.Result)
	}
	if err == nil && e.leaver != nil {
		out.LOO, err = e.leaver.Result()
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

func result[T any](of func() (T, error)) (*T, error) {
	r, err := of()
	return &r, err
}
