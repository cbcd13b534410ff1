package problem

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/arrow"
	"github.com/credence-ml/credence/prior"
)

// fewLevels is the number of columns that go by levels up to which a dense matrix has them as well.
const fewLevels = 256

// Rest returns how many of the weights no level of the largest key has, and whether engines with a covariance eliminate the levels: of sparse columns
// of which more than 256 go by levels, under a prior without a variance for every weight. Otherwise the rest is all weights.
func Rest(features credence.Features, p credence.Prior) (rest int, levels bool) {
	d := features.Weights()
	if normal, ok := p.(prior.Normal); !ok || normal.ARD {
		return d, false
	}
	head, all := arrow.Weights(features)
	if all <= fewLevels {
		return d, false
	}
	return d - head, true
}
