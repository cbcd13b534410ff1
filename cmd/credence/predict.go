package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/dataset/output"
	"github.com/credence-ml/credence/internal/atomicfile"
	"github.com/credence-ml/credence/score"
)

// mostSamples is the largest number of draws that predict adds to a row.
const mostSamples = 10_000

// predictFlags are the flags of predict.
type predictFlags struct {
	scoreFlags
	interval float64
	original bool
	latent   bool
	density  bool
	samples  int
	keep     []string
	output   string
	live     bool // rows come by a pipe, and each is answered before the next
}

func (p *program) predictCommand() *cobra.Command {
	var flags predictFlags
	cmd := &cobra.Command{
		Use:   "predict MODEL DATA...",
		Short: "Predict rows, with intervals",
		Long: `Predict writes one row for each row of the data, in their order: the mean and the standard
deviation (sd) of the target, and an interval from lower to upper that holds it with
probability 0.9, or as --interval says. Two classes add probability, that of the positive
class; grades add a column for each, probability_GRADE.
The target is predicted as the formula has it: log(price) for "log(price) ~ .".
--original converts predictions back to price, and adds its median.`,
		Example: `  credence predict m.safetensors new.csv > predictions.csv
  credence predict m.safetensors new.csv --interval 0.95 --keep id -o predictions.parquet`,
		Args: takes(2, most, "a model and data"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.predict(cmd.Context(), args[0], args[1:], &flags)
		},
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.Float64Var(&flags.interval, "interval", 0.9, "probability of the interval from lower to upper")
	f.BoolVar(&flags.original, "original", false, "predict the target's own column, price of log(price), with its median")
	f.BoolVar(&flags.latent, "latent", false, "add f_mean and f_sd, of the latent value before the link")
	f.BoolVar(&flags.density, "density", false, "add log_density of the target, empty in rows that have none, left out where the data have no target")
	f.IntVar(&flags.samples, "samples", 0, "add this many draws of the target, sample_1 and so on")
	f.StringSliceVar(&flags.keep, "keep", nil, "columns of the data to copy as they are written, in front; tag is that of Vowpal Wabbit rows")
	f.StringVarP(&flags.output, "output", "o", "", "file to write, .csv or .parquet, or .vw, prediction and tag of Vowpal Wabbit rows (default: CSV on standard output)")
	return cmd
}

func (p *program) predict(ctx context.Context, model string, paths []string, flags *predictFlags) error {
	if !(flags.interval > 0 && flags.interval < 1) {
		return misused(fmt.Errorf("--interval %v is not a probability between 0 and 1", flags.interval))
	}
	if flags.samples < 0 || flags.samples > mostSamples {
		return misused(fmt.Errorf("--samples %d is not between 0 and %d", flags.samples, mostSamples))
	}
	if flags.output == "-" { // standard output, as it is for data
		flags.output = ""
	}
	p.table = flags.output == ""
	if p.json && p.table {
		return misused(fmt.Errorf("predict --json tells about the run and needs a file for the predictions: add -o predictions.csv"))
	}
	if flags.output != "" {
		if err := output.Check(flags.output); err != nil {
			return misused(err)
		}
		if err := checkOutputs(append(slices.Clone(paths), model), flags.output); err != nil {
			return err
		}
	}
	flags.live = flags.output == "" && slices.Equal(paths, []string{"-"})
	if strings.EqualFold(filepath.Ext(flags.output), ".vw") && !slices.Contains(flags.keep, dataset.TagColumn) {
		flags.keep = append(flags.keep, dataset.TagColumn)
	}
	targets := score.IgnoreTargets
	if flags.density {
		targets = score.UseTargets
	}
	file, err := p.apply(ctx, model, paths, application{flags: &flags.scoreFlags, targets: targets, interval: flags.interval, original: flags.original, lacking: true, keep: flags.keep, live: flags.live})
	if err != nil {
		return err
	}
	defer file.Close()
	if positive := positiveClass(file.Scorer()); positive != "" {
		p.say("target  %s: probability is that of %s", file.Scorer().Fitted().Frame.TargetName(), positive)
	}
	rows, infinite := 0, 0
	write := func(w io.Writer) error {
		out, err := output.New(w, flags.output, flags.columns(file))
		if err != nil {
			return misused(err)
		}
		if rows, infinite, err = flags.writeAll(ctx, out, file, p.seed); err != nil {
			return err
		}
		return out.Close()
	}
	if flags.output == "" {
		err = write(p.out)
	} else {
		err = atomicfile.Write(flags.output, write)
	}
	if err != nil {
		return err
	}
	p.tellCounts(file)
	if text := file.Scorer().Momentless(); text != "" {
		p.warn("%s", text)
	} else if infinite > 0 {
		p.warn("the mean of %d of %d rows is beyond all numbers, so wide is f there: lower and upper hold; state a prior variance, as normal(variance=1), for a mean", infinite, rows)
	}
	if flags.output == "" {
		return nil
	}
	if p.json {
		result := map[string]any{"rows": rows, "output": flags.output}
		if positive := positiveClass(file.Scorer()); positive != "" {
			result["positive"] = positive
		}
		return p.emit(result)
	}
	p.say("%d predictions written to %s", rows, flags.output)
	return nil
}

// positiveClass is the class whose probability is predicted, "" where there are not two classes.
func positiveClass(of *score.Scorer) string {
	if !of.Binary() {
		return ""
	}
	return of.Classes()[1]
}

// columns names the columns of the output in order.
func (flags *predictFlags) columns(file *apply.File) []output.Column {
	var columns []output.Column
	for _, name := range flags.keep {
		columns = append(columns, output.Column{Name: name, Text: true})
	}
	names := []string{"mean", "sd", "lower", "upper"}
	switch classes := file.Scorer().Classes(); {
	case len(classes) == 0:
	case file.Scorer().Binary():
		names = append(names, "probability")
	default:
		for _, grade := range classes {
			names = append(names, "probability_"+grade)
		}
	}
	if flags.original {
		names = append(names, "median")
	}
	if flags.latent {
		names = append(names, "f_mean", "f_sd")
	}
	if flags.density && file.HasTargets() {
		names = append(names, "log_density")
	}
	for k := range flags.samples {
		names = append(names, fmt.Sprintf("sample_%d", k+1))
	}
	for _, name := range names {
		columns = append(columns, output.Column{Name: name})
	}
	return columns
}

// writeAll writes the predictions of every row and returns their number, and that of infinite means.
func (flags *predictFlags) writeAll(ctx context.Context, out output.Writer, file *apply.File, seed uint64) (total, infinite int, err error) {
	width := len(flags.columns(file)) - len(flags.keep)
	density := flags.density && file.HasTargets()
	err = file.Each(ctx, func(rows *score.Rows) error {
		n := rows.Len()
		total += n
		cells := make([]float64, n*width)
		failed := make([]error, n)
		rows.Each(func(i int) {
			row := cells[i*width : i*width : (i+1)*width]
			failed[i] = flags.cells(row, rows, i, density, seed)
		})
		for i := range n {
			if math.IsInf(cells[i*width], 0) {
				infinite++
			}
		}
		var texts [][]byte
		for i, err := range failed {
			if err == nil && len(flags.keep) > 0 {
				texts, err = file.Kept(texts, rows, i)
			}
			if err != nil {
				return err
			}
		}
		err := out.Write(rows.Each, cells, texts...)
		if err == nil && flags.live {
			err = out.Flush()
		}
		return err
	})
	return total, infinite, err
}

// cells appends what is predicted of row i, in the order of the columns.
func (flags *predictFlags) cells(row []float64, rows *score.Rows, i int, density bool, seed uint64) error {
	if rows.Lacks(i) {
		for range cap(row) { // as many empty cells
			row = append(row, math.NaN())
		}
		return nil
	}
	p := rows.Predict(i)
	row = append(row, p.Mean, p.SD, p.Lower, p.Upper)
	if rows.Scorer().Binary() {
		row = append(row, p.Probability)
	} else {
		row = rows.Probabilities(row, i)
	}
	if flags.original {
		row = append(row, p.Median)
	}
	if flags.latent {
		mean, variance := rows.Latent(i)
		row = append(row, mean, math.Sqrt(variance))
	}
	if density {
		density := math.NaN() // an empty cell, where the row has no target
		if y := rows.Target(i); y == y {
			density = rows.LogDensity(i, y)
		}
		row = append(row, density)
	}
	if flags.samples > 0 {
		rng := credence.Rand(seed, credence.PredictSamples, uint64(rows.First()+i))
		for range flags.samples {
			draw, err := rows.Sample(i, rng)
			if err != nil {
				return err
			}
			row = append(row, draw)
		}
	}
	return nil
}
