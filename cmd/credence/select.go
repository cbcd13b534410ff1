package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/selection"
	"github.com/credence-ml/credence/shards"
	"github.com/credence-ml/credence/table"
)

// selectFlags are the flags of select.
type selectFlags struct {
	fitFlags
	how           selection.Options
	top           int
	priorOdds     string
	writeSelected string
	products      bool
}

func (p *program) selectCommand() *cobra.Command {
	var flags selectFlags
	cmd := &cobra.Command{
		Use:   "select DATA...",
		Short: "Find which features matter, and how surely",
		Long: `Select fits a model in which every weight may be exactly 0, and ranks the features by
their inclusion probability: how probable it is that the weight is not 0. Features above
one half are selected or, with --fdr 0.1, as many as keep the expected share of false ones
among them to a tenth. Features that are nearly copies of each other share one signal:
they form a credible set, at least one of which matters with 95 % probability.`,
		Example: `  credence select genes.csv --target relapse
  credence select genes.csv --formula 'relapse ~ .' --family bernoulli --fdr 0.1 -o m.safetensors
  credence select genes.csv --target weight --null-check 20 --json
  credence select wide.libsvm --family gaussian --engine ep --top 50
  credence select shard1.csv shard2.csv --products --target y
  credence select sales.job parts/* --products`,
		Args: takes(1, most, "data"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.selectFeatures(cmd.Context(), args, &flags) },
	}
	flags.register(cmd, "spikeslab", "spikeslab, spikeslab(inclusion=0.01), spikeslab(slab=1)")
	f := cmd.Flags()
	f.Float64Var(&flags.how.Threshold, "threshold", 0, "call features whose inclusion is above this (default 0.5)")
	f.Float64Var(&flags.how.FDR, "fdr", 0, "call as many features as leave this expected share of false ones")
	f.Float64Var(&flags.how.Coverage, "coverage", 0, "probability that a credible set has a feature that matters (default 0.95)")
	f.Float64Var(&flags.how.Interval, "interval", 0, "probability of the interval from lower to upper (default 0.9)")
	f.IntVar(&flags.how.NullCheck, "null-check", 0, "fit so many times to permuted targets, and tell how many features are selected where none matters")
	f.IntVar(&flags.how.Bootstrap, "bootstrap", 0, "fit to so many samples of the rows, drawn with replacement, and tell how often each feature is selected")
	f.IntVar(&flags.how.Check, "check", 0, "compare how the selection, the lasso and ridge regression predict rows left out, in so many folds")
	f.StringVar((*string)(&flags.how.Path), "path", "", "always or never: also fit at stated sparsities, from one expected feature to a hundred (default: where that takes about a second); with --check, tell the sparsest within one standard error of the best")
	f.Lookup("path").NoOptDefVal = string(selection.PathAlways)
	f.BoolVar(&flags.products, "products", false, "the data are products in place of rows: a job of credence job and its parts, or CSV tables, which are added up: a header of names, one of them (intercept), a column of ones, and under each name its products with all, as crossprod(cbind(`(intercept)`=1, X, y=y)) in R")
	f.BoolVar(&flags.how.Moments, "moments", false, "with --json, also give the variance of each inclusion (var_z), and under laplace with an inclusion_prior mean and variance of the feature's own probability s (mean_s, var_s)")
	f.StringVar(&flags.priorOdds, "prior-odds", "", "CSV file of features and their prior odds of inclusion, such as age,0.1; features that it leaves out share an inclusion that is learned")
	f.IntVar(&flags.top, "top", 0, "show so many features; 0 shows all with --json, and else those selected, at least 20, or the 10 likeliest where none is")
	f.StringVar(&flags.writeSelected, "write-selected", "", "CSV file to write the target and the columns of the features that are selected to")
	return cmd
}

// selectResult is the JSON object of select.
type selectResult struct {
	score.Summary
	*selection.Result
	Selected int `json:"selected"`
}

func (p *program) selectFeatures(ctx context.Context, paths []string, flags *selectFlags) error {
	start := time.Now()
	if flags.top < 0 {
		return misused(fmt.Errorf("--top %d is negative", flags.top))
	}
	// --path stands by itself, too
	if i := slices.Index(paths, string(selection.PathNever)); i >= 0 && flags.how.Path == selection.PathAlways {
		return misused(fmt.Errorf("--path %s is --path and a file of that name: write --path=%[1]s", paths[i]))
	}
	o, read, err := flags.asked(p, flags.Options)
	if err != nil {
		return err
	}
	bar := p.progress()
	o.Progress = bar.step
	if flags.how.Moments && !p.json {
		return misused(errors.New("--moments are told by --json alone: add --json, or leave --moments out"))
	}
	if flags.priorOdds != "" {
		file, err := os.Open(flags.priorOdds)
		if err != nil {
			return unopened(flags.priorOdds, err)
		}
		defer file.Close()
		if o.PriorOdds, err = fit.ReadOdds(flags.priorOdds, file); err != nil {
			return err
		}
	}
	begin := fit.NewSelection
	if flags.products {
		begin = fit.NewProducts
		if flags.writeSelected != "" {
			return misused(fmt.Errorf("--write-selected writes rows, and --products have none: leave one of them out"))
		}
	}
	job, err := begin(o, flags.how)
	if err != nil {
		return err
	}
	if err := checkOutputs(append(flags.inputs(paths...), flags.priorOdds), flags.output, flags.Checkpoint, flags.writeSelected); err != nil {
		return err
	}
	if flags.writeSelected != "" { // whose columns are read again
		kept := &dataset.Kept{}
		defer kept.Close()
		read.Kept = kept
	}
	stopped := p.resumable(flags.Checkpoint, "the fit", start)
	find := func(prepared *fit.Prepared, ctx context.Context) (*credence.Fitted, error) {
		return prepared.Select(ctx, flags.how)
	}
	var fitted *credence.Fitted
	if flags.products {
		fitted, err = p.runProducts(ctx, job, paths, find)
	} else {
		fitted, err = p.runJob(ctx, job, paths, read, find)
	}
	bar.done()
	if err != nil {
		return stopped(err)
	}
	found := fitted.Selection
	summary, err := saved(fitted, flags.output, start)
	if err != nil {
		return err
	}
	if flags.writeSelected != "" {
		if err := writeSelectedColumns(ctx, flags.writeSelected, paths, read, fitted); err != nil {
			return err
		}
	}
	result := selectResult{Summary: summary, Result: found, Selected: found.Selected}
	if p.json {
		shown := *found
		if flags.top > 0 && flags.top < len(shown.Features) {
			shown.Features = shown.Features[:flags.top]
		}
		result.Result = &shown
		return p.emit(result)
	}
	result.Summary.Selected = nil // told below
	p.printFit(&result.Summary)
	_, kind := likelihood.Describe(fitted.Members[0].Model.Likelihood)
	told, _ := score.Intervals(&fitted.Report)
	p.printSelection(found, flags, targetText(fitted), kind == likelihood.Classes, told)
	return nil
}

// runProducts is runJob for tables of products.
func (p *program) runProducts(ctx context.Context, job *fit.Job, paths []string, do func(*fit.Prepared, context.Context) (*credence.Fitted, error)) (*credence.Fitted, error) {
	products, err := p.readProducts(ctx, paths)
	if err != nil {
		return nil, err
	}
	p.say("data    %s: products of %s", filesText(paths), counted(products.Rows(), "row"))
	prepared, err := job.PrepareProducts(ctx, products)
	if err != nil {
		return nil, err
	}
	return p.runPrepared(ctx, prepared, prepared.Explain(), do)
}

// readProducts reads tables of products, which it adds up, or a job and the parts of its last round.
func (p *program) readProducts(ctx context.Context, paths []string) (*table.Products, error) {
	if err := dataset.RefuseTwice(paths); err != nil {
		return nil, err
	}
	if shards.IsJob(paths[0]) {
		job, parts, err := p.readJob(paths[0], paths[1:])
		if err != nil {
			return nil, err
		}
		return job.Products(ctx, parts...)
	}
	var parts []*table.Products
	for _, path := range paths {
		if path == "-" {
			return nil, misused(errors.New("products are read from files, not from a pipe: write them to one, and name it"))
		}
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		part, err := table.ReadProducts(path, file)
		file.Close()
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return table.AddProducts(parts...)
}

// printSelection writes a selection for people, of classes or of numbers, with standard deviations and intervals where
// these are told.
func (p *program) printSelection(r *selection.Result, flags *selectFlags, target string, classes, told bool) {
	count, _ := r.Candidates()
	if count == 0 {
		p.say("\nno feature is selected: inclusions are not known")
		return
	}
	rule := fmt.Sprintf("inclusion above %s", significant(r.Threshold))
	if r.FDR > 0 {
		rule = fmt.Sprintf("at most %s of them expected to be false", significant(r.FDR))
	}
	top := flags.top
	switch {
	case r.Selected > 0:
		p.say("\n%d of %d features selected (%s); %s of them are expected to be false", r.Selected, count, rule, shown("%.2g", metric.Score(r.ExpectedFalse)))
	case len(r.Features) > 0:
		p.say("\nnone of %d features selected (%s); the likeliest first", count, rule)
	}
	if top == 0 {
		top = max(20, min(r.Selected, 100))
		if r.Selected == 0 {
			top = 10
		}
	}
	top = min(top, len(r.Features))
	w := p.columns(toRight)
	frequency := ""
	if r.Bootstrap > 0 {
		frequency = "frequency\t"
	}
	spread := "sd\tlower\tupper\t"
	if !told {
		spread = ""
	}
	fmt.Fprintln(w, "\nname\tinclusion\t"+frequency+"mean\t"+spread+"set\tselected\t")
	for _, f := range r.Features[:top] {
		set, selected := "", ""
		if f.Set > 0 {
			set = fmt.Sprint(f.Set)
		}
		if f.Selected {
			selected = "*"
		}
		if f.Frequency != nil {
			frequency = fmt.Sprintf("%.2f\t", *f.Frequency)
		}
		if told {
			spread = fmt.Sprintf("%s\t%s\t%s\t", significant(f.SD), significant(f.Lower), significant(f.Upper))
		}
		fmt.Fprintf(w, "%s\t%.4f\t%s%s\t%s%s\t%s\t\n", nameText(f.Name), f.Inclusion, frequency, significant(f.Mean), spread, set, selected)
	}
	w.Flush()
	if rest := len(r.Features) - top; rest > 0 {
		p.say("… and %d more; --top %d shows all", rest, len(r.Features))
	}
	if told {
		p.say("lower and upper are %.6g %% intervals of the weights", 100*cmp.Or(flags.how.Interval, 0.9))
	}
	to := target
	if classes {
		to = "the score behind the classes"
	}
	p.say("mean is what a unit of the feature adds to %s, with 0 where it is left out", to)
	if len(r.Sets) > 0 {
		p.say("set: features of one number stand for each other, and at least one of them matters with %.6g %% probability", 100*cmp.Or(flags.how.Coverage, 0.95))
	}
	if r.Selected > 0 && flags.writeSelected == "" && !flags.products {
		p.say("--write-selected FILE.csv writes the columns selected, to fit them alone")
	}
	for _, s := range r.Sets {
		if len(s.Features) > 1 {
			p.say("set %d   one of %s matters with probability %.3f (log Bayes factor %.1f, correlations of at least %.2f)", s.ID, listed(s.Features), s.Coverage, s.LogBayesFactor, s.Purity)
		}
	}
	for _, step := range r.Path {
		density := ""
		if step.LogDensity != nil {
			density = ", log density of rows left out " + significant(*step.LogDensity)
		}
		if step.OneSE {
			density += " (the sparsest within one standard error of the best)"
		}
		p.say("path    prior inclusion %s: %d selected, %.1f expected to matter%s", shown("%.3g", metric.Score(step.Inclusion)), step.Selected, step.Expected, density)
	}
	if e := r.Explained; e != nil {
		of := "of the variance of the target"
		if classes {
			of = "of the variance of the score behind the classes"
		}
		p.say("the features explain %.3f (%.3f to %.3f) %s", e.Mean, e.Lower, e.Upper, of)
	}
	if r.Null != nil {
		p.say("null    %d fits to permuted targets select %s of the features: %v", r.Null.Permutations, significant(r.Null.Share), r.Null.Called)
	}
	if r.Check != nil {
		for _, e := range r.Check.Engines {
			p.say("check   %s: log density of rows left out %s (the selection gains %s ± %s)", e.Engine, orNone(e.LogDensity), orNone(e.Gain), orNone(e.GainError))
		}
	}
	if flags.writeSelected != "" {
		p.say("saved   %s", flags.writeSelected)
	}
}

// orNone is significant of a number that may be missing.
func orNone(x *float64) string {
	if x == nil {
		return "none"
	}
	return significant(*x)
}

// writeSelectedColumns writes the columns that are called and the target's, with the cells as the data have them.
func writeSelectedColumns(ctx context.Context, path string, paths []string, read dataset.Options, fitted *credence.Fitted) error {
	table, err := dataset.Open(ctx, paths, read)
	if err != nil {
		return err
	}
	defer table.Close()
	columns, err := score.SelectedColumns(fitted, table.Schema())
	if err != nil {
		return fmt.Errorf("%s is not written: %w", path, err)
	}
	return writeFile(path, func(w io.Writer) error { return table.WriteCSV(ctx, w, columns) })
}
