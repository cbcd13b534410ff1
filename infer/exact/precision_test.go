package exact

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// TestPrecisionUnit: precisions in another unit are another unit of the noise variance and change
// nothing else, everything learned, in both forms.
func TestPrecisionUnit(t *testing.T) {
	for _, n := range []int{10, 90} {
		data := randomTable(41, n, 12, 0).withRoles(42, true, true)
		m := model(linear(12), prior.Normal{}, likelihood.Gaussian{})
		want := fitted(t, m, Config{}, data)
		const factor = 30
		for i := range data.precision {
			data.precision[i] *= factor
		}
		got := fitted(t, m, Config{}, data)
		near(t, "evidence", *got.Report.Evidence, *want.Report.Evidence, 1e-8)
		for k, v := range got.Report.Hyper {
			shift := 0.0
			if v.Name == "noise_variance" {
				shift = math.Log(factor)
			}
			// Where a climb stops depends on rounding: values to the root of its tolerance.
			near(t, v.Name, math.Log(v.Value), math.Log(want.Report.Hyper[k].Value)+shift, 1e-3)
		}
	}
}
