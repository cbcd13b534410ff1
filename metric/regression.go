package metric

import "math"

// Regression measures predictions of a number. Set the two exported fields
// before the first row; the zero value leaves msll out.
type Regression struct {
	TrainMean     float64 // of the training targets
	TrainVariance float64 // of the training targets; 0 means unknown

	guard       guard
	logDensity  sum // of rows whose density is not zero
	square      sum // of errors
	absolute    sum // of errors
	targets     moments
	zeroDensity int64
}

// RegressionResult is what Regression answers. With weights w, targets y,
// predictive means m and densities p, and all means weighted:
//
//	NLPD  mean of −log p(y), natural logarithm
//	RMSE  √mean (y−m)²
//	MAE   mean |y−m|
//	SMSE  mean (y−m)² / variance of the y, which divides by n: 1 for the mean of the y
//	MSLL  NLPD less that of a Gaussian with the training mean and variance
//	R2    1 − SMSE
//
// SMSE and MSLL are those of Rasmussen & Williams (2006), §2.5. MSLL compares
// with a density; it has no meaning for counts, whose p is a probability.
type RegressionResult struct {
	Rows int64 `json:"rows"`          // scored
	NLPD Score `json:"nlpd,omitzero"` // mean of −log p(y|data)
	RMSE Score `json:"rmse,omitzero"` // of the predictive means
	MAE  Score `json:"mae,omitzero"`  // of the predictive means
	SMSE Score `json:"smse,omitzero"` // squared error over the variance of the targets
	// NLPD less that of a Gaussian with the moments of the training targets
	MSLL            Score `json:"msll,omitzero"`
	R2              Score `json:"r2,omitzero"`                // 1 − SMSE
	ZeroDensityRows int64 `json:"zero_density_rows,omitzero"` // rows with log p = −Inf; NLPD is then infinite
}

// Add takes a row: the target, the predictive mean, the log of the predictive
// density (of the average density, for a mixture) at the target, the weight. A mean that is NaN says that
// the distribution has none; what compares with means is then left out.
func (r *Regression) Add(y, mean, logDensity, weight float64) {
	g := &r.guard
	if !g.row(weight) || !g.finite("target", y) || !math.IsNaN(mean) && !g.finite("mean", mean) {
		return
	}
	if math.IsNaN(logDensity) || math.IsInf(logDensity, 1) {
		g.fail("log density is %g: a density is a finite number", logDensity)
		return
	}
	if weight == 0 {
		return
	}
	if math.IsInf(logDensity, -1) {
		r.zeroDensity++
	} else {
		r.logDensity.add(weight * logDensity)
	}
	r.square.add(weight * (y - mean) * (y - mean))
	r.absolute.add(weight * math.Abs(y-mean))
	r.targets.add(y, weight)
}

// Result returns the measures of the rows so far, or an error that names the
// first row that makes no sense.
func (r *Regression) Result() (RegressionResult, error) {
	if r.guard.err != nil {
		return RegressionResult{}, r.guard.err
	}
	total := r.targets.weight              // 0 makes every mean below NaN
	nlpd := 0 - r.logDensity.value()/total // not −0, which JSON would show
	if r.zeroDensity > 0 {
		nlpd = math.Inf(1)
	}
	meanSquare := r.square.value() / total
	smse := math.NaN()
	if r.targets.squares > 0 {
		smse = r.square.value() / r.targets.squares
	}
	msll := math.NaN()
	if r.TrainVariance > 0 {
		offset := r.targets.mean - r.TrainMean
		spread := r.targets.squares/total + offset*offset // mean (y − TrainMean)²
		msll = nlpd - 0.5*(math.Log(2*math.Pi*r.TrainVariance)+spread/r.TrainVariance)
	}
	return RegressionResult{
		Rows:            r.guard.rows,
		NLPD:            Score(nlpd),
		RMSE:            Score(math.Sqrt(meanSquare)),
		MAE:             Score(r.absolute.value() / total),
		SMSE:            Score(smse),
		MSLL:            Score(msll),
		R2:              Score(1 - smse),
		ZeroDensityRows: r.zeroDensity,
	}, nil
}
