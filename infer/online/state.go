package online

import (
	"encoding/json"
	"fmt"

	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/safetensors"
)

// learner is what every learner here has, with options of type C.
type learner[C any] struct {
	cfg      C
	state    store
	bias     pair
	selected int // features that are in the model, where that is counted
}

func (l *learner[C]) base() *learner[C] { return l }

// EndPass and Finish have nothing to do.
func (l *learner[C]) EndPass() {}
func (l *learner[C]) Finish()  {}

// Selected implements [credence.Online]: no feature is left out.
func (l *learner[C]) Selected(count int) int { return count }

// scalars is the part of the state that is not kept by feature.
type scalars struct {
	Config   json.RawMessage `json:"config"`
	Slots    int             `json:"slots"`
	Bias     pair            `json:"bias"`
	Selected int             `json:"selected,omitempty"`
}

// pairsName is the tensor of the features' numbers, slots×2.
const pairsName = "online.pairs"

// State returns all that the learner knows, for a checkpoint: learning goes on from the restored
// state with the same bytes as without it. The tensor reads the learner when it is written.
func (l *learner[C]) State() ([]byte, []safetensors.Tensor, error) {
	config, err := json.Marshal(l.cfg)
	if err != nil {
		return nil, nil, err
	}
	document, err := json.Marshal(scalars{config, l.state.slots, l.bias, l.selected})
	if err != nil {
		return nil, nil, err
	}
	return document, []safetensors.Tensor{
		safetensors.RowsOf(pairsName, l.state.slots, 2, func(slot int, row []float64) { copy(row, l.state.at(int32(slot))[:]) }),
	}, nil
}

// restore returns the learner of a state.
func restore[C any, L interface{ base() *learner[C] }](document []byte, r *safetensors.Reader, begin func(C) L) (learned L, err error) {
	var state scalars
	var config C
	if err = json.Unmarshal(document, &state); err == nil {
		err = json.Unmarshal(state.Config, &config)
	}
	if err == nil {
		learned = begin(config)
		l := learned.base()
		l.bias, l.selected = state.Bias, state.Selected
		wrong := -1 // slot whose numbers are none
		err = safetensors.ReadRows(r, pairsName, state.Slots, 2, func(slot int, row []float64) {
			l.state.reserve(slot + 1)
			*l.state.at(int32(slot)) = pair(row)
			if !special.Finite(row[0]) || !special.Finite(row[1]) || row[1] <= 0 && row[1] != l.state.start[1] {
				wrong = slot
			}
		})
		if err == nil && wrong >= 0 {
			err = fmt.Errorf("the numbers %v of feature %d are none that were learned: the file is damaged", *l.state.at(int32(wrong)), wrong)
		}
	}
	if err != nil {
		var none L
		return none, fmt.Errorf("online: state: %w", err)
	}
	return learned, nil
}

// RestoreFTRL returns the learner of a state.
func RestoreFTRL(document []byte, r *safetensors.Reader) (*FTRL, error) {
	return restore(document, r, NewFTRL)
}

// RestoreAdPredictor returns the learner of a state.
func RestoreAdPredictor(document []byte, r *safetensors.Reader) (*AdPredictor, error) {
	return restore(document, r, NewAdPredictor)
}

// RestoreSGD returns the learner of a state.
func RestoreSGD(document []byte, r *safetensors.Reader) (*SGD, error) {
	return restore(document, r, NewSGD)
}
