package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/credence-ml/credence/metric"
)

// printReliability writes the mean targets of bins of the prediction, where they are asked for.
func (p *program) printReliability(e *metric.Evaluation) {
	if e.CalibrationResult == nil || e.Reliability == nil || p.quiet {
		return
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\npredicted\t\tmean\tobserved\trows\t\n")
	for _, b := range e.Reliability.Bins {
		fmt.Fprintf(w, "%.4g\tto %.4g\t%.4g\t%.4g\t%s\t\n", b.From, b.To, b.Predicted, b.Observed, significant(b.Weight))
	}
	w.Flush()
}

// printGroupScores writes a line for each group of rows, where they are asked for.
func (p *program) printGroupScores(e *metric.Evaluation, by []string) {
	if len(e.Groups) == 0 || p.quiet {
		return
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w)
	for _, name := range by {
		fmt.Fprintf(w, "%s\t", printable(name))
	}
	fmt.Fprintf(w, "rows\tnlpd\trmse\tcrps\tslope\t90 %%\tpit_p\t\n")
	for i := range e.Groups {
		g := &e.Groups[i]
		for _, v := range g.By {
			fmt.Fprintf(w, "%s\t", printable(v.Value))
		}
		crps, held, p := "-", "-", "-"
		if g.CRPS != nil {
			crps = shown("%.4g", *g.CRPS)
		}
		if share, ok := g.Coverage["0.9"]; ok {
			held = fmt.Sprintf("%.1f", 100*share)
		}
		if g.PITValue != nil {
			p = fmt.Sprintf("%.2g", *g.PITValue)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", g.Rows, shown("%.5g", g.NLPD), shown("%.4g", g.RMSE), crps, shown("%.3g", g.Slope), held, p)
	}
	w.Flush()
}
