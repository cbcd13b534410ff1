package credence

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence/calibration"
	"github.com/credence-ml/credence/selection"
)

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
// fitting it again. What they left to be chosen is spelled out; what is left out is the default. A field that is added
// is set and read by fit/again.go.
type Recipe struct {
	Formula string `json:"formula,omitempty"`
	Family  string `json:"family,omitempty"`
	Prior   string `json:"prior,omitempty"`
	Engine  string `json:"engine,omitempty"`
	Seed    uint64 `json:"seed"`
	// the policy for missing values; texts that mean missing stand in the frame
	Missing    string `json:"missing,omitempty"`
	DropTarget bool   `json:"drop_target,omitempty"` // rows without a target were left out
	Unseen     string `json:"unseen,omitempty"`      // the policy for levels that training did not see
	Positive   string `json:"positive,omitempty"`    // the class that counts as 1, against all the rest
	Raw        bool   `json:"raw,omitempty"`         // columns were not centred and scaled
	Types      string `json:"types,omitempty"`       // kinds of columns that were stated: age=category,sold=dmy
	// PriorOdds are the prior odds of inclusion that were stated, by feature or group.
	PriorOdds map[string]float64 `json:"prior_odds,omitempty"`
	// Partial says that the recipe is from a file that kept formula, family, prior, engine and seed alone, so that
	// what else was stated is not known.
	Partial bool `json:"partial,omitempty"`
}

// Fitted is the result of a fit: all that prediction needs, and how the fit
// went. Its predictive distribution is the mixture of its members by their weights, of which there
// is one unless the fit averaged over several draws of random features or values of a parameter.
type Fitted struct {
	Recipe Recipe
	Frame  Frame // nil where the caller makes batches of its own
	// Members have the same family and blocks. What is told is of all of them, but for what has no mean over them and
	// is the first's: Report.Hyper, the weights of random features that each draws, the tests of blocks (score.Blocks)
	// and the tails of intervals of weights.
	Members []Member
	Report  Report
	// TargetMean and TargetVariance are those of the training targets: the
	// trivial prediction that standardised scores are measured against.
	TargetMean, TargetVariance float64
	Selection                  *selection.Result // which features matter, where that was asked for
	// Calibration makes quantiles, draws of y and probabilities of classes hold what they say on held-out rows; nil
	// where there is none. E y, its standard deviation and the density of y are the model's.
	Calibration *calibration.Result
	// Family is the posterior of the learned parameters of the likelihood, which all members share, beside the weights;
	// nil where none was learned or the fit does not know it.
	Family *FamilyPosterior
	// Inclusions say how inclusions depend on each other, of a fit whose posterior has no draws; they are not
	// stored.
	Inclusions *InclusionDraws
	// Resolved is, of every weight, the probability that it is not 0 and that its slab, where that is learned, is wide
	// enough for the rows to tell; nil where every slab is. It is not stored.
	Resolved []float64
}

// InclusionDraws are draws of which weights are not 0, of some weights together.
type InclusionDraws struct {
	Count   int
	Weights []int  // the first of each candidate, see [Candidates]
	In      []bool // Count × len(Weights), row-major
}

// CheckWeights refuses a fit without members, and weights of members that are no shares.
func (f *Fitted) CheckWeights() error {
	if len(f.Members) == 0 {
		return errors.New("the fit has no members: fit the model first")
	}
	if f.equal() {
		return nil
	}
	sum := 0.0
	for i := range f.Members {
		w := f.Members[i].Weight
		if !(w >= 0) {
			return fmt.Errorf("member %d has weight %v: weights are positive and sum to 1, or all 0", i+1, w)
		}
		sum += w
	}
	if !(math.Abs(sum-1) < 1e-9) {
		return fmt.Errorf("the weights of the members sum to %v: they must sum to 1, or be all 0", sum)
	}
	return nil
}

// Share returns the share of member i in the mixture.
func (f *Fitted) Share(i int) float64 {
	if f.equal() {
		return 1 / float64(len(f.Members))
	}
	return f.Members[i].Weight
}

// equal says whether all members have the same share.
func (f *Fitted) equal() bool {
	return !slices.ContainsFunc(f.Members, func(m Member) bool { return m.Weight != 0 })
}
