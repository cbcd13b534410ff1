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
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/modelfile"
)

// fitFlags are the flags of fit.
type fitFlags struct {
	dataFlags
	formula  string
	target   string
	family   string
	prior    string
	engine   string
	unseen   string
	positive string
	raw      bool
	output   string
	// checkpoint is a file that a long fit goes on from.
	checkpoint string
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
            n ~ age + offset(log(exposure)) + weight(w)
What you state is held; what you leave out is learned; ~ before a value makes it a
starting guess: --family 'gaussian(variance=0.1)', rbf(x, lengthscale=~2).`,
		Example: `  credence fit houses.csv --target price
  credence fit houses.csv --formula 'log(price) ~ . - id + rbf(lat, lon)' -o m.safetensors
  credence fit train.libsvm.gz --family gaussian -o m.safetensors
  cat rows.csv | credence fit - --target y --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.fit(cmd.Context(), args, &flags) },
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.StringVarP(&flags.formula, "formula", "f", "", "the model; the default is every column")
	f.StringVar(&flags.target, "target", "", "the target of a formula that names none")
	f.StringVar(&flags.family, "family", "", "gaussian, bernoulli, … (default: by the target)")
	f.StringVar(&flags.prior, "prior", "normal", "normal, normal(variance=1), normal(ard=true)")
	f.StringVar(&flags.engine, "engine", "auto", "auto, or an engine with its options: exact(starts=5, draws=5)")
	f.StringVar(&flags.unseen, "unseen", "error", "error or zero: what predictions do about categories that training did not see")
	f.StringVar(&flags.positive, "positive", "", "the class that counts as positive, against all the rest")
	f.BoolVar(&flags.raw, "raw", false, "do not centre and scale columns")
	f.StringVarP(&flags.output, "output", "o", "", "model file to write")
	f.StringVar(&flags.checkpoint, "checkpoint", "", "file that a long fit writes now and then, and goes on from when it is there (engine svi)")
	return cmd
}

func (p *program) fit(ctx context.Context, paths []string, flags *fitFlags) error {
	start := time.Now()
	if err := checkDistinct([]string{flags.output, flags.checkpoint}, paths...); err != nil {
		return err
	}
	read, missing, err := flags.options(p)
	if err != nil {
		return err
	}
	bar := p.progress("fitting")
	job, err := fit.New(fit.Options{
		Formula: flags.formula, Family: flags.family, Prior: flags.prior, Engine: flags.engine, Seed: p.seed,
		Target: flags.target, Positive: flags.positive, Missing: missing, Unseen: frame.Unseen(flags.unseen), Raw: flags.raw,
		Threads: p.threads, Checkpoint: flags.checkpoint, ReadFile: os.ReadFile, Progress: bar.step,
	})
	if err != nil {
		return err
	}
	for _, path := range []string{flags.output, flags.checkpoint} {
		if path != "" {
			if err := checkWritable(path); err != nil {
				return err
			}
		}
	}
	fitted, err := p.runJob(ctx, job, paths, read)
	bar.done()
	if errors.Is(err, context.Canceled) && checkpointSince(flags.checkpoint, start) {
		return interrupted{err, fmt.Sprintf("the fit so far is saved in %s; the same command goes on from there", flags.checkpoint)}
	}
	if err != nil {
		return err
	}
	result := newFitResult(fitted)
	result.Seconds = time.Since(start).Seconds()
	if flags.output != "" {
		if err := modelfile.Save(flags.output, fitted); err != nil {
			return err
		}
		result.Model = flags.output
	}
	if p.json {
		return p.emit(result)
	}
	p.printFit(&result)
	return nil
}

// runJob fits the model to the files, telling how they and the model were understood.
func (p *program) runJob(ctx context.Context, job *fit.Job, paths []string, read dataset.Options) (*credence.Fitted, error) {
	table, err := p.open(ctx, paths, read)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	columns, err := job.Columns(table.Schema())
	if err != nil {
		return nil, err
	}
	source, err := table.Load(ctx, columns)
	if err != nil {
		return nil, err
	}
	p.describeTable(table, source)
	prepared, err := job.Prepare(ctx, source)
	if err != nil {
		return nil, err
	}
	for _, note := range prepared.Explain() {
		p.say("%-7s %s", note.Topic, note.Text)
	}
	return prepared.Fit(ctx)
}

// checkpointSince reports whether a checkpoint was written after start.
func checkpointSince(path string, start time.Time) bool {
	info, err := os.Stat(path)
	return err == nil && !info.ModTime().Before(start.Truncate(time.Second)) // some clocks of files count seconds
}
