package criticism_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestSpreadBehindImpossibleRows: of many impossible rows that bend a fit it is told whether residuals spread more in
// some places, and not where tails are heavy or single values slipped.
func TestSpreadBehindImpossibleRows(t *testing.T) {
	for name, c := range map[string]struct {
		draw func(*rand.Rand, sheet) sheet
		told bool
	}{
		"heavy tails": {func(rng *rand.Rand, s sheet) sheet {
			return s.with("y", draws(rng, likelihood.StudentT{DegreesOfFreedom: param.Hold(1.5), Scale: param.Hold(1)}, nil))
		}, false},
		"slips": {func(rng *rand.Rand, s sheet) sheet {
			return s.with("y", draws(rng, likelihood.Gaussian{NoiseVariance: param.Hold(1)}, func(rowOf, int) float64 {
				if rng.Float64() < 0.03 {
					return 15 * rng.NormFloat64()
				}
				return 0
			}))
		}, false},
		"spread": {spreading, true},
	} {
		const rows, sets = 600, 50
		many, told := 0, 0
		for seed := range uint64(sets) {
			m := newMixed(rows, 9000+seed)
			model, source := c.draw(m.rng, sheet{[]string{"a", "b", "c", "d"}, [][]float64{m.a, m.b, m.c, m.d}}).fitted(t, base, "")
			data, err := model.Frame.(*frame.Frame).Bind(source, frame.RequireTargets)
			if err != nil {
				t.Fatal(err)
			}
			found, err := criticism.Of(context.Background(), model, data, criticism.Options{Fitted: true, Beside: source})
			if err != nil {
				t.Fatal(err)
			}
			impossible, spread := false, false
			for k := range found {
				impossible = impossible || found[k].Check == "outliers" && len(found[k].Rows) > rows/50
				spread = spread || found[k].Check == "dispersion"
			}
			if impossible {
				many++
				if spread {
					told++
				}
			}
		}
		// Of 200 sets each, 2 of 191, 0 of 96 and 77 of 77 were told.
		if many < 10 || c.told && told < many || !c.told && told > 1 {
			t.Errorf("%s: of %d sets with many impossible rows %d are told of spread", name, many, told)
		}
	}
}
