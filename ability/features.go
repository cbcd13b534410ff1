package ability

import (
	"iter"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// LevelRun is a run of weights by the levels of a key: weight First + level·Columns + c is that of column c of a level.
// A row has entries of one level of it at most, and the same level in all runs of one Key.
type LevelRun struct {
	Key     string `json:"key"`
	First   int    `json:"first"`
	Levels  int    `json:"levels"`
	Columns int    `json:"columns"`
}

// Keyed is implemented by features of which some columns go by the levels of keys.
type Keyed interface {
	LevelRuns() []LevelRun
	// DenseWeights returns how many of the weights, the first ones, belong to dense columns of a design.
	DenseWeights() int
}

// Deviations returns by what features multiply the prior deviation of each weight: 1 but for those that are
// [credence.Proportioned] and have it apart from their columns.
func Deviations(features credence.Features) []float64 {
	if p, ok := features.(credence.Proportioned); ok {
		deviation := make([]float64, features.Weights())
		p.Deviations(deviation, nil)
		return deviation
	}
	return slices.Repeat([]float64{1}, features.Weights())
}

// Redrawable is the ability of random features to be drawn afresh, which a fit
// with several starts uses, and to be had with fewer draws, by which it searches.
type Redrawable interface {
	// Random reports whether there is anything to draw.
	Random() bool
	// Redraw returns the features of a start: their own for start 0, and for a further one with
	// frequencies drawn from the random numbers that seed and start name.
	Redraw(seed uint64, start int) credence.Features
	// Thin returns the features with the first of their drawn frequencies, one in parts of
	// each block and at least one: the same blocks with fewer weights, which mean
	// the same under the same prior variance, and the same hyper-parameters.
	Thin(parts int) credence.Features
}

// Rescaled is the ability of features to express weights in the units of the data's own columns,
// before any centring and scaling.
type Rescaled interface {
	// OwnUnits returns the weights there, with the levels of categories told against bases:
	// "city=Basel" is a level, "city=mean" the mean of the levels of city, each counted once, and
	// "mean" that of every category. The levels of the other categories stand for themselves.
	OwnUnits(bases ...string) (*OwnUnits, error)
}

// OwnUnits are the weights of features in the units of the data's own columns: Σ weight × column = f.
// An own weight is a sum of fitted weights: undoing the centring of a product adds to the weights of
// its factors and to the constant.
type OwnUnits struct {
	// Columns belong to the fitted weights, in their order. Those which undoing the centring needs
	// beside them come last, for example the constant of a model without an intercept.
	Columns []OwnColumn
	// Map has a row for every column: by what the fitted weights are multiplied to make its weight.
	Map linop.CSR
}

// OwnColumn is a column of the data, or a product of columns.
type OwnColumn struct {
	Block, Name string
	Intercept   bool
	Base        bool // the level that others are told against: its weight is 0
	// Varies says that the column is none of the data's: it is drawn or has learned parameters, and
	// differs between the members of a fit.
	Varies bool
}

// Candidates returns all candidates of [EachCandidate].
func Candidates(features credence.Features, together bool) []credence.Block {
	return slices.AppendSeq(make([]credence.Block, 0, features.Weights()), EachCandidate(features, together))
}

// EachCandidate goes through the runs of weights that a prior which selects has in the model or out of it, in their
// order: every weight of no intercept and of no kept block stands for itself, without a name, and those of a
// group of [Grouped] are one candidate where together is true.
func EachCandidate(features credence.Features, together bool) iter.Seq[credence.Block] {
	groups := map[int]credence.Block{}
	if grouped, ok := features.(credence.Grouped); ok && together {
		for _, g := range grouped.Groups() {
			groups[g.First] = g
		}
	}
	return func(yield func(credence.Block) bool) {
		for _, b := range features.Blocks() {
			for j := b.First; j < b.First+b.Count && !b.Intercept && !b.Kept; {
				c, grouped := groups[j]
				if !grouped {
					c = credence.Block{First: j, Count: 1}
				}
				if !yield(c) {
					return
				}
				j += c.Count
			}
		}
	}
}

// UnseenLevels is implemented by priors of weights that vary together by level.
type UnseenLevels interface {
	// UnseenForm is the variance, after the fit, of zᵀw for the k weights w of a further level of the block.
	UnseenForm(block credence.Block, z []float64) float64
}

// AddUnseenSquares adds, to every row, square of it times the variance of a further weight of a block. Sums beyond all
// numbers are the largest number, so that quantiles stay numbers.
func AddUnseenSquares(variance []float64, square func(row int) float64, prior credence.UnseenPrior, block credence.Block) {
	v := -1.0
	for i := range variance {
		if x := square(i); x > 0 {
			if v < 0 {
				v = prior.UnseenVariance(block)
			}
			variance[i] = math.Min(variance[i]+v*x, math.MaxFloat64)
		}
	}
}

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

// Hypers returns the hyper-parameters of features, nil where there are none.
func Hypers(features credence.Features) []credence.Hyper {
	if tunable, ok := features.(credence.Tunable); ok {
		return tunable.Hyper()
	}
	return nil
}
