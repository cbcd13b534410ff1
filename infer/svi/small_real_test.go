package svi

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/param"
)

// TestSmallRealCounts compares log densities of held-out doctor visits with those under hyper=ml, on a
// few rows: no worse than by two standard errors at any size, and better at 20 and 30 rows together.
func TestSmallRealCounts(t *testing.T) {
	study.OnlyCalibration(t)
	const splits = 12
	table := columns(t, "nmes1988", "nmes1988.csv.gz")
	all := designOf(t, table, "visits", "hospital", "health", "chronic", "age", "gender", "school", "income", "insurance", "married")
	standardise(all.x)
	few := 0.0
	for _, n := range []int{20, 30, 100, 300} {
		var gains []float64
		for split := range splits {
			order := rand.New(rand.NewPCG(uint64(split), 12)).Perm(len(all.y))
			train, rest := all.at(order[:n]), all.at(order[n:])
			gain := 0.0
			for treatment, sign := range map[param.Treatment]float64{param.Integrate: 1, param.MaximumLikelihood: -1} {
				gain -= sign * logLoss(t, try(t, likelihood.NegativeBinomial{}, treatment, train), rest)
			}
			gains = append(gains, gain)
		}
		mean, sd := stat.MeanStdDev(gains, nil)
		se := sd / math.Sqrt(splits)
		t.Logf("n = %d: log density %+.4f ± %.4f above that of hyper=ml", n, mean, se)
		if mean < -2*se {
			t.Errorf("n = %d: log density %+.4f ± %.4f beside that of hyper=ml", n, mean, se)
		}
		if n <= 30 {
			few += mean
		}
	}
	if few <= 0 {
		t.Errorf("at 20 and 30 rows the default gains %.4f", few/2)
	}
}

// at are the given rows.
func (m *memory) at(rows []int) *memory {
	out := &memory{x: linop.NewDense(len(rows), m.x.Cols)}
	for k, i := range rows {
		copy(out.x.Row(k), m.x.Row(i))
		out.y = append(out.y, m.y[i])
	}
	return out
}
