package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/modelfile"
)

// predictFlags are the flags of predict.
type predictFlags struct {
	scoreFlags
	interval float64
	latent   bool
	density  bool
	samples  int
	keep     []string
	output   string
}

func (p *program) predictCommand() *cobra.Command {
	var flags predictFlags
	cmd := &cobra.Command{
		Use:   "predict MODEL DATA...",
		Short: "Predict rows, with intervals",
		Long: `Predict writes a table with one row for each row of the data, in their order:
mean and sd of the predictive distribution of the target, and lower and upper, the
ends of its central interval. For two classes, probability is that of the positive
class, and for grades each has a column of its own, probability_GRADE.
Predictions are of the target as the formula has it: of log(price) for a formula
"log(price) ~ .".`,
		Example: `  credence predict m.safetensors new.csv > predictions.csv
  credence predict m.safetensors new.csv --interval 0.95 --keep id -o predictions.parquet`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.predict(cmd.Context(), args[0], args[1:], &flags)
		},
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.Float64Var(&flags.interval, "interval", 0.9, "probability of the interval from lower to upper")
	f.BoolVar(&flags.latent, "latent", false, "add f_mean and f_sd, of the latent value before the link")
	f.BoolVar(&flags.density, "density", false, "add log_density of the target, empty in rows that have none, left out where the data have no target")
	f.IntVar(&flags.samples, "samples", 0, "add this many draws of the target, sample_1 and so on")
	f.StringSliceVar(&flags.keep, "keep", nil, "columns of the data to copy as they are written, in front")
	f.StringVarP(&flags.output, "output", "o", "", "file to write, .csv or .parquet (default: CSV on standard output)")
	return cmd
}

func (p *program) predict(ctx context.Context, model string, paths []string, flags *predictFlags) error {
	if !(flags.interval > 0 && flags.interval < 1) {
		return misused(fmt.Errorf("--interval %v is not a probability between 0 and 1", flags.interval))
	}
	if flags.samples < 0 {
		return misused(fmt.Errorf("--samples %d is negative", flags.samples))
	}
	if flags.output == "-" { // standard output, as it is for data
		flags.output = ""
	}
	if p.json && flags.output == "" {
		return misused(fmt.Errorf("predict --json tells about the run and needs a file for the predictions: add -o predictions.csv"))
	}
	if flags.output != "" {
		if err := tableFormat(flags.output); err != nil {
			return err
		}
		if err := checkDistinct([]string{flags.output}, append(slices.Clone(paths), model)...); err != nil {
			return err
		}
		if err := checkWritable(flags.output); err != nil {
			return err
		}
	}
	if modelfile.IsKeyed(model) {
		return p.predictStream(ctx, model, paths, flags)
	}
	use := ignoreTargets
	if flags.density {
		use = scoreTargets
	}
	s, err := p.newScorer(ctx, model, paths, &flags.scoreFlags, use)
	if err != nil {
		return err
	}
	defer s.close()
	if s.use == ignoreTargets && flags.density {
		without := *flags
		without.density = false
		flags = &without
	}
	if err := s.checkKept(flags.keep); err != nil {
		return err
	}
	write := func(w io.Writer) error {
		out, err := newTableWriter(w, flags.output, s.predictionColumns(flags))
		if err != nil {
			return err
		}
		if err := s.predictAll(ctx, out, flags); err != nil {
			return err
		}
		return out.close()
	}
	if flags.output == "" {
		return write(p.out)
	}
	if err := atomicfile.Write(flags.output, write); err != nil {
		return err
	}
	if p.json {
		return p.emit(map[string]any{"rows": s.bound.Rows(), "output": flags.output})
	}
	p.say("%d predictions written to %s", s.bound.Rows(), flags.output)
	return nil
}

// predictionColumns names the columns of the output in order.
func (s *scorer) predictionColumns(flags *predictFlags) []outputColumn {
	var columns []outputColumn
	for _, name := range flags.keep {
		columns = append(columns, outputColumn{name: name, text: true})
	}
	for _, name := range flags.predicted(s.classes()) {
		columns = append(columns, outputColumn{name: name})
	}
	return columns
}

// classes are those whose probabilities are predicted: the positive one, or all grades; none
// for numbers.
type classes struct {
	binary bool
	grades []string
}

// predicted names the columns of what is predicted, in order.
func (flags *predictFlags) predicted(of classes) []string {
	names := []string{"mean", "sd", "lower", "upper"}
	if of.binary {
		names = append(names, "probability")
	}
	for _, grade := range of.grades {
		names = append(names, "probability_"+grade)
	}
	if flags.latent {
		names = append(names, "f_mean", "f_sd")
	}
	if flags.density {
		names = append(names, "log_density")
	}
	for k := range flags.samples {
		names = append(names, fmt.Sprintf("sample_%d", k+1))
	}
	return names
}

// classesOf returns what a family's predictions are probabilities of.
func classesOf(family credence.Likelihood) classes {
	d, ok := family.(likelihood.Described)
	return classes{binary: ok && d.TargetKind() == likelihood.Classes}
}

func (s *scorer) classes() classes {
	of := classesOf(s.fitted.Members[0].Model.Likelihood)
	if s.grades != nil {
		of.grades = s.frame.Target.Levels
	}
	return of
}

// predictAll writes the predictions of every row.
func (s *scorer) predictAll(ctx context.Context, out tableWriter, flags *predictFlags) error {
	ws := s.program.workspace()
	of := s.classes()
	width := len(flags.predicted(of))
	var kept *keeper
	if len(flags.keep) > 0 {
		kept = newKeeper(ctx, s.table, flags.keep)
		defer kept.close()
	}
	return s.each(ctx, func(rows *credence.Batch, dist *predictive) error {
		n := rows.Rows()
		var texts [][]byte
		for i := range n {
			if kept == nil {
				break
			}
			row, err := kept.row(s.bound.SourceRow(rows.First + i))
			if err != nil {
				return err
			}
			texts = append(texts, row...)
		}
		cells := make([]float64, n*width)
		failed := make([]error, n)
		dist.Each(ws, func(i int) {
			row := cells[i*width : i*width : (i+1)*width]
			_, failed[i] = flags.cells(row, rows, dist, i, of, s.program.seed)
		})
		for _, err := range failed {
			if err != nil {
				return err
			}
		}
		return out.write(cells, texts...)
	})
}

// cells appends what is predicted of row i of a batch, in the order of the columns.
func (flags *predictFlags) cells(row []float64, rows *credence.Batch, dist *predictive, i int, of classes, seed uint64) ([]float64, error) {
	mean, variance := dist.Moments(i)
	row = append(row, mean, math.Sqrt(variance),
		dist.Quantile(i, (1-flags.interval)/2), dist.Quantile(i, (1+flags.interval)/2))
	if of.binary {
		row = append(row, mean)
	}
	if of.grades != nil {
		row = dist.probabilities(row, i)
	}
	if flags.latent {
		mean, variance := dist.Latent(i)
		row = append(row, mean, math.Sqrt(variance))
	}
	if flags.density {
		density := math.NaN() // an empty cell, where the row has no target
		if y := rows.Target[i]; y == y {
			density = dist.LogDensity(i, y)
		}
		row = append(row, density)
	}
	if flags.samples > 0 {
		rng := credence.Rand(seed, credence.PredictSamples, uint64(rows.First+i))
		for range flags.samples {
			draw, err := dist.Sample(i, rng)
			if err != nil {
				return row, err
			}
			row = append(row, draw)
		}
	}
	return row, nil
}
