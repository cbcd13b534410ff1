package score

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/param"
)

// TestRowsThatWeigh: a row of weight 2 is the row twice, in the mean gain, its standard error, with groups of rows too,
// and in what predictions without columns come to; one of weight 0 is none.
func TestRowsThatWeigh(t *testing.T) {
	var once, twice Scores
	var a, b, c, d []float64 // log densities of two models
	for i, w := range []float64{1, 3, 0, 2, 1, 2} {
		density, first, y := math.Sin(float64(i)), math.Cos(float64(3*i)), float64(i*i%4)
		once.written.target, once.weight, once.group = append(once.written.target, y), append(once.weight, w), append(once.group, i/2)
		a, b = append(a, density), append(b, first)
		for range int(w) {
			twice.written.target, twice.weight, twice.group = append(twice.written.target, y), append(twice.weight, 1), append(twice.group, i/2)
			c, d = append(c, density), append(d, first)
		}
	}
	same := func(what string, got, want metric.Score) {
		t.Helper()
		if !(math.Abs(float64(got-want)) <= 1e-12*math.Abs(float64(want))) {
			t.Errorf("%s is %v by weights, %v by copies", what, got, want)
		}
	}
	mean, spread := gain(a, b, once.weight, once.group)
	wantMean, wantSpread := gain(c, d, twice.weight, twice.group)
	same("mean gain of groups", mean, wantMean)
	same("its standard error over groups", spread, wantSpread)
	mean, spread = Gain(a, b, once.weight)
	wantMean, wantSpread = Gain(c, d, twice.weight)
	same("mean gain", mean, wantMean)
	same("its standard error", spread, wantSpread)
	for _, l := range []credence.Likelihood{likelihood.Gaussian{NoiseVariance: param.Hold(1)}, likelihood.Poisson{}, likelihood.Ordinal{}} {
		fitted := &credence.Fitted{Members: []credence.Member{{Model: credence.Model{Likelihood: l}}}}
		once.fitted, twice.fitted = fitted, fitted
		got, want := once.baseline(false), twice.baseline(false)
		same("NLPD of the baseline", got.NLPD, want.NLPD)
		same("RMSE of the baseline", got.RMSE, want.RMSE)
	}
	fitted := &credence.Fitted{TargetVariance: 4, Frame: &frame.Frame{}, Members: []credence.Member{{Model: credence.Model{Likelihood: likelihood.Gaussian{NoiseVariance: param.Hold(1)}}}}}
	for _, bound := range []bool{false, true} {
		value := -30.
		if fitted.Report = (credence.Report{Rows: 12, Evidence: &value}); bound {
			fitted.Report = credence.Report{Rows: 12, ELBO: &value}
		}
		if b := baselineOf(fitted); b.Evidence != 2.5 || (b.Bound != "") != bound || b.RMSE != 2 {
			t.Errorf("evidence of -30 of 12 rows: %+v", b)
		}
	}
}
