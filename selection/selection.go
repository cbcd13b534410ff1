package selection

import (
	"cmp"
	"fmt"
	"slices"
)

// Result is what a selection found.
type Result struct {
	Features  []Feature `json:"features"`  // by inclusion, the highest first
	Selected  int       `json:"selected"`  // features selected, a group once
	Threshold float64   `json:"threshold"` // of the inclusion: what was stated, or what FDR came to
	// FDR is the bound on the expected share of false ones that was stated, 0 for none.
	FDR           float64 `json:"fdr,omitempty"`
	ExpectedFalse float64 `json:"expected_false"`       // Σ (1 − inclusion) over features selected, of what is resolved
	Sets          []Set   `json:"sets"`                 // credible sets
	Path          []Step  `json:"path"`                 // fits at stated sparsities
	Null          *Null   `json:"null_check,omitempty"` // fits to permuted targets, if asked for
	// beside the lasso and ridge regression on rows left out, if asked for
	Check *Check `json:"check,omitempty"`
	// Bootstrap is the number of resamples that frequencies are shares of, 0 for none.
	Bootstrap int `json:"bootstrap,omitempty"`
	// Explained is the share of the target's variance that the features explain; nil where it is not known.
	Explained *Share `json:"variance_explained,omitempty"`
}

// Share is a share with the interval that Options.Interval asks for.
type Share struct {
	Mean  float64 `json:"mean"`  // of its posterior
	Lower float64 `json:"lower"` // end of the interval
	Upper float64 `json:"upper"` // end of the interval
}

// Feature is a weight that may be 0.
type Feature struct {
	Block     string  `json:"block"`           // the block of features
	Name      string  `json:"name"`            // the column, level or product
	Inclusion float64 `json:"inclusion"`       // P(weight ≠ 0)
	Mean      float64 `json:"mean"`            // of the weight, the chance of 0 included, in the data's own units
	SD        float64 `json:"sd"`              // of the weight
	Lower     float64 `json:"lower"`           // end of the central interval, 0 where 0 is likely enough
	Upper     float64 `json:"upper"`           // end of the interval
	Set       int     `json:"set,omitempty"`   // ID of its credible set, 0 for none
	Group     string  `json:"group,omitempty"` // of features that are in or out together, which count once
	Selected  bool    `json:"selected"`        // whether the feature is selected
	// Frequency is the share of fits to rows drawn with replacement that call the feature; nil without them.
	Frequency *float64 `json:"frequency,omitempty"`
	// Resolved is the part of Inclusion in which the slab, where it is learned, is wide enough for the rows to tell, by
	// which features are selected; nil where that is all of it.
	Resolved *float64 `json:"resolved,omitempty"`
	// VarZ is the variance of whether the weight is not 0. MeanS and VarS are of s, the feature's own probability
	// of it, where that has a Beta prior, in laplace(…) with inclusion_prior. All are nil unless asked for.
	VarZ   *float64 `json:"var_z,omitempty"`
	MeanS  *float64 `json:"mean_s,omitempty"`
	VarS   *float64 `json:"var_s,omitempty"`
	Weight int      `json:"-"` // index of the weight in the model
}

// TakeMoments takes the moments of z, and of s under s ~ Beta(a, b) where a is above 0: given z it is
// Beta(a + z, b + 1 − z).
func (f *Feature) TakeMoments(a, b float64) {
	e := f.Inclusion
	z := e * (1 - e)
	if f.VarZ = &z; !(a > 0) {
		return
	}
	c := a + b
	mean := (a + e) / (c + 1)
	square := (a + 1) * (a + 2*e) / ((c + 1) * (c + 2))
	variance := square - mean*mean
	f.MeanS, f.VarS = &mean, &variance
}

// Set is a credible set.
type Set struct {
	ID       int     `json:"id"`       // from 1
	Coverage float64 `json:"coverage"` // probability that a member's weight is not 0
	Purity   float64 `json:"purity"`   // least absolute correlation of two members
	// LogBayesFactor is the logarithm of what the data multiply the odds by that a member's weight is not 0. From
	// draws of which all say so it is that of half a draw that does not.
	LogBayesFactor float64  `json:"log_bayes_factor"`
	Features       []string `json:"features"` // by inclusion, the highest first
}

// Step is a fit on the path over sparsity.
type Step struct {
	Inclusion float64  `json:"inclusion"` // stated prior probability of a feature
	Expected  float64  `json:"expected"`  // sum of the inclusion probabilities, that of a group once
	Selected  int      `json:"selected"`  // features above ½
	Evidence  *float64 `json:"evidence_estimate,omitempty"`
	Features  []string `json:"features"` // those above ½, the highest first
	// Coefficients are the means of the weights of all features whose inclusion is above a hundredth, in
	// the data's own units.
	Coefficients []Coefficient `json:"coefficients"`
	// LogDensity is the mean over rows left out, where a check was asked for, and OneSE marks the sparsest
	// step that is within one standard error of the best.
	LogDensity *float64 `json:"log_density,omitempty"`
	OneSE      bool     `json:"one_se,omitempty"` // the sparsest step within one standard error of the best
}

// Coefficient is a feature on the path.
type Coefficient struct {
	Name      string  `json:"name"`      // the column, level or product
	Inclusion float64 `json:"inclusion"` // P(weight ≠ 0)
	Mean      float64 `json:"mean"`      // of the weight, the chance of 0 included
}

// Null says how many features are selected where there is nothing to find: with the targets permuted.
type Null struct {
	Permutations int     `json:"permutations"`
	Called       []int   `json:"called"` // features selected in each
	Share        float64 `json:"share"`  // of all features, on average
}

// Check says how well rows are predicted that a fit has not seen.
type Check struct {
	Folds   int       `json:"folds"`
	Engines []Checked `json:"engines"` // that of the selection first
}

// Checked is one engine in a check.
type Checked struct {
	Engine string `json:"engine"`
	// LogDensity is the mean over rows left out; nil where a row has none.
	LogDensity *float64 `json:"log_density,omitempty"`
	// Gain is the mean by which the selection's log density of a row is above this engine's, GainError
	// its standard error over rows; nil where they are no numbers.
	Gain      *float64 `json:"gain,omitempty"`
	GainError *float64 `json:"gain_error,omitempty"`
}

// Options say how to call features.
type Options struct {
	Threshold float64 `json:"threshold,omitempty"` // 0 means ½
	FDR       float64 `json:"fdr,omitempty"`       // 0: by Threshold
	Interval  float64 `json:"interval,omitempty"`  // probability of the intervals of weights; 0 means 0.9
	Coverage  float64 `json:"coverage,omitempty"`  // of credible sets; 0 means 0.95
	// Moments asks for the moments of z and s of every feature.
	Moments bool `json:"moments,omitempty"`
	// NullCheck is how many times to fit to permuted targets.
	NullCheck int `json:"null_check,omitempty"`
	// Bootstrap is how many times to fit to rows drawn with replacement, for selection frequencies.
	Bootstrap int `json:"bootstrap,omitempty"`
	// Check is the number of folds of a check against the lasso and ridge regression, 0 for none.
	Check int `json:"check,omitempty"`
	// Path says whether to fit at stated sparsities too; "" means where that takes about a second.
	Path PathRule `json:"path,omitempty"`
}

// PathRule says when the path over sparsity is wanted.
type PathRule string

// The rules that may be stated.
const (
	PathAlways PathRule = "always"
	PathNever  PathRule = "never"
)

// Validate refuses numbers that are no probabilities.
func (o Options) Validate() error {
	for _, c := range []struct {
		name  string
		value float64
	}{{"threshold", o.Threshold}, {"fdr", o.FDR}, {"interval", o.Interval}, {"coverage", o.Coverage}} {
		if !(c.value >= 0 && c.value < 1) {
			return fmt.Errorf("--%s %v is not a probability between 0 and 1", c.name, c.value)
		}
	}
	switch {
	case o.Path != "" && o.Path != PathAlways && o.Path != PathNever:
		return fmt.Errorf("--path %s is neither always nor never", o.Path)
	case o.FDR > 0 && o.Threshold > 0:
		return fmt.Errorf("--threshold and --fdr are two rules for the same choice: state one of them")
	case o.NullCheck < 0 || o.NullCheck > 10_000:
		return fmt.Errorf("--null-check %d is not between 1 and 10000", o.NullCheck)
	case o.Bootstrap < 0 || o.Bootstrap > 10_000:
		return fmt.Errorf("--bootstrap %d is not between 1 and 10000", o.Bootstrap)
	case o.Check < 0 || o.Check == 1 || o.Check > 1000:
		return fmt.Errorf("--check %d is not between 2 and 1000 folds", o.Check)
	}
	return nil
}

// Candidates is the number of features, a group counted once, and the expected number of those that are in.
func (r *Result) Candidates() (count int, expected float64) {
	groups := map[string]bool{}
	for i := range r.Features {
		if r.first(groups, i) {
			count++
			expected += r.Features[i].Inclusion
		}
	}
	return count, expected
}

// first says whether feature i is the first of its group that is met, and notes it.
func (r *Result) first(groups map[string]bool, i int) bool {
	g := r.Features[i].Group
	if g == "" {
		return true
	}
	known := groups[g]
	groups[g] = true
	return !known
}

// Told is the inclusion by which the feature is selected: what is resolved of it.
func (f *Feature) Told() float64 {
	if f.Resolved != nil {
		return *f.Resolved
	}
	return f.Inclusion
}

// Call sorts the features by inclusion and marks those that the options call. A group counts once.
func (r *Result) Call(o Options) {
	slices.SortStableFunc(r.Features, func(a, b Feature) int { return cmp.Compare(b.Inclusion, a.Inclusion) })
	r.FDR, r.Threshold = o.FDR, cmp.Or(o.Threshold, 0.5)
	r.Selected, r.ExpectedFalse = 0, 0
	if o.FDR > 0 {
		r.Threshold = 1
	}
	groups, called := map[string]bool{}, map[string]bool{}
	open := true // no candidate before was left out
	for i := range r.Features {
		f := &r.Features[i]
		if !r.first(groups, i) {
			f.Selected = called[f.Group]
			continue
		}
		expected := r.ExpectedFalse + 1 - f.Told()
		if f.Selected = f.Told() > r.Threshold; o.FDR > 0 {
			f.Selected = open && expected <= o.FDR*float64(r.Selected+1)
		}
		if open = f.Selected; !open {
			continue
		}
		r.Selected, r.ExpectedFalse, called[f.Group] = r.Selected+1, expected, true
		if o.FDR > 0 {
			r.Threshold = f.Inclusion
		}
	}
}

// Names returns the names of the features that are selected, the highest inclusion first.
func (r *Result) Names() []string {
	names := []string{}
	for _, f := range r.Features {
		if f.Selected {
			names = append(names, f.Name)
		}
	}
	return names
}
