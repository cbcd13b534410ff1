package fit_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/table"
)

// TestUnlearnedBlock: the prior variance of a block is learned whether or not the 1,024 rows on which lengthscales are
// screened (runs of 64) know the block. The flag is 1 in 64 of 4,000 rows: together (rows 64 to 127, which no run has)
// or every 62nd. Before the fix the first has no prior of its variance and no uncertainty, and a variance of 1 as held.
func TestUnlearnedBlock(t *testing.T) {
	const n = 4000
	for name, flagged := range map[string]func(i int) bool{
		"together": func(i int) bool { return i >= 64 && i < 128 },
		"spread":   func(i int) bool { return i%62 == 0 },
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		flag, x, y := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			if x[i] = 6 * rng.Float64(); flagged(i) {
				flag[i] = 1
			}
			// Poisson by inversion
			mean, u := math.Exp(0.5+math.Sin(2*x[i])+1.2*flag[i]), rng.Float64()
			p := math.Exp(-mean)
			for u > p {
				u -= p
				y[i]++
				p *= mean / y[i]
			}
		}
		rows, err := table.New().Numbers("flag", flag).Numbers("x", x).Numbers("y", y).Source()
		if err != nil {
			t.Fatal(err)
		}
		f, err := fit.Table(context.Background(), rows, fit.Options{Formula: "y ~ flag + rbf(x, n=20)", Family: "poisson"})
		if err != nil {
			t.Fatal(err)
		}
		const of = "prior_variance.linear"
		t.Log(name, f.Report.Hyper, f.Report.HyperPrior, f.Report.HyperSD)
		if !(f.Report.HyperPrior.Of(of, 0) > 0) || !(f.Report.HyperSD.Of(of, 0) > 0) {
			t.Errorf("%s: the prior variance %v was not learned: prior scales %v, uncertainties %v", name, f.Report.Hyper.Of(of, 0), f.Report.HyperPrior, f.Report.HyperSD)
		}
	}
}
