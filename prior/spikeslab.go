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
}

// Name is "spikeslab".
func (p SpikeSlab) Name() string { return "spikeslab" }

func readSpikeSlab(a *spec.Arguments) Named {
	p := SpikeSlab{
		Inclusion: a.Setting("inclusion", spec.Fraction()),
		Slab:      a.Setting("slab", spec.Positive()),
		Spike:     a.Setting("spike", spec.AtLeast(0)),
	}
	if err := p.Validate(); err != nil {
		if written, ok := a.Argument("spike"); ok {
			a.Errorf(written, "%v", err)
		}
	}
	return p
}

// String returns spikeslab or spikeslab(inclusion=…, slab=…, spike=…).
func (p SpikeSlab) String() string {
	return stated(p).String()
}

// Parameters implements [Parametric]: inclusion, slab and spike.
func (p SpikeSlab) Parameters() []param.Named {
	return []param.Named{{Name: "inclusion", Parameter: p.Inclusion}, {Name: "slab", Parameter: p.Slab}, {Name: "spike", Parameter: p.Spike}}
}

// WithParameters implements [Parametric].
func (p SpikeSlab) WithParameters(values []float64) Named {
	return SpikeSlab{Inclusion: p.Inclusion.At(values[0]), Slab: p.Slab.At(values[1]), Spike: p.Spike.At(values[2])}
}

// UnseenVariance is the variance of a further weight, one that training did not
// have: ρ r₁ + (1−ρ) r₀ at the values that the fit wrote back.
func (p SpikeSlab) UnseenVariance(credence.Block) float64 {
	return p.Inclusion.Value*p.Slab.Value + (1-p.Inclusion.Value)*p.Spike.Value
}

// Validate refuses stated values that make no prior.
func (p SpikeSlab) Validate() error {
	if err := checkStates(p); err != nil {
		return err
	}
	if v := p.Inclusion.Value; p.Inclusion.State != param.Learned && !(v > 0 && v < 1) {
		return fmt.Errorf("prior: spikeslab: inclusion %v is not a probability between 0 and 1: state one, or leave it out to have it learned", v)
	}
	if v := p.Slab.Value; p.Slab.State != param.Learned && !(v > 0 && !math.IsInf(v, 1)) {
		return fmt.Errorf("prior: spikeslab: slab %v is not a positive variance: state one above 0, or leave it out to have it learned", v)
	}
	v := p.Spike.Value
	switch {
	case p.Spike.State == param.Learned:
		return nil
	case !(v >= 0 && !math.IsInf(v, 1)):
		return fmt.Errorf("prior: spikeslab: spike %v is not a variance: state 0 or more, or leave it out", v)
	case p.Spike.State == param.Guess && v == 0:
		return fmt.Errorf("prior: spikeslab: spike ~0 cannot be learned from: start it above 0, or hold it by spike=0")
	case p.Slab.State == param.Held && p.Spike.State == param.Held && v >= p.Slab.Value:
		return fmt.Errorf("prior: spikeslab: spike %v is no narrower than slab %v: state a smaller spike", v, p.Slab.Value)
	}
	return nil
}
