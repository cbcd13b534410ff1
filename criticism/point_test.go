package criticism_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence/criticism"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/table"
)

// TestPoints: of a posterior without any spread leverages are not known. Where it follows its own rows
// closely their residuals are not held against it, and where it does not, a row that is impossible is.
func TestPoints(t *testing.T) {
	for _, engine := range []string{"lasso", "ridge"} {
		for _, c := range []struct{ rows, columns, strong int }{{60, 200, 15}, {200, 4, 4}} {
			for seed := range uint64(3) {
				rng := rand.New(rand.NewPCG(seed, 9))
				b, y := table.New(), make([]float64, c.rows)
				size := make([]float64, c.rows) // rows of unequal leverage
				for i := range size {
					size[i] = math.Exp(rng.NormFloat64())
				}
				for j := range c.columns {
					x := make([]float64, c.rows)
					for i := range x {
						x[i] = size[i] * rng.NormFloat64()
						if j < c.strong {
							y[i] += x[i]
						}
					}
					b.Numbers(fmt.Sprintf("x%d", j), x)
				}
				for i := range y {
					y[i] += rng.NormFloat64()
				}
				few := c.columns < c.rows
				if few {
					y[7] += 12
				}
				source, err := b.Numbers("y", y).Source()
				if err != nil {
					t.Fatal(err)
				}
				model, err := fit.Table(context.Background(), source, fit.Options{Formula: "y ~ .", Engine: engine, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				found := findings(t, model, source, criticism.Options{Fitted: true})
				if few != (len(found) == 1) || few && found[0].Rows[0] != 7 {
					t.Errorf("%s, %d columns, seed %d: %+v", engine, c.columns, seed, found)
				}
			}
		}
	}
}
