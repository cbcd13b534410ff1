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
		own := new(frame.Column("w"))
		for _, f := range []frame.Roles{{Weight: own}, {Precision: own}, {Offset: []frame.Expr{*own}}} {
			fitted.Frame = &frame.Frame{Weight: f.Weight, Precision: f.Precision, Offset: f.Offset}
			if b := baselineOf(fitted); b.Evidence.Defined() {
				t.Errorf("evidence of rows with %+v: %v", f, b.Evidence)
			}
		}
		fitted.Frame = &frame.Frame{}
	}
}

// The standard error of a mean over groups of one weight is the jackknife's, that leaves each group out in turn, and of
// two estimates the root of the sum of their squares.
func TestStandardErrors(t *testing.T) {
	const rows, groups = 24, 6
	densities, weights, group := make([]float64, rows), make([]float64, rows), make([]int, rows)
	for i := range densities {
		densities[i], weights[i], group[i] = math.Sin(float64(i*i)), float64(1+i/groups%2), 7*(i%groups)
	}
	mean := func(without int) (sum float64) {
		total := 0.0
		for i, w := range weights {
			if group[i] != without {
				sum, total = sum+w*densities[i], total+w
			}
		}
		return sum / total
	}
	all, square := mean(-1), 0.0
	for g := range groups {
		square += (mean(7*g) - all) * (mean(7*g) - all) * (groups - 1) / groups
	}
	got, spread := gain(densities, make([]float64, rows), weights, group)
	if !(math.Abs(float64(got)-all) <= 1e-12) || !(math.Abs(float64(spread)-math.Sqrt(square)) <= 1e-12) {
		t.Errorf("the mean is %v ± %v, want %v ± %v", got, spread, all, math.Sqrt(square))
	}
	evidence := -7.
	report := func(error float64) *credence.Report {
		return &credence.Report{Evidence: &evidence, EvidenceStandardError: &error}
	}
	if got := standardError(report(3), report(4)); got != 5 {
		t.Errorf("of 3 and 4: %v", got)
	}
	if got := standardError(report(3), &credence.Report{Evidence: &evidence}); got != 3 {
		t.Errorf("of 3 and none: %v", got)
	}
}
