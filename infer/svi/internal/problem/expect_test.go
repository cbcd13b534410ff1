package problem

import (
	"math"
	"runtime"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestSlopesOfLearnedParameters: slopes of a row in the parameters that are learned, whichever they are, are central
// differences of its expected log density in their free numbers: 1e-7 for steps of 1e-5.
func TestSlopesOfLearnedParameters(t *testing.T) {
	const step = 1e-5
	for _, l := range []Likelihood{
		likelihood.StudentT{}, likelihood.StudentT{DegreesOfFreedom: param.Hold(5)}, likelihood.StudentT{Scale: param.Hold(2)},
		likelihood.NegativeBinomial{}, likelihood.Gamma{},
	} {
		f := NewFamily(l)
		b := &Block{Batch: &credence.Batch{Target: []float64{1, 2, 7}, Weight: []float64{1, 0.5, 2}}, Phi: new(credence.Design)}
		b.Phi.Dense.Rows = 3
		ws, p := credence.NewWorkspace(1), f.Count()
		at := func(x []float64) *Terms {
			terms := new(Terms)
			terms.Resize(3, p)
			copy(terms.Mean, []float64{0.3, 1.1, 0.7})
			copy(terms.Variance, []float64{0.001, 0.2, 3})
			terms.Expect(ws, b, f.At(x), false, nil)
			return terms
		}
		x := f.Free()
		here := at(x)
		for k := range p {
			x[k] += step
			above := at(x)
			x[k] -= 2 * step
			below := at(x)
			x[k] += step
			for i := range 3 {
				got, want := here.Slope[i*p+k], (above.Value[i]-below.Value[i])/(2*step)
				if !(math.Abs(got-want) <= 1e-7*(1+math.Abs(want))) {
					t.Errorf("%v, row %d: the slope in parameter %d of %d is %v, want %v", l, i, k, p, got, want)
				}
			}
		}
	}
}

// TestTermsAreLinearInParameters: an ordinal family may have a thousand cutpoints, and a block of rows their slopes.
func TestTermsAreLinearInParameters(t *testing.T) {
	const rows, parameters = credence.BlockRows, 999
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	new(Terms).Resize(rows, parameters)
	runtime.ReadMemStats(&after)
	if taken, most := after.TotalAlloc-before.TotalAlloc, uint64(8*rows*(4*parameters+100)); taken > most {
		t.Errorf("%d bytes, more than %d", taken, most)
	}
}
