package credence

// Member is a model at its learned hyper-parameters with the posterior of its
// weights.
type Member struct {
	Model     Model
	Posterior Posterior
}

// Fitted is the result of a fit: all that prediction needs, and how the fit
// went. Its predictive distribution is the equal mixture of its members, of which there
// is one unless the fit averaged over several draws of random features.
type Fitted struct {
	Frame   Frame // nil where the caller makes batches himself
	Members []Member
	Report  Report
	// TargetMean and TargetVariance are those of the training targets: the
	// trivial prediction that standardised scores are measured against.
	TargetMean, TargetVariance float64
}
