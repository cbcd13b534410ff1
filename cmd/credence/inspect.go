package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/apply"
	"github.com/credence-ml/credence/calibration"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/score"
)

// inspectFlags are the flags of inspect.
type inspectFlags struct {
	score.TermOptions
	top    int
	output string
}

func (p *program) inspectCommand() *cobra.Command {
	var flags inspectFlags
	cmd := &cobra.Command{
		Use:   "inspect MODEL",
		Short: "Show what a model learned",
		Long: `Inspect shows how a model was fitted and what it learned: hyper-parameters, evidence,
and every weight with its posterior mean, standard deviation and interval.

Weights are in the units of the data's own columns, those of products and powers too:
weight times column adds up to f, which predict --latent shows. Only the weights of random
features, radial and sigmoid refer to columns that the fit made. A weight that is a sum of
fitted ones, such as the slope of x beside x:z, has the standard deviation of the sum.
Where a fit averages over several members, so do the weights, except those of random
features, radial and sigmoid, which are the first member's. Ordinal models have cutpoints
instead of an intercept: "2|3" minus the sum of weight times column is the log odds of a
grade of 2 or less.

A product of columns means what it means in R. If one of its factors is not a term of its
own, as in y ~ x:city, the numbers are not centred: the lines of the cities meet at x = 0,
so that city:area alone gives cities other slopes, and city*area other levels too.

Every level of a category has a weight. --base shows levels as differences from one of
them, or from their mean with each level counted once, with the standard deviations of the
differences; the intercept, and the weights of products without that category, then refer
to the base.

"No effect found" marks a block in which no 95 % interval excludes 0 and whose weights
together are no larger than noise would make them (Wald's statistic, against the 95 %
quantile of chi-square with the effective number of weights).`,
		Example: `  credence inspect m.safetensors
  credence inspect m.safetensors --top 10 --sort abs
  credence inspect m.safetensors --base city=Basel --exp
  credence inspect m.safetensors --top 0 -o weights.csv
  credence inspect m.safetensors --json | jq '.terms[] | select(.block == "linear")'`,
		Args: takes(1, 1, "a model"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.inspect(cmd.Context(), args[0], &flags) },
	}
	f := cmd.Flags()
	f.Float64Var(&flags.Interval, "interval", 0.9, "probability of the interval from lower to upper")
	f.IntVar(&flags.top, "top", 0, "show so many weights; 0 shows all with --json or -o, and 20 otherwise")
	f.StringVar((*string)(&flags.Sort), "sort", "", "inclusion, abs (|mean| over sd) or name; the default is the order of the model")
	f.StringArrayVar(&flags.Bases, "base", nil, "tell levels against one, COLUMN=LEVEL, against their mean, COLUMN=mean, or all categories against their means, mean; may be repeated")
	f.StringVar(&flags.Block, "block", "", "show the weights of one block alone: linear, or a term as the formula writes it, '(1 | school)'")
	f.BoolVar(&flags.Exp, "exp", false, "show the exponentials of weights and intervals: what a unit of the column multiplies")
	f.StringVarP(&flags.output, "output", "o", "", "write the weights to this file, .csv, .tsv or .parquet")
	return cmd
}

// inspection is the JSON object of inspect.
type inspection struct {
	score.Summary
	Terms []score.Term `json:"terms"` // weights, in the order of the model or of --sort
	// says by which held-out rows predictions are calibrated
	Calibration *calibration.Result `json:"calibration,omitempty"`
	Blocks      []score.BlockTest   `json:"blocks,omitempty"`  // what each block came to
	Smooths     []score.Smooth      `json:"smooths,omitempty"` // what each smooth term adds
	score.Groups
}

// check refuses what no model fits.
func (flags *inspectFlags) check(model string) error {
	if err := checkInterval(flags.Interval); err != nil {
		return err
	}
	if flags.top < 0 {
		return misused(fmt.Errorf("--top %d is negative", flags.top))
	}
	if err := flags.Sort.Validate(); err != nil {
		return misused(fmt.Errorf("--%w", err))
	}
	for _, base := range flags.Bases {
		if base != "mean" && !strings.Contains(base, "=") {
			return misused(fmt.Errorf("--base %s names no level: write --base COLUMN=LEVEL, --base COLUMN=mean or --base mean, once for each column", base))
		}
	}
	return checkTable([]string{model}, flags.output)
}

func (p *program) inspect(ctx context.Context, path string, flags *inspectFlags) error {
	if err := flags.check(path); err != nil {
		return err
	}
	p.out = until{ctx, p.out}
	fitted, err := load(path)
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return err
	}
	told, _ := score.Intervals(&fitted.Report)
	if _, selects := score.Selected(fitted); selects && !told && flags.Sort == "" && !p.json && flags.output == "" {
		flags.Sort = score.ByInclusion // weights that rank columns stand by rank
	}
	terms, err := score.Terms(fitted, flags.TermOptions)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	smooths, blocks, text := score.Smooths(fitted), score.Blocks(fitted), !p.json && flags.output == ""
	groups := score.GroupsOf(fitted, flags.Interval)
	if flags.Block != "" && len(terms) > 0 { // nothing is told of other blocks
		only := terms[0].Block
		smooths = slices.DeleteFunc(smooths, func(s score.Smooth) bool { return s.Block != only })
		blocks = slices.DeleteFunc(blocks, func(b score.BlockTest) bool { return b.Name != only })
		groups.Groups = slices.DeleteFunc(groups.Groups, func(g score.Group) bool { return g.Term != only })
	}
	if text { // each smooth term is a line of its own
		terms = slices.DeleteFunc(terms, func(t score.Term) bool {
			return slices.ContainsFunc(smooths, func(s score.Smooth) bool {
				return s.Block == t.Block || s.Straight && s.Column == t.Name && t.Block == "linear"
			})
		})
	}
	all := len(terms)
	top := flags.top
	if top == 0 && text {
		top = 20
	}
	if top > 0 && top < all {
		terms = terms[:top]
	}
	if err := writeFile(flags.output, func(w io.Writer) error { return apply.WriteTerms(w, flags.output, terms) }); err != nil {
		return err
	}
	result := score.Summarise(fitted)
	if p.json {
		if _, why := score.Intervals(&fitted.Report); fitted.Report.Point() { // people are told beside the fit
			result.Warnings = append(result.Warnings, why)
		}
		result.Model = path
		return p.emit(inspection{result, terms, fitted.Calibration, blocks, smooths, groups})
	}
	p.say("model   %s", path)
	if result.Formula != "" {
		line := fmt.Sprintf("        %s   %s", nameText(result.Formula), cmp.Or(fitted.Recipe.Family, result.Family))
		if result.Prior != "" {
			line += ", " + result.Prior + " prior"
		}
		p.say("%s", line)
	}
	if look := result.Report.Target; look != nil {
		p.say("target  column %s, fitted as gaussian: %v", fitted.Frame.TargetName(), look)
	}
	if scorer, err := score.New(fitted, score.Options{}); err == nil {
		if positive := positiveClass(scorer); positive != "" {
			p.say("target  %s: the positive class is %s", fitted.Frame.TargetName(), positive)
		}
	}
	p.printFit(&result)
	if fitted.Calibration != nil {
		p.printCalibrated(fitted.Calibration)
	}
	for _, detail := range result.Details {
		p.remark("%s", detail)
	}
	if flags.output != "" {
		p.say("%s written to %s", counted(len(terms), "weight"), flags.output)
	} else {
		meaning := ""
		if told || fitted.Report.Point() {
			meaning = weightText(fitted)
		}
		p.printTerms(terms, all, told, meaning, &flags.TermOptions)
	}
	p.printSmooths(smooths, flags.Exp, path)
	if told {
		p.printGroups(fitted, groups, blocks, flags.Interval)
		p.printBlocks(blocks)
	}
	return nil
}

// weightText says what the weight of a column is, in the words of the target; "" where f is not said in such words.
func weightText(fitted *credence.Fitted) string {
	link, kind := likelihood.Describe(fitted.Members[0].Model.Likelihood)
	const each = "a linear weight is what a unit of its column, or being in its level, adds to "
	target := targetText(fitted)
	switch {
	case link == likelihood.Identity:
		return each + "the mean of " + target
	case link == likelihood.Log:
		return each + "the log of the mean of " + target + ": --exp shows by what it multiplies the mean"
	case link == likelihood.Logit && kind == likelihood.Classes:
		of := "the positive class"
		if scorer, err := score.New(fitted, score.Options{}); err == nil && positiveClass(scorer) != "" {
			of = printable(positiveClass(scorer))
		}
		return each + "the log odds that " + target + " is " + of + ": --exp shows by what it multiplies the odds"
	}
	return ""
}

// ordered says in which order weights are, by each value of --sort.
var ordered = map[score.Order]string{"": "the order of the model (--sort inclusion, abs or name for another)", score.ByInclusion: "the order of their inclusion, the largest first",
	score.ByStrength: "the order of |mean| over sd, the largest first", score.ByName: "the order of their names"}

// printTerms writes the weights for people, with standard deviations and intervals where they are to be told.
func (p *program) printTerms(terms []score.Term, all int, intervals bool, meaning string, how *score.TermOptions) {
	if len(terms) == 0 {
		return
	}
	w := p.columns(toRight)
	row := func(cells ...string) { fmt.Fprint(w, strings.Join(cells, "\t"), "\t") }
	value, spreads := "mean", []string{"sd", "lower", "upper"}
	if terms[0].Exp != nil {
		value, spreads = "exp", spreads[1:]
	}
	if !intervals {
		spreads = nil
	}
	if p.say("\nweights in %s", ordered[how.Sort]); intervals {
		p.say("lower and upper are %.6g %% intervals", 100*how.Interval)
	}
	if meaning != "" && terms[0].Exp == nil && slices.ContainsFunc(terms, func(t score.Term) bool { return t.Block == "linear" }) {
		p.say("%s", meaning)
	}
	fmt.Fprintln(w)
	row(append([]string{"block", "name", value}, spreads...)...)
	if slices.ContainsFunc(terms, func(t score.Term) bool { return t.Inclusion != nil }) {
		row("inclusion")
	}
	fmt.Fprintln(w)
	for _, t := range terms {
		row(nameText(t.Block), nameText(t.Name))
		cells, spread := []string{"0", "base", "", ""}, float64(t.SD)
		switch {
		case t.Base && t.Exp != nil:
			cells = []string{"1", "base", ""}
		case t.Base:
		case t.Exp != nil:
			spread = float64(t.Exp.Upper-t.Exp.Lower) / 4
			cells = []string{toSpread(t.Exp.Estimate, spread), toSpread(float64(t.Exp.Lower), spread), toSpread(float64(t.Exp.Upper), spread)}
		default:
			cells = []string{toSpread(t.Mean, spread), toSpread(spread, spread), toSpread(float64(t.Lower), spread), toSpread(float64(t.Upper), spread)}
		}
		row(cells[:1+len(spreads)]...)
		if t.Inclusion != nil {
			row(fmt.Sprintf("%.4f", *t.Inclusion))
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	if len(terms) < all {
		p.say("… and %d more; --top %d shows all", all-len(terms), all)
	}
	if slices.ContainsFunc(terms, func(t score.Term) bool { return !t.SD.Defined() }) {
		p.say("\nthe cutpoints have no intervals: this model file does not say how uncertain they are, because an earlier version wrote it, or the fit did not integrate over them; fit again, without hyper=mode or hyper=ml, and with covariance=full under svi(...)")
	}
}

// printSmooths writes a line for each smooth term: where it adds least and most to f.
func (p *program) printSmooths(smooths []score.Smooth, exp bool, path string) {
	if len(smooths) == 0 {
		return
	}
	what := "what smooth terms add to f, beyond what they add where all their columns are at their training means, ± standard deviation"
	if exp {
		what = "what smooth terms multiply exp(f) by, against where all their columns are at their training means"
	}
	p.say("\n%s (the whole curve: credence plot %s --kind predictions -o FILE.svg; the weights: --json, or -o FILE)", what, path)
	at := func(e *score.Effect) string {
		if exp {
			return fmt.Sprintf("%s at %s", toSpread(math.Exp(e.Mean), math.Exp(e.Mean)*e.SD), significant(e.At))
		}
		return fmt.Sprintf("%s ± %s at %s", toSpread(e.Mean, e.SD), toSpread(e.SD, e.SD), significant(e.At))
	}
	for _, s := range smooths {
		line := fmt.Sprintf("%s  %s", nameText(s.Block), counted(s.Weights, "weight"))
		if s.Straight {
			line += " and a line"
		}
		if s.Column != "" {
			along := nameText(s.Column)
			if s.Columns > 1 {
				along += fmt.Sprintf(" (of %d columns the one that matters most)", s.Columns)
			}
			line += fmt.Sprintf("; along %s from %s to %s: lowest %s, highest %s", along, significant(s.From), significant(s.To), at(s.Lowest), at(s.Highest))
		}
		p.say("%s", line)
	}
}

// printGroups writes what R prints of the variances of groups, and what share of the variance they are.
func (p *program) printGroups(fitted *credence.Fitted, all score.Groups, blocks []score.BlockTest, interval float64) {
	if len(all.Groups) == 0 {
		return
	}
	p.say("\ngroups: standard deviations of effects, in units of f for a unit of the column, with %.6g %% intervals", 100*interval)
	w := p.columns(toRight)
	row := func(cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")+"\t") }
	heads, correlated := []string{"term", "column", "sd", "lower", "upper", "levels", "rows", "ICC", ""}, slices.ContainsFunc(all.Groups, func(g score.Group) bool { return len(g.Correlations) > 0 })
	if correlated {
		heads = slices.Insert(heads, 5, "cor")
	}
	row(heads...)
	tell := func(term string, d score.Deviation, correlations []score.Deviation, rest ...string) {
		if correlated {
			var cells []string
			for _, c := range correlations {
				cell := fmt.Sprintf("%.2f", c.Mean)
				if c.Lower.Defined() {
					cell += fmt.Sprintf(" (%.2f to %.2f)", float64(c.Lower), float64(c.Upper))
				}
				cells = append(cells, cell)
			}
			rest = slices.Insert(rest, 0, strings.Join(cells, ", "))
		}
		spread := float64(d.Upper-d.Lower) / 4
		row(append([]string{nameText(term), nameText(d.Name), toSpread(d.Mean, spread), toSpread(float64(d.Lower), spread), toSpread(float64(d.Upper), spread)}, rest...)...)
	}
	for _, g := range all.Groups {
		icc, found := "-", ""
		if g.ICC.Defined() {
			icc = fmt.Sprintf("%.3f", float64(g.ICC))
		}
		if slices.ContainsFunc(blocks, func(b score.BlockTest) bool { return b.Name == g.Term && !b.Effect }) {
			found = "no effect found"
		}
		for j, d := range g.SD {
			rest := []string{fmt.Sprint(g.Levels), fmt.Sprint(g.Rows), icc, found}
			if j > 0 {
				rest = []string{"", "", "", ""}
			}
			var correlations []score.Deviation // with the columns before it
			if first := j * (j - 1) / 2; first+j <= len(g.Correlations) {
				correlations = g.Correlations[first : first+j]
			}
			tell(g.Term, d, correlations, rest...)
		}
	}
	if d, ok := score.Residual(fitted, interval); ok {
		tell("", d, nil, "", "", "", "")
	}
	w.Flush()
	if all.R2Marginal.Defined() {
		p.say("R² %.3f without effects of groups (marginal), %.3f with them (conditional)", float64(all.R2Marginal), float64(all.R2Conditional))
	}
}

// toSpread formats a number with the digits of which its standard deviation leaves some meaning: three
// digits of the standard deviation; "-" stands for what is not known.
func toSpread(x, sd float64) string {
	const mostDecimals, largest = 9, 1e15
	if math.IsNaN(x) {
		return "-"
	}
	decimals := 2 - int(math.Floor(math.Log10(sd)))
	if !(sd > 0) || decimals > mostDecimals || math.Abs(x) > largest || math.IsInf(sd, 1) {
		return fmt.Sprintf("%.5g", x)
	}
	return fmt.Sprintf("%.*f", max(0, decimals), x)
}

// printBlocks says in which blocks nothing was found.
func (p *program) printBlocks(blocks []score.BlockTest) {
	for _, b := range blocks {
		if b.Effect {
			continue
		}
		why := "the 95 % interval of its weight holds 0"
		if b.Weights > 1 {
			why = fmt.Sprintf("no 95 %% interval of its %d weights excludes 0, nor do they together", b.Weights)
		}
		beside := "" // the data tell the sum of a column's weights
		if product := slices.IndexFunc(blocks, effectOfProduct); b.Name == "linear" && product >= 0 {
			beside = fmt.Sprintf("; what a column does may stand in %s, which has one", nameText(blocks[product].Name))
		}
		p.say("\nno effect found in %s: %s (Wald %.2f, degrees of freedom %.1f)%s", nameText(b.Name), why, b.Wald, b.DF, beside)
	}
}

// effectOfProduct says whether a block is of a product of columns, as x:region, and has an effect.
func effectOfProduct(b score.BlockTest) bool {
	return b.Effect && strings.Contains(b.Name, ":") && !strings.Contains(b.Name, "(")
}
