package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
)

func (p *program) compareCommand() *cobra.Command {
	var flags scoreFlags
	cmd := &cobra.Command{
		Use:   "compare MODEL MODEL... DATA",
		Short: "Compare models: evidence, held-out density, disagreement",
		Long: `Compare sets models beside each other: their log evidence (comparable when they were
fitted to the same rows and target), their density and error on the data given,
and how far their predictions are apart. The difference in log density per row
has a standard error, so that chance is not taken for merit.`,
		Example: `  credence compare linear.safetensors gp.safetensors test.csv`,
		Args:    cobra.MinimumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			last := len(args) - 1
			return p.compare(cmd.Context(), args[:last], args[last], &flags)
		},
	}
	flags.register(cmd)
	return cmd
}

// comparedModel is what compare says about one model.
type comparedModel struct {
	Model    string   `json:"model"`
	Engine   string   `json:"engine"`
	Evidence *float64 `json:"evidence,omitempty"`
	ELBO     *float64 `json:"elbo,omitempty"`
	NLPD     float64  `json:"nlpd"`
	RMSE     float64  `json:"rmse"`
	// Gain is the mean log density per row less that of the first model, GainError its
	// standard error over rows.
	Gain      float64 `json:"gain"`
	GainError float64 `json:"gain_error"`
	// MeanDifference is the root mean square difference of predictive means from
	// the first model's, SDRatio the geometric mean ratio of predictive standard deviations.
	MeanDifference float64 `json:"mean_difference"`
	SDRatio        float64 `json:"sd_ratio"`
}

// comparison is the JSON object of compare.
type comparison struct {
	Rows     int             `json:"rows"`
	Models   []comparedModel `json:"models"`
	Warnings []string        `json:"warnings"`
}

// scores are a model's predictions of every row.
type scores struct{ mean, sd, logDensity, target []float64 }

func (p *program) compare(ctx context.Context, models []string, data string, flags *scoreFlags) error {
	result := comparison{Warnings: []string{}}
	var first *scores
	var firstFit *credence.Fitted
	for _, path := range models {
		s, fitted, err := p.scoreModel(ctx, path, data, flags)
		if err != nil {
			return err
		}
		if first == nil {
			first, firstFit = s, fitted
			result.Rows = len(s.mean)
		}
		if len(s.mean) != len(first.mean) {
			return fmt.Errorf("%s scores %d rows and %s %d: the models drop different rows for missing values", models[0], len(first.mean), path, len(s.mean))
		}
		if fitted.Frame.TargetName() != firstFit.Frame.TargetName() {
			return fmt.Errorf("%s predicts %s and %s predicts %s: densities of different targets cannot be compared",
				models[0], firstFit.Frame.TargetName(), path, fitted.Frame.TargetName())
		}
		if fitted.Report.Rows != firstFit.Report.Rows {
			result.Warnings = append(result.Warnings, fmt.Sprintf("%s was fitted to %d rows and %s to %d: their evidence is not comparable",
				models[0], firstFit.Report.Rows, path, fitted.Report.Rows))
		}
		result.Models = append(result.Models, s.against(first, path, fitted))
	}
	if p.json {
		return p.emit(result)
	}
	p.printComparison(&result)
	return nil
}

// scoreModel predicts every row of the data.
func (p *program) scoreModel(ctx context.Context, model, data string, flags *scoreFlags) (*scores, *credence.Fitted, error) {
	scorer, err := p.newScorer(ctx, model, []string{data}, flags, requireTargets)
	if err != nil {
		return nil, nil, err
	}
	defer scorer.close()
	n := scorer.bound.Rows()
	s := &scores{mean: make([]float64, n), sd: make([]float64, n), logDensity: make([]float64, n), target: make([]float64, n)}
	ws := p.workspace()
	err = scorer.each(ctx, func(rows *credence.Batch, dist *credence.Distribution) error {
		copy(s.target[rows.First:], rows.Target)
		dist.Each(ws, func(i int) {
			mean, variance := dist.Moments(i)
			s.mean[rows.First+i], s.sd[rows.First+i] = mean, math.Sqrt(variance)
			s.logDensity[rows.First+i] = dist.LogDensity(i, rows.Target[i])
		})
		return nil
	})
	return s, scorer.fitted, err
}

// against measures s beside the scores of the first model.
func (s *scores) against(first *scores, path string, fitted *credence.Fitted) comparedModel {
	n := float64(len(s.mean))
	out := comparedModel{Model: path, Engine: fitted.Report.Engine, Evidence: fitted.Report.Evidence, ELBO: fitted.Report.ELBO}
	var density, square, apart, ratio float64
	for i := range s.mean {
		density += s.logDensity[i] / n
		square += (s.target[i] - s.mean[i]) * (s.target[i] - s.mean[i]) / n
		out.Gain += (s.logDensity[i] - first.logDensity[i]) / n
		apart += (s.mean[i] - first.mean[i]) * (s.mean[i] - first.mean[i]) / n
		ratio += math.Log(s.sd[i]/first.sd[i]) / n
	}
	variance := 0.0
	for i := range s.mean {
		gap := s.logDensity[i] - first.logDensity[i] - out.Gain
		variance += gap * gap / n
	}
	out.NLPD, out.RMSE = -density, math.Sqrt(square)
	out.GainError = math.Sqrt(variance / n)
	out.MeanDifference, out.SDRatio = math.Sqrt(apart), math.Exp(ratio)
	return out
}

func (p *program) printComparison(c *comparison) {
	p.say("%d rows; gain is in log density per row over the first model", c.Rows)
	if !p.quiet {
		w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(w, "model\tengine\tevidence\tnlpd\trmse\tgain\t± se\tmeans apart\tsd ratio\t\n")
		for _, m := range c.Models {
			evidence := "-"
			switch {
			case m.Evidence != nil:
				evidence = fmt.Sprintf("%.2f", *m.Evidence)
			case m.ELBO != nil:
				evidence = fmt.Sprintf("≥ %.2f", *m.ELBO)
			}
			name := strings.TrimSuffix(filepath.Base(m.Model), ".safetensors")
			fmt.Fprintf(w, "%s\t%s\t%s\t%.5g\t%.5g\t%+.4f\t%.4f\t%.4g\t%.4g\t\n",
				name, m.Engine, evidence, m.NLPD, m.RMSE, m.Gain, m.GainError, m.MeanDifference, m.SDRatio)
		}
		w.Flush()
	}
	for _, warning := range c.Warnings {
		p.warn("%s", warning)
	}
}
