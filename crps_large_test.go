package credence

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// Counts whose logarithm is hardly known have a score, whose tail ends where 1 less the distribution function is
// rounding.
func TestCRPSOfUnknownCounts(t *testing.T) {
	for _, l := range []Predictive{likelihood.Poisson{}, likelihood.NegativeBinomial{Size: param.From(0.3)}} {
		f := &Fitted{}
		for _, variance := range []float64{20, 32, 45} {
			f.Members = append(f.Members, Member{Model: Model{Features: identity{1}, Likelihood: l}, Posterior: point{[]float64{-8}, variance}})
		}
		d, _ := distributions(t, f, batchOf(1))
		for _, y := range []float64{0, 3e6} {
			const direct = 500.0
			want := 0.0
			for k := 0.0; k < direct; k++ {
				p := d.CDF(0, k)
				if k >= y {
					p = 1 - p
				}
				want += p * p
			}
			square := func(s float64) (float64, float64, float64) {
				k := math.Exp(s)
				p := d.CDF(0, math.Floor(k))
				if k >= y {
					p = 1 - p
				}
				return p * p * k, 0, 0
			}
			breaks := []float64{math.Log(direct)}
			for x := breaks[0] + 1; 1-d.CDF(0, math.Exp(x)) > 1e-9; x++ {
				if last := breaks[len(breaks)-1]; last < math.Log(y) && x > math.Log(y) {
					breaks = append(breaks, math.Log(y))
				}
				breaks = append(breaks, x)
			}
			beyond, _, _ := quad.Adaptive(square, breaks, 1e-7)
			want += beyond
			if got := d.CRPS(0, y, nil); !(math.Abs(got-want) <= 1e-4*want) {
				t.Errorf("%v, y %v: the score is %v, by parts %v", l, y, got, want)
			}
		}
	}
}

// Counts of which nothing is known but that there are fewer than 1e12 have a score after some thousand evaluations:
// what rounding makes of their distribution function is not smooth at any distance. Beyond 500 they are log-normal.
func TestCRPSOfWideCountsEnds(t *testing.T) {
	for _, l := range []countFamily{likelihood.Poisson{}, likelihood.NegativeBinomial{Size: param.From(0.3)}} {
		const mean, deviation, direct = -8, 6.5, 500.0
		calls := 0
		d := mixtureOf(countCalls(l, &calls), []float64{mean}, []float64{deviation * deviation})
		got := d.CRPS(0, 1, nil)
		if calls > 10_000 {
			t.Errorf("%v: %d evaluations", l, calls)
		}
		if l != countFamily(likelihood.Poisson{}) {
			continue
		}
		want := d.CDF(0, 0) * d.CDF(0, 0)
		for k := 1.0; k < direct; k++ {
			p := 1 - d.CDF(0, k)
			want += p * p
		}
		breaks := []float64{math.Log(direct)}
		for range 80 {
			breaks = append(breaks, breaks[len(breaks)-1]+1)
		}
		beyond, _, _ := quad.Adaptive(func(s float64) (float64, float64, float64) {
			p := special.NormalCDF((mean - s) / deviation)
			return p * p * math.Exp(s), 0, 0
		}, breaks, 1e-9)
		if want += beyond; !(math.Abs(got-want) <= 1e-3*want) {
			t.Errorf("%v: the score is %v, by parts %v", l, got, want)
		}
	}
}

// Counts whose score lies where distribution functions are rounding have none, and that is found out soon: a score that
// depends on where the sum ends would be a figure of the computation.
func TestCRPSBeyondDistributionFunctions(t *testing.T) {
	for _, c := range []struct {
		deviation float64
		finite    bool
		most      int
	}{{3, true, 1000}, {6, true, 1000}, {9, false, 1000}, {13, false, 100}, {20, false, 100}, {60, false, 100}} {
		for _, l := range []countFamily{likelihood.Poisson{}, likelihood.NegativeBinomial{Size: param.From(2)}} {
			calls := 0
			d := mixtureOf(countCalls(l, &calls), []float64{3}, []float64{c.deviation * c.deviation})
			got := d.CRPS(0, 1, nil)
			if finite := got == got; finite != c.finite || calls > c.most {
				t.Errorf("%v, f within %v: the score is %v after %d evaluations", l, c.deviation, got, calls)
			}
		}
	}
}
