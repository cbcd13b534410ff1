package relation

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/internal/study"
)

// Differ checks that another seed gives another number at every one of the places, which are patterns of path.Match
// that some place of the answer must fit: samples, permutations and draws follow the seed. The same seed gives the same
// numbers.
func Differ(t *testing.T, run Run, job Job, places ...string) {
	t.Helper()
	first := answer(t, run, job)
	again := answer(t, run, job)
	job.Options.Seed += 17
	other := answer(t, run, job)
	for _, pattern := range places {
		found, differs := false, false
		for place, v := range first {
			if !matches(pattern, place) || v != v {
				continue
			}
			found, differs = true, differs || other[place] != v
			if again[place] != v {
				t.Errorf("%s is %v, and with the same seed %v", place, v, again[place])
			}
		}
		if !found || !differs {
			t.Errorf("%s: there are such places: %v; another seed gives other numbers: %v", pattern, found, differs)
		}
	}
}

// Spread compares standard errors that are told with the spread, over seeds, of what they are of: of has the place of
// the estimate by that of its standard error. The root of the mean square of the told ones must be between a half and
// twice the standard deviation over the seeds, of which 20 leave 16 %.
func Spread(t *testing.T, run Run, job Job, of map[string]string, seeds int) {
	t.Helper()
	estimates, squares := map[string][]float64{}, map[string]float64{}
	for range seeds {
		job.Options.Seed++
		a := answer(t, run, job)
		for told, estimate := range of {
			v, known := a[estimate]
			e, says := a[told]
			if !known || !says {
				t.Fatalf("the answer has %s: %v, and %s: %v", estimate, known, told, says)
			}
			estimates[told] = append(estimates[told], v)
			squares[told] += e * e / float64(seeds)
		}
	}
	for told, list := range estimates {
		_, errorOfMean := study.MeanAndError(list)
		spread := errorOfMean * math.Sqrt(float64(len(list)))
		if ratio := math.Sqrt(squares[told]) / spread; !(ratio > 0.5 && ratio < 2) {
			t.Errorf("%s is %g, and the standard deviation of %s over %d seeds %g", told, math.Sqrt(squares[told]), of[told], seeds, spread)
		}
	}
}

func answer(t *testing.T, run Run, job Job) Answer {
	t.Helper()
	a, err := run(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
