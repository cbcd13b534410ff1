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
	"github.com/credence-ml/credence/formula"
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
	job, err := p.newJob(flags)
	if err != nil {
		return err
	}
	fitted, err := job.run(ctx, paths)
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

// checkpointSince reports whether a checkpoint was written after start.
func checkpointSince(path string, start time.Time) bool {
	info, err := os.Stat(path)
	return err == nil && !info.ModTime().Before(start.Truncate(time.Second)) // some clocks of files count seconds
}

// job is a fit whose texts have been read and found sound, before any data are
// opened.
type job struct {
	program *program
	flags   *fitFlags
	options dataset.Options
	frame   frame.Options
	family  formula.Family
	prior   credence.Prior
	engine  *engineChoice
}

// newJob checks everything that can be decided without the data.
func (p *program) newJob(flags *fitFlags) (*job, error) {
	j := &job{program: p, flags: flags}
	var err error
	if j.options, j.frame.Missing, err = flags.options(p); err != nil {
		return nil, err
	}
	if j.frame.Unseen, err = parseUnseen(flags.unseen); err != nil {
		return nil, err
	}
	j.frame.Raw, j.frame.Positive = flags.raw, flags.positive
	if err := formula.Check(flags.formula, flags.target); err != nil {
		return nil, misused(fmt.Errorf("--formula: %w", err))
	}
	if j.family, err = formula.ParseFamily(flags.family); err != nil {
		return nil, misused(fmt.Errorf("--family: %w", err))
	}
	if j.prior, err = formula.ParsePrior(flags.prior); err != nil {
		return nil, misused(fmt.Errorf("--prior: %w", err))
	}
	if name := j.family.Name(); flags.positive != "" && name != "" && name != "bernoulli" {
		return nil, misused(fmt.Errorf("--positive names a class, and family %s has none: leave it out, or use --family bernoulli", name))
	}
	if j.engine, err = parseEngine(flags.engine); err != nil {
		return nil, err
	}
	if stated := j.family.Stated(); stated != nil {
		if err := j.engine.check(stated, j.prior); err != nil {
			return nil, misused(err)
		}
	}
	for _, path := range []string{flags.output, flags.checkpoint} {
		if path == "" {
			continue
		}
		if err := checkWritable(path); err != nil {
			return nil, err
		}
	}
	return j, nil
}

// run fits the model to the files.
func (j *job) run(ctx context.Context, paths []string) (*credence.Fitted, error) {
	p := j.program
	table, err := p.open(ctx, paths, j.options)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	plan, err := formula.Parse(j.flags.formula, table.Schema(), formula.Options{Target: j.flags.target, Family: j.family})
	if err != nil {
		return nil, err
	}
	var columns []string
	for _, name := range plan.Frame.Needs() {
		if table.Schema().Index(name) >= 0 {
			columns = append(columns, name)
		}
	}
	source, err := table.Load(ctx, columns)
	if err != nil {
		return nil, err
	}
	p.describeTable(table, source)
	return j.fitSource(ctx, plan, source)
}

// fitSource fits the model to rows that have been read.
func (j *job) fitSource(ctx context.Context, plan *formula.Plan, source credence.Source) (*credence.Fitted, error) {
	p := j.program
	fr, err := frame.Fit(&plan.Frame, source, j.family.Options(j.frame))
	if err != nil {
		return nil, err
	}
	family, err := j.family.Likelihood(fr)
	if err != nil {
		return nil, err
	}
	data, err := fr.Bind(source, true)
	if err != nil {
		return nil, err
	}
	features, err := plan.Features(fr, data, p.seed)
	if err != nil {
		return nil, err
	}
	model := credence.Model{Features: features, Likelihood: family, Prior: j.prior}
	entry, why, err := j.engine.choose(model, data.Rows())
	if err != nil {
		return nil, err
	}
	call, _ := j.engine.resolve(entry, model)
	if err := refuseSize(entry, call, data.Rows(), features.Weights(), availableMemory()); err != nil {
		return nil, err
	}
	p.say("model   %s   %v, %v prior", plan, family, j.prior)
	if positive := fr.Target.Positive(); positive != "" {
		p.say("target  %s: the positive class is %s", fr.TargetName(), positiveWord(fr.Target, source))
	}
	p.say("engine  %s: %s", entry.name, why)
	if j.flags.checkpoint != "" && !entry.checkpoints {
		p.warn("engine %s writes no checkpoint: --checkpoint %s is not used", entry.name, j.flags.checkpoint)
	}
	bar := p.progress("fitting")
	run := engineRun{seed: p.seed, threads: p.threads, checkpoint: j.flags.checkpoint, progress: bar.step}
	engine, call, err := j.engine.build(run, entry, model)
	if err != nil {
		return nil, err
	}
	fitted, err := engine.Fit(ctx, data)
	bar.done()
	if err != nil {
		return nil, err
	}
	fitted.Frame = fr
	fitted.TargetMean, fitted.TargetVariance = fr.Target.Mean, fr.Target.Variance
	fitted.Recipe = credence.Recipe{
		Formula: plan.String(), Family: j.familyText(family), Prior: j.prior.String(),
		Engine: call.String(), Seed: p.seed,
	}
	fitted.Report.Inputs = len(fr.Inputs) + fr.Sparse
	warnings := append([]string{}, fr.Warnings...)
	if !plan.Intercept && pullsToMean(fr) {
		warnings = append(warnings, "the formula has no intercept and columns are centred, so that f is 0 where they are at their means: use --raw for a line through the origin, or a column of ones")
	}
	fitted.Report.Warnings = append(warnings, fitted.Report.Warnings...)
	return fitted, nil
}

// pullsToMean reports whether a frame centres inputs and has none that is
// constant, which would take the place of an intercept.
func pullsToMean(fr *frame.Frame) bool {
	centred := false
	for i := range fr.Inputs {
		in := &fr.Inputs[i]
		centred = centred || in.Center != 0
		if in.Kind == credence.Category || in.Kind == credence.Numeric && !in.Segment && in.Center == 0 && in.Scale == 1 {
			return false
		}
	}
	return centred
}

// familyText is the family in words that fit it again: as stated, or what the
// target decided.
func (j *job) familyText(family credence.Likelihood) string {
	if stated := j.family.String(); stated != "" {
		return stated
	}
	return fmt.Sprint(family)
}
