package prior

import (
	"cmp"
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// Horseshoe is the regularised horseshoe (Piironen & Vehtari 2017): for all weights but the intercept and
// kept ones
//
//	w_j ~ N(0, τ²λ_j²c²/(c² + τ²λ_j²))      λ_j ~ t⁺_ν      c² ~ inverse gamma
//
// It shrinks weights that the data say little about to nearly 0 and leaves others alone. No weight is 0.
type Horseshoe struct {
	// DF is ν, of the local scales; 0 means 1, the half-Cauchy.
	DF float64 `json:"df,omitempty"`
	// Scale is τ, the global scale; the zero value is learned.
	Scale param.Parameter `json:"scale,omitzero"`
	// Kept are the prior variances of kept blocks, by their names, after a fit.
	Kept Kept `json:"kept,omitempty"`
}

// Degrees returns ν.
func (p Horseshoe) Degrees() float64 { return cmp.Or(p.DF, 1) }

// Name is "horseshoe".
func (p Horseshoe) Name() string { return "horseshoe" }

func readHorseshoe(a *spec.Arguments) Named {
	return Horseshoe{DF: a.Means("degrees of freedom of the local scales", "1").Float("df", 0, spec.Positive()), Scale: a.Means("of all weights together", "").Setting("scale", spec.Positive())}
}

// String returns horseshoe or horseshoe(df=…, scale=…).
func (p Horseshoe) String() string { return heavyText(p, p.DF, p.Scale) }

// Parameters implements [Parametric]: scale.
func (p Horseshoe) Parameters() []param.Named {
	return []param.Named{{Name: "scale", Parameter: p.Scale}}
}

// WithParameters implements [Parametric].
func (p Horseshoe) WithParameters(values []float64) Named {
	p.Scale = p.Scale.At(values[0])
	return p
}

// UnseenVariance is that of a further weight, which the prior has no finite one of where c is large: the
// variance of the normal distribution with the quartiles of the horseshoe of one degree of freedom; of a kept block
// its own.
func (p Horseshoe) UnseenVariance(block credence.Block) float64 {
	return p.Kept.variance(block, horseshoeQuartile*horseshoeQuartile*p.Scale.Value*p.Scale.Value)
}

// WithKept returns the prior with the learned variances of kept blocks.
func (p Horseshoe) WithKept(kept Kept) credence.Prior {
	p.Kept = kept
	return p
}

// horseshoeQuartile is the median of |w|/τ, w ~ N(0, τ²λ²) with λ half-Cauchy, over that of a standard
// normal: 0.5868/0.67449.
const horseshoeQuartile = 0.8699

// Validate refuses stated values that are not positive numbers.
func (p Horseshoe) Validate() error {
	if err := p.Kept.validate(); err != nil {
		return err
	}
	return checkHeavy(p, p.DF, 1, p.Scale)
}

// Kept are prior variances of blocks of weights that no prior selects among, by their names.
type Kept map[string]float64

// variance is that of a kept block where it is known, and otherwise that of the others.
func (k Kept) variance(block credence.Block, others float64) float64 {
	if v, known := k[block.Name]; known && block.Kept {
		return v
	}
	return others
}

func (k Kept) validate() error {
	for name, v := range k {
		if !(v > 0 && !math.IsInf(v, 1)) {
			return fmt.Errorf("prior: the variance %v of %s is not a positive number", v, name)
		}
	}
	return nil
}
