package metric

import (
	"fmt"
	"math"
)

// A Score is a result that may be undefined (NaN) or infinite. It is then
// absent in JSON: its fields are tagged omitzero.
type Score float64

// Defined reports whether s is a finite number.
func (s Score) Defined() bool { return !math.IsNaN(float64(s)) && !math.IsInf(float64(s), 0) }

// IsZero makes encoding/json leave out what it cannot write; the number 0 stays.
func (s Score) IsZero() bool { return !s.Defined() }

// A sum adds with the rounding errors carried along (Neumaier 1974), as if in
// twice the precision.
type sum struct{ high, low float64 }

func (s *sum) add(x float64) {
	t := s.high + x
	if math.Abs(s.high) >= math.Abs(x) {
		s.low += (s.high - t) + x
	} else {
		s.low += (x - t) + s.high
	}
	s.high = t
}

func (s *sum) value() float64 {
	if math.IsInf(s.high, 0) {
		return s.high // low is NaN, from Inf - Inf
	}
	return s.high + s.low
}

// moments holds the weight, mean and sum of squared deviations of a stream.
type moments struct{ weight, mean, squares float64 }

// add is West (1979), which stays exact for a constant stream: r2 relies on it.
func (m *moments) add(x, weight float64) {
	if m.weight == 0 { // also keeps Inf·0 of a huge first value out of squares
		*m = moments{weight: weight, mean: x}
		return
	}
	total := m.weight + weight
	delta := x - m.mean
	fraction := weight / total
	m.mean += delta * fraction
	m.squares += delta * delta * m.weight * fraction
	m.weight = total
}

// A guard counts rows and keeps the first thing that was wrong with one.
type guard struct {
	rows int64
	err  error
}

// row starts a row and reports whether it is to be used.
func (g *guard) row(weight float64) bool {
	if g.err != nil {
		return false
	}
	g.rows++
	if !(weight >= 0) || math.IsInf(weight, 0) {
		g.fail("weight is %g: weights must be finite and not negative", weight)
		return false
	}
	return true
}

// finite refuses NaN and infinities.
func (g *guard) finite(what string, x float64) bool {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		g.fail("%s is %g: it must be finite", what, x)
		return false
	}
	return true
}

func (g *guard) fail(format string, args ...any) {
	g.err = fmt.Errorf("metric: row %d: %s", g.rows, fmt.Sprintf(format, args...))
}

// Evaluation is the JSON object of an evaluation: the results that apply to the
// family of the model, side by side; nil ones are absent.
type Evaluation struct {
	Rows int64 `json:"rows"`
	*RegressionResult
	*IntervalsResult
	*ClassificationResult
	*DevianceResult
	*CalibrationResult
	// CRPS is the mean continuous ranked probability score, of counts and grades the sum over whole numbers (RPS), of
	// two classes the Brier score; where the model is calibrated it is that of the calibrated distribution.
	CRPS *Score `json:"crps,omitempty"`
	// CRPSRows is how many rows of weight above 0 the CRPS is of, evenly spread, where it is not of all.
	CRPSRows int64 `json:"crps_rows,omitempty"`
	// CRPSUnknown is how many rows of weight above 0 have no CRPS, for which there is none of all: it is infinite, or
	// counts are so little known that their distribution functions do not tell it.
	CRPSUnknown int64 `json:"crps_unknown_rows,omitempty"`
	// NLPDOriginal is the NLPD of the column itself where the target is a transform of it, as log(price).
	NLPDOriginal *Score       `json:"nlpd_original,omitempty"`
	LOO          *LeaveOneOut `json:"loo,omitempty"`      // where it is asked for
	Training     bool         `json:"training,omitempty"` // the rows are those that the model was fitted to
	PIT          []float64    `json:"pit,omitempty"`      // histogram of the probability integral transform
	// of the test that the transform is uniform, with one seeded draw for each row of discrete targets
	PITValue *float64 `json:"pit_p,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	Remarks  []string `json:"remarks,omitempty"` // what could be better
	// Groups are the same measures of the rows that have some columns' values in common, where they are asked for.
	Groups []GroupEvaluation `json:"groups,omitempty"`
}

// Figure is a score by its name in JSON.
type Figure struct {
	Name  string
	Value Score
	Means string // what it is, for one who does not know it
}

// meanings say of scores what they are and which values are good.
var meanings = map[string]string{
	"accuracy":          "share of rows whose likelier class is right",
	"log_loss":          "mean of −log p of the class; lower is better",
	"auc":               "chance that of two rows the positive one has the higher probability",
	"brier":             "mean squared error of the probability; lower is better",
	"ece":               "how far probabilities are from shares, on average; 0 where right",
	"nlpd":              "mean of −log p of the target; lower is better",
	"nlpd_original":     "the same of the target's own column",
	"rmse":              "root of the mean squared error, in the target's units",
	"mae":               "mean absolute error, in the target's units",
	"smse":              "squared error over that of the mean of these targets; below 1 is better than none",
	"msll":              "nlpd less that of a normal curve of the training targets; below 0 is better than none",
	"r2":                "share of the targets' variance that is predicted",
	"crps":              "mean distance of the predictive distribution, in the target's units",
	"wis":               "the same from the median and four intervals",
	"calibration_slope": "1 where right; below 1 predictions go too far, above it not far enough",
	"pit_p":             "chance that a right model's distributions are as far off; small is bad",
	"deviance":          "total over the rows, from a model that knows each mean; lower is better",
}

// Figures are the scores that are defined, in the order in which people are told them.
func (e *Evaluation) Figures() (list []Figure) {
	add := func(name string, s *Score) {
		if s != nil && s.Defined() {
			list = append(list, Figure{name, *s, meanings[name]})
		}
	}
	if c := e.ClassificationResult; c != nil {
		add("accuracy", &c.Accuracy)
		add("log_loss", &c.LogLoss)
		add("auc", &c.AUC)
		add("brier", &c.Brier)
		add("ece", &c.ECE)
	} else if r := e.RegressionResult; r != nil {
		add("nlpd", &r.NLPD)
		add("nlpd_original", e.NLPDOriginal)
		add("rmse", &r.RMSE)
		add("mae", &r.MAE)
		add("smse", &r.SMSE)
		add("msll", &r.MSLL)
		add("r2", &r.R2)
		add("crps", e.CRPS)
		if e.IntervalsResult != nil {
			add("wis", e.WIS)
		}
	}
	if e.CalibrationResult != nil {
		add("calibration_slope", &e.Slope)
	}
	if e.ClassificationResult == nil {
		add("pit_p", (*Score)(e.PITValue))
		if e.DevianceResult != nil {
			add("deviance", &e.Deviance)
		}
	}
	return list
}

// GroupEvaluation measures the rows of a group.
type GroupEvaluation struct {
	By Group `json:"by"`
	Evaluation
}

// LeaveOneOut says how well a model predicts each of its training rows from all the others, without another
// fit (leave-one-out cross-validation).
type LeaveOneOut struct {
	Rows int `json:"rows"` // of weight above 0
	// NLPD is the mean of −log p(y_i|all other rows), Error its standard error over rows.
	NLPD  Score `json:"nlpd,omitzero"`
	Error Score `json:"nlpd_error,omitzero"`
	// ParetoK is the largest Pareto-k̂ of the importance weights of a row, 0 where closed forms need
	// none, and Unreliable the number of rows whose k̂ is above 0.7: their densities are not to be relied on. Marked
	// says that these are more than 5 % of the rows, so that neither is the mean.
	ParetoK    float64 `json:"pareto_k"`
	Unreliable int     `json:"unreliable,omitempty"`
	Marked     bool    `json:"marked,omitempty"`
	// NotMade says why there is no NLPD.
	NotMade string `json:"not_made,omitempty"`
}
