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
	NLPDOriginal *Score `json:"nlpd_original,omitempty"`
}
