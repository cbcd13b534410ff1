package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/score"
)

// drawsFlags are the flags of draws.
type drawsFlags struct {
	scoreFlags
	count  int
	output string
}

func (p *program) drawsCommand() *cobra.Command {
	var flags drawsFlags
	cmd := &cobra.Command{
		Use:   "draws MODEL [DATA...]",
		Short: "Write draws from the posterior, for R, Python and others",
		Long: `Draws writes one row for each draw from the posterior. Its columns are the weights by their
names, in the units of the data's own columns, and the learned parameters of the family where
the fit says how uncertain they are. With data they are f, before the link, mean, which is E y
given f, and a draw of y of every row instead: f[1], mean[1] and y[1] of the first, and so on.
The first columns are .chain, .iteration and .draw, so that R's posterior::as_draws_df reads
the file; arviz.from_dict takes the others.`,
		Example: `  credence draws m.safetensors -n 4000 -o draws.parquet
  credence draws m.safetensors new.csv -o rows.csv`,
		Args: takes(1, most, "a model"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.draws(cmd.Context(), args[0], args[1:], &flags)
		},
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.IntVarP(&flags.count, "n", "n", 1000, "how many draws")
	f.StringVarP(&flags.output, "output", "o", "", "file to write, .csv, .tsv or .parquet (default: CSV on standard output)")
	return cmd
}

// mostDraws is the largest number of draws.
const mostDraws = 1_000_000

func (p *program) draws(ctx context.Context, model string, paths []string, flags *drawsFlags) error {
	if flags.count < 1 || flags.count > mostDraws {
		return misused(fmt.Errorf("-n %d is not between 1 and %d", flags.count, mostDraws))
	}
	if err := p.writes("draws", "draws", append(flags.inputs(paths...), model), flags.output); err != nil {
		return err
	}
	how := application{flags: &flags.scoreFlags, targets: score.IgnoreTargets, lacking: true}
	scorer, read, err := p.scorer(model, how)
	if err != nil {
		return err
	}
	var file *apply.File
	if len(paths) > 0 {
		if file, err = p.bind(ctx, scorer, paths, read, how); err != nil {
			return err
		}
		defer file.Close()
	}
	draws, err := scorer.Draw(flags.count, p.seed)
	if err != nil {
		return err
	}
	var columns int
	var left []string
	err = p.writeTable(flags.output, func(w io.Writer) error {
		columns, left, err = apply.WriteDraws(ctx, w, flags.output, draws, file)
		return err
	})
	if err != nil {
		return err
	}
	if file != nil {
		p.tellCounts(file)
		if scorer.Fitted().Calibration != nil {
			p.remark("y are draws from the model as it was fitted, as f and mean are: predict --samples has calibrated ones")
		}
	}
	if len(left) > 0 {
		p.remark("%s: each member of the fit has features of its own there, whose weights no two draws share: they are left out; give data for draws of f", strings.Join(left, ", "))
	}
	var fixed []string // parameters that no draw varies
	if file == nil {
		fixed = draws.Fixed()
	}
	if len(fixed) > 0 {
		p.remark("%s left out: the fit does not tell how uncertain such a parameter is, and every draw would have one value", strings.Join(fixed, ", "))
	}
	if report := &scorer.Fitted().Report; report.Point() {
		_, why := score.Intervals(report)
		p.warn("every draw has the same weights: %s", why)
	}
	if draws.Count < flags.count {
		p.remark("the posterior is %s of a sampler, all of which are written", counted(draws.Count, "draw"))
	}
	switch {
	case flags.output == "":
		return nil
	case p.json:
		return p.emit(drawn{columns, draws.Count, fixed, flags.output})
	}
	p.say("%s of %s written to %s", counted(draws.Count, "draw"), counted(columns, "quantity"), flags.output)
	return nil
}

// drawn is the JSON object of draws.
type drawn struct {
	Columns int      `json:"columns"`         // quantities that are drawn
	Draws   int      `json:"draws"`           // of each, a row for one
	Fixed   []string `json:"fixed,omitempty"` // parameters of the family that are left out, since no draw varies them
	Output  string   `json:"output"`          // file of the draws
}
