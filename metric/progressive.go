package metric

import (
	"errors"
	"fmt"
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
// before the row was learned from, the weight. It returns the [LogLoss] of the row, whose logarithm it shares.
func (s *Progressive) Add(y, probability, weight float64) (loss float64) {
	loss = LogLoss(y, probability)
	if !s.sums.add(y, probability, weight, loss) {
		return loss
	}
	if s.cells == nil {
		s.cells = make([]group, cellCount)
	}
	var logit float64
	switch {
	case probability < LogLossClip || probability > 1-LogLossClip: // the loss is that of the bound
		logit = math.Log(probability) - math.Log1p(-probability)
	case y == 1:
		logit = -loss - math.Log1p(-probability)
	default:
		logit = math.Log(probability) + loss
	}
	c := &s.cells[cellOf(logit)]
	if y == 1 {
		c.positive += weight
	} else {
		c.negative += weight
	}
	c.probability += weight * probability
	return loss
}

// cellOf returns the cell of a logit; it never decreases.
func cellOf(logit float64) int {
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

// stateHeader is the number of plain sums that begin a state.
const stateHeader = 10

// State returns all that s knows, for a checkpoint: the plain sums, then four
// numbers for each cell that is not empty. It is of no use after an error.
func (s *Progressive) State() ([]float64, error) {
	b := &s.sums
	if b.guard.err != nil {
		return nil, b.guard.err
	}
	state := []float64{
		float64(b.guard.rows), b.weight.high, b.weight.low, b.correct.high, b.correct.low,
		b.logLoss.high, b.logLoss.low, b.brier.high, b.brier.low, float64(b.clipped),
	}
	for i, c := range s.cells {
		if c != (group{}) {
			state = append(state, float64(i), c.positive, c.negative, c.probability)
		}
	}
	return state, nil
}

// ProgressiveOf returns the measures that State gave: adding to them goes on with
// the same bits.
func ProgressiveOf(state []float64) (*Progressive, error) {
	if len(state) < stateHeader || (len(state)-stateHeader)%4 != 0 {
		return nil, fmt.Errorf("metric: a state of %d numbers: the file is damaged", len(state))
	}
	for _, v := range state {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errors.New("metric: the state holds a number that is not finite: the file is damaged")
		}
	}
	s := &Progressive{}
	b := &s.sums
	b.guard.rows, b.clipped = int64(state[0]), int64(state[9])
	b.weight, b.correct = sum{state[1], state[2]}, sum{state[3], state[4]}
	b.logLoss, b.brier = sum{state[5], state[6]}, sum{state[7], state[8]}
	for cells := state[stateHeader:]; len(cells) > 0; cells = cells[4:] {
		i := cells[0]
		if !(i >= 0 && i < cellCount) || i != math.Trunc(i) {
			return nil, fmt.Errorf("metric: the state has a cell %v: the file is damaged", i)
		}
		if !(cells[1] >= 0 && cells[2] >= 0 && cells[3] >= 0) {
			return nil, fmt.Errorf("metric: cell %v of the state holds a negative weight: the file is damaged", i)
		}
		if s.cells == nil {
			s.cells = make([]group, cellCount)
		}
		s.cells[int(i)] = group{positive: cells[1], negative: cells[2], probability: cells[3]}
	}
	return s, nil
}
