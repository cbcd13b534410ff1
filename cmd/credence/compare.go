package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection/refit"
)

func (p *program) compareCommand() *cobra.Command {
	var flags scoreFlags
	var again refits
	leave := false
	cmd := &cobra.Command{
		Use:   "compare MODEL MODEL... DATA",
		Short: "Compare models: evidence, held-out density, disagreement",
		Long: `Compare shows models side by side: their log evidence, their density and error on the
data given, and how far apart their predictions are. Evidence is comparable between fits
of the same rows and target that treat hyper-parameters alike; a lower bound is shown
with an estimate of what it lacks. The gain in log density per row has a standard error,
to tell a better model from a lucky one. The last columns are the root mean square of the
differences between predictive means, and the ratio of predictive standard deviations.
Models that give densities and models that give probabilities, of counts, grades or
classes, stand in tables of their own: no log density ranks beside a log probability.
Models of price and of log(price) are compared in the units of price.

--cv 10 fits every model again to all rows of DATA but a tenth, ten times, and compares
how they predict the rows left out, the same ones for all; --split 0.2 does so once.
--group id keeps the rows of an id together, and the standard error is over groups;
--time date predicts rows from those before them alone.`,
		Example: `  credence compare linear.safetensors gp.safetensors test.csv
  credence compare linear.safetensors gp.safetensors all.csv --cv 10`,
		Args: takes(3, most, "two models and data"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := again.check(p, cmd, leave); err != nil {
				return err
			}
			last := len(args) - 1
			return p.compare(cmd.Context(), args[:last], args[last], &flags, &again, leave)
		},
	}
	flags.register(cmd)
	again.register(cmd)
	cmd.Flags().BoolVar(&leave, "loo", false, "DATA are the training rows: compare the densities of each given all the others too")
	return cmd
}

// comparison is the JSON object of a comparison.
type comparison struct {
	*score.Comparison
	Refits *refit.Folds `json:"refits,omitempty"` // how rows were left out
}

func (p *program) compare(ctx context.Context, models []string, data string, flags *scoreFlags, again *refits, leave bool) error {
	kept := &dataset.Kept{} // every model reads a pipe from its beginning
	defer kept.Close()
	var all []*score.Scores
	for _, path := range models {
		a := application{flags: flags, targets: score.RequireTargets, kept: kept}
		if len(all) > 0 {
			a.first = all[0]
		}
		scores, err := p.scores(ctx, path, data, a, again, leave)
		if err != nil {
			return err
		}
		all = append(all, scores)
	}
	result, err := score.Compare(all...)
	if err != nil {
		return err
	}
	if p.json {
		return p.emit(comparison{result, again.folds})
	}
	over := "rows"
	if again.asked {
		var fits string
		fits, over = again.of()
		p.say("refits    %s", fits)
	}
	p.printComparison(result, over)
	return nil
}

// scores predicts every row of the data.
func (p *program) scores(ctx context.Context, model, data string, a application, again *refits, leave bool) (*score.Scores, error) {
	if again.asked {
		return again.scores(ctx, p, model, []string{data}, a, nil)
	}
	file, err := p.apply(ctx, model, []string{data}, a)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	scores := score.NewScores(model, file.Scorer().Fitted())
	if err := scores.Beside(a.first); err != nil {
		return nil, err
	}
	_, rows := file.Counts()
	scores.Expect(rows)
	if leave {
		scores.LeaveOneOut()
	}
	if err := file.Each(ctx, scores.Add); err != nil {
		return nil, err
	}
	p.tellCounts(file)
	return scores, nil
}

// printComparison writes the models for people, those that give densities and those that give probabilities apart.
func (p *program) printComparison(c *score.Comparison, errors string) {
	mixed := slices.ContainsFunc(c.Models, func(m score.Compared) bool { return m.Kind != c.Models[0].Kind })
	over := "first model"
	if mixed {
		over += " of its table"
	}
	spread := "its standard error"
	if errors != "rows" {
		spread += " over " + errors
	}
	p.say("%s; gain is in log density per row over the %s, with %s", counted(c.Rows, "row"), over, spread)
	for _, kind := range []string{score.Probabilities, score.Densities} {
		models := slices.DeleteFunc(slices.Clone(c.Models), func(m score.Compared) bool { return m.Kind != kind })
		if mixed {
			p.say("\n%s:", kind)
		}
		if len(models) > 0 {
			p.printCompared(models, mixed)
			p.printNone(c.Baselines, models)
			p.printBest(models)
		}
	}
	for _, m := range c.Models {
		if m.LOO != nil {
			figures := fmt.Sprintf("nlpd %s, gain %s ± %s", shown("%.5g", m.LOO.NLPD), shown("%+.4f", m.LOOGain), shown("%.4f", m.LOOGainError))
			p.say("%s, each row given all the others: %s%s", printable(nameOf(m.Model)), leftOut(m.LOO, figures), reliability(m.LOO))
		}
	}
	for _, warning := range c.Warnings {
		p.warn("%s", warning)
	}
}

// nameOf is what a model is called where several are told: its file without folder and ending.
func nameOf(path string) string { return strings.TrimSuffix(filepath.Base(path), ".safetensors") }

// printNone says how good a prediction without columns is, and which models of a table are no better.
func (p *program) printNone(baselines []score.Baseline, models []score.Compared) {
	for _, b := range baselines {
		if b.Kind != models[0].Kind {
			continue
		}
		what := "a normal curve of these targets' own mean and spread"
		if b.Kind == score.Probabilities {
			what = "the share of each value among these targets"
		}
		var no []string
		for _, m := range models {
			if m.NLPD >= b.NLPD {
				no = append(no, printable(nameOf(m.Model)))
			}
		}
		verdict := ""
		if len(no) > 0 {
			verdict = "; no better is " + strings.Join(no, ", ")
		}
		p.say("baseline  %s, without columns: nlpd %s, rmse %s%s", what, shown("%.5g", b.NLPD), shown("%.5g", b.RMSE), verdict)
	}
}

// printBest says which model of a table predicts best, and whether chance may give what it gains: on the first or,
// where it is that, on the next best. Two standard errors are the bar that people know.
func (p *program) printBest(models []score.Compared) {
	next := 0
	for k, m := range models[1:] {
		if !m.Gain.Defined() || !(m.GainError > 0) {
			return
		}
		if next == 0 || m.Gain > models[next].Gain {
			next = k + 1
		}
	}
	if next == 0 {
		return
	}
	best, other, m := next, 0, models[next]
	if m.Gain < 0 {
		best, other = 0, next
	}
	name := func(k int) string { return printable(nameOf(models[k].Model)) }
	errors, verdict := math.Abs(float64(m.Gain/m.GainError)), "more than chance gives"
	if errors < 2 {
		verdict = "which chance may give: neither is known to be better"
	}
	p.say("best      %s gains %.4f on %s, %.1f standard errors, %s; lower nlpd and rmse are better", name(best), math.Abs(float64(m.Gain)), name(other), errors, verdict)
}

// printCompared writes a table of models, with the score that ranks those of all tables where there are several.
func (p *program) printCompared(models []score.Compared, several bool) {
	crps := func(text string) string {
		if several {
			return text + "\t"
		}
		return ""
	}
	w := p.columns(toRight)
	fmt.Fprintf(w, "model\tengine\tevidence\tnlpd\trmse\t%sgain\t± se\tmeans differ by\tSD ratio\t\n", crps("crps"))
	for _, m := range models {
		evidence := "-"
		switch {
		case m.Evidence != nil:
			evidence = fmt.Sprintf("%.2f", *m.Evidence)
		case m.ELBO != nil:
			evidence = fmt.Sprintf("≥ %.2f", *m.ELBO)
			if m.EvidenceGap != nil && !m.EvidenceGapLeast && *m.EvidenceGap >= 0.005 { // less is not seen in the bound
				evidence += fmt.Sprintf(" (+ %.2g)", *m.EvidenceGap)
			}
		case m.EvidenceEstimate != nil:
			evidence = fmt.Sprintf("≈ %.2f", *m.EvidenceEstimate)
		case m.EvidenceBound != nil:
			evidence = fmt.Sprintf("≥ %.2f", *m.EvidenceBound)
		}
		name := printable(nameOf(m.Model))
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s%s\t%s\t%s\t%s\t\n", name, m.Engine, evidence,
			shown("%.5g", m.NLPD), shown("%.5g", m.RMSE), crps(shown("%.4g", m.CRPS)), shown("%+.4f", m.Gain), shown("%.4f", m.GainError),
			shown("%.4g", m.MeanDifference), shown("%.4g", m.SDRatio))
	}
	w.Flush()
}

// shown formats a score, "-" where it is no number.
func shown(format string, score metric.Score) string {
	if !score.Defined() {
		return "-"
	}
	return fmt.Sprintf(format, float64(score))
}
