package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/effect"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
)

// effectsFlags are the flags of effects.
type effectsFlags struct {
	scoreFlags
	effect.Options
	columns [3]string // of each of the verbs
	grid    string
	output  string
}

// verbs are the kinds of effects, each a flag whose columns may be left out.
var verbs = [3]effect.What{effect.Comparisons, effect.Slopes, effect.Predictions}

// optionalValues gives verbs of effects that stand alone an empty value, so that the next argument is none.
func optionalValues(args []string) []string {
	if len(args) == 0 || args[0] != "effects" {
		return args
	}
	var out []string
	for i, arg := range args {
		alone := i+1 == len(args) || strings.HasPrefix(args[i+1], "-") && args[i+1] != "-"
		if name, is := strings.CutPrefix(arg, "--"); is && alone && slices.Contains(verbs[:], effect.What(name)) {
			arg += "="
		}
		out = append(out, arg)
	}
	return out
}

func (p *program) effectsCommand() *cobra.Command {
	var flags effectsFlags
	cmd := &cobra.Command{
		Use:   "effects MODEL [DATA...]",
		Short: "Show what changes when a column changes, with intervals",
		Long: `Effects shows how far the expected target moves when a column changes: for numbers by
x + 1, for categories from the base, the most frequent level of training, to every other
level. Effects are averages over the rows of the data, of which only the column in question
is replaced; without data they are of one row, with numbers at their training means and
categories at their bases. A model of stream needs data.

  --comparisons c,…   what a change of each column changes; of all columns by default
  --slopes c,…        the derivative in each number
  --predictions c,…   average predictions, and with columns those at each of their levels

Intervals are those of the expected target, E y, and not of y. They are exact where the
effect is linear in the weights, and for --ratio under a log link where the column has no
interactions; else they come from draws of the weights, or by the delta method where rows
are many. The column method says which, and mcse how far the draws may be off.
--ratio tells how many times E y is as large, which under a log link are the relativities of
an actuary: --comparisons region --ratio.`,
		Example: `  credence effects m.safetensors claims.csv
  credence effects m.safetensors claims.csv --comparisons region --ratio
  credence effects m.safetensors claims.csv --slopes age --by region
  credence effects m.safetensors --predictions region --at age=30 --at age=40
  credence effects m.safetensors claims.csv --comparisons region --hypothesis 'b2 - b1 = 0' -o effects.csv`,
		Args: takes(1, most, "a model"),
		RunE: func(cmd *cobra.Command, args []string) error {
			asked := slices.DeleteFunc(slices.Clone(verbs[:]), func(w effect.What) bool { return !cmd.Flags().Changed(string(w)) })
			if len(asked) > 1 {
				return misused(fmt.Errorf("--%s and --%s are two questions: ask one at a time", asked[0], asked[1]))
			}
			if len(asked) == 1 {
				flags.What = asked[0]
				flags.Columns = strings.FieldsFunc(flags.columns[slices.Index(verbs[:], asked[0])], func(r rune) bool { return r == ',' })
			}
			if err := checkBy(cmd); err != nil {
				return err
			}
			if flags.Draws == 0 { // to a program the usual number
				return misused(errors.New("--draws 0 are none: state 100 or more"))
			}
			return p.effects(cmd.Context(), args[0], args[1:], &flags)
		},
	}
	flags.register(cmd)
	f := cmd.Flags()
	for k, help := range []string{"columns whose changes are compared", "numbers whose derivatives are taken", "average predictions, at each level of these columns"} {
		f.StringVar(&flags.columns[k], string(verbs[k]), "", help)
	}
	f.BoolVar(&flags.Link, "link", false, "effects on f, before the link, and not on E y")
	f.BoolVar(&flags.Ratio, "ratio", false, "ratios of E y, and not differences")
	f.BoolVar(&flags.Rows, "rows", false, "effects in each row, and not their average")
	f.StringSliceVar(&flags.By, "by", nil, "average over the rows of each value of these columns")
	f.StringArrayVar(&flags.At, "at", nil, "replace a column in every row, COLUMN=VALUE; several of one column are taken in turn")
	f.StringVar(&flags.Step, "step", "", "how far a number moves: a number, sd, 2sd, iqr or minmax (default 1)")
	f.StringArrayVar(&flags.Bases, "base", nil, "compare levels with this one, COLUMN=LEVEL, or with their mean, COLUMN=mean; may be repeated")
	f.StringVar(&flags.grid, "grid", "", "balanced: every combination of levels counts once, with numbers at their means")
	f.StringArrayVar(&flags.Hypotheses, "hypothesis", nil, "a sum of the effects b1, b2, … in their order, such as 'b2 - b1 = 0', or pairwise, reference, sequential; may be repeated")
	f.BoolVar(&flags.Simultaneous, "simultaneous", false, "widen the intervals so that all hold together")
	f.Float64Var(&flags.Interval, "interval", 0.9, "probability of the intervals")
	f.IntVar(&flags.Draws, "draws", 1000, "draws of the weights, where effects are not linear in them")
	f.StringVarP(&flags.output, "output", "o", "", "write the effects to this file, .csv, .tsv or .parquet")
	return cmd
}

func (p *program) effects(ctx context.Context, model string, paths []string, flags *effectsFlags) error {
	flags.Seed, flags.Threads = p.seed, p.threads
	if flags.Balanced = flags.grid == "balanced"; flags.grid != "" && !flags.Balanced {
		return misused(fmt.Errorf("--grid %s is unknown: it is balanced, or left out", flags.grid))
	}
	var at []string // "age=30,40" is two values
	for _, pair := range flags.At {
		name, values, _ := strings.Cut(pair, "=")
		for _, value := range strings.Split(values, ",") {
			at = append(at, pair[:min(len(name)+1, len(pair))]+value)
		}
	}
	flags.At = at
	if err := checkInterval(flags.Interval); err != nil { // to a program 0 is the usual one
		return err
	}
	if _, err := flags.Options.Validate(); err != nil {
		return misused(err)
	}
	if err := checkTable(append(flags.inputs(paths...), model), flags.output); err != nil {
		return err
	}
	scorer, read, err := p.scorer(model, application{flags: &flags.scoreFlags, lacking: true})
	if err != nil {
		return err
	}
	var rows credence.Source
	if len(paths) > 0 {
		table, source, err := p.load(ctx, scorer, paths, read, score.IgnoreTargets, flags.By)
		if err != nil {
			return err
		}
		defer table.Close()
		rows = source
	}
	bar := p.progress()
	flags.Progress = func(before, all int) { bar.set(int64(before), int64(all), "rows") }
	result, err := effect.Of(ctx, scorer, rows, flags.Options)
	bar.done()
	if err != nil {
		return err
	}
	if err := writeFile(flags.output, func(w io.Writer) error { return apply.WriteEffects(w, flags.output, result.Effects) }); err != nil {
		return err
	}
	switch {
	case p.json:
		return p.emit(result)
	case flags.output != "":
		p.say("%s written to %s", counted(len(result.Effects), "effect"), flags.output)
	default:
		p.printEffects(result, flags)
	}
	for _, remark := range result.Remarks {
		p.remark("%s", remark)
	}
	return nil
}

// printEffects writes effects for people.
func (p *program) printEffects(r *effect.Result, flags *effectsFlags) {
	over := "in a row at the training means and bases"
	switch {
	case flags.Balanced:
		over = "over every combination of levels, numbers at their means"
	case r.Rows > 0 && flags.Rows:
		over = fmt.Sprintf("in each of %s", counted(r.Rows, "row"))
	case r.Rows > 0:
		over = fmt.Sprintf("averaged over %s", counted(r.Rows, "row"))
	}
	of := r.Of
	if !flags.Link {
		of = "E " + of
	}
	p.say("%s of %s, %s; conf_low and conf_high are %.6g %% intervals", r.What, of, over, 100*r.Interval)
	if flags.Simultaneous {
		p.say("intervals hold together, all of them with that probability")
	}
	p.say("")
	w := p.columns(toRight)
	by, mcse := len(r.Effects) > 0 && len(r.Effects[0].By) > 0, false
	fmt.Fprint(w, "\tterm\tcontrast\t")
	if by {
		fmt.Fprint(w, "by\t")
	}
	if flags.Rows {
		fmt.Fprint(w, "row\t")
	}
	fmt.Fprintln(w, "estimate\tstd_error\tconf_low\tconf_high\tp_direction\tmethod\t")
	for k, e := range r.Effects {
		fmt.Fprintf(w, "b%d\t%s\t%s\t", k+1, nameText(e.Term), nameText(e.Contrast))
		if by {
			fmt.Fprintf(w, "%s\t", nameText(e.By.String()))
		}
		if flags.Rows {
			fmt.Fprintf(w, "%d\t", e.Row)
		}
		sd := float64(e.StdError)
		for _, v := range []metric.Score{e.Estimate, e.StdError, e.Low, e.High} {
			if v.Defined() { // else the cell is empty, as in files
				fmt.Fprint(w, toSpread(float64(v), sd))
			}
			fmt.Fprint(w, "\t")
		}
		direction := ""
		if e.Direction.Defined() {
			direction = fmt.Sprintf("%.3f", e.Direction)
		}
		fmt.Fprintf(w, "%s\t%s\t\n", direction, e.Method)
		mcse = mcse || e.MCSE.Defined()
	}
	w.Flush()
	if mcse {
		p.say("\nestimates by draws have a Monte Carlo error of %.1g standard errors; --draws makes it smaller", p.mostMonteCarlo(r))
	}
}

// mostMonteCarlo is the largest Monte Carlo error of the effects, in their standard errors.
func (p *program) mostMonteCarlo(r *effect.Result) (most float64) {
	for _, e := range r.Effects {
		if e.MCSE.Defined() && e.StdError > 0 {
			most = max(most, float64(e.MCSE/e.StdError))
		}
	}
	return most
}
