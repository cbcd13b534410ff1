package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/spec"
)

// streamFlags are the flags of stream.
type streamFlags struct {
	dataFlags
	fit.Options
	output        string
	writeSelected string
	report        int64
	every         time.Duration // between checkpoints
	resume        bool
	from          string
	keepShare     float64
	follow        bool
	names         bool
	maxBad        int64
	prune         int64
}

func (p *program) streamCommand() *cobra.Command {
	var flags streamFlags
	cmd := &cobra.Command{
		Use:   "stream DATA...",
		Short: "Learn a sparse classifier online, in one pass",
		Long: `Stream learns a two-class model from rows as they come, in memory that grows with
the features seen: files, a pipe (-), or a file that grows (--follow); libsvm,
Vowpal Wabbit, CSV or TSV text, each also .gz and .zst, and Parquet. Each row is scored
before it is used for training, so the log loss and AUC that are printed are honest.

Formulas:   click ~ hash(.)                 every other column, values as tokens
            click ~ hash(., bits=22)        the same, keys of 22 bits
            click ~ . - id + hash(site:ad)  numbers stay numbers; a cross
            click ~ log(price) + hash(zip) + weight(w) + offset(score)
The default is every column, or every feature of libsvm and Vowpal Wabbit text.
Nothing is centred or scaled.

Engines:    sep            spike-and-slab by stochastic expectation propagation: which
                           features matter, with what probability
            sep(batch=100, prior_every=15, passes=2)   sep(forget=1e6, prune=1e-3)
                           features=1000000 keeps those met most often, where ever new ones come;
                           forget=1e6 halves what a row counts after so many rows, and --half-life
                           7d --time day after so much time
            ftrl(alpha=0.1, beta=1, l1=1, l2=0)   adpredictor(variance=0.01)   sgd(rate=0.08)
                           baselines; alpha, variance and rate are found on the rows as they
                           come where they are left out

With -o the state of the learner is saved beside the model, in MODEL.checkpoint, at
intervals and on SIGINT and SIGTERM. --resume continues from there with the next row,
as if nothing had happened: name the same files in the same order, of which the rows
behind that one may have changed; a pipe must be replayed from its start. --from MODEL
starts from the posterior of another model with other files, and with --discount 0.9
its evidence counts nine tenths; with --resume, too, the run goes on where it has begun
before. Formula, engine and policies that are left out are those of the checkpoint.`,
		Example: `  zcat clicks-*.gz | credence stream - --format csv --formula 'click ~ hash(.)' -o ctr.safetensors
  credence stream train.libsvm -o m.safetensors --report 1000000 --json
  credence stream train.vw -o m.safetensors --write-selected features.txt
  credence stream monday.vw -o monday.safetensors
  credence stream tuesday.vw --from monday.safetensors -o tuesday.safetensors
  credence stream log.csv --target click --follow -o m.safetensors --resume`,
		Args: takes(1, most, "data"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.stream(cmd.Context(), args, &flags) },
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.StringVarP(&flags.Formula, "formula", "f", "", "the model; the default is every column")
	f.StringVar(&flags.Target, "target", "", "the target of a formula that names none")
	f.StringVar(&flags.Positive, "positive", "", "the label that counts as positive, against all the rest (default: 1, true, yes, or the later of two)")
	f.StringVar(&flags.Prior, "prior", "", "spikeslab, spikeslab(inclusion=0.1, slab=~0.05)")
	f.StringVar(&flags.Engine, "engine", "", "sep, ftrl, adpredictor or sgd with options (default: sep)")
	f.StringVarP(&flags.output, "output", "o", "", "model file to write")
	f.StringVar(&flags.writeSelected, "write-selected", "", "file for the names of the selected features, one a line")
	f.Int64Var(&flags.report, "report", 100000, "rows between progress lines; 0 is none")
	f.DurationVar(&flags.every, "checkpoint", time.Minute, "time between checkpoints; 0 is none but at the end")
	f.BoolVar(&flags.resume, "resume", false, "go on from MODEL.checkpoint, if there is one, with its formula and engine")
	f.StringVar(&flags.from, "from", "", "start from the posterior of this model, whose checkpoint is beside it: yesterday's")
	f.Float64Var(&flags.keepShare, "discount", 1, "what the evidence of --from counts: 0.9 is nine tenths")
	f.Int64Var(&flags.HoldOut, "holdout", 0, "score one row in so many and never learn it: passes then report what they are for")
	f.StringVar(&flags.HalfLife, "half-life", "", "time after which the evidence of a row counts half, by the column of --time: 7d, 12h, 30m of dates, or a number in the column's unit")
	f.StringVar(&flags.Time, "time", "", "the column that says when rows came, an input only where the formula names it")
	f.Int64Var(&flags.prune, "prune", 0, "keep so many features at most, those met most often, where ever new ones come: sep(features=)")
	f.BoolVar(&flags.follow, "follow", false, "wait for more at the end of the last file")
	f.BoolVar(&flags.names, "names", true, "keep the names of features (tables and Vowpal Wabbit text)")
	f.Int64Var(&flags.maxBad, "max-bad", 0, "malformed rows to skip before stopping")
	return cmd
}

// validate refuses what can be decided without the data.
func (f *streamFlags) validate() error {
	switch {
	case f.report < 0:
		return fmt.Errorf("--report %d is negative", f.report)
	case f.maxBad < 0:
		return fmt.Errorf("--max-bad %d is negative", f.maxBad)
	case f.prune < 0:
		return fmt.Errorf("--prune %d is negative", f.prune)
	case f.every < 0:
		return fmt.Errorf("--checkpoint %v is negative", f.every)
	case !(f.keepShare > 0 && f.keepShare <= 1):
		return fmt.Errorf("--discount %v is not above 0 and at most 1", f.keepShare)
	case f.keepShare != 1 && f.from == "":
		return fmt.Errorf("--discount is of what --from starts from: add --from MODEL")
	case f.resume && f.output == "":
		return fmt.Errorf("--resume needs the model whose checkpoint is beside it: add -o MODEL")
	}
	return nil
}

func (p *program) stream(ctx context.Context, paths []string, flags *streamFlags) error {
	if err := flags.validate(); err != nil {
		return misused(err)
	}
	o, read, err := flags.asked(p, flags.Options)
	if err != nil {
		return err
	}
	s := &streamRun{program: p, flags: flags, started: time.Now()}
	if o.Engine, err = flags.engine(); err != nil {
		return misused(err)
	}
	if o.Missing == frame.Refuse { // or that of a checkpoint
		o.Missing = ""
	}
	if err := s.prepare(o); err != nil {
		return err
	}
	if err := checkOutputs(flags.inputs(paths...), flags.output, flags.writeSelected); err != nil {
		return err
	}
	if flags.follow {
		p.messages.wait()
	}
	if read.Follow = flags.follow; read.Follow && s.learner.Passes() > 1 {
		return misused(fmt.Errorf("--follow has one pass: leave passes=%d out", s.learner.Passes()))
	}
	useLargePages(paths)
	table, err := s.learned.Open(ctx, paths, read)
	if err != nil {
		return err
	}
	defer table.Close()
	return s.run(ctx, table)
}

// engine is the text of the engine with the bound of --prune.
func (f *streamFlags) engine() (string, error) {
	if f.prune == 0 {
		return f.Engine, nil
	}
	call, err := spec.ParseSpec(cmp.Or(f.Engine, "sep"))
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(call.Named, func(a spec.Argument) bool { return a.Key == "features" }) {
		return "", fmt.Errorf("--prune and features= of --engine say the same: keep one")
	}
	call.Named = append(call.Named, spec.Argument{Key: "features", Value: spec.Number{Value: float64(f.prune)}})
	return call.String(), nil
}
