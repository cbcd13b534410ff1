package prior

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// SpikeSlab is w_j ~ ρ N(0, r₁) + (1−ρ) N(0, r₀): a weight is in the slab with
// probability ρ and otherwise in the spike, which is the point 0 where r₀ is 0.
// The intercept is never under it.
type SpikeSlab struct {
	// Inclusion is ρ; the zero value is learned.
	Inclusion param.Parameter `json:"inclusion,omitzero"`
	// Slab is r₁, a variance; the zero value is learned.
	Slab param.Parameter `json:"slab,omitzero"`
	// Spike is r₀, a variance. The zero value leaves it to the engine: 0 where the
	// engine can have a point, learned where it cannot.
	Spike param.Parameter `json:"spike,omitzero"`
	// InclusionPrior is a and b of ρ ~ Beta(a, b) where ρ is learned; zeros leave it to the engine.
	InclusionPrior [2]float64 `json:"inclusion_prior,omitzero"`
	// Odds are prior odds of inclusion of the weights, in the place of ρ/(1−ρ), one for each weight of the
	// model; 0 leaves a weight to ρ, and nil all. Weights that are selected together have the odds of the first.
	Odds []float64 `json:"odds,omitempty"`
	// Kept are the prior variances of kept blocks, by their names, after a fit.
	Kept Kept `json:"kept,omitempty"`
}

// Name is "spikeslab".
func (p SpikeSlab) Name() string { return "spikeslab" }

func readSpikeSlab(a *spec.Arguments) Named {
	p := SpikeSlab{
		Inclusion: a.Means("probability that a weight is not 0", "").Setting("inclusion", spec.Fraction()),
		Slab:      a.Means("variance of a weight that is not 0", "").Setting("slab", spec.Positive()),
		Spike:     a.Means("variance of a weight that is 0, for engine laplace", "").Setting("spike", spec.AtLeast(0)),
	}
	if list := a.Means("the two numbers of the Beta distribution that inclusion is learned under", "").Settings("inclusion_prior", spec.Positive()); len(list.Values) == 2 && list.State == param.Held {
		p.InclusionPrior = [2]float64(list.Values)
	} else if written, ok := a.Argument("inclusion_prior"); ok {
		a.Errorf(written, "inclusion_prior takes the two numbers of a Beta distribution").WithRemedy("write for example inclusion_prior=[1, 9]")
	}
	if err := p.Validate(); err != nil {
		for _, key := range []string{"spike", "inclusion_prior"} {
			if written, ok := a.Argument(key); ok {
				a.Errorf(written, "%v", err)
				break
			}
		}
	}
	return p
}

// String returns spikeslab or spikeslab(inclusion=…, slab=…, spike=…, inclusion_prior=[…]).
func (p SpikeSlab) String() string {
	t := stated(p)
	if p.InclusionPrior != [2]float64{} {
		t.List("inclusion_prior", param.List{Values: p.InclusionPrior[:], State: param.Held})
	}
	return t.String()
}

// Parameters implements [Parametric]: inclusion, slab and spike.
func (p SpikeSlab) Parameters() []param.Named {
	return []param.Named{{Name: "inclusion", Parameter: p.Inclusion}, {Name: "slab", Parameter: p.Slab}, {Name: "spike", Parameter: p.Spike}}
}

// WithParameters implements [Parametric].
func (p SpikeSlab) WithParameters(values []float64) Named {
	p.Inclusion, p.Slab, p.Spike = p.Inclusion.At(values[0]), p.Slab.At(values[1]), p.Spike.At(values[2])
	return p
}

// UnseenVariance is the variance of a further weight, one that training did not
// have: ρ r₁ + (1−ρ) r₀ at the values that the fit wrote back, and of a kept block its own.
func (p SpikeSlab) UnseenVariance(block credence.Block) float64 {
	return p.Kept.variance(block, p.VarianceAt(p.Inclusion.Value))
}

// VarianceAt is the variance of a weight that is in the slab with such a probability.
func (p SpikeSlab) VarianceAt(inclusion float64) float64 {
	return inclusion*p.Slab.Value + (1-inclusion)*p.Spike.Value
}

// WithKept returns the prior with the learned variances of kept blocks.
func (p SpikeSlab) WithKept(kept Kept) credence.Prior {
	p.Kept = kept
	return p
}

// PriorInclusion is the prior probability that weight j is in the slab.
func (p SpikeSlab) PriorInclusion(j int) float64 {
	if j < len(p.Odds) && p.Odds[j] > 0 {
		return p.Odds[j] / (1 + p.Odds[j])
	}
	return p.Inclusion.Value
}

// SelectedAbove is the inclusion probability above which a weight is called selected: ½. Where ρ was
// learned, the data on the weight itself have to say so too, by odds three times those of ρ (a
// Bayes factor of 3: "positive" in Kass & Raftery 1995). Otherwise a ρ above ½ would select
// every weight that the data say next to nothing about.
func (p SpikeSlab) SelectedAbove() float64 {
	if p.Inclusion.State == param.Held {
		return 0.5
	}
	rho := p.Inclusion.Value
	return max(0.5, selectingFactor*rho/(selectingFactor*rho+1-rho))
}

const selectingFactor = 3

// Validate refuses stated values that make no prior.
func (p SpikeSlab) Validate() error {
	if err := checkStates(p); err != nil {
		return err
	}
	if err := p.Kept.validate(); err != nil {
		return err
	}
	if v := p.Inclusion.Value; p.Inclusion.State != param.Learned && !(v > 0 && v < 1) {
		return fmt.Errorf("prior: spikeslab: inclusion %v is not a probability between 0 and 1: state one, or leave it out to have it learned", v)
	}
	if v := p.Slab.Value; p.Slab.State != param.Learned && !(v > 0 && !math.IsInf(v, 1)) {
		return fmt.Errorf("prior: spikeslab: slab %v is not a positive variance: state one above 0, or leave it out to have it learned", v)
	}
	if a, b := p.InclusionPrior[0], p.InclusionPrior[1]; p.InclusionPrior != [2]float64{} {
		switch {
		case !(a > 0 && b > 0 && a+b < 1e12):
			return fmt.Errorf("prior: spikeslab: inclusion_prior [%v, %v] is no Beta distribution: state two positive numbers", a, b)
		case p.Inclusion.State == param.Held:
			return fmt.Errorf("prior: spikeslab: inclusion is held at %v and has no prior: leave inclusion_prior out", p.Inclusion.Value)
		}
	}
	for j, odds := range p.Odds {
		if !(odds >= 0 && !math.IsInf(odds, 1)) {
			return fmt.Errorf("prior: spikeslab: the prior odds %v of weight %d are not a positive number: state one above 0", odds, j+1)
		}
	}
	v := p.Spike.Value
	switch {
	case p.Spike.State == param.Learned:
		return nil
	case !(v >= 0 && !math.IsInf(v, 1)):
		return fmt.Errorf("prior: spikeslab: spike %v is not a variance: state 0 or more, or leave it out", v)
	case p.Spike.State == param.Guess && v == 0:
		return fmt.Errorf("prior: spikeslab: spike ~0 cannot be learned from: hold it by spike=0, or leave it out")
	case p.Slab.State == param.Held && p.Spike.State == param.Held && v >= p.Slab.Value:
		return fmt.Errorf("prior: spikeslab: spike %v is no narrower than slab %v: state a smaller spike", v, p.Slab.Value)
	}
	return nil
}
