package sep

import (
	"bytes"
	"errors"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/safetensors"
)

// NewOnline returns a learner that has seen nothing.
func NewOnline(cfg Config, hyper Hyper) (credence.Online, error) {
	return orNil(NewLearner(cfg, hyper))
}

// RestoreOnline returns the learner of a state.
func RestoreOnline(document []byte, r *safetensors.Reader) (credence.Online, error) {
	if bytes.Contains(document, []byte(`"shards_state"`)) {
		return nil, errors.New("sep: state: it is of several learners, shards=, which there are no more: begin anew")
	}
	return orNil(Restore(document, r))
}

// orNil keeps a nil pointer from becoming an interface that is not nil.
func orNil[T credence.Online](l T, err error) (credence.Online, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

// PinIntercept holds the intercept at 0; call it before the first row.
func (l *Learner) PinIntercept() { l.bias.priorLambda = pinned }
