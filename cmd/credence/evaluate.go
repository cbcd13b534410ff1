package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection/refit"
)

func (p *program) evaluateCommand() *cobra.Command {
	var flags scoreFlags
	var again refits
	var measures apply.Measures
	var by []string
	cmd := &cobra.Command{
		Use:   "evaluate MODEL DATA...",
		Short: "Check predictions against known targets",
		Long: `Evaluate compares the predictions of a model with rows whose targets are known.

nlpd        mean of −log p(y|data), the log of the average density; lower is better.
            --loo adds it for the training rows, each predicted from all the others,
            without another fit; where that cannot be told, it says why. nlpd_original is
            on the scale of price where the target is log(price), so that transforms can be
            compared.
smse, msll  squared error relative to the variance of the targets; nlpd less that of a
            Gaussian with the mean and variance of the training targets.
coverage    share of the targets inside the central interval of that probability: close
            to it where intervals can be trusted. Intervals of counts, grades and classes
            cannot hold exactly 90 %, so the share of the row's probability that lies
            inside is counted instead (randomised PIT, without drawing). One line,
            calibration, tells it of counts and grades for all levels; in --json,
            interval_coverage is the share inside the interval itself, and pit is the
            histogram of P(Y ≤ y).

crps        mean distance of the predictive distribution from the target, in its units: for
            a certain prediction |y − prediction|, for classes brier, for grades the ranked
            probability score. Lower is better, also between families of other kinds.
wis         the same from the median and the four intervals (--json has interval_score).
pit_p       chance that a right model has transforms P(Y ≤ y) as far from uniform.
calibration_slope  of the targets over the predicted means, of classes on the logit: below 1
            predictions go too far. --reliability shows means by bins of the prediction.

--by region adds the same for the rows of each region, by any columns of DATA, under --cv too.

--cv 10 fits the model again, by its own recipe, to all rows of DATA but a tenth, ten
times, and scores each row by the fit that has not seen it; --split 0.2 does so once, for
a fifth of the rows. --group id keeps the rows of an id together, --time date predicts
rows from those before them alone. nlpd then has a standard error, over rows or groups.

baseline    what a prediction that uses no columns comes to on these rows: the mean of their
            targets, or the share of each class, for every row.

Two classes add accuracy, log_loss, auc, brier and ece, the calibration error over 20
bins of equal count; counts add the total deviance. Signs that the model does not fit
these rows are reported as warnings, each with a remedy.`,
		Example: `  credence evaluate m.safetensors test.csv
  credence evaluate m.safetensors test.csv --json | jq .nlpd
  credence evaluate m.safetensors test.csv --by region --reliability
  credence evaluate m.safetensors all.csv --cv 10 --group patient`,
		Args: takes(2, most, "a model and data"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := cmp.Or(checkBy(cmd), again.check(p, cmd, measures.LeaveOneOut)); err != nil {
				return err
			}
			if again.asked {
				return p.evaluateRefits(cmd.Context(), args[0], args[1:], &flags, &again, measures, by)
			}
			result, err := p.evaluate(cmd.Context(), args[0], args[1:], &flags, measures, by)
			if err != nil {
				return err
			}
			if p.json {
				return p.emit(result)
			}
			p.printEvaluation(result, by)
			p.tellFindings(result.Warnings, result.Remarks)
			return nil
		},
	}
	flags.register(cmd)
	again.register(cmd)
	cmd.Flags().StringSliceVar(&by, "by", nil, "the same for the rows of each value of these `columns`, which the model need not use")
	cmd.Flags().BoolVar(&measures.Reliability, "reliability", false, "add a table of the mean target beside the predicted mean, in 20 bins; --json has the isotonic steps too")
	cmd.Flags().BoolVar(&measures.LeaveOneOut, "loo", false, "DATA are the training rows: add the density of each given all the others")
	return cmd
}

// evaluated is the JSON object of evaluate.
type evaluated struct {
	*metric.Evaluation
	// Baseline is what a prediction without columns comes to on these rows: the mean of their targets for every row,
	// with the density of a normal curve around those of training, or the share of each class.
	Baseline *score.Baseline `json:"baseline,omitempty"`
}

// evaluate scores the rows of a table that have a target.
func (p *program) evaluate(ctx context.Context, model string, paths []string, flags *scoreFlags, measures apply.Measures, by []string) (*evaluated, error) {
	measures.Groups = len(by) > 0
	file, err := p.apply(ctx, model, paths, application{flags: flags, targets: score.RequireTargets, keep: by})
	if err != nil {
		return nil, err
	}
	defer file.Close()
	result, err := file.Evaluate(ctx, measures)
	if err != nil {
		return nil, err
	}
	p.placed = file.Placed
	p.predicted = targetText(file.Scorer().Fitted())
	p.tellScored(file)
	return &evaluated{result, score.EvaluatedBaseline(file.Scorer().Fitted(), result)}, nil
}

// refitted is the JSON object of an evaluation by refits.
type refitted struct {
	evaluated
	NLPDError metric.Score `json:"nlpd_error,omitzero"` // standard error of nlpd, over rows or groups
	Refits    *refit.Folds `json:"refits"`              // how rows were left out
}

// evaluateRefits scores the rows of a table by fits without them.
func (p *program) evaluateRefits(ctx context.Context, model string, paths []string, flags *scoreFlags, again *refits, measures apply.Measures, by []string) error {
	fitted, err := load(model)
	if err != nil {
		return err
	}
	evaluation := score.NewEvaluation(fitted)
	if measures.Reliability {
		evaluation.Reliability()
	}
	scores, err := again.scores(ctx, p, model, paths, application{flags: flags, keep: by}, evaluation)
	if err != nil {
		return err
	}
	metrics, err := evaluation.Result()
	if err != nil {
		return err
	}
	result := evaluated{metrics, score.EvaluatedBaseline(fitted, metrics)}
	nlpd, spread := scores.NLPD()
	if p.json {
		return p.emit(refitted{result, spread, again.folds})
	}
	p.predicted = targetText(fitted)
	fits, over := again.of()
	p.say("refits    %s", fits)
	p.say("left out  nlpd %s ± %s over %s", shown("%.5g", nlpd), shown("%.2g", spread), over)
	p.printEvaluation(&result, by)
	return nil
}

// printEvaluation writes the metrics for people, of all rows and by columns.
func (p *program) printEvaluation(e *evaluated, by []string) {
	p.printScores(e)
	p.printReliability(e.Evaluation)
	p.printGroupScores(e.Evaluation, by)
}

func (p *program) printScores(e *evaluated) {
	p.say("rows      %d", e.Rows)
	if e.LOO != nil {
		p.say("left out  %s%s", leftOut(e.LOO, fmt.Sprintf("nlpd %s ± %s", significant(float64(e.LOO.NLPD)), significant(float64(e.LOO.Error)))), reliability(e.LOO))
	}
	for _, f := range e.Figures() {
		p.say("%-9s %-12s %s", f.Name, significant(float64(f.Value)), f.Means)
		if f.Name == "crps" && e.CRPSRows > 0 {
			p.say("          of %d evenly spread rows", e.CRPSRows)
		}
	}
	if e.CRPSUnknown > 0 {
		p.say("%-9s %-12s %s", "crps", "-", score.WithoutCRPS(e.CRPSUnknown))
	}
	p.printBaseline(e)
	if e.ClassificationResult != nil {
		return
	}
	if len(e.Held) > 0 {
		p.printCalibration(e.Evaluation)
		return
	}
	for _, level := range metric.Levels() {
		key := fmt.Sprintf("%g", level)
		if covered, ok := e.Coverage[key]; ok {
			p.say("coverage of %3.0f%% intervals  %5.1f%%   mean width %s", 100*level, 100*covered, significant(e.Width[key]))
		}
	}
	if _, verdict, within := heldByChance(e.Evaluation); len(within) > 0 {
		p.say("          these shares are %s chance (± %s for %d independent rows)%s", verdict, strings.Join(within, ", "), e.Rows, remedyOf(e.Evaluation, verdict))
	}
}

// printBaseline says how good a prediction without columns is on the rows.
func (p *program) printBaseline(e *evaluated) {
	b := e.Baseline
	if b == nil {
		return
	}
	rmse := float64(b.RMSE)
	if c := e.ClassificationResult; c != nil {
		p.say("baseline  the share of each class for every row: accuracy %s, log_loss %s, auc 0.5, brier %s",
			significant(max(c.Share, 1-c.Share)), significant(float64(b.NLPD)), significant(rmse*rmse))
		return
	}
	verdict, curve := "", ""
	if r := e.RegressionResult; r.SMSE >= 1 {
		verdict = "; the model is no better"
		if r.MSLL < 0 {
			verdict = "; by rmse the model is no better, by nlpd it is"
		}
	}
	if b.NLPD.Defined() {
		curve = fmt.Sprintf(", and a normal curve around that of training: nlpd %s", significant(float64(b.NLPD)))
	}
	p.say("baseline  the mean of these targets for every row: rmse %s, in units of %s%s%s", significant(rmse), p.predicted, curve, verdict)
}

// targetText is the target as the formula has it, such as log(price).
func targetText(fitted *credence.Fitted) string {
	text, _, found := strings.Cut(fitted.Recipe.Formula, "~")
	if text = strings.TrimSpace(text); !found || text == "" {
		return "the target"
	}
	return nameText(text)
}

// remedyOf names what makes intervals hold that do not; "" where they do.
func remedyOf(e *metric.Evaluation, verdict string) string {
	switch {
	case verdict == "within":
		return ""
	case e.Training:
		return "; of the rows of a fit they hold more than of others"
	}
	return "; credence calibrate makes intervals that hold on such rows"
}

// heldByChance says how far chance takes the shares that the intervals of a right model hold, in percent, of the
// levels that there are, and whether the model's are "within" or "beyond" that.
func heldByChance(e *metric.Evaluation) (levels []float64, verdict string, within []string) {
	verdict = "within"
	for _, level := range metric.Levels() {
		covered, ok := e.Coverage[fmt.Sprintf("%g", level)]
		if !ok {
			continue
		}
		reach := chance * math.Sqrt(level*(1-level)/float64(e.Rows))
		levels, within = append(levels, level), append(within, fmt.Sprintf("%.1f", 100*reach))
		if math.Abs(covered-level) > reach {
			verdict = "beyond"
		}
	}
	return levels, verdict, within
}

// chance is how many standard errors the share of the targets that an interval holds is from what it claims by chance:
// under a model that is right any of the four levels is beyond in at most 5 % of the evaluations, 1.2 % for each.
const chance = 2.5

// printCalibration says in one line how many counts or grades the central part of their predictions holds, and
// whether chance explains the difference from what it claims. Intervals of whole values hold more than they claim
// however right they are, so that their width is told where it is above 1 alone.
func (p *program) printCalibration(e *metric.Evaluation) {
	var claimed, held []string
	wide := ""
	levels, verdict, within := heldByChance(e)
	for _, level := range levels {
		key := fmt.Sprintf("%g", level)
		claimed, held = append(claimed, fmt.Sprintf("%.0f", 100*level)), append(held, fmt.Sprintf("%.1f", 100*e.Coverage[key]))
		if width := e.Width[key]; level == 0.9 && width >= 1 {
			wide = fmt.Sprintf("; 90 %% intervals are %s wide on average", significant(width))
		}
	}
	p.say("calibration  the central %s %% of the predictions hold %s %% of the targets: %s chance (± %s for %d independent rows)%s%s",
		strings.Join(claimed, ", "), strings.Join(held, ", "), verdict, strings.Join(within, ", "), e.Rows, wide, remedyOf(e, verdict))
}

// leftOut returns figures of rows given all others, or why there are none.
func leftOut(l *metric.LeaveOneOut, figures string) string {
	if l.NotMade != "" {
		return "not made: " + l.NotMade
	}
	return figures
}

// reliability says whether densities of rows given all others are to be relied on.
func reliability(l *metric.LeaveOneOut) string {
	switch {
	case l.Marked:
		return fmt.Sprintf(", not to be relied on: Pareto k is above 0.7 for %d of %d rows, up to %.2f; hold rows out", l.Unreliable, l.Rows, l.ParetoK)
	case l.Unreliable > 0:
		return fmt.Sprintf(" (Pareto k is above 0.7 for %d of %d rows, up to %.2f)", l.Unreliable, l.Rows, l.ParetoK)
	case l.ParetoK > 0:
		return fmt.Sprintf(" (Pareto k up to %.2f)", l.ParetoK)
	}
	return ""
}

// significant formats a number for people: five significant digits, and all of a whole number below 1e15.
func significant(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.5g", x)
}

// printReliability writes the mean targets of bins of the prediction, where they are asked for.
func (p *program) printReliability(e *metric.Evaluation) {
	if e.CalibrationResult == nil || e.Reliability == nil {
		return
	}
	w := p.columns(toRight)
	fmt.Fprintf(w, "\npredicted\t\tmean\tobserved\trows\t\n")
	for _, b := range e.Reliability.Bins {
		fmt.Fprintf(w, "%.4g\tto %.4g\t%.4g\t%.4g\t%s\t\n", b.From, b.To, b.Predicted, b.Observed, significant(b.Weight))
	}
	w.Flush()
}

// printGroupScores writes a line for each group of rows, where they are asked for.
func (p *program) printGroupScores(e *metric.Evaluation, by []string) {
	if len(e.Groups) == 0 {
		return
	}
	w := p.columns(toLeft)
	fmt.Fprintln(w)
	for _, name := range by {
		fmt.Fprintf(w, "%s\t", printable(name))
	}
	fmt.Fprintf(w, "rows\tnlpd\trmse\tcrps\tslope\t90 %%\tpit_p\t\n")
	for i := range e.Groups {
		g := &e.Groups[i]
		for _, v := range g.By {
			fmt.Fprintf(w, "%s\t", printable(v.Value))
		}
		crps, held, p := "-", "-", "-"
		if g.CRPS != nil {
			crps = shown("%.4g", *g.CRPS)
		}
		if share, ok := g.Coverage["0.9"]; ok {
			held = fmt.Sprintf("%.1f", 100*share)
		}
		if g.PITValue != nil {
			p = fmt.Sprintf("%.2g", *g.PITValue)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", g.Rows, shown("%.5g", g.NLPD), shown("%.4g", g.RMSE), crps, shown("%.3g", g.Slope), held, p)
	}
	w.Flush()
}
