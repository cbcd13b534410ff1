package online

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/credence-ml/credence/internal/safetensors"
)

// scalars is the part of the state that is not kept by feature.
type scalars struct {
	Config   json.RawMessage `json:"config"`
	Slots    int             `json:"slots"`
	Bias     pair            `json:"bias"`
	Selected int             `json:"selected,omitempty"`
	Rows     int64           `json:"rows"`
}

// pairsName is the tensor of the features' numbers, slots×2.
const pairsName = "online.pairs"

// stateRows is the number of slots that are encoded at a time.
const stateRows = 1 << 12

// stateOf returns a learner as a JSON document and a tensor, which reads the
// learner when it is written.
func stateOf(config any, s *store, bias pair, selected int, rows int64) ([]byte, []safetensors.Tensor, error) {
	encoded, err := json.Marshal(config)
	if err != nil {
		return nil, nil, err
	}
	document, err := json.Marshal(scalars{encoded, s.slots, bias, selected, rows})
	if err != nil {
		return nil, nil, err
	}
	slots := s.slots
	return document, []safetensors.Tensor{{
		Name: pairsName, DType: safetensors.F64, Shape: []int{slots, 2},
		Data: func(w io.Writer) error {
			buffer := make([]float64, 0, 2*min(slots, stateRows))
			for first := 0; first < slots; first += stateRows {
				buffer = buffer[:0]
				for slot := first; slot < min(slots, first+stateRows); slot++ {
					p := s.at(int32(slot))
					buffer = append(buffer, p[0], p[1])
				}
				if err := safetensors.Encode(w, buffer); err != nil {
					return err
				}
			}
			return nil
		},
	}}, nil
}

// restore fills a store from a state and returns the rest of it; config is
// filled from the document before, and start says how the store begins.
func restore(document []byte, r *safetensors.Reader, config any, begin func() *store) (*scalars, error) {
	var state scalars
	if err := json.Unmarshal(document, &state); err != nil {
		return nil, fmt.Errorf("online: state: %w", err)
	}
	if err := json.Unmarshal(state.Config, config); err != nil {
		return nil, fmt.Errorf("online: state: %w", err)
	}
	info, found := r.Tensor(pairsName)
	if !found || state.Slots < 0 || state.Slots > math.MaxInt32 || info.Len() != 2*state.Slots {
		return nil, fmt.Errorf("online: state: tensor %s does not hold %d×2 numbers: the file is damaged", pairsName, state.Slots)
	}
	s := begin()
	buffer := make([]float64, 2*min(state.Slots, stateRows))
	for first := 0; first < state.Slots; first += stateRows {
		count := min(stateRows, state.Slots-first)
		if err := safetensors.ReadTo(r, buffer[:2*count], pairsName, 2*first); err != nil {
			return nil, fmt.Errorf("online: state: %w", err)
		}
		s.reserve(first + count)
		for i := range count {
			*s.at(int32(first + i)) = pair{buffer[2*i], buffer[2*i+1]}
		}
	}
	return &state, nil
}

// State returns all that the learner knows, for a checkpoint: learning goes on
// from RestoreFTRL with the same bytes as without it.
func (f *FTRL) State() ([]byte, []safetensors.Tensor, error) {
	return stateOf(f.cfg, &f.state, f.bias, f.selected, f.rows)
}

// RestoreFTRL returns the learner of a state.
func RestoreFTRL(document []byte, r *safetensors.Reader) (*FTRL, error) {
	var f *FTRL
	var cfg FTRLConfig
	s, err := restore(document, r, &cfg, func() *store { f = NewFTRL(cfg); return &f.state })
	if err != nil {
		return nil, err
	}
	f.bias, f.selected, f.rows = s.Bias, s.Selected, s.Rows
	return f, nil
}

// State returns all that the learner knows, for a checkpoint: learning goes on
// from RestoreAdPredictor with the same bytes as without it.
func (a *AdPredictor) State() ([]byte, []safetensors.Tensor, error) {
	return stateOf(a.cfg, &a.state, a.bias, 0, a.rows)
}

// RestoreAdPredictor returns the learner of a state.
func RestoreAdPredictor(document []byte, r *safetensors.Reader) (*AdPredictor, error) {
	var a *AdPredictor
	var cfg AdPredictorConfig
	s, err := restore(document, r, &cfg, func() *store { a = NewAdPredictor(cfg); return &a.state })
	if err != nil {
		return nil, err
	}
	a.bias, a.rows = s.Bias, s.Rows
	return a, nil
}

// State returns all that the learner knows, for a checkpoint: learning goes on
// from RestoreSGD with the same bytes as without it.
func (s *SGD) State() ([]byte, []safetensors.Tensor, error) {
	return stateOf(s.cfg, &s.state, s.bias, 0, s.rows)
}

// RestoreSGD returns the learner of a state.
func RestoreSGD(document []byte, r *safetensors.Reader) (*SGD, error) {
	var g *SGD
	var cfg SGDConfig
	s, err := restore(document, r, &cfg, func() *store { g = NewSGD(cfg); return &g.state })
	if err != nil {
		return nil, err
	}
	g.bias, g.rows = s.Bias, s.Rows
	return g, nil
}
