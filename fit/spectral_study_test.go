package fit_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
)

// TestKnownPeriods: three waves in 600 rows at uneven places are found within 2 % in 18 of 20 sets, and the evidence is
// above that of rbf.
func TestKnownPeriods(t *testing.T) {
	study.OnlyCalibration(t)
	const sets = 20
	truth := []float64{24, 7.3, 3.1}
	found, above := 0, 0
	for seed := range uint64(sets) {
		rng := rand.New(rand.NewPCG(study.Seed(34)+seed, 600))
		var x, y []float64
		for range 600 {
			at := 100 * rng.Float64()
			x = append(x, at)
			y = append(y, 2*math.Sin(2*math.Pi*at/truth[0]+1)+1.2*math.Sin(2*math.Pi*at/truth[1])+0.8*math.Cos(2*math.Pi*at/truth[2])+rng.NormFloat64())
		}
		source := curveRows(t, x, y)
		spectral := must.Value(fit.Table(t.Context(), source, fit.Options{Formula: "y ~ spectral(x, components=3)", Threads: 1}))(t)
		smooth := must.Value(fit.Table(t.Context(), source, fit.Options{Formula: "y ~ rbf(x)", Threads: 1}))(t)
		var periods []float64
		for _, name := range []string{"[1]", "[2]", "[3]"} {
			periods = append(periods, spectral.Report.Hyper.Of("period.spectral(x)"+name+".x", math.NaN()))
		}
		slices.SortFunc(periods, func(a, b float64) int { return int(math.Copysign(1, b-a)) })
		close := true
		for k, p := range periods {
			close = close && math.Abs(p/truth[k]-1) < 0.02
		}
		if close {
			found++
		}
		if *spectral.Report.Evidence > *smooth.Report.Evidence {
			above++
		}
		t.Logf("set %d: periods %.4g; evidence %.1f, of rbf %.1f", seed+1, periods, *spectral.Report.Evidence, *smooth.Report.Evidence)
	}
	if found < 18 || above < 18 {
		t.Errorf("the periods are found in %d of %d sets, and the evidence is above that of rbf in %d", found, sets, above)
	}
}
