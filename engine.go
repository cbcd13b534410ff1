package credence

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
)

// Engine fits a model to data. A concrete engine is made by the New of its
// package, which takes the model, narrows it and refuses a misfit. Fit changes neither the model nor the data.
type Engine interface {
	Fit(ctx context.Context, data Data) (*Fitted, error)
}

// Status says how a fit stopped. Stopping early is not an error.
type Status string

// The ways a fit ends.
const (
	Converged      Status = "converged"
	IterationLimit Status = "iteration limit"
	Closed         Status = "closed form" // nothing was left to learn by iteration
)

// Value is a named number of a report.
type Value struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Values are named numbers, in JSON an object in their order.
type Values []Value

// Of returns the value of a name, otherwise where there is none.
func (v Values) Of(name string, otherwise float64) float64 {
	for _, named := range v {
		if named.Name == name {
			return named.Value
		}
	}
	return otherwise
}

// MarshalJSON writes {"name": value, …}.
func (v Values) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, named := range v {
		if i > 0 {
			text = append(text, ',')
		}
		name, err := json.Marshal(named.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(named.Value)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}'), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (v *Values) UnmarshalJSON(text []byte) error {
	*v = nil
	d := json.NewDecoder(bytes.NewReader(text))
	switch start, err := d.Token(); {
	case err != nil || start == nil:
		return err
	case start != json.Delim('{'):
		return fmt.Errorf("named numbers begin with %v, not with {", start)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		named := Value{Name: fmt.Sprint(name)}
		if err := d.Decode(&named.Value); err != nil {
			return err
		}
		*v = append(*v, named)
	}
	return nil
}

// Choice is what one member of a fit has whose prior variances were chosen by rows that were left out.
type Choice struct {
	Variances Values  `json:"prior_variances"`   // of the blocks of which they are learned
	Spread    float64 `json:"spread"`            // share of the variances of the weights
	Loss      float64 `json:"held_out_log_loss"` // mean −log density of the rows left out
	Weight    float64 `json:"weight"`            // of the member
}

// Law is the posterior of a positive hyper-parameter: values, evenly spaced in their logarithms, with the log density
// of the logarithm there but for a constant.
type Law struct {
	Name       string    `json:"name"` // as in Hyper
	At         []float64 `json:"at"`
	LogDensity []float64 `json:"log_density"`
}

// JointLaw is a Gaussian copula of hyper-parameters: their laws, which HyperLaws and HyperSD give, and the correlations
// of their coordinates, logarithms of variances and inverse hyperbolic tangents of partial correlations.
type JointLaw struct {
	Names        []string  `json:"names"`        // as in Hyper
	Correlations []float64 `json:"correlations"` // of the coordinates, by the rows of the lower triangle
	// of the odds (1+ρ)/(1−ρ) of partial correlations, those that are not taken for normal in the coordinate
	Odds []Law `json:"odds,omitempty"`
}

// Latent are the parts of the variance of f over the training rows.
type Latent struct {
	Fixed float64 `json:"fixed"` // of what does not vary by group, at its posterior mean
	// of the effects of each term of groups: the mean over the rows of zᵀΣz, by their law
	Groups Values `json:"groups"`
}

// Report tells how a fit went. Everything in it is determined by data, options
// and seed, so that model files are reproducible; wall-clock time is not in it.
type Report struct {
	Engine     string `json:"engine"`          // that made the fit
	Status     Status `json:"status"`          // how it stopped: converged, iteration limit, end of data
	Rows       int    `json:"rows"`            // fitted, those left out aside
	Inputs     int    `json:"inputs"`          // columns that the model uses
	Weights    int    `json:"weights"`         // of the model
	Iterations int    `json:"iterations"`      // of the engine: steps, sweeps, or passes over the data
	Hyper      Values `json:"hyper,omitempty"` // learned and held values, in the target's own units
	// Frequencies are the numbers of frequencies n that random features draw, by the names of their terms.
	Frequencies Values `json:"frequencies,omitempty"`
	// Hyperparameters says what became of the hyper-parameters that were not held: "integrate",
	// "mode" or "ml", or "held" where there were none; "heldout" where prior variances were chosen by rows that were
	// left out, so that ELBO is at them; "" of an engine that does not say.
	Hyperparameters string `json:"hyper_treatment,omitempty"`
	// HyperPrior holds the scales of the priors of hyper-parameters, in units of Hyper. HyperSD
	// holds the posterior standard deviations of their logarithms, of an ordinal model's first cutpoint its own.
	HyperPrior Values `json:"hyper_prior,omitempty"`
	HyperSD    Values `json:"hyper_sd,omitempty"`
	// HyperLaws are the marginal laws of prior variances of groups, where their logarithms are not taken for normal.
	HyperLaws []Law `json:"hyper_laws,omitempty"`
	// HyperJoint says how the standard deviations and correlations of terms of groups of several columns depend on each
	// other; nil where no such term is learned.
	HyperJoint *JointLaw `json:"hyper_joint,omitempty"`
	// Latent says what f varies by over the training rows, of a model with effects of groups; nil of others.
	Latent *Latent `json:"latent,omitempty"`
	// HyperEvaluations is the number of evaluations of the evidence beyond those of the search: what the
	// treatment of hyper-parameters cost.
	HyperEvaluations int `json:"hyper_evaluations,omitempty"`
	// Averaged are the prior variances of the members under "heldout", in their order, of which Hyper has the first's.
	Averaged []Choice `json:"averaged,omitempty"`
	// Evidence is the log marginal likelihood, EvidencePenalised the same plus
	// the log priors of the hyper-parameters, ELBO a lower bound of the
	// evidence; nil where the engine does not give one. Where hyper-parameters are integrated, so
	// are Evidence and ELBO. EvidenceMode and ELBOMode are those at their mode.
	Evidence          *float64 `json:"evidence,omitempty"`
	EvidencePenalised *float64 `json:"evidence_penalised,omitempty"`
	EvidenceMode      *float64 `json:"evidence_mode,omitempty"`
	// EvidenceStandardError is that of an evidence whose determinant is an average over random vectors, as that of many
	// levels of two crossed keys is; nil where the evidence is exact.
	EvidenceStandardError *float64 `json:"evidence_standard_error,omitempty"`
	ELBO                  *float64 `json:"elbo,omitempty"`
	ELBOMode              *float64 `json:"elbo_mode,omitempty"`
	// EvidenceCorrection is what quadrature in every group, where groups have few rows, says that the evidence has more
	// than the ELBO; nil where there was none.
	EvidenceCorrection *float64 `json:"evidence_correction,omitempty"`
	// EvidenceEstimate is an estimate of the log evidence that is no bound of it: that of expectation
	// propagation or of Laplace's approximation.
	EvidenceEstimate *float64 `json:"evidence_estimate,omitempty"`
	// EvidenceBound is a lower bound of the log evidence by Gaussian bounds of every factor, EvidenceBoundMode that at
	// the mode of hyper-parameters.
	EvidenceBound     *float64 `json:"evidence_bound,omitempty"`
	EvidenceBoundMode *float64 `json:"evidence_bound_mode,omitempty"`
	// ELBOStandardError is that of an ELBO estimated from draws, nil where it is
	// exact. ELBOBound is the ELBO with the entropy of a mixture replaced by its
	// lower bound (revrand report, eqs. 24 and 27).
	ELBOStandardError *float64 `json:"elbo_standard_error,omitempty"`
	ELBOBound         *float64 `json:"elbo_bound,omitempty"`
	// ParetoK is the Pareto-k̂ of the importance weights of draws from an approximate posterior
	// (Yao, Vehtari, Simpson & Gelman 2018): below 0.5 it is as good as exact for most purposes,
	// above 0.7 its spread is not to be relied on. EffectiveShare is the effective sample size of
	// the draws over their number, and EvidenceGap an estimate of the evidence less the ELBO.
	ParetoK        *float64 `json:"pareto_k,omitempty"`
	EffectiveShare *float64 `json:"effective_share,omitempty"`
	// Together says that the weights of a group, see [Grouped], were selected together.
	Together bool `json:"together,omitempty"`
	// Stuck says that the search ended while the inclusions of weights still moved: none is told, and none is selected.
	Stuck bool `json:"stuck,omitempty"`
	// RHat is the largest potential scale reduction of several Markov chains, 1 where they agree, and
	// EffectiveDraws the least effective sample size.
	RHat           *float64 `json:"r_hat,omitempty"`
	EffectiveDraws *float64 `json:"effective_draws,omitempty"`
	EvidenceGap    *float64 `json:"evidence_gap,omitempty"`
	// EvidenceGapLeast says that the evidence exceeds the ELBO by EvidenceGap at least: the draws of a posterior that
	// is much narrower than the true one miss where most of the difference lies.
	EvidenceGapLeast bool `json:"evidence_gap_least,omitempty"`
	// WeightCoverage is the estimated share of the weights in the model that are inside their 90 %
	// intervals, of an engine that works out how far its spread is too narrow.
	WeightCoverage *float64 `json:"weight_coverage,omitempty"`
	// SDRatio is the median, over the weights, of standard deviations over what they should be, of an engine that works
	// out how much too narrow an approximation makes them. They are not corrected.
	SDRatio *float64 `json:"sd_ratio,omitempty"`
	// Counts say what work an approximate engine did, such as products with the columns and steps of its loops.
	Counts Values `json:"counts,omitempty"`
	// Target is how the target looks where no family was stated, and it is not like measurements; else nil.
	Target *Look `json:"target_look,omitempty"`
	// Warnings say what is wrong, or may be, with the fit and the rows that it learned from. A model file stores them,
	// and what a command counts of other rows is told and not stored.
	Warnings []string `json:"warnings,omitempty"`
	// Remarks say what could be better, each with what to do where that is known, and Details what else could be, by
	// less than 2 % or after the remark has been followed.
	Remarks []string `json:"remarks,omitempty"`
	Details []string `json:"details,omitempty"`
}

// Heldout says whether prior variances were chosen by the log loss of rows that were left out: then the report has no
// evidence that could be set beside that of another fit, and weights have no intervals.
func (r *Report) Heldout() bool { return r.Hyperparameters == "heldout" }

// Point says whether weights are the point of least penalised loss, of the lasso and its like: there is no posterior
// about it, and standard deviations are 0.
func (r *Report) Point() bool { return r.Hyper.Of("cross_validated_loss", -1) >= 0 }

// Look is what the values of a target look like, by themselves: package criticism tells.
type Look struct {
	Like     string   `json:"like"`               // counts, grades, classes, shares, amounts or numbers
	Text     string   `json:"text"`               // "whole numbers from 0 to 3, 95 % of them 0: these look like counts"
	Families []string `json:"families,omitempty"` // that such values are drawn of, the likeliest first
	Remedy   string   `json:"remedy,omitempty"`   // what to state: "--family poisson, or …"
}

// String returns the text and the remedy in one line.
func (l Look) String() string {
	if l.Remedy == "" {
		return l.Text
	}
	return l.Text + "; " + l.Remedy
}

// Progress is what an engine tells between steps.
type Progress struct {
	Stage     string  // what the engine is doing, for example "start 2 of 5"
	Done      int     // steps done in this stage
	Total     int     // steps at most, 0 if unknown
	Objective float64 // evidence or bound so far
	// Sure says that all steps of Total are made, each about as long as another: what is left is known.
	Sure bool
}
