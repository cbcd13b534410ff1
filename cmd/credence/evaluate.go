package main

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/modelfile"
)

func (p *program) evaluateCommand() *cobra.Command {
	var flags scoreFlags
	cmd := &cobra.Command{
		Use:   "evaluate MODEL DATA...",
		Short: "Measure predictions on data with known targets",
		Long: `Measure the predictions of a model on rows whose target is known.

nlpd is the mean of −log p(y|data): the log of the average density. smse is the
squared error over the variance of the targets, msll the nlpd less that of a Gaussian
with the training mean and variance. coverage is the share of targets inside
the central interval of that probability: for honest intervals the two agree.
For two classes, whose intervals hold one class or both: accuracy, log_loss, auc, brier, and ece, the calibration error
over 20 bins of equal count. For counts: the total deviance.`,
		Example: `  credence evaluate m.safetensors test.csv
  credence evaluate m.safetensors test.csv --json | jq .nlpd`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			result, err := p.evaluate(cmd.Context(), args[0], args[1:], &flags)
			if err != nil {
				return err
			}
			if p.json {
				return p.emit(result)
			}
			p.printEvaluation(result)
			return nil
		},
	}
	flags.register(cmd)
	return cmd
}

// evaluate scores the rows of a table that have a target.
func (p *program) evaluate(ctx context.Context, model string, paths []string, flags *scoreFlags) (*metric.Evaluation, error) {
	if modelfile.IsKeyed(model) {
		return p.evaluateStream(ctx, model, paths, flags)
	}
	s, err := p.newScorer(ctx, model, paths, flags, requireTargets)
	if err != nil {
		return nil, err
	}
	defer s.close()
	return s.evaluate(ctx)
}

// evaluate measures the predictions of every row.
func (s *scorer) evaluate(ctx context.Context) (*metric.Evaluation, error) {
	family := s.fitted.Members[0].Model.Likelihood
	e := newEvaluator(s.fitted, family)
	err := s.each(ctx, func(rows *credence.Batch, dist *predictive) error {
		if i := e.add(s.program.workspace(), rows, dist); i >= 0 {
			return unmeasurable(s.bound.Place(rows.First + i))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return e.result()
}

// evaluator gathers the metrics that apply to a family.
type evaluator struct {
	regression     metric.Regression
	intervals      metric.Intervals
	classification *metric.Classification
	deviance       *metric.Deviance
	unitDeviance   func(y, trials, mean float64) float64
	meanless       bool // the family has no mean
}

func newEvaluator(fitted *credence.Fitted, family credence.Likelihood) *evaluator {
	e := &evaluator{}
	e.regression.TrainMean = fitted.TargetMean
	switch l := family.(type) {
	case likelihood.Bernoulli:
		e.classification = &metric.Classification{}
	case likelihood.Poisson:
		e.unitDeviance = func(y, _, mean float64) float64 { return metric.PoissonDeviance(y, mean) }
	case likelihood.NegativeBinomial:
		e.unitDeviance = func(y, _, mean float64) float64 { return metric.NegativeBinomialDeviance(y, mean, l.Size) }
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
	case likelihood.StudentT:
		e.regression.TrainVariance = fitted.TargetVariance
		e.meanless = l.DegreesOfFreedom <= 1
	case likelihood.Ordinal: // probabilities, which no density is a measure of
	default:
		e.regression.TrainVariance = fitted.TargetVariance
	}
	if e.unitDeviance != nil {
		e.deviance = &metric.Deviance{}
	}
	return e
}

// add takes the rows of a batch. What costs root finding is computed on all
// threads, and added in order. It returns the first row whose mean or density is
// beyond all numbers, or -1.
func (e *evaluator) add(ws *credence.Workspace, rows *credence.Batch, dist *predictive) int {
	levels := metric.Levels()
	type row struct {
		mean, logDensity float64
		bounds           [][2]float64
	}
	computed := make([]row, rows.Rows())
	dist.Each(ws, func(i int) {
		r := &computed[i]
		r.mean, _ = dist.Moments(i)
		r.logDensity = dist.LogDensity(i, rows.Target[i])
		quantile := func(p float64) float64 { return dist.Quantile(i, p) }
		if e.classification != nil { // the mean is the probability of 1, and says all
			quantile = func(p float64) float64 {
				if p <= 1-r.mean {
					return 0
				}
				return 1
			}
		}
		r.bounds = make([][2]float64, len(levels))
		for k, level := range levels {
			r.bounds[k] = [2]float64{quantile((1 - level) / 2), quantile((1 + level) / 2)}
		}
	})
	for i, r := range computed {
		if math.IsNaN(r.mean) && !e.meanless || math.IsInf(r.mean, 0) || math.IsNaN(r.logDensity) || math.IsInf(r.logDensity, 1) {
			return i
		}
		y, weight := dist.target(rows.Target[i]), 1.0
		if rows.Weight != nil {
			weight = rows.Weight[i]
		}
		e.regression.Add(y, r.mean, r.logDensity, weight)
		for k, level := range levels {
			e.intervals.Add(level, y, r.bounds[k][0], r.bounds[k][1], weight)
		}
		if e.classification != nil {
			e.classification.Add(y, r.mean, weight)
		}
		if e.deviance != nil {
			trials := 0.0
			if rows.Trials != nil {
				trials = rows.Trials[i]
			}
			e.deviance.Add(e.unitDeviance(y, trials, r.mean), weight)
		}
	}
	return -1
}

// unmeasurable is the error of a row, whose place it names, that has no finite error.
func unmeasurable(place string) error {
	return fmt.Errorf("%s: the predictive mean or density is beyond all numbers, so far is the row from those of training: correct it or leave it out", place)
}

// result returns the metrics.
func (e *evaluator) result() (*metric.Evaluation, error) {
	out := &metric.Evaluation{}
	regression, err := e.regression.Result()
	if err != nil {
		return nil, err
	}
	out.RegressionResult, out.Rows = &regression, regression.Rows
	if e.classification != nil {
		classes, err := e.classification.Result()
		if err != nil {
			return nil, err
		}
		out.ClassificationResult = &classes
	}
	intervals, err := e.intervals.Result()
	if err != nil {
		return nil, err
	}
	out.IntervalsResult = &intervals
	if e.deviance != nil {
		deviance, err := e.deviance.Result()
		if err != nil {
			return nil, err
		}
		out.DevianceResult = &deviance
	}
	return out, nil
}

// printEvaluation writes the metrics for people.
func (p *program) printEvaluation(e *metric.Evaluation) {
	p.say("rows      %d", e.Rows)
	score := func(name string, s metric.Score) {
		if s.Defined() {
			p.say("%-9s %s", name, significant(float64(s)))
		}
	}
	if c := e.ClassificationResult; c != nil {
		score("accuracy", c.Accuracy)
		score("log_loss", c.LogLoss)
		score("auc", c.AUC)
		score("brier", c.Brier)
		score("ece", c.ECE)
		return
	}
	r := e.RegressionResult
	score("nlpd", r.NLPD)
	score("rmse", r.RMSE)
	score("mae", r.MAE)
	score("smse", r.SMSE)
	score("msll", r.MSLL)
	score("r2", r.R2)
	if e.DevianceResult != nil {
		score("deviance", e.DevianceResult.Deviance)
	}
	for _, level := range metric.Levels() {
		key := fmt.Sprintf("%g", level)
		if covered, ok := e.Coverage[key]; ok {
			p.say("coverage of %3.0f%% intervals  %5.1f%%   mean width %s", 100*level, 100*covered, significant(e.Width[key]))
		}
	}
}

// significant formats a number for people: five significant digits.
func significant(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e7 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.5g", x)
}
