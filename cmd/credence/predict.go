package main

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/dataset/output"
	"github.com/credence-ml/credence/score"
)

// predictFlags are the flags of predict.
type predictFlags struct {
	scoreFlags
	interval float64
	original bool
	groups   []string
	apply.Answers
	keep   []string
	output string
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
	f.StringSliceVar(&flags.groups, "groups", nil, "terms of groups whose effects are predicted, by their names or their groups, such as school,'(1 | teacher)'; none leaves all out, so that rows are those of typical groups (default: all)")
	f.BoolVar(&flags.original, "original", false, "predict the target's own column, price of log(price), with its median")
	f.BoolVar(&flags.Mean, "mean-interval", false, "add mean_lower and mean_upper, the interval of the mean, E y, which is narrower than that of y")
	f.BoolVar(&flags.Latent, "latent", false, "add f_mean and f_sd, of the latent value before the link")
	f.BoolVar(&flags.Density, "density", false, "add log_density of the target, empty in rows that have none, left out where the data have no target")
	f.IntVar(&flags.Samples, "samples", 0, "add this many draws of the target, sample_1 and so on")
	f.StringSliceVar(&flags.keep, "keep", nil, "columns of the data to copy as they are written, in front, numbers as numbers where the output is Parquet; tag is that of Vowpal Wabbit rows")
	f.StringVarP(&flags.output, "output", "o", "", "file to write, .csv or .parquet, or .vw, prediction and tag of Vowpal Wabbit rows (default: CSV on standard output)")
	return cmd
}

func (p *program) predict(ctx context.Context, model string, paths []string, flags *predictFlags) error {
	if err := checkInterval(flags.interval); err != nil {
		return err
	}
	if err := flags.Validate(); err != nil {
		return misused(err)
	}
	if flags.output == "-" { // standard output, as it is for data
		flags.output = ""
	}
	if err := p.writes("predict", "predictions", append(flags.inputs(paths...), model), flags.output); err != nil {
		return err
	}
	live := flags.output == "" && slices.Equal(paths, []string{"-"}) // each row is answered before the next
	if strings.EqualFold(filepath.Ext(flags.output), ".vw") && !slices.Contains(flags.keep, dataset.TagColumn) {
		flags.keep = append(flags.keep, dataset.TagColumn)
	}
	flags.Seed = p.seed
	targets := score.IgnoreTargets
	if flags.Density {
		targets = score.UseTargets
	}
	file, err := p.apply(ctx, model, paths, application{flags: &flags.scoreFlags, targets: targets, interval: flags.interval, original: flags.original, groups: flags.groups, lacking: true, keep: flags.keep, live: live})
	if err != nil {
		return err
	}
	defer file.Close()
	if positive := positiveClass(file.Scorer()); positive != "" {
		p.say("target  %s: probability is that of %s", file.Scorer().Fitted().Frame.TargetName(), positive)
	}
	rows := 0
	err = p.writeTable(flags.output, func(w io.Writer) error {
		if rows, err = file.Write(ctx, w, flags.output, flags.Answers); errors.As(err, new(output.ColumnError)) {
			return misused(err)
		}
		return err
	})
	if err != nil {
		return err
	}
	p.tellNotes(file.Data())
	p.tellScored(file)
	if flags.output == "" {
		return nil
	}
	if p.json {
		return p.emit(predicted{flags.output, positiveClass(file.Scorer()), rows})
	}
	p.say("%s written to %s", counted(rows, "prediction"), flags.output)
	if positiveClass(file.Scorer()) == "" {
		p.say("lower to upper holds the target of a new row with a probability of %.6g %%; sd is its standard deviation", 100*flags.interval)
	}
	return nil
}

// predicted is the JSON object of predict.
type predicted struct {
	Output   string `json:"output"`             // file of the predictions
	Positive string `json:"positive,omitempty"` // class whose probability is predicted
	Rows     int    `json:"rows"`               // that are predicted
}

// positiveClass is the class whose probability is predicted, "" where there are not two classes.
func positiveClass(of *score.Scorer) string {
	if !of.Binary() {
		return ""
	}
	return of.Classes()[1]
}
