package metric

import (
	"iter"
	"math"
)

// The cells of Progressive divide the logits from −32 to 32, which is all that
// float64 probabilities near 1 and all that rates above 10⁻¹⁴ need, into steps of
// 2⁻¹⁰: probabilities in a cell agree to a factor of 1.001.
const (
	cellCount    = 1 << 16
	cellsPerUnit = 1 << 10
)

// Progressive measures predicted probabilities of two classes over a stream of
// any length in 1.5 MB. The zero value is ready.
//
// Accuracy, log loss and Brier score are those of Classification. AUC and ECE
// are computed from a histogram of logits, as if the rows of a cell were tied.
// AUC comes with its largest possible error, AUCError: half the share of pairs
// that fall into one cell. With logits spread over a few units it is about 10⁻⁴,
// and the actual error far less, since the order within a cell is all but even.
// ECE differs by at most the weight that lies in the cells at the bin borders.
type Progressive struct {
	sums  bernoulli
	cells []group // nil until the first row
}

// Add takes a row: the class, 0 or 1, the probability of class 1 predicted
// before the row was learned from, the weight.
func (s *Progressive) Add(y, probability, weight float64) {
	if !s.sums.add(y, probability, weight) {
		return
	}
	if s.cells == nil {
		s.cells = make([]group, cellCount)
	}
	c := &s.cells[cellOf(probability)]
	if y == 1 {
		c.positive += weight
	} else {
		c.negative += weight
	}
	c.probability += weight * probability
}

// cellOf returns the cell of a probability in [0, 1]; it never decreases.
func cellOf(probability float64) int {
	logit := math.Log(probability) - math.Log1p(-probability)
	cell := math.Floor(logit*cellsPerUnit) + cellCount/2
	return int(min(max(cell, 0), cellCount-1)) // bounds first: logits of 0 and 1 are infinite
}

// Result returns the measures of the rows so far, or an error that names the
// first row that makes no sense. It passes over the cells, which takes well
// under a millisecond.
func (s *Progressive) Result() (ClassificationResult, error) {
	return s.sums.result(s.groups())
}

func (s *Progressive) groups() iter.Seq[group] {
	return func(yield func(group) bool) {
		for _, c := range s.cells {
			if c.positive+c.negative > 0 && !yield(c) {
				return
			}
		}
	}
}
