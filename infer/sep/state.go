package sep

import (
	"encoding/json"
	"math"

	"github.com/credence-ml/credence/safetensors"
)

// scalars is the part of the state that is not kept by feature.
type scalars struct {
	Config     Config     `json:"config"`
	Hyper      Hyper      `json:"hyper"`
	Slots      int        `json:"slots"`
	Features   int        `json:"features"`
	Selected   int        `json:"selected"`
	Inclusion  float64    `json:"inclusion"`
	Slab       float64    `json:"slab"`
	Rows       int64      `json:"rows"`
	Again      bool       `json:"again"`
	NextHyper  int64      `json:"next_hyper"`
	Scale      float64    `json:"scale"`
	Now        *float64   `json:"now,omitempty"` // time of the last row; nil before the first
	Aged       float64    `json:"aged"`
	AgeRows    int64      `json:"age_rows,omitempty"`
	Events     Events     `json:"events"`
	BiasLambda [2]float64 `json:"bias_lambda"`
	BiasShift  [2]float64 `json:"bias_shift"`
	BiasCount  [2]float64 `json:"bias_count"`
	Batches    int        `json:"batches,omitempty"`
	BatchRows  int        `json:"batch_rows,omitempty"`
	BatchBias  [6]float64 `json:"batch_bias,omitzero"`
	Early      stage      `json:"early"`
}

// statePrefix begins the names of the tensors of the state.
const statePrefix = "sep."

// State returns all that the learner knows, for a checkpoint: a JSON document
// and tensors with names that begin with "sep.". Learning goes on from Restore
// with the same bytes as without it. The tensors read the learner when they are written.
func (l *Learner) State() (document []byte, tensors []safetensors.Tensor, err error) {
	var now *float64
	if !math.IsInf(l.now, 0) {
		now = &l.now
	}
	document, err = json.Marshal(scalars{
		Config: l.cfg, Hyper: l.hyper, Slots: l.slots, Features: l.features, Selected: l.selected,
		Inclusion: l.prior.inclusion, Slab: l.prior.slab, Rows: l.rows, Again: l.again,
		NextHyper: l.nextEB, Scale: l.scale, Now: now, Aged: l.aged, AgeRows: l.ageRows, Events: l.events,
		BiasLambda: l.biasSums.lambda, BiasShift: l.biasSums.shift, BiasCount: l.biasSums.count,
		Batches: l.batch.batches, BatchRows: l.batch.rows, BatchBias: l.batch.bias.values(),
		Early: l.early.stage,
	})
	if err != nil {
		return nil, nil, err
	}
	tensors = []safetensors.Tensor{
		safetensors.RowsOf(statePrefix+"sums", l.slots, 2, func(slot int, row []float64) {
			f := l.at(int32(slot))
			row[0], row[1] = f.lambda, f.shift
		}),
		safetensors.RowsOf(statePrefix+"factors", l.slots, 3, func(slot int, row []float32) {
			f := l.at(int32(slot))
			row[0], row[1], row[2] = f.priorLambda, f.priorShift, f.count
		}),
		safetensors.RowsOf(statePrefix+"due", l.slots, 1, func(slot int, row []int32) { row[0] = int32(l.at(int32(slot)).due) }),
		safetensors.Of(statePrefix+"touched", l.batch.touched),
	}
	slots, changes := make([]int32, len(l.batch.changes)), make([]float64, 0, 6*len(l.batch.changes))
	for i := range l.batch.changes {
		slots[i] = l.batch.changes[i].slot
		values := l.batch.changes[i].values()
		changes = append(changes, values[:]...)
	}
	tensors = append(tensors, safetensors.Of(statePrefix+"changes.slots", slots),
		safetensors.Of(statePrefix+"changes.values", changes, len(slots), 6))
	if l.byClass != nil {
		tensors = append(tensors, safetensors.RowsOf(statePrefix+"classes", l.slots, 6, func(slot int, row []float64) {
			values := l.classes(int32(slot)).values()
			copy(row, values[:])
		}))
	}
	return document, append(tensors, l.early.tensors()...), nil
}
