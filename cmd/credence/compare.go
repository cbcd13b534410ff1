package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/metric"
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

// comparedModel is what compare says about one model. A figure that is no number,
// because a target is beyond what a model thinks possible, is absent in JSON.
type comparedModel struct {
	Model    string       `json:"model"`
	Engine   string       `json:"engine"`
	Evidence *float64     `json:"evidence,omitempty"`
	ELBO     *float64     `json:"elbo,omitempty"`
	NLPD     metric.Score `json:"nlpd,omitzero"`
	RMSE     metric.Score `json:"rmse,omitzero"`
	// Gain is the mean log density per row less that of the first model, GainError its
	// standard error over rows.
	Gain      metric.Score `json:"gain,omitzero"`
	GainError metric.Score `json:"gain_error,omitzero"`
	// MeanDifference is the root mean square difference of predictive means from
	// the first model's, SDRatio the geometric mean ratio of predictive standard deviations.
	MeanDifference metric.Score `json:"mean_difference,omitzero"`
	SDRatio        metric.Score `json:"sd_ratio,omitzero"`
}

// comparison is the JSON object of compare.
type comparison struct {
	Rows     int             `json:"rows"`
	Models   []comparedModel `json:"models"`
	Warnings []string        `json:"warnings"`
}

func (p *program) compare(ctx context.Context, models []string, data string, flags *scoreFlags) error {
	rewind := func() error { return nil }
	if data == "-" {
		again, remove, err := p.keepInput()
		if err != nil {
			return err
		}
		defer remove()
		rewind = again
	}
	result := comparison{Warnings: []string{}}
	var first *scores
	for _, path := range models {
		if err := rewind(); err != nil {
			return err
		}
		s, err := p.scoreModel(ctx, path, data, flags)
		if err != nil {
			return err
		}
		if first == nil {
			first = s
			result.Rows = len(s.mean)
		}
		warnings, err := s.comparable(first)
		if err != nil {
			return err
		}
		result.Warnings = append(result.Warnings, warnings...)
		result.Models = append(result.Models, s.against(first))
	}
	if p.json {
		return p.emit(result)
	}
	p.printComparison(&result)
	return nil
}

// keepInput copies standard input to a temporary file, which every model reads from
// its beginning. remove deletes it.
func (p *program) keepInput() (rewind func() error, remove func(), err error) {
	file, err := os.CreateTemp("", "credence-compare-*")
	if err != nil {
		return nil, nil, err
	}
	remove = func() {
		file.Close()
		os.Remove(file.Name())
	}
	if _, err := io.Copy(file, p.in); err != nil {
		remove()
		return nil, nil, err
	}
	p.in = file
	return func() error { _, err := file.Seek(0, io.SeekStart); return err }, remove, nil
}

// against measures s beside the scores of the first model. Rows count by their
// weights: one of weight 2 is the same row twice.
func (s *scores) against(first *scores) comparedModel {
	report := &s.fitted.Report
	out := comparedModel{Model: s.path, Engine: report.Engine, Evidence: report.Evidence, ELBO: report.ELBO}
	total := 0.0
	for _, weight := range first.weight {
		total += weight
	}
	var density, square, gain, apart, ratio float64
	for i, weight := range first.weight {
		if weight == 0 {
			continue
		}
		share := weight / total
		density += share * s.logDensity[i]
		square += share * (s.target[i] - s.mean[i]) * (s.target[i] - s.mean[i])
		gain += share * (s.logDensity[i] - first.logDensity[i])
		apart += share * (s.mean[i] - first.mean[i]) * (s.mean[i] - first.mean[i])
		ratio += share * math.Log(s.sd[i]/first.sd[i])
	}
	variance, rows := 0.0, 0
	for i, weight := range first.weight {
		if weight > 0 {
			rows++
			gap := s.logDensity[i] - first.logDensity[i] - gain
			variance += weight / total * gap * gap
		}
	}
	out.NLPD, out.RMSE = metric.Score(-density), metric.Score(math.Sqrt(square))
	out.Gain, out.GainError = metric.Score(gain), metric.Score(math.Sqrt(variance/total))
	if rows == 1 { // it tells nothing of how others differ
		out.GainError = metric.Score(math.NaN())
	}
	out.MeanDifference, out.SDRatio = metric.Score(math.Sqrt(apart)), metric.Score(math.Exp(ratio))
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
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", name, m.Engine, evidence,
				shown("%.5g", m.NLPD), shown("%.5g", m.RMSE), shown("%+.4f", m.Gain), shown("%.4f", m.GainError),
				shown("%.4g", m.MeanDifference), shown("%.4g", m.SDRatio))
		}
		w.Flush()
	}
	for _, warning := range c.Warnings {
		p.warn("%s", warning)
	}
}

// shown formats a score, "-" where it is no number.
func shown(format string, score metric.Score) string {
	if !score.Defined() {
		return "-"
	}
	return fmt.Sprintf(format, float64(score))
}
