package score

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// Summary is what a fit came to: the JSON object of the command fit.
type Summary struct {
	credence.Report
	Family   string   `json:"family"`                   // name of the family
	Link     string   `json:"link,omitempty"`           // identity, log, logit or probit
	Prior    string   `json:"prior,omitempty"`          // "" for learners without one
	Formula  string   `json:"formula,omitempty"`        // as it was understood
	Draws    int      `json:"draws,omitempty"`          // of random features, if predictions average over several
	Seconds  float64  `json:"seconds,omitempty"`        // of wall time
	Selected *int     `json:"selected,omitempty"`       // weights whose inclusion is above selected_above, or that are not 0
	Above    float64  `json:"selected_above,omitempty"` // inclusion of those
	Warnings []string `json:"warnings"`                 // what a reader should know, each with a remedy
	Model    string   `json:"model,omitempty"`          // path of the file that was written or read
}

// Summarise sums up a fitted model; Seconds and Model are the caller's to set.
func Summarise(fitted *credence.Fitted) Summary {
	family := fitted.Members[0].Model.Likelihood
	result := Summary{
		Report: fitted.Report, Family: fmt.Sprint(family), Prior: fitted.Recipe.Prior, Formula: fitted.Recipe.Formula,
		Warnings: append([]string{}, fitted.Report.Warnings...),
	}
	if named, ok := family.(likelihood.Named); ok {
		result.Family = named.Name()
	}
	link, _ := likelihood.Describe(family)
	result.Link = string(link)
	if selected, ok := Selected(fitted); ok {
		result.Selected = &selected
		if _, drawn := fitted.Members[0].Model.Prior.(prior.SpikeSlab); drawn { // weights of a penalised fit are 0 or not
			result.Above = SelectedAbove(fitted)
		}
	}
	if draws := distinctFeatures(fitted); draws > 1 {
		result.Draws = draws
	}
	return result
}

// distinctFeatures counts the draws of features that predictions average over: members of the same
// features differ in parameters of the likelihood.
func distinctFeatures(fitted *credence.Fitted) int {
	seen := map[credence.Features]bool{}
	for _, m := range fitted.Members {
		seen[m.Model.Features] = true
	}
	return len(seen)
}
