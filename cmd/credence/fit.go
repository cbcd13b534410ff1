package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
)

// fitFlags are the flags of fit.
type fitFlags struct {
	dataFlags
	fit.Options
	output string
}

func (p *program) fitCommand() *cobra.Command {
	var flags fitFlags
	cmd := &cobra.Command{
		Use:   "fit DATA...",
		Short: "Fit a model to a table",
		Long: `Fit learns a model from a table: a path, several, a glob, or - for standard input;
.csv, .tsv, .libsvm or .parquet, each also .gz and .zst. Types are inferred from the
first 10,000 rows. Without -o the fit is printed and nothing is saved.

Formulas:   target ~ .                      every other column
            log(price) ~ . - id             transforms; leave a column out
            y ~ . + rbf(.)                  add a Gaussian process by random features
            y ~ . + rbf(lat, lon, n=400) + matern32(age) + onehot(zip) + size:rooms
            y ~ x + (x || school) + (1 | teacher)    effects of groups, and slopes by group
            n ~ age + offset(log(exposure)) + weight(w)
            cost ~ age + precision(claims)  means of so many; weight counts equal rows
What you state is held; what you leave out is learned; ~ before a value makes it a
starting guess: --family 'gaussian(variance=0.1)', rbf(x, lengthscale=~2).`,
		Example: `  credence fit houses.csv --target price
  credence fit houses.csv --formula 'log(price) ~ . - id + rbf(lat, lon)' -o m.safetensors
  credence fit train.libsvm.gz --family gaussian -o m.safetensors
  cat rows.csv | credence fit - --target y --json`,
		Args: takes(1, most, "data"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.fit(cmd.Context(), args, &flags) },
	}
	flags.register(cmd, "", "normal, normal(variance=1), normal(ard=true), or spikeslab, which selects features (default: the engine's, most often normal)")
	return cmd
}

// register adds the flags that say what to fit, with the default prior and examples of others.
func (flags *fitFlags) register(cmd *cobra.Command, prior, priors string) {
	flags.dataFlags.register(cmd)
	f := cmd.Flags()
	f.StringVarP(&flags.Formula, "formula", "f", "", "the model; the default is every column")
	f.StringVar(&flags.Target, "target", "", "the target of a formula that names none")
	f.StringVar(&flags.Family, "family", "", "gaussian, bernoulli, … (default: by the target)")
	f.StringVar(&flags.Prior, "prior", prior, priors)
	f.StringVar(&flags.Engine, "engine", "auto", "auto, or an engine with its options: exact(starts=5, draws=5)")
	f.StringVar((*string)(&flags.Unseen), "unseen", "", "error or prior: what predictions do about categories that training did not see; prior adds the variance of the levels (default: error, and prior for groups, the g of (1 | g))")
	f.StringVar(&flags.Positive, "positive", "", "the class that counts as positive, against all the rest")
	f.BoolVar(&flags.Raw, "raw", false, "do not centre and scale columns")
	f.StringVarP(&flags.output, "output", "o", "", "model file to write")
	f.StringVar(&flags.Checkpoint, "checkpoint", "", "file that a long fit writes now and then, and continues from if it exists (engines svi, laplace, gibbs and ep)")
}

func (p *program) fit(ctx context.Context, paths []string, flags *fitFlags) error {
	start := time.Now()
	o, read, err := flags.asked(p, flags.Options)
	if err != nil {
		return err
	}
	bar := p.progress()
	o.Progress = bar.step
	job, err := fit.New(o)
	if err != nil {
		return err
	}
	if err := checkOutputs(flags.inputs(paths...), flags.output, flags.Checkpoint); err != nil {
		return err
	}
	stopped := p.resumable(flags.Checkpoint, "the fit", start)
	fitted, err := p.runJob(ctx, job, paths, read, (*fit.Prepared).Fit)
	bar.done()
	if err != nil {
		return stopped(err)
	}
	result, err := saved(fitted, flags.output, start)
	if err != nil {
		return err
	}
	if p.json {
		return p.emit(result)
	}
	p.printFit(&result)
	return nil
}

// saved saves a model, unless it has no path, and sums up its fit, which began at start.
func saved(fitted *credence.Fitted, path string, start time.Time) (score.Summary, error) {
	result := score.Summarise(fitted)
	result.Seconds, result.Model = time.Since(start).Seconds(), path
	if path == "" {
		return result, nil
	}
	return result, modelfile.Save(path, fitted)
}

// openColumns opens the data and reads the columns that a job takes. The table is the caller's to close.
func (p *program) openColumns(ctx context.Context, job *fit.Job, paths []string, read dataset.Options) (*dataset.Table, credence.Source, error) {
	table, err := p.open(ctx, paths, read)
	if err != nil {
		return nil, nil, err
	}
	columns, err := job.Columns(table.Schema())
	if err == nil {
		var source credence.Source
		if source, err = table.Load(ctx, columns); err == nil {
			return table, source, nil
		}
	}
	table.Close()
	return nil, nil, err
}

// runJob does what is to be done with the model and the files, telling how they and the model were understood.
func (p *program) runJob(ctx context.Context, job *fit.Job, paths []string, read dataset.Options, do func(*fit.Prepared, context.Context) (*credence.Fitted, error)) (*credence.Fitted, error) {
	table, source, err := p.openColumns(ctx, job, paths, read)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	p.say("data    %s: %s", filesText(table.Files()), counted(source.Rows(), "row"))
	prepared, err := job.Prepare(ctx, source)
	var notes []fit.Note
	if err == nil {
		notes = prepared.Explain()
	}
	for len(notes) > 0 && notes[0].Topic == "target" { // what it looks like is read first
		p.sayNote(notes[0])
		notes = notes[1:]
	}
	parts, _ := job.PartsAlone(table.Schema())
	p.describeColumns(table, source.Schema(), parts)
	if err != nil {
		return nil, err
	}
	if source.Rows() <= fit.MostBeside {
		outside, err := job.Outside(table.Schema())
		if err != nil {
			return nil, err
		}
		if len(outside) > 0 {
			// what stands outside the formula may be unreadable
			if beside, err := table.Load(ctx, outside); err == nil {
				prepared.Beside(beside)
			}
		}
	}
	return p.runPrepared(ctx, prepared, notes, do)
}

// sayNote prints a note.
func (p *program) sayNote(note fit.Note) { p.say("%-7s %s", note.Topic, note.Text) }

// runPrepared tells what was chosen, and fits.
func (p *program) runPrepared(ctx context.Context, prepared *fit.Prepared, notes []fit.Note, do func(*fit.Prepared, context.Context) (*credence.Fitted, error)) (*credence.Fitted, error) {
	for _, note := range notes {
		p.sayNote(note)
	}
	p.placed = prepared.Placed
	p.messages.set("fitting", 0, 0, false, time.Now())
	return do(prepared, ctx)
}

// resumable returns what an interrupted command tells where its checkpoint was written since its start, and has it told
// where the command does not return in time.
func (p *program) resumable(checkpoint, what string, start time.Time) func(error) error {
	stopped := func(err error) error {
		if errors.Is(err, context.Canceled) && checkpointSince(checkpoint, start) {
			return interrupted{err, fmt.Sprintf("%s so far is saved in %s; the same command continues from there", what, checkpoint)}
		}
		return err
	}
	p.stopped.Store(&stopped)
	return stopped
}

// checkpointSince reports whether a checkpoint was written after start.
func checkpointSince(path string, start time.Time) bool {
	info, err := os.Stat(path)
	return err == nil && !info.ModTime().Before(start.Truncate(time.Second)) // some clocks of files count seconds
}
