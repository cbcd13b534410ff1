package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/score"
)

// inspectFlags are the flags of inspect.
type inspectFlags struct {
	interval float64
	top      int
	sort     string
}

func (p *program) inspectCommand() *cobra.Command {
	var flags inspectFlags
	cmd := &cobra.Command{
		Use:   "inspect MODEL",
		Short: "Show what a model learned",
		Long: `Inspect shows how a model was fitted and what it learned: hyper-parameters,
evidence, and every weight with its posterior mean, standard deviation and interval.
Weights of plain columns are on the data's own scale, before any centring and scaling.`,
		Example: `  credence inspect m.safetensors
  credence inspect m.safetensors --top 10 --sort abs
  credence inspect m.safetensors --json | jq '.terms[] | select(.block == "linear")'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return p.inspect(args[0], &flags) },
	}
	f := cmd.Flags()
	f.Float64Var(&flags.interval, "interval", 0.9, "probability of the interval from lower to upper")
	f.IntVar(&flags.top, "top", 0, "show so many weights; 0 shows all with --json, and 20 otherwise")
	f.StringVar(&flags.sort, "sort", "", "inclusion, abs (|mean| over sd) or name; the default is the order of the model")
	return cmd
}

// inspection is the JSON object of inspect.
type inspection struct {
	fitResult
	Terms []score.Term `json:"terms"`
}

func (p *program) inspect(path string, flags *inspectFlags) error {
	if !(flags.interval > 0 && flags.interval < 1) {
		return misused(fmt.Errorf("--interval %v is not a probability between 0 and 1", flags.interval))
	}
	if flags.top < 0 {
		return misused(fmt.Errorf("--top %d is negative", flags.top))
	}
	if !slices.Contains([]string{"", "inclusion", "abs", "name"}, flags.sort) {
		return misused(fmt.Errorf("--sort %s is unknown: use inclusion, abs or name", flags.sort))
	}
	fitted, err := modelfile.Load(path)
	if err != nil {
		return err
	}
	terms := score.Terms(fitted, flags.interval)
	sortTerms(terms, flags.sort)
	all := len(terms)
	top := flags.top
	if top == 0 && !p.json {
		top = 20
	}
	if top > 0 && top < all {
		terms = terms[:top]
	}
	result := newFitResult(fitted)
	if p.json {
		result.Model = path
		return p.emit(inspection{result, terms})
	}
	p.say("model   %s", path)
	p.printFit(&result)
	p.printTerms(terms, all)
	if result.Engine == "sep" {
		p.say("\nThe spread of weights is that of the approximation, and too narrow: in simulations 90 %% intervals hold 60 to 80 %% of them.")
	}
	return nil
}

// sortTerms orders the weights: by inclusion or by |mean|/sd descending, or by
// name; ties keep the order of the model.
func sortTerms(terms []score.Term, by string) {
	strength := func(t score.Term) float64 {
		if t.SD == 0 {
			return math.Abs(t.Mean)
		}
		return math.Abs(t.Mean) / t.SD
	}
	switch by {
	case "inclusion":
		slices.SortStableFunc(terms, func(a, b score.Term) int {
			if a.Inclusion != nil && b.Inclusion != nil && *a.Inclusion != *b.Inclusion {
				return cmp.Compare(*b.Inclusion, *a.Inclusion)
			}
			return cmp.Compare(strength(b), strength(a))
		})
	case "abs":
		slices.SortStableFunc(terms, func(a, b score.Term) int { return cmp.Compare(strength(b), strength(a)) })
	case "name":
		slices.SortStableFunc(terms, func(a, b score.Term) int { return cmp.Compare(a.Name, b.Name) })
	}
}

// printTerms writes the weights for people.
func (p *program) printTerms(terms []score.Term, all int) {
	if p.quiet {
		return
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	header, withInclusion := "\nblock\tname\tmean\tsd\tlower\tupper\t", len(terms) > 0 && terms[0].Inclusion != nil
	if withInclusion {
		header += "inclusion\t"
	}
	fmt.Fprintln(w, header)
	for _, t := range terms {
		fmt.Fprintf(w, "%s\t%s\t%.5g\t%.4g\t%.5g\t%.5g\t", printable(t.Block), printable(t.Name), t.Mean, t.SD, t.Lower, t.Upper)
		if withInclusion {
			fmt.Fprintf(w, "%.4f\t", *t.Inclusion)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	if len(terms) < all {
		p.say("… and %d more; --top %d shows all", all-len(terms), all)
	}
}
