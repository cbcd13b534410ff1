package score

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence/frame"
)

// setEvidence gives the comparison the log evidence of s, or its bound, and says why it cannot be set
// beside that of the first model. A figure of another kind than the first model's is left out: evidence
// at the best hyper-parameters speaks for the larger model whatever the data are, integrated evidence
// does not.
func (s *Scores) setEvidence(out *Compared, first *Scores, across bool) (warnings []string) {
	report, firstReport := &s.fitted.Report, &first.fitted.Report
	if kind, firstKind := report.Hyperparameters, firstReport.Hyperparameters; kind != firstKind {
		return []string{fmt.Sprintf("the evidence of %s is of kind %s and that of %s of kind %s: it is left out; fit both with the same hyper=",
			first.Name, kindOf(firstKind), s.Name, kindOf(kind))}
	}
	shift := 0.0
	if across && s.back != nil {
		slope := s.fitted.Frame.(*frame.Frame).Target.LogSlope
		if slope == nil {
			return []string{fmt.Sprintf("the evidence of %s is left out: the slope of %s is no number in some training row, or the model is older than its record", s.Name, s.fitted.Frame.TargetName())}
		}
		shift = *slope
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
	if s == first || out.Evidence == nil && out.ELBO == nil || firstReport.Engine == "" {
		return nil
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
	if bound, firstBound := out.Evidence == nil, firstReport.Evidence == nil && firstReport.EvidenceMode == nil; bound != firstBound {
		of, gap := s, report.EvidenceGap
		if firstBound {
			of, gap = first, firstReport.EvidenceGap
		}
		by := "an unknown amount"
		if gap != nil {
			by = fmt.Sprintf("about %.2g", math.Max(0, *gap))
		}
		warnings = append(warnings, fmt.Sprintf("the evidence of %s is a lower bound, short of it by %s", of.Name, by))
	}
	return warnings
}

// kindOf names a treatment of hyper-parameters, which old models do not state.
func kindOf(kind string) string {
	if kind == "" {
		return "unknown"
	}
	return kind
}
