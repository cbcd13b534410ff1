package metric

import (
	"math"
	"testing"
)

// logNormal is the log density of N(mean, variance) at y.
func logNormal(y, mean, variance float64) float64 {
	return -0.5 * (math.Log(2*math.Pi*variance) + (y-mean)*(y-mean)/variance)
}

type regressionRow struct{ y, mean, logDensity, weight float64 }

func regressionRows(n int, seed uint64) []regressionRow {
	rng := generator(seed)
	rows := make([]regressionRow, n)
	for i := range rows {
		y := 1e6 + 3*rng.NormFloat64() // far from 0: naive variances would lose 12 digits
		mean := y + rng.NormFloat64()
		rows[i] = regressionRow{y, mean, logNormal(y, mean, 1.5), float64(rng.IntN(4))}
	}
	return rows
}

func (r *Regression) addAll(rows []regressionRow) *Regression {
	for _, row := range rows {
		r.Add(row.y, row.mean, row.logDensity, row.weight)
	}
	return r
}

// The example of scikit-learn's documentation for mean_absolute_error,
// mean_squared_error and r2_score.
func TestRegressionPublished(t *testing.T) {
	var r Regression
	for i, y := range []float64{3, -0.5, 2, 7} {
		r.Add(y, []float64{2.5, 0, 2, 8}[i], -1, 1)
	}
	got := must[RegressionResult](t)(r.Result())
	near(t, "mae", got.MAE, 0.5, 1e-15)
	near(t, "rmse", got.RMSE, math.Sqrt(0.375), 1e-15)
	near(t, "r2", got.R2, 0.9486081370449679, 1e-15)
	near(t, "nlpd", got.NLPD, 1, 1e-15)
	if got.MSLL.Defined() {
		t.Error("msll without training moments")
	}
}

// Two passes over the definitions.
func TestRegressionByDefinition(t *testing.T) {
	const trainMean, trainVariance = 1e6 + 0.5, 8
	rows := regressionRows(5000, 1)
	var weight, mean, square, absolute, nlpd, baseline float64
	for _, row := range rows {
		weight += row.weight
		mean += row.weight * row.y
		square += row.weight * (row.y - row.mean) * (row.y - row.mean)
		absolute += row.weight * math.Abs(row.y-row.mean)
		nlpd -= row.weight * row.logDensity
		baseline -= row.weight * logNormal(row.y, trainMean, trainVariance)
	}
	mean /= weight
	variance := 0.0
	for _, row := range rows {
		variance += row.weight * (row.y - mean) * (row.y - mean) / weight
	}
	r := Regression{TrainMean: trainMean, TrainVariance: trainVariance}
	got := must[RegressionResult](t)(r.addAll(rows).Result())
	if got.Rows != 5000 {
		t.Errorf("%d rows", got.Rows)
	}
	// The targets carry 1e6/3 times the rounding error of their deviations.
	const offsetTolerance = 1e6 * sumTolerance
	near(t, "nlpd", got.NLPD, nlpd/weight, sumTolerance)
	near(t, "rmse", got.RMSE, math.Sqrt(square/weight), sumTolerance)
	near(t, "mae", got.MAE, absolute/weight, sumTolerance)
	near(t, "smse", got.SMSE, square/weight/variance, offsetTolerance)
	near(t, "r2", got.R2, 1-square/weight/variance, offsetTolerance)
	near(t, "msll", got.MSLL, (nlpd-baseline)/weight, offsetTolerance)
}

// Predicting the test mean has smse 1 and r2 0; predicting the training
// Gaussian has msll 0.
func TestRegressionReferencePoints(t *testing.T) {
	rng := generator(2)
	targets := make([]float64, 1000)
	mean := 0.0
	for i := range targets {
		targets[i] = rng.NormFloat64()
		mean += targets[i] / 1000
	}
	constant := Regression{}
	trained := Regression{TrainMean: 0.3, TrainVariance: 2}
	for _, y := range targets {
		constant.Add(y, mean, 0, 1)
		trained.Add(y, 0.3, logNormal(y, 0.3, 2), 1)
	}
	got := must[RegressionResult](t)(constant.Result())
	near(t, "smse of the mean", got.SMSE, 1, sumTolerance)
	near(t, "r2 of the mean", got.R2, 0, sumTolerance)
	near(t, "msll of the training Gaussian", must[RegressionResult](t)(trained.Result()).MSLL, 0, sumTolerance)
}

// A weight is a number of copies.
func TestRegressionWeights(t *testing.T) {
	rows := regressionRows(3000, 3)
	var copies []regressionRow
	for _, row := range rows {
		for range int(row.weight) {
			copies = append(copies, regressionRow{row.y, row.mean, row.logDensity, 1})
		}
	}
	zero := Regression{TrainMean: 1e6, TrainVariance: 9}
	weighted, repeated := zero, zero
	weighted.addAll(rows)
	repeated.addAll(copies)
	want := must[RegressionResult](t)(weighted.Result())
	got := must[RegressionResult](t)(repeated.Result())
	near(t, "nlpd", got.NLPD, float64(want.NLPD), sumTolerance)
	near(t, "rmse", got.RMSE, float64(want.RMSE), sumTolerance)
	near(t, "mae", got.MAE, float64(want.MAE), sumTolerance)
	near(t, "smse", got.SMSE, float64(want.SMSE), 1e-9) // targets are 1e6 from 0
	near(t, "msll", got.MSLL, float64(want.MSLL), 1e-9)
}

func TestRegressionZeroDensityNeedsWeight(t *testing.T) {
	var a Regression
	a.Add(1, 1, math.Inf(-1), 0)
	a.Add(2, 1, -3, 1)
	near(t, "nlpd", must[RegressionResult](t)(a.Result()).NLPD, 3, 0)
	a.Add(1, 1, math.Inf(-1), 1)
	got := must[RegressionResult](t)(a.Result())
	if !math.IsInf(float64(got.NLPD), 1) || got.ZeroDensityRows != 1 {
		t.Errorf("%+v", got)
	}
}

func TestIntervals(t *testing.T) {
	var whole Intervals
	type row struct{ y, lower, upper, weight float64 }
	rows := []row{
		{0, 0, 1, 1},  // on the border: inside
		{1, 0, 1, 2},  // on the border
		{2, 0, 1, 4},  // outside
		{-1, 0, 3, 1}, // outside
		{9, 0, 1, 0},  // no weight
	}
	for _, r := range rows {
		whole.Add(0.9, r.y, r.lower, r.upper, r.weight)
		whole.Add(0.5, r.y, r.y, r.y, r.weight)
	}
	got := must[IntervalsResult](t)(whole.Result())
	if got.Coverage["0.9"] != 3.0/8 || got.Width["0.9"] != 10.0/8 || got.Coverage["0.5"] != 1 || got.Width["0.5"] != 0 || len(got.Coverage) != 2 {
		t.Errorf("%+v", got)
	}
}

// Central intervals of the true distribution cover at their level.
func TestIntervalsOfTheTruth(t *testing.T) {
	const n = 20000
	rng := generator(4)
	quantiles := map[float64]float64{0.5: 0.674489750196082, 0.8: 1.281551565544600, 0.9: 1.644853626951473, 0.95: 1.959963984540054}
	var v Intervals
	for range n {
		y := rng.NormFloat64()
		for _, level := range Levels() {
			v.Add(level, y, -quantiles[level], quantiles[level], 1)
		}
	}
	got := must[IntervalsResult](t)(v.Result())
	for key, level := range map[string]float64{"0.5": 0.5, "0.8": 0.8, "0.9": 0.9, "0.95": 0.95} {
		tolerance := 5 * math.Sqrt(level*(1-level)/n) // five standard errors
		near(t, "coverage "+key, Score(got.Coverage[key]), level, tolerance)
		near(t, "width "+key, Score(got.Width[key]), 2*quantiles[level], sumTolerance)
	}
}
