package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/calibration"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
)

// calibrateFlags are the flags of calibrate.
type calibrateFlags struct {
	scoreFlags
	by, output string
}

func (p *program) calibrateCommand() *cobra.Command {
	var flags calibrateFlags
	cmd := &cobra.Command{
		Use:   "calibrate MODEL HELDOUT... -o MODEL2",
		Short: "Make intervals and probabilities hold on rows like held-out ones",
		Long: `Calibrate writes a model whose intervals hold what they say on rows like those held out,
whatever is wrong with the model: a 90 % interval holds the target of a further row with a
probability of at least 90 %, and hardly more. HELDOUT are rows with targets that the model
was not fitted to. Intervals, medians, coverage and draws of the target follow the
calibration in every command; of two classes the probability does, and predict adds
probability_lower and probability_upper, between which it lies. Mean, sd and densities stay
those of the model.

--by region calibrates the rows of each region by themselves, so that intervals hold in each.
A group needs 39 rows, which carry intervals of 95 %; 99 % needs 199. The data that are
predicted then need the column, and groups without a calibration have that of all rows.`,
		Example: `  credence calibrate m.safetensors heldout.csv -o calibrated.safetensors
  credence calibrate m.safetensors heldout.csv --by region -o calibrated.safetensors
  credence evaluate calibrated.safetensors test.csv`,
		Args: takes(2, most, "a model and held-out rows"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkBy(cmd); err != nil {
				return err
			}
			return p.calibrate(cmd.Context(), args[0], args[1:], &flags)
		},
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.by, "by", "", "calibrate the rows of each value of this column by themselves")
	f.StringVarP(&flags.output, "output", "o", "", "file for the calibrated model (needed)")
	return cmd
}

// calibrated is what calibrate tells.
type calibrated struct {
	calibration.Result
	Model string `json:"model"` // file of the calibrated model
}

func (p *program) calibrate(ctx context.Context, model string, paths []string, flags *calibrateFlags) error {
	if flags.output == "" {
		return misused(errors.New("calibrate writes a model and nothing else: add -o MODEL2"))
	}
	if err := checkOutputs(append(flags.inputs(paths...), model), flags.output); err != nil {
		return err
	}
	file, err := p.apply(ctx, model, paths, application{flags: &flags.scoreFlags, targets: score.RequireTargets, calibrating: true, by: flags.by})
	if err != nil {
		return err
	}
	defer file.Close()
	fitted, err := file.Calibrate(ctx)
	if err != nil {
		message := withoutPackage(err.Error())
		// it names the row
		if slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(message, path+":") }) {
			return err
		}
		return fmt.Errorf("%s: %w", strings.Join(paths, ", "), err)
	}
	p.tellCounts(file)
	if warning := fitted.Calibration.Warning; warning != "" {
		p.warn("%s", warning)
	}
	if err := modelfile.Save(flags.output, fitted); err != nil {
		return err
	}
	if p.json {
		return p.emit(calibrated{*fitted.Calibration, flags.output})
	}
	p.printCalibrated(fitted.Calibration)
	p.say("model written to %s", flags.output)
	return nil
}

// printCalibrated says by what rows a model is calibrated.
func (p *program) printCalibrated(r *calibration.Result) {
	for k, g := range r.Groups {
		who := ""
		if k > 0 {
			who = fmt.Sprintf(" of %s %s", r.By, g.Value)
		}
		before := ""
		if !r.Classes {
			before = fmt.Sprintf(", of which 90 %% intervals of the model hold %.1f %%", 100*g.Coverage)
		}
		p.say("calibrated by %s%s%s", counted(g.Rows, "held-out row"), who, before)
	}
}
