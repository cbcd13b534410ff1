package credence

import (
	"testing"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// Rows that state trials or precisions are predicted together as each is alone, whatever stands beside them.
func TestRowsWithFamiliesOfTheirOwn(t *testing.T) {
	values := []float64{1, 1, 4, 4, 2, 2}
	alike := []float64{3, 3, 3, 5, 5, 5}
	for name, rows := range map[string]*Batch{"trials": {Trials: values}, "precision": {Precision: values}, "both": {Trials: alike, Precision: values}, "both, turned": {Trials: values, Precision: alike}} {
		for _, family := range []likelihood.Family{likelihood.Binomial{}, likelihood.Gaussian{NoiseVariance: param.From(0.5)}, likelihood.Gamma{Shape: param.From(3)}} {
			fitted := &Fitted{Members: []Member{{Model: Model{Features: identity{1}, Likelihood: family}, Posterior: point{[]float64{0.3}, 0.2}}}}
			of := func(some *Batch) *Distribution {
				dist, err := fitted.Distribution(NewWorkspace(1), some)
				if err != nil {
					t.Fatal(err)
				}
				return dist
			}
			rows.X = batchOf(1, 1, 1, 1, 1, 1).X
			together := of(rows)
			for i := range values {
				alone := batchOf(1)
				if rows.Trials != nil {
					alone.Trials = rows.Trials[i : i+1]
				}
				if rows.Precision != nil {
					alone.Precision = rows.Precision[i : i+1]
				}
				mean, variance := together.Moments(i)
				if m, v := of(alone).Moments(0); m != mean || v != variance {
					t.Errorf("%T, %s, row %d: %g, %g, and alone %g, %g", family, name, i, mean, variance, m, v)
				}
			}
		}
	}
}
