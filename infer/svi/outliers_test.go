package svi

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/likelihood"
)

// TestTailsAreLearned: with two columns and noise of four degrees of freedom, the logarithms of df and scale lie in
// their 90 % intervals, and targets of new rows in their 99 % intervals, as often as those say; with normal noise the
// intervals of new rows hold no less. The log density of new rows is printed, to be held against other priors.
func TestTailsAreLearned(t *testing.T) {
	sets, most, fresh := 30, 50, 40
	if study.Calibration() {
		sets, most, fresh = 200, 300, 200
	} else if testing.Short() {
		t.Skip("a comparison of numbers: the race detector learns nothing from it")
	}
	for _, normal := range []bool{false, true} {
		for _, n := range []int{20, 50, 300} {
			if n > most {
				continue
			}
			rng := rand.New(rand.NewPCG(uint64(n), study.Seed(11)))
			noise := likelihood.Sampler(likelihood.StudentT{})
			if normal {
				noise = likelihood.Gaussian{}
			}
			var df, scale, inside, density []float64
			for range sets {
				x := correlated(rng, n+fresh, 2, 0.5)
				y := make([]float64, n+fresh)
				for i := range y {
					y[i] = noise.Sample(rng, 0.3+0.7*x.Row(i)[0]-0.4*x.Row(i)[1])
				}
				all := &memory{x: x, y: y}
				f := try(t, likelihood.StudentT{}, "", all.at(span(0, n)))
				df = append(df, within90(f, "df", 4))
				scale = append(scale, within90(f, "scale", 1))
				var batch credence.Batch
				var dist credence.Distribution
				if err := all.at(span(n, fresh)).Read(&batch, 0, fresh); err != nil {
					t.Fatal(err)
				}
				if err := f.DistributionTo(credence.NewWorkspace(1), &dist, &batch); err != nil {
					t.Fatal(err)
				}
				held, sum := 0.0, 0.0
				for i := range fresh {
					if p := dist.CDF(i, batch.Target[i]); p > 0.005 && p < 0.995 {
						held += 1 / float64(fresh)
					}
					sum += dist.LogDensity(i, batch.Target[i]) / float64(fresh)
				}
				inside, density = append(inside, held), append(density, sum)
			}
			df90, dfError := study.MeanAndError(df)
			scale90, scaleError := study.MeanAndError(scale)
			inside99, insideError := study.MeanAndError(inside)
			mean, spread := study.MeanAndError(density)
			t.Logf("normal noise %v, %d rows: df %.3f ± %.3f, scale %.3f ± %.3f, 99 %% of y %.4f ± %.4f, log density %.4f ± %.4f", normal, n, df90, dfError, scale90, scaleError, inside99, insideError, mean, spread)
			least := 0.98
			if normal {
				least = 0.985
			}
			if inside99 < least-3*insideError {
				t.Errorf("normal noise %v, %d rows: 99 %% intervals hold %.4f of new targets", normal, n, inside99)
			}
			if error := 3 * math.Sqrt(0.09/float64(sets)); !normal && math.Min(df90, scale90) < 0.85-error {
				t.Errorf("%d rows: 90 %% intervals hold df %.3f and scale %.3f of the time", n, df90, scale90)
			}
		}
	}
}

// within90 is 1 where the 90 % interval of the logarithm of a parameter holds a value.
func within90(f *credence.Fitted, name string, value float64) float64 {
	for _, at := range f.Report.Hyper {
		for _, sd := range f.Report.HyperSD {
			if at.Name == name && sd.Name == name && math.Abs(math.Log(value/at.Value)) < 1.6449*sd.Value {
				return 1
			}
		}
	}
	return 0
}

// span is count whole numbers from first on.
func span(first, count int) []int {
	list := make([]int, count)
	for i := range list {
		list[i] = first + i
	}
	return list
}
