package problem

import (
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/arrow"
	"github.com/credence-ml/credence/prior"
)

// fewLevels is the number of columns that go by levels up to which a dense matrix has them as well.
const fewLevels = 256

// Rest returns how many of the weights no level of the largest key has, and whether engines with a covariance eliminate
// the levels: of sparse columns of which more than 256 go by levels, under a prior without a variance for every weight,
// and of columns that vary together by level. Otherwise the rest is all weights.
func Rest(features credence.Features, p credence.Prior) (rest int, levels bool) {
	d := features.Weights()
	normal, ok := p.(prior.Normal)
	head, all := arrow.Weights(features)
	together := slices.ContainsFunc(ability.Covariances(features), func(c ability.Covariance) bool { return len(c.Columns) > 1 })
	if !ok || !together && (all <= fewLevels || normal.ARD) {
		return d, false
	}
	return d - head, true
}
