package svi

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestWidthsAreDifferencesOfFits: the slope of the mean variance of f over rows in the logarithm of a scale is that of
// fits with the scale held to each side. A narrow prior keeps the weights of the columns from following the scale, and
// the intercept follows; of the variance each has a share.
func TestWidthsAreDifferencesOfFits(t *testing.T) {
	const n = 60
	rng := rand.New(rand.NewPCG(5, 9))
	data := &memory{x: correlated(rng, n, 4, 0), y: make([]float64, n)}
	for i := range data.x.Data { // the columns of a block count by their mean square
		data.x.Data[i] *= 3
	}
	for i := range data.y {
		data.y[i] = 0.5*data.x.Row(i)[0] + likelihood.StudentT{DegreesOfFreedom: param.Hold(5), Scale: param.Hold(1)}.Sample(rng, 0)
	}
	fit := func(scale param.Parameter) *credence.Fitted {
		lik := likelihood.StudentT{DegreesOfFreedom: param.Hold(5), Scale: scale}
		return fitted(t, credence.Model{Features: plain{p: 4, intercept: true}, Likelihood: lik, Prior: held(0.002)}, Config{Covariance: Full, Hyper: param.Integrate, Diagnostics: -1}, data)
	}
	learned := fit(param.Parameter{}).Family
	if learned.Axes() != 1 || len(learned.Mode) != 1 {
		t.Fatalf("%d parameters along %d axes", len(learned.Mode), learned.Axes())
	}
	const h = 0.05
	var logs [2]float64
	for side, sign := range []float64{-1, 1} {
		model := fit(param.Hold(math.Exp(learned.Mode[0] + sign*h)))
		var rows credence.Batch
		if err := data.Read(&rows, 0, n); err != nil {
			t.Fatal(err)
		}
		dist, err := model.Distribution(credence.NewWorkspace(1), &rows)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			_, variance := dist.Latent(i)
			logs[side] += variance / n
		}
		logs[side] = math.Log(logs[side])
	}
	want := (logs[1] - logs[0]) / (2 * h)
	// Columns count as if they were uncorrelated, which they are to 1/√n.
	if got := learned.Widths[0] / learned.Root[0]; !(math.Abs(got-want) <= 0.05*want) || !(want > 0.1 && want < 1.5) {
		t.Errorf("a slope of %v, want %v", got, want)
	}
}
