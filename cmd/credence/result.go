package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/score"
)

// fitResult is the JSON object of fit.
type fitResult struct {
	Engine            string             `json:"engine"`
	Family            string             `json:"family"`
	Link              string             `json:"link,omitempty"`
	Prior             string             `json:"prior,omitempty"` // "" for learners without one
	Formula           string             `json:"formula,omitempty"`
	Rows              int                `json:"rows"`
	Inputs            int                `json:"inputs"`
	Weights           int                `json:"weights"`
	Draws             int                `json:"draws,omitempty"` // of random features, if predictions average over several
	Status            credence.Status    `json:"status"`
	Iterations        int                `json:"iterations"`
	Seconds           float64            `json:"seconds,omitempty"`
	Evidence          *float64           `json:"evidence,omitempty"`
	EvidencePenalised *float64           `json:"evidence_penalised,omitempty"`
	ELBO              *float64           `json:"elbo,omitempty"`
	ELBOStandardError *float64           `json:"elbo_standard_error,omitempty"`
	ELBOBound         *float64           `json:"elbo_bound,omitempty"`
	ParetoK           *float64           `json:"pareto_k,omitempty"`
	EffectiveShare    *float64           `json:"effective_share,omitempty"`
	EvidenceGap       *float64           `json:"evidence_gap,omitempty"`
	Hyper             map[string]float64 `json:"hyper,omitempty"`
	Selected          *int               `json:"selected,omitempty"`
	Warnings          []string           `json:"warnings"`
	Model             string             `json:"model,omitempty"`

	hyper []credence.Value // in the order of the report
}

func newFitResult(fitted *credence.Fitted) fitResult {
	r := fitted.Report
	family := fitted.Members[0].Model.Likelihood
	result := fitResult{
		Engine: r.Engine, Family: familyName(family), Link: linkName(family), Prior: fitted.Recipe.Prior, Formula: fitted.Recipe.Formula,
		Rows: r.Rows, Inputs: r.Inputs, Weights: r.Weights, Status: r.Status, Iterations: r.Iterations,
		Evidence: r.Evidence, EvidencePenalised: r.EvidencePenalised,
		ELBO: r.ELBO, ELBOStandardError: r.ELBOStandardError, ELBOBound: r.ELBOBound,
		ParetoK: r.ParetoK, EffectiveShare: r.EffectiveShare, EvidenceGap: r.EvidenceGap,
		Warnings: append([]string{}, r.Warnings...), hyper: r.Hyper,
	}
	if selected, ok := score.Selected(fitted); ok {
		result.Selected = &selected
	}
	if draws := len(fitted.Members); draws > 1 {
		result.Draws = draws
	}
	if len(r.Hyper) > 0 {
		result.Hyper = make(map[string]float64, len(r.Hyper))
		for _, h := range r.Hyper {
			result.Hyper[h.Name] = h.Value
		}
	}
	return result
}

// linkName is the link of a family: how the mean of y comes from f.
func linkName(family credence.Likelihood) string {
	if d, ok := family.(likelihood.Described); ok {
		return string(d.LinkFunction())
	}
	return ""
}

// familyName is the name of a family without its arguments.
func familyName(family credence.Likelihood) string {
	name, _, _ := strings.Cut(fmt.Sprint(family), "(")
	return name
}

// printFit writes a fit for people.
func (p *program) printFit(r *fitResult) {
	if !p.quiet {
		p.say("fit     %s, %s after %d iterations: %d rows, %d weights", r.Engine, r.Status, r.Iterations, r.Rows, r.Weights)
		if r.Draws > 1 {
			p.say("        predictions average over %d draws of the random features; what follows is of the best", r.Draws)
		}
		if r.Evidence != nil {
			line := fmt.Sprintf("        log evidence %.4f", *r.Evidence)
			if r.EvidencePenalised != nil && *r.EvidencePenalised != *r.Evidence {
				line += fmt.Sprintf(" (with the priors of hyper-parameters %.4f)", *r.EvidencePenalised)
			}
			p.say("%s", line)
		}
		if r.ELBO != nil {
			line := fmt.Sprintf("        evidence lower bound %.4f", *r.ELBO)
			if r.ELBOStandardError != nil {
				line += fmt.Sprintf(" ± %.2g", *r.ELBOStandardError)
			}
			p.say("%s", line)
		}
		if r.ParetoK != nil {
			p.say("        %s", diagnose.Verdict(*r.ParetoK, r.EffectiveShare))
		}
		if r.Selected != nil {
			what := "weights selected (inclusion above 1/2)"
			if r.Prior == "" {
				what = "weights that are not zero"
			}
			p.say("        %d %s", *r.Selected, what)
		}
		w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
		for _, h := range r.hyper {
			fmt.Fprintf(w, "        %s\t%s\n", h.Name, significant(h.Value))
		}
		w.Flush()
		if r.Seconds > 0 {
			p.say("        %.2f seconds", r.Seconds)
		}
		if r.Model != "" {
			p.say("saved   %s", r.Model)
		}
	}
	for _, warning := range r.Warnings {
		p.warn("%s", warning)
	}
}
