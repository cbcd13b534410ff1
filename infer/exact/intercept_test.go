package exact

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// marginals returns means and variances of the weights of the first member.
func marginals(f *credence.Fitted) (mean, variance []float64) {
	d := f.Members[0].Posterior.Weights()
	mean, variance = make([]float64, d), make([]float64, d)
	f.Members[0].Posterior.Marginals(mean, variance)
	return mean, variance
}

// TestConstantAdded: a constant added to the target moves the intercept by as much and nothing else,
// in both forms; so does one added to a column, which is taken up by the intercept.
func TestConstantAdded(t *testing.T) {
	for _, n := range []int{10, 90} {
		data := randomTable(24, n, 12, 3).withRoles(25, true, true)
		data.weight[0] = 2
		m := model(plain{intercept: true, dense: 12, sparse: 3, sizes: []int{7, 8}}, prior.Normal{}, likelihood.Gaussian{})
		want := fitted(t, m, Config{}, data)
		mean, variance := marginals(want)
		moved := *data
		moved.target = nil
		for _, y := range data.target {
			moved.target = append(moved.target, y+1000)
		}
		got := fitted(t, m, Config{}, &moved)
		near(t, "evidence", *got.Report.Evidence, *want.Report.Evidence, 1e-9)
		shifted, spread := marginals(got)
		near(t, "intercept", shifted[0], mean[0]+1000, 1e-9)
		near(t, "variance of the intercept", math.Log(spread[0]), math.Log(variance[0]), 1e-5)
		for j := 1; j < len(mean); j++ {
			near(t, "weight", shifted[j], mean[j], 1e-5)
			near(t, "variance", math.Log(spread[j]), math.Log(variance[j]), 1e-5)
		}
		for i := range n {
			data.x.Row(i)[2] += 50
		}
		got = fitted(t, m, Config{}, data)
		near(t, "evidence of a moved column", *got.Report.Evidence, *want.Report.Evidence, 1e-9)
		shifted, _ = marginals(got)
		near(t, "intercept of a moved column", shifted[0], mean[0]-50*mean[3], 1e-4)
	}
}
