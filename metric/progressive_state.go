package metric

import (
	"errors"
	"fmt"
	"math"
)

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
