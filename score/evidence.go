package score

import (
	"cmp"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
)

// hasEvidence says whether the engine of s gives a log evidence, an estimate or a bound of it.
func (s *Scores) hasEvidence() bool {
	r := &s.fitted.Report
	return !r.Heldout() && cmp.Or(r.Evidence, r.EvidenceMode, r.ELBO, r.ELBOMode, r.EvidenceEstimate, r.EvidenceBound) != nil
}

// setEvidence gives the comparison the log evidence of s, an estimate or its bound, and says why it cannot be set
// beside that of the first model that has any. A figure of another kind than that model's is left out: evidence
// at the best hyper-parameters speaks for the larger model whatever the data are, integrated evidence
// does not.
func (s *Scores) setEvidence(out *Compared, first *Scores, across bool) (warnings []string) {
	report, firstReport := &s.fitted.Report, &first.fitted.Report
	if report.Heldout() {
		return []string{fmt.Sprintf("%s has no evidence, since its prior variances were chosen by rows that were left out: compare densities, of rows that no model was fitted to", s.Name)}
	}
	if !s.hasEvidence() {
		return []string{fmt.Sprintf("%s has no evidence, which engine %s does not give: compare densities, of rows that no model was fitted to or of the training rows with --loo", s.Name, report.Engine)}
	}
	if kind, firstKind := report.Hyperparameters, firstReport.Hyperparameters; kind != firstKind {
		return []string{fmt.Sprintf("the evidence of %s is of kind %s and that of %s of kind %s: it is left out; fit both with the same hyper=",
			first.Name, cmp.Or(firstKind, "unknown"), s.Name, cmp.Or(kind, "unknown"))} // which old models do not state
	}
	shift, ok := s.logSlope(across)
	if !ok {
		return []string{fmt.Sprintf("the evidence of %s is left out: the slope of %s is no number in some training row, or the model is older than its record", s.Name, s.fitted.Frame.TargetName())}
	}
	moved := func(values ...*float64) *float64 {
		for _, v := range values {
			if v != nil {
				return new(*v + shift)
			}
		}
		return nil
	}
	out.Evidence, out.ELBO, out.EvidenceGap = moved(report.Evidence, report.EvidenceMode), moved(report.ELBO, report.ELBOMode), report.EvidenceGap
	out.EvidenceGapLeast = report.EvidenceGapLeast
	out.EvidenceEstimate, out.EvidenceBound = moved(report.EvidenceEstimate), moved(report.EvidenceBound)
	if s == first || firstReport.Engine == "" {
		return nil
	}
	firstShift, known := first.logSlope(across)
	if error := standardError(report, firstReport); error > 0 && known {
		if gap := *cmp.Or(report.Evidence, report.EvidenceMode) + shift - *cmp.Or(firstReport.Evidence, firstReport.EvidenceMode) - firstShift; math.Abs(gap) < toldApart*error {
			out.Evidence = nil
			return []string{fmt.Sprintf("the evidence of %s is %+.2g beside that of %s, with a standard error of %.2g of the random vectors that estimate it: it does not tell them apart, and is left out", s.Name, gap, first.Name, error)}
		}
	}
	if report.Rows != firstReport.Rows {
		warnings = append(warnings, fmt.Sprintf("%s was fitted to %d rows and %s to %d: their evidence is not comparable",
			first.Name, firstReport.Rows, s.Name, report.Rows))
	}
	own, ok := s.fitted.Frame.(*frame.Frame)
	other, also := first.fitted.Frame.(*frame.Frame)
	switch {
	case !ok || !also:
	case own.Raw != other.Raw:
		raw, scaled := s, first
		if other.Raw {
			raw, scaled = first, s
		}
		warnings = append(warnings, fmt.Sprintf("%s was fitted with --raw and %s to scaled columns: one prior means two things, and their evidence differs by that too", raw.Name, scaled.Name))
	case report.Rows == firstReport.Rows && math.Abs(own.WeightSum-other.WeightSum) > 1e-9*other.WeightSum:
		warnings = append(warnings, fmt.Sprintf("the rows of %s add up to a weight of %.6g and those of %s to %.6g: their evidence is not comparable", first.Name, other.WeightSum, s.Name, own.WeightSum))
	}
	if s.fitted.Recipe.Prior != first.fitted.Recipe.Prior {
		warnings = append(warnings, fmt.Sprintf("%s has the prior %s and %s the prior %s: their evidence compares the priors too", first.Name, first.fitted.Recipe.Prior, s.Name, s.fitted.Recipe.Prior))
	}
	what, short := quality(report)
	firstWhat, firstShort := quality(firstReport)
	if what != firstWhat {
		for _, of := range [][2]string{{first.Name, firstWhat + firstShort}, {s.Name, what + short}} {
			if of[1] != "" {
				warnings = append(warnings, fmt.Sprintf("the evidence of %s is %s", of[0], of[1]))
			}
		}
	}
	if more, firstMore := correction(report), correction(firstReport); more != firstMore {
		warnings = append(warnings, fmt.Sprintf("quadrature in each group says that the evidence has more than these bounds: %.2g of %s and %.2g of %s", firstMore, first.Name, more, s.Name))
	}
	return warnings
}

// logSlope is what makes the log evidence one of the column that the target of s is a transform of, where models of
// several transforms are compared; ok is false where it is not known.
func (s *Scores) logSlope(across bool) (shift float64, ok bool) {
	if !across || s.back == nil {
		return 0, true
	}
	slope := s.fitted.Frame.(*frame.Frame).Target.LogSlope
	if slope == nil {
		return 0, false
	}
	return *slope, true
}

// correction is [credence.Report].EvidenceCorrection, 0 without one.
func correction(r *credence.Report) float64 {
	if r.EvidenceCorrection == nil {
		return 0
	}
	return *r.EvidenceCorrection
}

// toldApart is how many standard errors estimates of evidence have to differ by.
const toldApart = 3

// standardError is that of the difference of two evidences, of which either may be an estimate; 0 without any.
func standardError(a, b *credence.Report) float64 {
	square := 0.0
	for _, r := range []*credence.Report{a, b} {
		if cmp.Or(r.Evidence, r.EvidenceMode) == nil {
			return 0
		}
		if v := r.EvidenceStandardError; v != nil {
			square += *v * *v
		}
	}
	return math.Sqrt(square)
}

// quality says what the evidence of a report is where it is not exact, and by how much it is short.
func quality(r *credence.Report) (what, short string) {
	switch {
	case r.Evidence != nil || r.EvidenceMode != nil:
		return "", ""
	case r.EvidenceEstimate != nil:
		return "an estimate", ", by the approximation of its engine"
	case r.EvidenceGap != nil && r.EvidenceGapLeast:
		return "a lower bound", fmt.Sprintf(", short of it by at least %.2g", math.Max(0, *r.EvidenceGap))
	case r.EvidenceGap != nil:
		return "a lower bound", fmt.Sprintf(", short of it by about %.2g", math.Max(0, *r.EvidenceGap))
	}
	return "a lower bound", ", short of it by an unknown amount"
}
