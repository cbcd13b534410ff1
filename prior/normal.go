package prior

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// Normal is w_j ~ N(0, v_b) with one variance v_b for each block b of weights.
// The intercept is a block of its own, whose variance Variance does not set: it is that of ten standard deviations of
// the target, or of what the link makes of it.
type Normal struct {
	// Variance is the prior variance of every weight but the intercept. The zero
	// value is learned: a variance of its own for each block.
	Variance param.Parameter `json:"variance,omitzero"`
	// ARD gives every weight but the intercept a variance of its own (automatic
	// relevance determination).
	ARD bool `json:"ard,omitempty"`
	// Variances are the learned and held values after a fit, one for each weight: posterior means, where the fit
	// integrated over the variances of blocks. They are nil before.
	Variances []float64 `json:"variances,omitempty"`
	// Correlations are those of the columns of terms such as (1 + x | g), after a fit.
	Correlations []Correlation `json:"correlations,omitempty"`
}

// Correlation is that of the k weights of every level of a block.
type Correlation struct {
	First  int       `json:"first"`  // weight of the block
	Values []float64 `json:"values"` // by the rows of the lower triangle
}

// Name is "normal".
func (p Normal) Name() string { return "normal" }

func readNormal(a *spec.Arguments) Named {
	p := Normal{Variance: a.Means("of the weights of scaled columns, one for each block of features", "").Setting("variance", spec.Positive()), ARD: a.Means("a variance of its own for every weight", "").Bool("ard", false)}
	if written, ok := a.Argument("ard"); ok && p.ARD && p.Variance.State == param.Held {
		a.Errorf(written, "ard=true learns a variance for each weight, and variance= holds them all").
			WithRemedy("leave out one of the two, or write such as variance=~1 for a starting guess")
	}
	return p
}

// String returns normal, normal(variance=…) or normal(ard=true).
func (p Normal) String() string {
	t := stated(p)
	if p.ARD {
		t.Add("ard", "true")
	}
	return t.String()
}

// Parameters implements [Parametric]: variance.
func (p Normal) Parameters() []param.Named {
	return []param.Named{{Name: "variance", Parameter: p.Variance}}
}

// WithParameters implements [Parametric].
func (p Normal) WithParameters(values []float64) Named {
	p.Variance = p.Variance.At(values[0])
	return p
}

// LogDensity implements [Dense].
func (p Normal) LogDensity(block credence.Block, weight float64) float64 {
	sd := math.Sqrt(p.UnseenVariance(block))
	return -0.5*math.Log(2*math.Pi) - math.Log(sd) - weight*weight/(2*sd*sd)
}

// UnseenVariance is the variance of a further weight of the block, one that training
// did not have: the block's own after a fit, and the mean of those of its weights
// under ARD.
func (p Normal) UnseenVariance(block credence.Block) float64 {
	if block.First+block.Count > len(p.Variances) || block.Count == 0 {
		return p.Variance.Value
	}
	variances := p.Variances[block.First : block.First+block.Count]
	if !p.ARD {
		return variances[0]
	}
	mean := 0.0
	for _, v := range variances {
		mean += v / float64(len(variances))
	}
	return mean
}

// UnseenForm is the variance of zᵀw for the k weights w of a further level of a block, as (1 + x | g) has them.
func (p Normal) UnseenForm(block credence.Block, z []float64) (sum float64) {
	if block.First+len(z) > len(p.Variances) {
		return 0
	}
	variances, correlations := p.Variances[block.First:], []float64(nil)
	for _, c := range p.Correlations {
		if c.First == block.First {
			correlations = c.Values
		}
	}
	for r, v := range z {
		sum += v * v * variances[r]
		for c := range r {
			if at := r*(r-1)/2 + c; at < len(correlations) {
				sum += 2 * v * z[c] * correlations[at] * math.Sqrt(variances[r]*variances[c])
			}
		}
	}
	return math.Max(0, sum)
}

// Validate refuses a stated variance that is not a positive number.
func (p Normal) Validate() error {
	if err := checkStates(p); err != nil {
		return err
	}
	v := p.Variance.Value
	if p.Variance.State != param.Learned && !(v > 0 && !math.IsInf(v, 1)) {
		return fmt.Errorf("prior: normal: variance %v is not a positive number: state one above 0, or leave it out to have it learned", v)
	}
	if p.ARD && p.Variance.State == param.Held {
		return fmt.Errorf("prior: normal: variance=%v holds the variance that ard=true would learn: leave out one of them", v)
	}
	return nil
}
