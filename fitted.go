package credence

// Member is a model at its learned hyper-parameters with the posterior of its
// weights.
type Member struct {
	Model     Model
	Posterior Posterior
	// Weight is the member's share of the mixture. Those of all members sum to 1; where all are 0 the
	// shares are equal.
	Weight float64
}

// Recipe holds the texts that a model was asked for with, for people and for
// fitting it again. What they left to be chosen is spelled out.
type Recipe struct {
	Formula string `json:"formula,omitempty"`
	Family  string `json:"family,omitempty"`
	Prior   string `json:"prior,omitempty"`
	Engine  string `json:"engine,omitempty"`
	Seed    uint64 `json:"seed"`
}

// Fitted is the result of a fit: all that prediction needs, and how the fit
// went. Its predictive distribution is the mixture of its members by their weights, of which there
// is one unless the fit averaged over several draws of random features or values of a parameter.
type Fitted struct {
	Recipe  Recipe
	Frame   Frame // nil where the caller makes batches of its own
	Members []Member
	Report  Report
	// TargetMean and TargetVariance are those of the training targets: the
	// trivial prediction that standardised scores are measured against.
	TargetMean, TargetVariance float64
}
