package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/credence-ml/credence/dataset/output"
	"github.com/credence-ml/credence/internal/atomicfile"
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
	if selects(terms) {
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

// selects says whether any weight may be 0.
func selects(terms []score.Term) bool {
	return slices.ContainsFunc(terms, func(t score.Term) bool { return t.Inclusion != nil })
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

// writeTerms writes the weights to a file, with exponentials and inclusions where there are any.
func writeTerms(path string, terms []score.Term) error {
	columns := []output.Column{{Name: "block", Text: true}, {Name: "name", Text: true}, {Name: "mean"}, {Name: "sd"}, {Name: "lower"}, {Name: "upper"}}
	if len(terms) > 0 && terms[0].Exp != nil {
		columns = append(columns, output.Column{Name: "exp"}, output.Column{Name: "exp_lower"}, output.Column{Name: "exp_upper"})
	}
	inclusions := selects(terms)
	if inclusions {
		columns = append(columns, output.Column{Name: "inclusion"})
	}
	return atomicfile.Write(path, func(w io.Writer) error {
		out, err := output.New(w, path, columns)
		if err != nil {
			return err
		}
		for _, t := range terms {
			cells := []float64{t.Mean, t.SD, t.Lower, t.Upper}
			if t.Exp != nil {
				cells = append(cells, t.Exp.Estimate, t.Exp.Lower, t.Exp.Upper)
			}
			if t.Inclusion != nil {
				cells = append(cells, *t.Inclusion)
			} else if inclusions {
				cells = append(cells, math.NaN())
			}
			if err := out.Write(nil, cells, []byte(t.Block), []byte(t.Name)); err != nil {
				return err
			}
		}
		return out.Close()
	})
}
