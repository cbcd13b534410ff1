package metric

// Evaluation is the JSON object of an evaluation: the results that apply to the
// family of the model, side by side; nil ones are absent.
type Evaluation struct {
	Rows int64 `json:"rows"`
	*RegressionResult
	*IntervalsResult
	*ClassificationResult
	*DevianceResult
	// NLPDOriginal is the NLPD of the column itself where the target is a transform of it, as log(price).
	NLPDOriginal *Score       `json:"nlpd_original,omitempty"`
	LOO          *LeaveOneOut `json:"loo,omitempty"` // where it is asked for
	PIT          []float64    `json:"pit,omitempty"` // histogram of the probability integral transform
	Warnings     []string     `json:"warnings,omitempty"`
}

// LeaveOneOut says how well a model predicts each of its training rows from all the others, without another
// fit (leave-one-out cross-validation).
type LeaveOneOut struct {
	Rows int `json:"rows"` // of weight above 0
	// NLPD is the mean of −log p(y_i|all other rows), Error its standard error over rows.
	NLPD  Score `json:"nlpd,omitzero"`
	Error Score `json:"nlpd_error,omitzero"`
	// ParetoK is the largest Pareto-k̂ of the importance weights of a row, 0 where closed forms need
	// none, and Unreliable the number of rows whose k̂ is above 0.7: their densities are too high.
	ParetoK    float64 `json:"pareto_k"`
	Unreliable int     `json:"unreliable,omitempty"`
}
