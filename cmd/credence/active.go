package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/active"
	"github.com/credence-ml/credence/active/rank"
	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/score"
)

func (p *program) activeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "active",
		Short: "Find which rows to label next",
		Long:  `Active tells which of many unlabelled rows to label next, and shows on labelled data how much that would save.`,
		Args:  knownCommand,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(p.rankCommand(), p.simulateCommand())
	return cmd
}

// rankFlags are the flags of active rank.
type rankFlags struct {
	scoreFlags
	how   rank.Options
	score string
	cold  bool
	model fit.Options // before any label is known
}

func (p *program) rankCommand() *cobra.Command {
	var flags rankFlags
	cmd := &cobra.Command{
		Use:   "rank MODEL POOL... | rank --cold POOL...",
		Short: "Rank unlabelled rows by what their labels would tell",
		Long: `Rank lists the rows of a pool to label next, the most useful first; rows count from 1.
Each is chosen given those before it, so that no two of them tell the same thing. score is
what the label is expected to tell, in nats: how far it moves the posterior (information),
what it tells about f alone (bald), or by how much the expected log loss of 500 random
rows of the pool falls (error_reduction); or how close the probability is to one half
(uncertainty). mean is that of f. One pass keeps the 50·n rows that score best on their
own, at least 1,000 (for error_reduction 10·n random ones, at least 200), and the picks
come from these.

With --audit 0.1 every tenth row is a random one (audit is 1 in CSV, true in JSON). Keep
these in a file of their own: once they are labelled, and before the model learns them,
credence evaluate MODEL on that file tells the error on all rows, which rows chosen by
score do not.

With --cold there is no model yet: the first rows to label are chosen by what the prior
says of the model that --formula or --target, --family and --prior state, by default those
that tell most of the other rows (error_reduction).`,
		Example: `  credence active rank m.safetensors pool.csv -n 20 --keep id,text > next.csv
  credence active rank m.safetensors pool.csv --skip-labelled --cost minutes --json
  credence active rank --cold pool.csv --target spam -n 50 --keep id`,
		Args: func(cmd *cobra.Command, args []string) error {
			if flags.cold {
				return takes(1, most, "a pool of rows")(cmd, args)
			}
			return takes(2, most, "a model and a pool of rows")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if flags.cold && !cmd.Flags().Changed("score") {
				flags.score = string(active.ErrorReduction)
			}
			if flags.cold {
				return p.rank(cmd.Context(), "", args, &flags)
			}
			for _, name := range []string{"formula", "target", "family", "prior"} {
				if cmd.Flags().Changed(name) {
					return misused(fmt.Errorf("--%s states a model before any label is known, and %s is a model: leave it out, or use --cold and no model", name, args[0]))
				}
			}
			return p.rank(cmd.Context(), args[0], args[1:], &flags)
		},
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.IntVarP(&flags.how.N, "n", "n", 20, "how many rows")
	f.StringVar(&flags.score, "score", string(active.Information), "information, uncertainty, bald, error_reduction or random")
	f.Float64Var(&flags.how.Audit, "audit", 0, "share of the rows to take by chance, as 0.1")
	f.StringSliceVar(&flags.how.Keep, "keep", nil, "columns of the data to copy as they are written, in front")
	f.BoolVar(&flags.how.SkipLabelled, "skip-labelled", false, "leave out rows that have a target")
	f.BoolVar(&flags.cold, "cold", false, "no model: choose the first rows to label")
	f.StringVarP(&flags.model.Formula, "formula", "f", "", "under --cold, the model; the default is every column")
	f.StringVar(&flags.model.Target, "target", "", "under --cold, the target of a formula that names none, which the pool may lack")
	f.StringVar(&flags.model.Family, "family", "bernoulli", "under --cold, bernoulli or gaussian(variance=…)")
	f.StringVar(&flags.model.Prior, "prior", "normal(variance=1)", "under --cold, the prior of the weights")
	f.StringVar(&flags.how.Cost, "cost", "", "column with the cost of a label: scores are divided by it")
	return cmd
}

func (p *program) rank(ctx context.Context, model string, paths []string, flags *rankFlags) error {
	by := active.Score(flags.score)
	if err := flags.how.Validate(by); err != nil {
		return misused(fmt.Errorf("--%w", err))
	}
	targets := score.IgnoreTargets
	if flags.how.SkipLabelled {
		targets = score.UseTargets
	}
	p.table = !p.json
	how := application{flags: &flags.scoreFlags, targets: targets, again: true}
	open := func() (*apply.File, error) { return p.apply(ctx, model, paths, how) }
	if flags.cold {
		if flags.how.SkipLabelled {
			return misused(errors.New("--skip-labelled looks at labels, and --cold is for pools without: leave one out"))
		}
		how.kept = &dataset.Kept{} // a pipe is read for the model and again for the scores
		defer how.kept.Close()
		open = func() (*apply.File, error) { return p.applyCold(ctx, paths, flags, how) }
	}
	file, err := open()
	if err != nil {
		return err
	}
	defer file.Close()
	if !file.Lasting() {
		return misused(fmt.Errorf("%s: it was learned online, and does not tell how rows vary together: use a model of fit", model))
	}
	scorer, err := active.NewScorer(file.Scorer().Fitted(), by, p.seed, p.threads)
	if err != nil {
		return misused(fmt.Errorf("%s: %w", cmp.Or(model, "--cold"), err))
	}
	rows, err := rank.File(ctx, file, scorer, flags.how)
	if err != nil {
		return err
	}
	p.tellCounts(file)
	if len(rows) == 0 && flags.how.SkipLabelled {
		p.warn("every row has a target, and --skip-labelled leaves them all out: there is nothing to rank")
	}
	if p.json {
		return p.emit(map[string]any{"candidates": rows})
	}
	return rank.Write(p.out, rows, flags.how)
}

// applyCold applies the model before any label is known.
func (p *program) applyCold(ctx context.Context, paths []string, flags *rankFlags, how application) (*apply.File, error) {
	o, read, err := flags.asked(p, flags.model)
	if err != nil {
		return nil, err
	}
	read.Kept, o.Engine, o.DropTarget = how.kept, "convex", false
	job, err := fit.New(o)
	if err != nil {
		return nil, err
	}
	table, err := p.open(ctx, paths, read)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	source, err := table.Load(ctx, table.Schema().Names())
	if err != nil {
		return nil, err
	}
	fitted, err := job.Unlabelled(ctx, source)
	if err != nil {
		return nil, err
	}
	scorer, err := score.New(fitted, score.Options{Missing: o.Missing, Threads: p.threads})
	if err != nil {
		return nil, err
	}
	return p.bind(ctx, scorer, paths, read, how)
}

// simulateFlags are the flags of active simulate.
type simulateFlags struct {
	fitFlags
	how    active.Options
	scores []string
	plot   string
}

func (p *program) simulateCommand() *cobra.Command {
	var flags simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate DATA...",
		Short: "Try active learning on rows whose labels are known",
		Long: `Simulate hides the labels of a pool of rows, reveals them block by block as each score
asks for them, and measures the models on the rows outside the pool. It prints learning
curves, averaged over repeats with other pools. The engine is convex; after each block
the fit continues from the one before. With more than 2,000 weights the prior variances
are those that fit chooses by rows that are left out, anew when the labels have doubled,
and the curves are those of that fit. The advice on when to stop is for the first score.
With --checkpoint, a simulation that was stopped continues after its last whole run.`,
		Example: `  credence active simulate a9a.libsvm --pool 16000 --initial 100 --block 10 --labels 2000
  credence active simulate mail.csv --target spam --scores information,bald,random --plot curves.svg`,
		Args: takes(1, most, "data"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.simulate(cmd.Context(), args, &flags) },
	}
	flags.register(cmd, "normal(variance=1)", "normal(variance=1), laplace(scale=0.5)")
	f := cmd.Flags()
	for _, unused := range []string{"engine", "output"} {
		_ = f.MarkHidden(unused)
	}
	f.Lookup("checkpoint").Usage = "file written after every run, from which the same command goes on when it is there"
	f.IntVar(&flags.how.Pool, "pool", 0, "rows that may be asked for (default: half of them, 16,000 at most)")
	f.IntVar(&flags.how.Initial, "initial", 0, "labels to begin with (default 100)")
	f.IntVar(&flags.how.Block, "block", 0, "rows asked for between two fits (default 10)")
	f.IntVar(&flags.how.Labels, "labels", 0, "labels at the end (default 2000)")
	f.IntVar(&flags.how.Repeats, "repeats", 0, "repeats with other pools (default 5)")
	f.IntVar(&flags.how.Every, "every", 0, "labels between two points of a curve (default 100)")
	f.StringSliceVar(&flags.scores, "scores", []string{string(active.Information), string(active.Random)}, "information, uncertainty, bald, error_reduction, random")
	f.StringVar(&flags.plot, "plot", "", "file to draw the learning curves in, as curves.svg")
	f.Float64Var(&flags.how.Audit, "audit", 0, "share of the labels that go to rows by chance, as 0.1: their error is told beside that on the test rows")
	return cmd
}

func (p *program) simulate(ctx context.Context, paths []string, flags *simulateFlags) error {
	if flags.Engine != "auto" || flags.output != "" {
		return misused(errors.New("active simulate fits by the engine convex and saves no model: leave --engine and --output out"))
	}
	if err := checkPicture("--plot", flags.plot); err != nil {
		return err
	}
	if err := checkOutputs(flags.inputs(paths...), flags.plot, flags.Checkpoint); err != nil {
		return err
	}
	if len(flags.scores) == 0 {
		return misused(errors.New("--scores names no score: write --scores information,random, or leave it out"))
	}
	for _, name := range flags.scores {
		flags.how.Scores = append(flags.how.Scores, active.Score(name))
	}
	if err := flags.how.Validate(); err != nil {
		return misused(err)
	}
	o, read, err := flags.asked(p, flags.Options)
	if err != nil {
		return err
	}
	bar := p.progress()
	o.Engine, o.Checkpoint = "convex", ""
	job, err := fit.New(o)
	if err != nil {
		return err
	}
	flags.how.Seed, flags.how.Threads, flags.how.Progress, flags.how.Checkpoint = p.seed, p.threads, bar.step, flags.Checkpoint
	stopped := p.resumable(flags.Checkpoint, "the simulation", time.Now())
	var found *active.Simulation
	_, err = p.runJob(ctx, job, paths, read, func(prepared *fit.Prepared, ctx context.Context) (*credence.Fitted, error) {
		var err error
		found, err = active.Simulate(ctx, prepared.Model(), prepared.Data(), flags.how)
		return nil, err
	})
	bar.done()
	if err != nil {
		return stopped(err)
	}
	if err := writeFile(flags.plot, found.WriteSVG); err != nil {
		return err
	}
	if p.json {
		return p.emit(found)
	}
	p.printSimulation(found, flags.how.Scores)
	if flags.plot != "" {
		p.say("drawn   %s", flags.plot)
	}
	return nil
}

// printSimulation writes the curves for people.
func (p *program) printSimulation(found *active.Simulation, scores []active.Score) {
	w := p.columns(toRight)
	fmt.Fprint(w, "\nlabels\t")
	for _, s := range scores {
		fmt.Fprintf(w, "%s\tlog_loss\t", s)
	}
	fmt.Fprintln(w)
	for k, at := range found.Scores[scores[0]] {
		fmt.Fprintf(w, "%d\t", at.Labels)
		for _, s := range scores {
			fmt.Fprintf(w, "%.4f\t%.4f\t", found.Scores[s][k].Error, found.Scores[s][k].LogLoss)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "all %d\t%.4f\t%.4f\t\n", found.Full.Labels, found.Full.Error, found.Full.LogLoss)
	w.Flush()
	if stop := found.Stop; stop != nil && stop.Labels > 0 {
		p.say("stop    at %d labels: %s", stop.Labels, stop.Reason)
	} else if stop != nil {
		p.say("stop    not yet: %s", stop.Reason)
	}
}
