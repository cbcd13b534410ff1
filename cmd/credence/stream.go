package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/dataset/stream"
	"github.com/credence-ml/credence/fit"
)

// streamFlags are the flags of stream.
type streamFlags struct {
	formula       string
	target        string
	positive      string
	prior         string
	engine        string
	format        string
	types         string
	output        string
	writeSelected string
	report        int64
	checkpoint    time.Duration
	resume        bool
	follow        bool
	names         bool
	maxBad        int64
}

func (p *program) streamCommand() *cobra.Command {
	var flags streamFlags
	cmd := &cobra.Command{
		Use:   "stream DATA...",
		Short: "Learn a sparse classifier online, in one pass",
		Long: `Stream learns a two-class model from rows as they come, in memory that grows with
the features seen: files, a pipe (-), or a file that grows (--follow); libsvm,
Vowpal Wabbit, CSV or TSV text, each also .gz and .zst. Every row is scored before
it is learned from, so that the log loss and AUC it prints are those of unseen rows.

Formulas:   click ~ hash(.)                 every other column, values as tokens
            click ~ hash(., bits=22)        the same, keys of 22 bits
            click ~ . - id + hash(site:ad)  numbers stay numbers; a cross
            click ~ log(price) + hash(zip) + weight(w) + offset(score)
The default is every column, or every feature of libsvm and Vowpal Wabbit text.
Nothing is centred or scaled.

Engines:    sep            spike-and-slab by stochastic expectation propagation: which
                           features matter, with what probability
            sep(batch=100, prior_every=15, passes=1, forget=1e6, prune=1e-3, shards=2)
            ftrl(alpha=0.1, beta=1, l1=1, l2=0)   adpredictor(variance=0.01)   sgd(rate=0.08)

With -o the state of the learner is saved beside the model, in MODEL.checkpoint, at
intervals and on SIGINT and SIGTERM. --resume goes on from there at the next row,
as if it had never stopped; a pipe must be played again from its start.`,
		Example: `  zcat clicks-*.gz | credence stream - --format csv --formula 'click ~ hash(.)' -o ctr.safetensors
  credence stream train.libsvm -o m.safetensors --report 1000000 --json
  credence stream train.vw -o m.safetensors --write-selected features.txt
  credence stream log.csv --target click --follow -o m.safetensors --resume`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.stream(cmd.Context(), args, &flags) },
	}
	f := cmd.Flags()
	f.StringVarP(&flags.formula, "formula", "f", "", "the model; the default is every column")
	f.StringVar(&flags.target, "target", "", "the target of a formula that names none")
	f.StringVar(&flags.positive, "positive", "", "the label that counts as positive, against all the rest (default: 1, true, yes, or the later of two)")
	f.StringVar(&flags.prior, "prior", "spikeslab", "spikeslab, spikeslab(inclusion=0.1, slab=~0.05)")
	f.StringVar(&flags.engine, "engine", "sep", "sep, ftrl, adpredictor or sgd with options")
	f.StringVar(&flags.format, "format", "", "libsvm, vw, csv or tsv; the default is found out by extension and content")
	f.StringVar(&flags.types, "types", "", "override inferred types: zip=category,age=number")
	f.StringVarP(&flags.output, "output", "o", "", "model file to write")
	f.StringVar(&flags.writeSelected, "write-selected", "", "file for the names of the selected features, one a line")
	f.Int64Var(&flags.report, "report", 100000, "rows between progress lines; 0 is none")
	f.DurationVar(&flags.checkpoint, "checkpoint", time.Minute, "time between checkpoints; 0 is none but at the end")
	f.BoolVar(&flags.resume, "resume", false, "go on from MODEL.checkpoint, if there is one")
	f.BoolVar(&flags.follow, "follow", false, "wait for more at the end of the last file")
	f.BoolVar(&flags.names, "names", true, "keep the names of features (CSV and Vowpal Wabbit text)")
	f.Int64Var(&flags.maxBad, "max-bad", 0, "malformed rows to skip before stopping")
	return cmd
}

func (p *program) stream(ctx context.Context, paths []string, flags *streamFlags) error {
	s := &streamRun{program: p, flags: flags, started: time.Now()}
	if err := s.prepare(); err != nil {
		return misused(err)
	}
	if err := s.open(ctx, paths); err != nil {
		return err
	}
	return s.run(ctx)
}

// prepare reads everything that can be decided without the data.
func (s *streamRun) prepare() error {
	flags := s.flags
	switch {
	case flags.report < 0:
		return fmt.Errorf("--report %d is negative", flags.report)
	case flags.maxBad < 0:
		return fmt.Errorf("--max-bad %d is negative", flags.maxBad)
	case flags.checkpoint < 0:
		return fmt.Errorf("--checkpoint %v is negative", flags.checkpoint)
	case flags.resume && flags.output == "":
		return fmt.Errorf("--resume needs the model whose checkpoint is beside it: add -o MODEL")
	}
	switch flags.format {
	case "", "libsvm", "svm", "vw", "csv", "tsv":
	default:
		return fmt.Errorf("--format %s is unknown: use libsvm, vw, csv or tsv", flags.format)
	}
	if err := streamPlan(flags.formula, &s.plan); err != nil {
		return fmt.Errorf("--formula: %w", err)
	}
	if flags.target != "" {
		if s.plan.Target != "" && s.plan.Target != flags.target {
			return fmt.Errorf("--target %s is not the target of the formula, %s: leave one out", flags.target, s.plan.Target)
		}
		s.plan.Target = flags.target
	}
	s.plan.Positive = flags.positive
	var err error
	if s.categories, s.numbers, err = parseStreamTypes(flags.types); err != nil {
		return err
	}
	if s.engine, err = fit.NewOnline(fit.Options{Engine: flags.engine, Prior: flags.prior}); err != nil {
		return err
	}
	if flags.follow && s.engine.Passes > 1 {
		return fmt.Errorf("--follow has one pass: leave passes=%d out", s.engine.Passes)
	}
	return nil
}

// parseStreamTypes reads --types: columns that are categories, and those that
// are numbers.
func parseStreamTypes(text string) (categories, numbers map[string]bool, err error) {
	categories, numbers = map[string]bool{}, map[string]bool{}
	for _, item := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		name, kind, found := strings.Cut(item, "=")
		switch {
		case !found:
			return nil, nil, fmt.Errorf("--types %s: write column=category or column=number", item)
		case kind == "category" || kind == "text":
			categories[name] = true
		case kind == "number" || kind == "boolean":
			numbers[name] = true
		default:
			return nil, nil, fmt.Errorf("--types %s: a stream has category and number", item)
		}
	}
	return categories, numbers, nil
}

// checkTarget refuses a table without a target.
func checkTarget(plan *stream.Plan) error {
	if plan.Target == "" && isTable(plan.Format) {
		return fmt.Errorf("the formula names no target: write --formula 'target ~ .' or --target")
	}
	return nil
}
