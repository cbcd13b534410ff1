package score

import (
	"maps"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/metric"
)

// Baseline is what a prediction that uses no columns comes to: for densities a normal curve of the targets' own mean
// and standard deviation for every row, for probabilities the share of each value.
type Baseline struct {
	Kind string       `json:"kind"`          // of its figures, as that of the models
	NLPD metric.Score `json:"nlpd,omitzero"` // absent where the targets alone do not tell it
	RMSE metric.Score `json:"rmse,omitzero"`
	// Evidence is, of a fit, the log evidence of its model or a bound of it, for one row and with the sign of NLPD: the
	// mean of −log p of each row given those before it; of variances that were chosen by rows left out that of these.
	// No number where rows have weights, precisions or offsets.
	Evidence metric.Score `json:"-"`
	// Bound is "at most " where Evidence is that of a lower bound, How says which rows have it.
	Bound string `json:"-"`
	How   string `json:"-"`
}

// normalNLPD is the mean of −log p of targets under a normal curve with their own mean and variance.
func normalNLPD(variance float64) metric.Score {
	return metric.Score(math.Log(2*math.Pi*math.E*variance) / 2)
}

// shareNLPD is the mean of −log p of classes under their own shares, the second of which is given.
func shareNLPD(share float64) metric.Score {
	return metric.Score(-share*math.Log(share) - (1-share)*math.Log1p(-share))
}

// baselineOf returns the baseline of the rows that a model was fitted to, nil where their targets do not vary or rows
// have trials of their own.
func baselineOf(fitted *credence.Fitted) *Baseline {
	v, family := fitted.TargetVariance, fitted.Members[0].Model.Likelihood
	if _, trials := family.(likelihood.PerRow); trials || !(v > 0) || math.IsInf(v, 1) {
		return nil
	}
	none := metric.Score(math.NaN())
	b := &Baseline{Kind: NewScores("", fitted).kind(), NLPD: none, RMSE: metric.Score(math.Sqrt(v)), Evidence: none, How: "each row predicted from those before it"}
	_, of := likelihood.Describe(family)
	switch least, _, _ := likelihood.Support(family); {
	case of == likelihood.Measurements && math.IsInf(least, -1):
		b.NLPD = normalNLPD(v)
	case of == likelihood.Classes && fitted.TargetMean > 0 && fitted.TargetMean < 1:
		b.NLPD = shareNLPD(fitted.TargetMean)
	}
	fr, ok := fitted.Frame.(*frame.Frame)
	if r := &fitted.Report; ok && fr.Weight == nil && fr.Precision == nil && len(fr.Offset) == 0 && r.Rows > 0 {
		switch rows := float64(r.Rows); {
		case r.Heldout(): // a bound for variances that other rows have chosen is none of the evidence
			b.Evidence, b.How = metric.Score(r.Hyper.Of("held_out_log_loss", math.NaN())), "on rows left out"
		case r.Evidence != nil:
			b.Evidence = metric.Score(-*r.Evidence / rows)
		case r.ELBO != nil:
			b.Evidence, b.Bound = metric.Score(-*r.ELBO/rows), "at most "
		}
	}
	return b
}

// EvaluatedBaseline returns the baseline of rows that were evaluated, by the figures of a model: of numbers its density
// is that of a normal curve around the targets of training. It is nil where these figures do not tell it.
func EvaluatedBaseline(fitted *credence.Fitted, e *metric.Evaluation) *Baseline {
	none := metric.Score(math.NaN())
	b := &Baseline{Kind: NewScores("", fitted).kind(), NLPD: none, Evidence: none}
	switch c, r := e.ClassificationResult, e.RegressionResult; {
	case c != nil && c.Share > 0 && c.Share < 1:
		b.NLPD, b.RMSE = shareNLPD(c.Share), metric.Score(math.Sqrt(c.Share*(1-c.Share)))
	case c == nil && r.RMSE.Defined() && r.SMSE.Defined() && r.SMSE > 0:
		b.RMSE = r.RMSE / metric.Score(math.Sqrt(float64(r.SMSE)))
		if r.MSLL.Defined() && r.NLPD.Defined() {
			b.NLPD = r.NLPD - r.MSLL
		}
	default:
		return nil
	}
	return b
}

// baseline returns the baseline of the rows that are compared, nil where rows have trials of their own.
func (s *Scores) baseline(across bool) *Baseline {
	if _, trials := s.fitted.Members[0].Model.Likelihood.(likelihood.PerRow); trials {
		return nil
	}
	f, total, mean, variance := s.of(across), 0.0, 0.0, 0.0
	shares := map[float64]float64{}
	for i, w := range s.weight {
		total += w
		mean += w * f.target[i]
		shares[f.target[i]] += w
	}
	mean /= total
	for i, w := range s.weight {
		variance += w / total * (f.target[i] - mean) * (f.target[i] - mean)
	}
	b := &Baseline{Kind: s.kind(), NLPD: normalNLPD(variance), RMSE: metric.Score(math.Sqrt(variance)), Evidence: metric.Score(math.NaN())}
	if b.Kind == Probabilities {
		b.NLPD = 0
		for _, y := range slices.Sorted(maps.Keys(shares)) { // sums in one order
			if p := shares[y] / total; p > 0 {
				b.NLPD -= metric.Score(p * math.Log(p))
			}
		}
	}
	return b
}
