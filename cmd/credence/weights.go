package main

import (
	"fmt"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/credence-ml/credence/score"
)

// printTerms writes the weights for people.
func (p *program) printTerms(terms []score.Term, all int) {
	if p.quiet || len(terms) == 0 {
		return
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	header := "\nblock\tname\tmean\tsd\tlower\tupper\t"
	if terms[0].Exp != nil {
		header = "\nblock\tname\texp\tlower\tupper\t"
	}
	if slices.ContainsFunc(terms, func(t score.Term) bool { return t.Inclusion != nil }) {
		header += "inclusion\t"
	}
	fmt.Fprintln(w, header)
	for _, t := range terms {
		fmt.Fprintf(w, "%s\t%s\t", nameText(t.Block), nameText(t.Name))
		switch {
		case t.Base && t.Exp != nil:
			fmt.Fprint(w, "1\tbase\t\t")
		case t.Base:
			fmt.Fprint(w, "0\tbase\t\t\t")
		case t.Exp != nil:
			spread := (t.Exp.Upper - t.Exp.Lower) / 4
			fmt.Fprintf(w, "%s\t%s\t%s\t", toSpread(t.Exp.Estimate, spread), toSpread(t.Exp.Lower, spread), toSpread(t.Exp.Upper, spread))
		default:
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t", toSpread(t.Mean, t.SD), toSpread(t.SD, t.SD), toSpread(t.Lower, t.SD), toSpread(t.Upper, t.SD))
		}
		if t.Inclusion != nil {
			fmt.Fprintf(w, "%.4f\t", *t.Inclusion)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	if len(terms) < all {
		p.say("… and %d more; --top %d shows all", all-len(terms), all)
	}
}

// toSpread formats a number with the digits of which its standard deviation leaves some meaning: three
// digits of the standard deviation.
func toSpread(x, sd float64) string {
	const mostDecimals, largest = 9, 1e15
	decimals := 2 - int(math.Floor(math.Log10(sd)))
	if !(sd > 0) || decimals > mostDecimals || math.Abs(x) > largest || math.IsInf(sd, 1) {
		return fmt.Sprintf("%.5g", x)
	}
	return fmt.Sprintf("%.*f", max(0, decimals), x)
}

// printBlocks says in which blocks nothing was found.
func (p *program) printBlocks(blocks []score.Block) {
	for _, b := range blocks {
		if b.Effect {
			continue
		}
		why := "the 95 % interval of its weight holds 0"
		if b.Weights > 1 {
			why = fmt.Sprintf("no 95 %% interval of its %d weights excludes 0, nor do they together", b.Weights)
		}
		p.say("\nno effect found in %s: %s (Wald %.2f, degrees of freedom %.1f)", nameText(b.Name), why, b.Wald, b.DF)
	}
}
