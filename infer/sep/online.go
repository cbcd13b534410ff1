package sep

import (
	"bytes"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/safetensors"
)

// NewOnline returns a learner that has seen nothing, shared by as many as the options say.
func NewOnline(cfg Config, hyper Hyper) (credence.Online, error) {
	if cfg.Shards > 1 {
		return orNil(NewSharded(cfg, hyper))
	}
	return orNil(NewLearner(cfg, hyper))
}

// RestoreOnline returns the learner of a state.
func RestoreOnline(document []byte, r *safetensors.Reader) (credence.Online, error) {
	if bytes.Contains(document, []byte(`"shards_state"`)) {
		return orNil(RestoreSharded(document, r))
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

// PinIntercept is Learner.PinIntercept.
func (s *Sharded) PinIntercept() {
	s.master.PinIntercept()
	for _, shard := range s.shards {
		shard.PinIntercept()
	}
}
