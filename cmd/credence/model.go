package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
)

// scoreFlags are those of the commands that apply a model to data.
type scoreFlags struct {
	dataFlags
	unseen string
}

func (f *scoreFlags) register(cmd *cobra.Command) {
	f.dataFlags.register(cmd)
	cmd.Flags().StringVar(&f.unseen, "unseen", "", "error or prior: what to do about categories that training did not see; prior adds the variance of the levels (default: as the model was fitted)")
}

// application says how a model is applied.
type application struct {
	flags       *scoreFlags
	targets     score.Targets
	interval    float64  // 0 means the default
	original    bool     // the target's own units
	groups      []string // whose effects are predicted; nil for all
	lacking     bool     // rows that lack a value are answered by empty cells where the model leaves them out
	live        bool     // rows are scored one by one, as they come
	again       bool     // rows are kept, to be read again
	keep        []string // columns to copy
	calibrating bool     // by held-out rows, of groups of the column by
	by          string
	kept        *dataset.Kept // pipes that other models read too; nil if none do
	first       *score.Scores // of the model that this one is compared with; nil if none is
}

// apply binds a model to data.
func (p *program) apply(ctx context.Context, model string, paths []string, a application) (*apply.File, error) {
	scorer, options, err := p.scorer(model, a)
	if err != nil {
		return nil, err
	}
	options.Kept = a.kept
	return p.bind(ctx, scorer, paths, options, a)
}

// load loads a model, into large pages where the file is not small.
func load(path string) (*credence.Fitted, error) {
	useLargePages([]string{path})
	return modelfile.Load(path)
}

// scorer loads a model, and returns it with how flags say that data are read.
func (p *program) scorer(model string, a application) (*score.Scorer, dataset.Options, error) {
	options, policy, err := a.flags.options(p)
	if err != nil {
		return nil, options, err
	}
	unseen := frame.Unseen(a.flags.unseen)
	if _, err := (frame.Options{Unseen: unseen}).Validate(); err != nil {
		return nil, options, misused(err)
	}
	if policy.Policy == frame.Refuse && !policy.refusing { // that of the model
		policy.Policy = ""
	}
	fitted, err := load(model)
	if err != nil {
		return nil, options, err
	}
	if policy.Policy == frame.Drop && a.targets != score.RequireTargets && !a.lacking {
		return nil, options, misused(fmt.Errorf("--missing drop leaves rows out, and every row is predicted: use --missing mean, which fills in the means of training"))
	}
	scorer, err := score.New(fitted, score.Options{Missing: policy.Policy, DropTarget: policy.dropTarget, Unseen: unseen, Interval: a.interval, Threads: p.threads, Original: a.original, Groups: a.groups, Lacking: a.lacking, Calibrating: a.calibrating, By: a.by})
	if err != nil {
		return nil, options, misused(fmt.Errorf("%s: %w", model, err))
	}
	return scorer, options, nil
}

// bind binds a model to data, and tells how they were understood.
func (p *program) bind(ctx context.Context, scorer *score.Scorer, paths []string, options dataset.Options, a application) (*apply.File, error) {
	bar := p.progress()
	options.Progress = p.reading()
	file, err := apply.Open(ctx, scorer, paths, apply.Options{
		Read: options, Targets: a.targets, Keep: a.keep, Live: a.live, Again: a.again,
		Progress: func(before, all int) {
			if before == all {
				bar.done()
				return
			}
			bar.set(int64(before), int64(all), "scoring")
		},
	})
	if err != nil {
		return nil, err
	}
	p.tellNotes(file.Data())
	if a.targets == score.UseTargets && !file.HasTargets() {
		p.warn("%s lacks the target %s: there is no log_density", strings.Join(file.Data().Files(), ", "), scorer.Fitted().Frame.TargetName())
	}
	return file, nil
}

// load reads what a scorer takes of a table, with further columns, and tells how it was understood. The table is the
// caller's to close.
func (p *program) load(ctx context.Context, scorer *score.Scorer, paths []string, read dataset.Options, targets score.Targets, beside []string) (*dataset.Table, credence.Source, error) {
	read.Progress = p.reading()
	table, source, err := apply.Load(ctx, scorer, paths, read, targets, beside)
	if err == nil {
		p.tellNotes(table)
	}
	return table, source, err
}

// tellScored warns about rows that were scored, and tells what of their predictions is calibrated and what they lack.
func (p *program) tellScored(file *apply.File) {
	p.tellCounts(file)
	if text := file.Scorer().Calibrated(); text != "" {
		p.remark("%s", text)
	}
	if text := file.Scorer().Momentless(); text != "" {
		p.warn("%s", text)
	}
}

// tellCounts warns about what was done to rows before they were scored.
func (p *program) tellCounts(file *apply.File) {
	counts, rows := file.Counts()
	if counts.Dropped > 0 {
		p.warn("%d of %d rows have missing values and are left out", counts.Dropped, counts.Dropped+rows)
	}
	if counts.Lacking > 0 {
		p.warn("%d of %s lack a value and have no prediction: their cells are empty; --missing mean fills inputs with the means of training (for a model of stream: when it is learned)", counts.Lacking, counted(rows, "row"))
	}
	if counts.UnseenGroups > 0 {
		p.warn("%s of a %s that was not among the rows of calibration: the calibration of all rows is theirs", counted(counts.UnseenGroups, "row"), file.Scorer().By())
	}
	if counts.Filled > 0 {
		p.warn("%s filled with training means", counted(counts.Filled, "missing value"))
	}
	if counts.Momentless > 0 {
		p.warn("mean or sd of %s is beyond all numbers, so little is known there: these cells are empty, and lower and upper hold; correct the rows, or fit under a stated prior variance, as --prior 'normal(variance=1)'", counted(counts.Momentless, "row"))
	}
	if counts.Impossible > 0 {
		p.warn("the target of %s is beyond what the model holds possible: their log_density, minus infinity, is an empty cell", counted(counts.Impossible, "row"))
	}
	if counts.Beyond > 0 {
		p.warn("%s beyond the box of hsgp(…), where its function is 0 with no variance: fit with a wider one, as boundary=3, or with rbf(…)", counted(counts.Beyond, "row"))
	}
	if counts.DrawnGroups > 0 {
		p.warn("%s not seen in training, or missing, drawn from the law of the groups", counted(counts.DrawnGroups, "value")+" of groups")
	}
	switch unseen := counted(counts.UnseenLevels, "category value"); {
	case counts.UnseenLevels == 0:
	case file.Scorer().SpreadsLevels():
		p.warn("%s not seen in training, scored at the prior: no effect, give or take the spread of the levels", unseen)
	default:
		p.warn("%s not seen in training, scored as no effect: engine %s tells no spread of the levels, and intervals leave it out", unseen, file.Scorer().Fitted().Report.Engine)
	}
	switch {
	case counts.UnseenFeatures == 1:
		p.warn("1 value of a feature unseen in training was scored at its prior")
	case counts.UnseenFeatures > 1:
		p.warn("%d values of features unseen in training were scored at their prior", counts.UnseenFeatures)
	}
}
