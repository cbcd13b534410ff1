package sep

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/safetensors"
)

// NewOnline returns a learner that has seen nothing.
func NewOnline(cfg Config, hyper Hyper) (credence.Online, error) {
	return orNil(NewLearner(cfg, hyper))
}

// RestoreOnline returns the learner of a state.
func RestoreOnline(document []byte, r *safetensors.Reader) (credence.Online, error) {
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
