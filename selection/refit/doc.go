// Package refit answers by fitting again, and by rows that a fit did not see, what one fit does not tell: which
// features are called where targets are permuted, or rows drawn with replacement ([Base.Null], [Base.Bootstrap]); how
// engines and models predict rows left out of their fits ([Base.Folds], [Base.HeldOut], [Base.Check]); and of one fit
// which features matter, which stand for each other and what share of the variance they explain ([Base.Describe]).
// Package fit makes the engines, and package selection holds the answers as plain data.
package refit

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
)

// Base is what is fitted again.
type Base struct {
	Model   credence.Model
	Data    credence.Data   // rows of the model
	Source  credence.Source // the table that they came from
	Outside credence.Source // its columns outside the formula, nil where Source has them
	Frame   *frame.Frame
	Engine  credence.Engine // fits other rows
	Seed    uint64
	Threads int
	// Progress is called between fits without a fold, on the caller's goroutine; nil is not.
	Progress func(credence.Progress)
}
