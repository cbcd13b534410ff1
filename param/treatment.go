package param

// Treatment says what is done about hyper-parameters that are not stated.
type Treatment string

// The treatments. The empty one is the engine's default.
const (
	Integrate         Treatment = "integrate" // integrated under their priors
	Mode              Treatment = "mode"      // the mode under the same priors
	MaximumLikelihood Treatment = "ml"        // type-II maximum likelihood: no priors
	Heldout           Treatment = "heldout"   // prior variances by the log loss of rows that are left out
)
