package ability

import (
	"github.com/credence-ml/credence"
)

// Covariance says that a block of weights is a term such as (1 + x | g), whose weights are those of the levels of
// groups of rows: weight First + level·k + column, k columns for each level. The k weights of a level are
// normal with mean 0 and a covariance that is the same for all levels, and independent of those of other levels.
type Covariance struct {
	Block   int      // among the blocks of the features
	Key     string   // of the groups: "g", or "g:h"
	Levels  int      // with weights
	Columns []string // names of the k columns, "(intercept)" or a column of the data
	// Own is k×k, row-major: weights of a level for the data's own columns are made of those for columns as they enter
	// the fit by it. Off the diagonal it is not 0 where a column beside a constant is centred.
	Own []float64
	// SD are the standard deviations of the k columns as they enter the fit, one for each or one for all, where they
	// are stated: held, or else where learning starts. Nil is learned.
	SD   []float64
	Held bool
	// Correlations are stated and held: those of the lower triangle by rows, or one for all. Nil is learned.
	Correlations []float64
}

// Covaried is implemented by features some of whose blocks have a covariance of their own, which no prior of the model
// states: neither normal(variance=v) nor ard is about them.
type Covaried interface {
	Covariances() []Covariance
}

// Covariances returns those of features, nil where there are none.
func Covariances(features credence.Features) []Covariance {
	if covaried, ok := features.(Covaried); ok {
		return covaried.Covariances()
	}
	return nil
}
