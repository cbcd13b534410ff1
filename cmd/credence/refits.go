package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection/refit"
)

// refits are fits of models without rows that they then predict, where they are asked for.
type refits struct {
	how   refit.Options
	asked bool
	folds *refit.Folds // dealt by the first model
}

// register adds the flags.
func (r *refits) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&r.how.Folds, "cv", 0, "fit each model again, as its recipe says, to all rows of DATA but one fold, for each of so many folds, and score each row by the fit without it")
	f.Float64Var(&r.how.Split, "split", 0, "fit each model again without this share of the rows of DATA, such as 0.2, and score those")
	f.StringVar(&r.how.Group, "group", "", "with --cv or --split: `column` whose values are groups of rows that are left out together")
	f.StringVar(&r.how.Time, "time", "", "with --cv or --split: `column` of numbers or dates; rows are predicted from those before them alone")
}

// check refuses flags that go not together.
func (r *refits) check(p *program, cmd *cobra.Command, leave bool) error {
	r.asked = cmd.Flags().Changed("cv") || cmd.Flags().Changed("split")
	switch {
	case !r.asked && (r.how.Group != "" || r.how.Time != ""):
		return misused(errors.New("--group and --time say how rows are left out: add --cv 10 or --split 0.2"))
	case !r.asked:
		return nil
	case cmd.Flags().Changed("split") && r.how.Split == 0: // which of the options means that it is left out
		return misused(errors.New("--split 0 is not a share of the rows between 0 and 1: state for example 0.2"))
	case leave:
		return misused(errors.New("--loo leaves rows out without fits, and --cv and --split fit again: keep one of them"))
	}
	r.how.Seed = p.seed
	if err := r.how.Validate(); err != nil {
		return misused(err)
	}
	return nil
}

// scores fits a model again without rows of the data, and returns the scores of those rows. An evaluation that is given
// takes them, too, by groups of the texts of the columns that a keeps.
func (r *refits) scores(ctx context.Context, p *program, model string, paths []string, a application, also *score.Evaluation) (*score.Scores, error) {
	read, policy, err := a.flags.options(p)
	if err != nil {
		return nil, err
	}
	if policy.Policy != frame.Refuse || policy.dropTarget || a.flags.unseen != "" {
		return nil, misused(errors.New("refits treat missing and unseen values as the model was told to: leave --unseen and the policies of --missing out, or fit the model with them"))
	}
	fitted, err := load(model)
	if err != nil {
		return nil, err
	}
	scores := score.NewScores(model, fitted)
	if err := scores.Beside(a.first); err != nil {
		return nil, err
	}
	bar := p.progress()
	defer bar.done()
	job, err := fit.Again(fitted, fit.Options{Threads: p.threads, ReadFile: readFile, Progress: bar.step})
	if err != nil {
		return nil, misused(fmt.Errorf("%s: %w", model, err))
	}
	if fitted.Calibration != nil {
		p.warn("%s is calibrated by rows held out, and fits without a fold are not: all figures are of the model without its calibration", model)
	}
	if err := asTrained(&read, fitted); err != nil {
		return nil, fmt.Errorf("%s: %w", model, err)
	}
	read.Kept = a.kept
	table, source, err := p.openColumns(ctx, job, paths, read)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	prepared, err := job.Prepare(ctx, source)
	if err != nil {
		return nil, err
	}
	if all, rows := source.Rows(), prepared.Data().Rows(); rows < all {
		p.warn("%d of %d rows have missing values and are left out", all-rows, all)
	}
	if column := cmp.Or(r.how.Group, r.how.Time); column != "" && source.Schema().Index(column) < 0 {
		beside, err := table.Load(ctx, []string{column})
		if err != nil {
			return nil, err
		}
		prepared.Beside(beside)
	}
	if len(a.keep) > 0 {
		groups, err := groupsOf(ctx, table, source.Rows(), a.keep)
		if err != nil {
			return nil, err
		}
		also.By(a.keep, func(rows *score.Rows, i int) ([]string, error) { return groups[rows.SourceRow(i)], nil })
	}
	if r.folds == nil {
		if r.folds, err = prepared.Folds(ctx, r.how); err != nil {
			return nil, err
		}
	}
	err = prepared.HeldOut(ctx, r.folds, func(rows *score.Rows) error {
		if also != nil {
			if err := also.Add(rows); err != nil {
				return err
			}
		}
		return scores.Add(rows)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", model, err)
	}
	if scores.LeftOut(nil); r.how.Group != "" {
		scores.LeftOut(r.folds.GroupOf)
	}
	return scores, nil
}

// groupsOf returns the texts of columns in all rows of a table.
func groupsOf(ctx context.Context, table *dataset.Table, rows int, columns []string) ([][]string, error) {
	texts, err := table.Texts(ctx, columns)
	if err != nil {
		return nil, err
	}
	defer texts.Close()
	groups, known := make([][]string, rows), map[string][]string{}
	var row [][]byte
	for i := range groups {
		if row, err = texts.Row(row[:0], i); err != nil {
			return nil, err
		}
		key := bytes.Join(row, []byte{0})
		group, seen := known[string(key)]
		if !seen {
			for _, text := range row {
				group = append(group, string(text))
			}
			known[string(key)] = group
		}
		groups[i] = group
	}
	return groups, nil
}

// asTrained has a table read as that of training was: the types of columns that were stated then, where none are now,
// and what texts mean.
func asTrained(read *dataset.Options, fitted *credence.Fitted) error {
	stored := fitted.Frame.(*frame.Frame)
	read.Reading = stored.Reading
	types, dates, err := dataset.ParseTypes(fitted.Recipe.Types)
	if err != nil {
		return err
	}
	read.Dates = maps.Collect(maps.All(read.Dates)) // not nil
	for _, name := range stored.Needs(true) {
		name, _ = credence.CutText(name)
		kind, then := types[name]
		if _, now := read.Types[name]; now || !then {
			continue
		}
		if read.Types[name] = kind; dates[name] != "" {
			read.Dates[name] = dates[name]
		}
	}
	return nil
}

// of says what fits there were, and what standard errors are over.
func (r *refits) of() (fits, over string) {
	how := r.folds
	if fits = "a fit"; how.Split == 0 {
		fits = fmt.Sprintf("%d fits, each", how.Options.Folds)
	}
	if fits += " without the rows that it predicts"; how.Time != "" {
		fits += " and those behind them in " + nameText(how.Time)
	}
	if over = "rows"; how.Group != "" {
		over = fmt.Sprintf("%d groups of %s", how.Groups, nameText(how.Group))
	}
	return fits + "; levels and scaling are those of all rows", over
}
