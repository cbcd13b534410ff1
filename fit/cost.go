package fit

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi"
	"github.com/credence-ml/credence/spec"
)

// What auto compares are operations, counted from rows and columns alone and divided by a stated rate: no clock is asked, so that the same
// model has the same engine everywhere. The rates are those of one core of a server of 2023.
const (
	denseRate = 5e10 // multiplications and additions of dense matrices a second
	entryRate = 1e8  // entries of rows that a pass touches
	rowRate   = 1e7  // rows of which a pass takes expectations
)

// fullSeconds is about the time of variational Bayes with a full covariance.
func fullSeconds(weights float64) float64 {
	return (90*weights*weights*weights + 8e4*weights*weights) / denseRate
}

// Fits of levels take about so many passes. leastLevels are as many as tell their own variance to 5 %, so that nothing is lost where it is not integrated over,
// and a row touches mostTouched of the weights beside them.
const (
	levelsPasses = 40
	leastLevels  = 200
	mostTouched  = 50
	// dearer is how many times the operations of covariance=levels another engine's may be.
	dearer = 3
)

// byLevels returns the call of variational Bayes with the covariances that the levels of a category leave, where seconds, those of
// the engine that would be chosen otherwise, are many times its own.
func byLevels(model credence.Model, rows int, seconds float64) (call spec.Call, reason string, ok bool) {
	_, count, ok := svi.Levels(model.Features)
	beside := float64(model.Features.Weights() - count)
	own := levelsPasses*(float64(rows)/rowRate+float64(rows)*(1+min(beside, mostTouched))/entryRate) + float64(count)*beside*beside/denseRate
	if f, is := model.Features.(credence.Tunable); is && len(f.Hyper()) > 0 { // a smooth is anything but independent weights
		return call, "", false
	}
	if !ok || count < leastLevels || float64(count) < 2*beside || seconds <= dearer*own {
		return call, "", false
	}
	call = spec.Call{Name: "svi", Named: []spec.Argument{{Key: "covariance", Value: spec.Column{Name: string(svi.OfLevels)}}}}
	return call, fmt.Sprintf("of the %d weights %d are levels of one category, which are independent given the others: that takes about 1/%.0f of the operations", model.Features.Weights(), count, seconds/own), true
}
