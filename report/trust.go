package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/chart"
	"github.com/credence-ml/credence/internal/diagnose"
	"github.com/credence-ml/credence/plot"
)

// The states of lights. Good is said of known figures alone.
const (
	Good    = "good"
	Care    = "care"
	Bad     = "bad"
	Unknown = "unknown"
)

// Light is what one check came to.
type Light struct {
	Name   string `json:"name"`
	State  string `json:"state"`            // good, care, bad or unknown
	Text   string `json:"text"`             // the figures that decide
	Remedy string `json:"remedy,omitempty"` // what to run
}

// Sign is a mark of the state for those who do not see colours.
func (l Light) Sign() string {
	return map[string]string{Good: "✓", Care: "!", Bad: "✕", Unknown: "?"}[l.State]
}

// Verdict is what all lights come to.
type Verdict struct {
	State string `json:"state"` // the worst of the lights
	Text  string `json:"text"`
}

// judge makes the lights.
func (r *writer) judge() error {
	calibrated, err := r.calibration()
	if err != nil {
		return err
	}
	report := &r.scorer.Fitted().Report
	r.summary.Lights = []Light{converged(report), approximation(report), calibrated}
	r.summary.Verdict = verdictOf(r.summary.Lights, len(r.summary.Scores.Warnings))
	return nil
}

// verdictOf is what lights come to, and warnings of the checks beside them.
func verdictOf(lights []Light, warnings int) Verdict {
	counts := map[string]int{}
	for _, l := range lights {
		counts[l.State]++
	}
	switch {
	case counts[Bad] > 0:
		return Verdict{Bad, "Do not rely on this model yet"}
	case counts[Care] > 0:
		return Verdict{Care, "Usable with care"}
	case counts[Unknown] > 0:
		return Verdict{Unknown, "Nothing is known against it, and not every check was made"}
	case warnings > 0:
		return Verdict{Good, fmt.Sprintf("The three checks are passed; read %s under Checks", chart.Counted(warnings, "warning"))}
	}
	return Verdict{Good, "The checks find nothing against this model"}
}

// converged is green of a search that ended by itself, and of chains that agree: R̂ up to 1.01 and 400 effective draws
// (Vehtari and others 2021).
func converged(r *credence.Report) Light {
	l := Light{Name: "Converged", State: Unknown, Text: fmt.Sprintf("%s says %s.", r.Engine, r.Status), Remedy: "The engine does not say whether it reached its optimum: fit by another engine and compare."}
	switch r.Status {
	case credence.Converged:
		l.State, l.Text, l.Remedy = Good, fmt.Sprintf("The search of %s ended by itself.", r.Engine), ""
	case credence.Closed:
		l.State, l.Text, l.Remedy = Good, "Nothing was left to search for: the posterior has a closed form.", ""
	case credence.IterationLimit:
		l.State, l.Text, l.Remedy = Bad, fmt.Sprintf("The search of %s stopped at its limit of steps.", r.Engine), "Fit again with more steps, or fewer features."
	}
	if r.RHat != nil && r.EffectiveDraws != nil {
		l.Text = fmt.Sprintf("R̂ is %.3f and there are %.0f effective draws; 1.01 and 400 are wanted.", *r.RHat, *r.EffectiveDraws)
		if *r.RHat > 1.01 || *r.EffectiveDraws < 400 {
			l.State, l.Remedy = Care, "Draw more, as by --engine 'gibbs(sweeps=…)' with more of them."
		}
		if *r.RHat > 1.1 {
			l.State = Bad
		}
	}
	if r.Stuck {
		l.State, l.Remedy = Bad, "The search ended while inclusions still moved: try --engine gibbs, or fewer features."
	}
	return l
}

// approximation is green of closed forms, of a Pareto-k̂ that is reliable, and where standard deviations are at least
// .9 of what they should be.
func approximation(r *credence.Report) Light {
	l := Light{Name: "Approximation", State: Unknown, Text: "How close the posterior is to the exact one is not known.", Remedy: "Compare with another engine: credence compare."}
	switch {
	case r.ParetoK != nil && r.EffectiveShare != nil:
		_, verdict, _ := strings.Cut(diagnose.Verdict(r), ": ")
		l.Text, l.Remedy = sentence(verdict)+".", ""
		if l.State = Good; !diagnose.Reliable(*r.ParetoK, *r.EffectiveShare) {
			l.State, l.Remedy = Care, "Intervals may be too narrow: calibrate by held-out rows, credence calibrate, or fit svi(covariance=full)."
		}
	case r.SDRatio != nil:
		l.Text, l.Remedy = fmt.Sprintf("Standard deviations of weights are %.2f of what they should be (median).", *r.SDRatio), ""
		if l.State = Good; *r.SDRatio < 0.9 {
			l.State, l.Remedy = Care, "Intervals are too narrow: calibrate by held-out rows, credence calibrate."
		}
	case r.WeightCoverage != nil:
		l.Text, l.Remedy = fmt.Sprintf("90 %% intervals hold an estimated %.0f %% of the weights.", 100**r.WeightCoverage), ""
		if l.State = Good; *r.WeightCoverage < 0.8 {
			l.State, l.Remedy = Care, "Weights rank features, and are no estimates: credence select has intervals, by ep or gibbs."
		}
	case r.Engine == "exact":
		l.State, l.Text, l.Remedy = Good, "The posterior is computed in closed form.", ""
	case r.RHat != nil:
		l.State, l.Text, l.Remedy = Good, "The posterior is draws of the exact one, as far as the chains agree.", ""
	}
	return l
}

// leastChance is the p-value below which it is no chance that P(Y ≤ y) is not uniform.
const leastChance = .01

// calibration is green where P(Y ≤ y) is uniform as far as chance tells, and 90 % intervals hold 90 %
// within three standard errors.
func (r *writer) calibration() (Light, error) {
	l := Light{Name: "Calibration"}
	input := r.picture()
	what := "held-out row"
	c, err := plot.Check(r.ctx, input, r.training)
	if r.training && err != nil && r.ctx.Err() == nil {
		l.State, l.Text, l.Remedy = Unknown, fmt.Sprintf("These are the training rows, and they cannot be left out: %v.", err), "Give rows that the model has not seen, or run credence evaluate --cv 10."
		return l, nil
	}
	if err != nil {
		return l, err
	}
	if r.training {
		what = "training row"
	}
	// The places of counts in their probabilities are those that evaluate draws, so that there is one figure.
	if p := r.summary.Scores.PITValue; p != nil && !r.training && r.summary.Scores.Rows == int64(c.Rows) {
		c.PValue = *p
	}
	error := math.Sqrt(.9 * .1 / float64(c.Rows))
	gap := math.Abs(c.Coverage - .9)
	l.Text = fmt.Sprintf("90 %% intervals hold %.1f %% of %s (90 ± %.1f by chance). Targets lie where predictions say with p = %.2g; below %g that is no chance.", 100*c.Coverage, chart.Counted(c.Rows, what), 300*error, c.PValue, leastChance)
	if r.training {
		l.Text += " Each row is predicted from all others."
	}
	switch {
	case c.PValue >= leastChance && gap <= 3*error:
		l.State = Good
	case gap > 3*error && gap > .05:
		l.State, l.Remedy = Bad, "Intervals do not hold what they say: see the checks for what to change, or calibrate by held-out rows, credence calibrate."
	default:
		l.State, l.Remedy = Care, "Predictions are off by a little, or in places: see the checks, or calibrate by held-out rows, credence calibrate."
	}
	if 20*c.Unreliable > c.Rows {
		if l.State == Good {
			l.State = Care
		}
		l.Text += fmt.Sprintf(" %s cannot be left out reliably.", chart.Counted(c.Unreliable, "row"))
		l.Remedy = "Give rows that the model has not seen, or run credence evaluate --cv 10."
	}
	return l, nil
}
