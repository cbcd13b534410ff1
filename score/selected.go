package score

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// Candidates returns the runs of weights that may be 0, each of them in or out together, in their order; none
// where the posterior is of a kind that selects nothing.
func Candidates(fitted *credence.Fitted) []credence.Block {
	selector, ok := fitted.Members[0].Posterior.(credence.Selector)
	if !ok || !selector.Selects() {
		return nil
	}
	return ability.Candidates(fitted.Members[0].Model.Features, fitted.Report.Together)
}

// SelectedAbove is the inclusion probability above which a weight is called selected: that of its selection, where
// the fit has one, else that of its prior.
func SelectedAbove(fitted *credence.Fitted) float64 {
	if fitted.Selection != nil {
		return fitted.Selection.Threshold
	}
	if p, ok := fitted.Members[0].Model.Prior.(interface{ SelectedAbove() float64 }); ok {
		return p.SelectedAbove()
	}
	return 0.5
}

// Selected counts the candidates whose inclusion is above SelectedAbove; ok says whether weights may be 0.
func Selected(fitted *credence.Fitted) (count int, ok bool) {
	selector, ok := fitted.Members[0].Posterior.(credence.Selector)
	if !ok || !selector.Selects() {
		return 0, false
	}
	if fitted.Selection != nil { // which may go by the expected share of false ones
		return fitted.Selection.Selected, true
	}
	for range eachSelected(fitted, selector) {
		count++
	}
	return count, true
}

// SelectedNames returns the names of the weights that are selected, in the order of the model; nil where weights
// cannot be 0. Those that a selection calls are [selection.Result.Names].
func SelectedNames(fitted *credence.Fitted) (names []string) {
	selector, ok := fitted.Members[0].Posterior.(credence.Selector)
	named, has := fitted.Members[0].Model.Features.(credence.Named)
	if !ok || !has || !selector.Selects() {
		return nil
	}
	for c := range eachSelected(fitted, selector) {
		for j := c.First; j < c.First+c.Count; j++ {
			names = append(names, named.WeightName(j))
		}
	}
	return names
}

// SelectedColumns returns the columns of a table that features selected are made of, and that of its target, in the
// order of the table; nil of a model that is no selection's. A feature that is no column of the table is an error.
func SelectedColumns(fitted *credence.Fitted, schema *credence.Schema) (columns []string, err error) {
	switch {
	case fitted == nil || len(fitted.Members) == 0:
		return nil, errors.New("there is no model: make one by fit.Select")
	case schema == nil:
		return nil, errors.New("there is no schema: give that of the table")
	case fitted.Selection == nil:
		return nil, nil
	}
	type feature struct{ block, name string }
	selected, wanted := map[feature]bool{}, map[string]bool{}
	for _, f := range fitted.Selection.Features {
		if f.Selected {
			selected[feature{f.Block, f.Name}] = true
		}
	}
	features := fitted.Members[0].Model.Features
	named, _ := features.(credence.Named)
	reader, _ := features.(interface{ WeightInputs(j int) []int })
	fr, _ := fitted.Frame.(*frame.Frame)
	if named == nil || reader == nil || fr == nil {
		return nil, errors.New("the features of the model are no columns of a table")
	}
	for _, block := range features.Blocks() {
		for j := block.First; j < block.First+block.Count && len(selected) > 0; j++ {
			if name := named.WeightName(j); selected[feature{block.Name, name}] {
				inputs := reader.WeightInputs(j)
				known := len(inputs) > 0
				for _, i := range inputs {
					column := fr.Inputs[i].Expr.Column
					known, wanted[column] = known && schema.Index(column) >= 0, true
				}
				if !known {
					return nil, fmt.Errorf("the feature %s is made of no column of the table", name)
				}
			}
		}
	}
	if fr.Target != nil {
		wanted[fr.Target.Expr.Column] = true
	}
	for _, c := range schema.Columns {
		if wanted[c.Name] {
			columns = append(columns, c.Name)
		}
	}
	return columns, nil
}

// eachSelected goes through the candidates whose inclusion is above SelectedAbove.
func eachSelected(fitted *credence.Fitted, selector credence.Selector) iter.Seq[credence.Block] {
	above := SelectedAbove(fitted)
	return func(yield func(credence.Block) bool) {
		for c := range ability.EachCandidate(fitted.Members[0].Model.Features, fitted.Report.Together) {
			if !fitted.Report.Stuck && selector.InclusionProbability(c.First) > above && !yield(c) {
				return
			}
		}
	}
}

// Summary is what a fit came to: the JSON object of the command fit.
type Summary struct {
	credence.Report
	Family  string  `json:"family"`            // name of the family
	Link    string  `json:"link,omitempty"`    // identity, log, logit or probit
	Prior   string  `json:"prior,omitempty"`   // "" for learners without one
	Formula string  `json:"formula,omitempty"` // as it was understood
	Draws   int     `json:"draws,omitempty"`   // of random features, if predictions average over several
	Seconds float64 `json:"seconds,omitempty"` // of wall time
	// weights whose inclusion is above selected_above, or that are not 0
	Selected *int    `json:"selected,omitempty"`
	Above    float64 `json:"selected_above,omitempty"` // inclusion of those
	// Approximation says what pareto_k and effective_share mean together: a pareto_k above its limit means nothing
	// where the weights of draws are nearly uniform.
	Approximation string `json:"approximation,omitempty"`
	// Baseline is what a prediction without columns comes to on the rows of the fit.
	Baseline *Baseline `json:"baseline,omitempty"`
	Warnings []string  `json:"warnings"`        // what a reader should know, each with a remedy
	Model    string    `json:"model,omitempty"` // path of the file that was written or read
}

// Summarise sums up a fitted model; Seconds and Model are the caller's to set.
func Summarise(fitted *credence.Fitted) Summary {
	family := fitted.Members[0].Model.Likelihood
	result := Summary{
		Report: fitted.Report, Family: fmt.Sprint(family), Prior: fitted.Recipe.Prior, Formula: fitted.Recipe.Formula,
		Warnings: append([]string{}, fitted.Report.Warnings...), Baseline: baselineOf(fitted),
	}
	_, result.Approximation, _ = strings.Cut(diagnose.Verdict(&fitted.Report), ": ")
	if named, ok := family.(likelihood.Named); ok {
		result.Family = named.Name()
	}
	link, _ := likelihood.Describe(family)
	result.Link = string(link)
	if selected, ok := Selected(fitted); ok {
		result.Selected = &selected
		// weights of a penalised fit are 0 or not
		if _, drawn := fitted.Members[0].Model.Prior.(prior.SpikeSlab); drawn {
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
