package fit

import (
	"fmt"
	"math"

	"github.com/credence-ml/credence"
)

// checkFinite refuses a fit that no model file could hold: parts that are none, or predictions that are
// no numbers.
func (p *Prepared) checkFinite(fitted *credence.Fitted) error {
	failed := func(what any) error {
		return fmt.Errorf("%s: the fit did not end in finite numbers (%v): scale the columns, look for values that are far from all others, or use another engine", p.entry.Name, what)
	}
	for i := range fitted.Members {
		m := &fitted.Members[i]
		for _, part := range []any{m.Model.Likelihood, m.Model.Prior, m.Posterior} {
			if v, ok := part.(interface{ Validate() error }); ok {
				if err := v.Validate(); err != nil {
					return failed(err)
				}
			}
		}
	}
	var row credence.Batch
	var distribution credence.Distribution
	if err := p.data.Read(&row, 0, 1); err != nil {
		return err
	}
	if err := fitted.DistributionTo(credence.NewWorkspace(1), &distribution, &row); err != nil {
		return err
	}
	if mean, variance := distribution.Latent(0); math.IsNaN(mean-mean) || !(variance >= 0) {
		return failed(fmt.Sprintf("f of the first row has mean %v and variance %v", mean, variance))
	}
	return nil
}
