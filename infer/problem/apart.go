package problem

import (
	"errors"

	"github.com/credence-ml/credence/internal/kernel"
)

// What a fit asks of all rows.
const (
	AskSizes = "sizes" // of columns, offsets and targets, for the start
	AskPass  = "pass"  // the statistics at a normal distribution of the weights
	AskGram  = "gram"  // the sums of a Gaussian family, about a mean
	AskDraws = "draws" // log densities of rows under weights that were drawn
)

// Question is what a fit asks of all rows where these lie apart. The rows of a file answer by numbers that add up; see
// [Question.Add].
type Question struct {
	What string `json:"what"`
	Rows int    `json:"rows,omitempty"` // about so many evenly spread rows are asked; 0 means all
	// How the statistics are taken, see infer/svi.
	Held     bool `json:"held,omitempty"`
	Fixed    bool `json:"fixed,omitempty"`
	Sloped   bool `json:"sloped,omitempty"`
	Valued   bool `json:"valued,omitempty"`
	Clamp    bool `json:"clamp,omitempty"`
	Expanded bool `json:"expanded,omitempty"`

	Mean   []float64 `json:"-"` // of the weights
	Spread []float64 `json:"-"` // of their covariance a factor, or its values by levels; nil for none
	Values []float64 `json:"-"` // of the parameters of the likelihood
	Floor  []float64 `json:"-"` // of those that are learned, unconstrained
	Top    []float64 `json:"-"`
	Drawn  []float64 `json:"-"` // weights×draws
}

// Vectors are the question's parts that are not in its JSON.
func (q *Question) Vectors() map[string]*[]float64 {
	return map[string]*[]float64{"mean": &q.Mean, "spread": &q.Spread, "values": &q.Values, "floor": &q.Floor, "top": &q.Top, "drawn": &q.Drawn}
}

// Add adds the answer of other rows to one: sums, and behind them moments.
func (q *Question) Add(sum, other []float64) {
	moments := 0
	switch q.What {
	case AskSizes:
		moments = SumNumbers
		var all, more Sums
		all.Take(sum[len(sum)-moments:])
		more.Take(other[len(other)-moments:])
		all.Merge(&more)
		copy(sum[len(sum)-moments:], all.Numbers())
	case AskPass, AskGram:
		moments = MomentNumbers
		var all, more Moments
		all.Take(sum[len(sum)-moments:])
		more.Take(other[len(other)-moments:])
		all.Merge(more)
		copy(sum[len(sum)-moments:], all.Numbers())
	}
	kernel.Axpy(1, other[:len(other)-moments], sum[:len(sum)-moments])
}

// Asker has answers of all rows.
type Asker interface {
	// Ask returns the answer, which stays as it is, or [ErrAsked].
	Ask(q *Question) ([]float64, error)
	// Branch begins a part of the fit, of a name that no other has, until leave is called. A guess is one that may come
	// out otherwise once other parts have answers: its first question alone is asked, and again where it was another.
	Branch(name string, guess bool) (leave func())
	Lacking() bool // no row is here
}

// ErrAsked says that a question has no answer yet: the fit is to be made again once it has.
var ErrAsked = errors.New("rows that lie apart were asked, and have not answered")
