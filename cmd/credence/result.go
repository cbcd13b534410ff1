package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/learn"
	"github.com/credence-ml/credence/score"
)

// mostGaps is how many gaps between cutpoints people are told.
const mostGaps = 10

// printFit writes a fit for people.
func (p *program) printFit(r *score.Summary) {
	ended := fmt.Sprintf("%s after %s", r.Status, counted(r.Iterations, "iteration"))
	switch {
	case r.Status == learn.EndOfData:
		ended = counted(r.Iterations, "pass") + " over the data"
	case r.Stuck:
		ended = fmt.Sprintf("stopped after %s, for the sites do not settle", counted(r.Iterations, "iteration"))
	case r.Status == credence.IterationLimit && r.Engine == "sep":
		ended = "stopped after " + counted(r.Iterations, "pass") + ", of which the last still moved weights"
	case r.Status == credence.IterationLimit: // of one of several loops, so that it need not be the largest number
		ended = "not converged after " + counted(r.Iterations, "iteration")
	}
	p.say("fit     %s, %s: %s, %s", r.Engine, ended, counted(r.Rows, "row"), counted(r.Weights, "weight"))
	if r.Draws > 1 {
		p.say("        predictions average over %d draws of the random features; what follows is of the best", r.Draws)
	}
	penalised, spread := "", ""
	if r.EvidencePenalised != nil && r.Evidence != nil && *r.EvidencePenalised != *r.Evidence {
		penalised = fmt.Sprintf(" (with the priors of hyper-parameters %.4f)", *r.EvidencePenalised)
	}
	if r.ELBOStandardError != nil {
		spread = fmt.Sprintf(" ± %.2g", *r.ELBOStandardError)
	}
	if r.EvidenceStandardError != nil {
		penalised += fmt.Sprintf(" ± %.2g", *r.EvidenceStandardError)
	}
	p.printEvidence("log evidence", r.Evidence, r.EvidenceMode, penalised)
	if r.EvidenceEstimate != nil {
		p.say("        log evidence about %.4f (an estimate)", *r.EvidenceEstimate)
	}
	p.printEvidence("log evidence at least", r.EvidenceBound, r.EvidenceBoundMode, "")
	p.printEvidence("evidence lower bound", r.ELBO, r.ELBOMode, spread)
	if r.EvidenceCorrection != nil {
		p.say("        and %.4f more by quadrature in each group", *r.EvidenceCorrection)
	}
	p.printAgainstNothing(r.Baseline)
	if verdict := diagnose.Verdict(&r.Report); verdict != "" {
		p.say("        %s", verdict)
	}
	if r.Selected != nil {
		what := "not zero"
		if r.Above > 0 {
			what = fmt.Sprintf("selected (inclusion above %.3g)", r.Above)
		}
		p.say("        %s %s", counted(*r.Selected, "weight"), what)
	}
	if told, why := score.Intervals(&r.Report); !told {
		p.say("        %s", why)
	} else if r.WeightCoverage != nil {
		p.say("        90 %% intervals of the weights in the model hold about %.0f %% of them", 100**r.WeightCoverage)
	}
	if r.SDRatio != nil {
		p.say("        standard deviations of weights about %.2f of what they should be", *r.SDRatio)
	}
	w := p.columns(toLeft)
	for _, n := range r.Frequencies {
		fmt.Fprintf(w, "        frequencies.%s\t%.0f\n", nameText(n.Name), n.Value)
	}
	gaps := 0
	for _, h := range r.Report.Hyper {
		isGap := strings.HasPrefix(h.Name, "gap")
		if isGap {
			gaps++
		}
		if eventCounts[h.Name] || isGap && gaps > mostGaps {
			continue
		}
		line := fmt.Sprintf("        %s\t%s", nameText(h.Name), significant(h.Value))
		switch sd := r.HyperSD.Of(h.Name, math.NaN()); {
		case sd != sd: // none is told
		case h.Name == "cutpoint": // which may have any sign
			line += fmt.Sprintf("\tgive or take %.3g", sd)
		case strings.HasPrefix(h.Name, "correlation."): // whose inverse hyperbolic tangent that is
			z := math.Atanh(h.Value)
			line += fmt.Sprintf("\t%.2f to %.2f, 90 %%", math.Tanh(z-1.645*sd), math.Tanh(z+1.645*sd))
		default:
			if factor := fmt.Sprintf("%.3g", math.Exp(sd)); factor != "1" { // which would say nothing
				line += "\tgive or take a factor of " + factor
			}
		}
		if h.Name == "noise_variance" {
			line += fmt.Sprintf("; a standard deviation of %s", significant(math.Sqrt(h.Value)))
		}
		fmt.Fprintln(w, line)
	}
	w.Flush()
	if gaps > mostGaps {
		p.say("        and %d gaps more, which --json has", gaps-mostGaps)
	}
	if r.Seconds > 0 {
		p.say("        %.2f seconds", r.Seconds)
	}
	if r.Model != "" {
		p.say("saved   %s", r.Model)
	}
	if r.Model != "" && p.messages.terminal { // for people alone: what shows what was just said
		show := "report " + printable(r.Model) + " HELDOUT -o report.html"
		if r.Engine == "gibbs" || r.Engine == "ep" {
			show = "plot " + printable(r.Model) + " --kind forest -o effects.svg"
		}
		p.say("see     credence inspect %s   for what each column does", printable(r.Model))
		p.say("        credence evaluate %s HELDOUT   for how well it predicts rows that it has not seen", printable(r.Model))
		p.say("        credence %s", show)
	}
	p.tellFindings(r.Warnings, r.Remarks)
}

// printAgainstNothing sets a fit beside a prediction without columns.
func (p *program) printAgainstNothing(b *score.Baseline) {
	if b == nil {
		return
	}
	text := "the shares of the classes have "
	if b.Kind == score.Densities || !b.NLPD.Defined() {
		text = fmt.Sprintf("the mean alone is off by %s (rmse)", significant(float64(b.RMSE)))
		if b.NLPD.Defined() {
			text += ", "
		}
	}
	if b.NLPD.Defined() {
		text += "nlpd " + significant(float64(b.NLPD))
	}
	switch {
	case !b.NLPD.Defined() || !b.Evidence.Defined():
		text += "; evaluate tells what is left with them"
	case b.Evidence >= b.NLPD:
		text += fmt.Sprintf("; with them %s%s, so that they may be no help: credence look tells of codes, ids and texts among columns", b.Bound, significant(float64(b.Evidence)))
	default:
		text += fmt.Sprintf("; with them %s%s, %s", b.Bound, significant(float64(b.Evidence)), b.How)
	}
	p.say("        without columns %s", text)
}

// tellFindings prints warnings and remarks, each with where the rows that it names stand.
func (p *program) tellFindings(warnings, remarks []string) {
	placed := func(text string) string {
		if p.placed == nil {
			return text
		}
		return p.placed(text)
	}
	for _, warning := range warnings {
		p.warn("%s", placed(warning))
	}
	for _, remark := range remarks {
		p.remark("%s", placed(remark))
	}
}

// printEvidence tells the evidence, or a bound of it, with that at the mode of the hyper-parameters: alone where they
// were not integrated over.
func (p *program) printEvidence(what string, value, mode *float64, more string) {
	switch {
	case value != nil && mode != nil:
		p.say("        %s %.4f%s, integrated over the hyper-parameters (at their mode %.4f)", what, *value, more, *mode)
	case value != nil:
		p.say("        %s %.4f%s", what, *value, more)
	case mode != nil:
		p.say("        %s %.4f, at the mode of the hyper-parameters", what, *mode)
	}
}

// eventCounts are values of a report that say how an engine went, for --json alone.
var eventCounts = map[string]bool{"skipped_cavities": true, "negative_sites": true}

// counted is a number of things, of which there may be one.
func counted[N int | int64](n N, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "s"): // passes
		noun += "e"
	case strings.HasSuffix(noun, "y"): // categories
		noun = strings.TrimSuffix(noun, "y") + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
