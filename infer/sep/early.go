package sep

import (
	"cmp"
	"fmt"
	"math"

	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/linop"
	"github.com/credence-ml/credence/safetensors"
)

// How many rows are kept to be learned again: of a stream a few thousand, of data in memory all
// while they are not large.
const (
	earlyRows    = 1 << 12
	earlyEntries = 1 << 20
	wholeEntries = 1 << 21
	rarerReplay  = 50 // rows of the rarer class without which they are not learned again
)

// stage says what the early rows are.
type stage uint8

const (
	filling stage = iota // all rows so far
	whole                // all rows of the first pass, which is over
	sample               // some of the rows
)

// early holds the first rows that were learned. Their factors were made under ρ0, τ0 and means
// that were still far from where they end, and they tell how far features go together.
type early struct {
	stage             stage
	mostRows, entries int // at which they are complete
	rows              linop.CSR
	label             []uint8
	weight, offset    []float64
}

// add keeps a row that has been learned.
func (e *early) add(columns []int32, values []float64, label int, weight, offset float64) {
	e.rows.Cols = math.MaxInt32 // there may be more slots later
	e.rows.AppendRow(columns, values)
	e.label, e.weight, e.offset = append(e.label, uint8(label)), append(e.weight, weight), append(e.offset, offset)
}

// complete says whether no more rows are to be kept.
func (e *early) complete() bool {
	return e.rows.Rows >= e.mostRows || len(e.rows.Index) >= e.entries
}

// cut leaves the first rows, those that a stream keeps.
func (e *early) cut() {
	n := min(e.rows.Rows, earlyRows)
	for n > 1 && e.rows.Start[n] > earlyEntries {
		n--
	}
	rows := linop.CSR{Cols: e.rows.Cols}
	for i := range n {
		columns, values := e.rows.Row(i)
		rows.AppendRow(columns, values)
	}
	e.rows = rows
	e.label, e.weight, e.offset = append([]uint8(nil), e.label[:n]...), append([]float64(nil), e.weight[:n]...), append([]float64(nil), e.offset[:n]...)
}

// keep keeps a row that has been learned, as long as all are kept. When they are complete they are
// learned again, and stay as a sample.
func (l *Learner) keep(columns []int32, values []float64, label int, weight, offset float64) {
	if l.early.stage != filling {
		return
	}
	if l.early.add(columns, values, label, weight, offset); l.early.complete() {
		l.settle()
	}
}

// settle learns the early rows again and keeps no more of them.
func (l *Learner) settle() {
	if l.replays() && min(l.biasSums.count[0], l.biasSums.count[1]) >= rarerReplay {
		l.replay(mostPasses, false, nil)
	}
	l.early.cut()
	l.early.stage = sample
	l.dropClasses()
}

// replays says whether the form of learning goes with factors of single rows.
func (l *Learner) replays() bool {
	return l.cfg.Batch == 0 && !l.cfg.forgets() && !l.cfg.KnownCounts
}

// tensors are those of a state.
func (e *early) tensors() []safetensors.Tensor {
	lengths := make([]int32, e.rows.Rows)
	for i := range lengths {
		columns, _ := e.rows.Row(i)
		lengths[i] = int32(len(columns))
	}
	return []safetensors.Tensor{
		safetensors.Of(statePrefix+"early.lengths", lengths), safetensors.Of(statePrefix+"early.slots", e.rows.Index),
		safetensors.Of(statePrefix+"early.values", e.rows.Value), safetensors.Of(statePrefix+"early.labels", e.label),
		safetensors.Of(statePrefix+"early.weights", e.weight), safetensors.Of(statePrefix+"early.offsets", e.offset),
	}
}

// readEarly reads them.
func (l *Learner) readEarly(r *safetensors.Reader, s *scalars) error {
	e := &l.early
	var lengths, slots []int32
	var values []float64
	err := cmp.Or(
		safetensors.Load(r, &lengths, statePrefix+"early.lengths"), safetensors.Load(r, &slots, statePrefix+"early.slots"),
		safetensors.Load(r, &values, statePrefix+"early.values"), safetensors.Load(r, &e.label, statePrefix+"early.labels"),
		safetensors.Load(r, &e.weight, statePrefix+"early.weights"), safetensors.Load(r, &e.offset, statePrefix+"early.offsets"),
	)
	if err != nil {
		return err
	}
	n := len(lengths)
	if e.stage > sample || len(e.label) != n || len(e.weight) != n || len(e.offset) != n || len(values) != 0 && len(values) != len(slots) {
		return fmt.Errorf("the early rows do not fit together: the file is damaged")
	}
	first := 0
	for i, length := range lengths {
		last := first + int(length)
		if length < 0 || last > len(slots) || e.label[i] > 1 || !(e.weight[i] > 0) || !ability.Bounded(e.weight[i], e.offset[i]) || l.biasSums.count[e.label[i]] <= 0 {
			return fmt.Errorf("early row %d is none that was learned: the file is damaged", i)
		}
		for k, slot := range slots[first:last] {
			if slot < 0 || int(slot) >= l.slots || l.at(slot).due == 0 || len(values) > 0 && !ability.Bounded(values[first+k]) {
				return fmt.Errorf("early row %d is none that was learned: the file is damaged", i)
			}
		}
		e.rows.Cols = math.MaxInt32
		if len(values) > 0 {
			e.rows.AppendRow(slots[first:last], values[first:last])
		} else {
			e.rows.AppendRow(slots[first:last], nil)
		}
		first = last
	}
	if first != len(slots) {
		return fmt.Errorf("the early rows have %d entries, %d are stored: the file is damaged", first, len(slots))
	}
	return nil
}
