package modelfile

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/internal/safetensors"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
)

// Models over keys have these tensors for each member:
//
//	member.0.features.keys           n  keys, 64 bits each
//	member.0.features.names.text     bytes of all names, where they are kept
//	member.0.features.names.ends     n  where each ends
//	member.0.posterior.mean, .variance, .inclusion    1+n: intercept, keys
//
// In format 1 a last weight stood for the keys that training had not seen. Its variance is that of
// the prior.

// keyed adds the dictionary of keyed features.
func (e *encoder) keyed(prefix string, f *keyed.Features) (*keyedData, error) {
	if err := f.Validate(); err != nil {
		return nil, err
	}
	e.add(safetensors.Of(prefix+"features.keys", f.Keys))
	if f.Ends != nil {
		e.add(safetensors.Of(prefix+"features.names.text", f.Text))
		e.add(safetensors.Of(prefix+"features.names.ends", f.Ends))
	}
	return &keyedData{Named: f.Ends != nil, NoIntercept: f.NoIntercept}, nil
}

// keyedData is the plain data of keyed features.
type keyedData struct {
	Named       bool `json:"named"` // the names of keys are kept
	NoIntercept bool `json:"no_intercept,omitempty"`
	lastUnseen  bool // the last weight stands for the keys unseen in training: format 1
}

// unseenWeights is how many weights there are beyond those of the features.
func (k *keyedData) unseenWeights() int {
	if k != nil && k.lastUnseen {
		return 1
	}
	return 0
}

// cutUnseen takes the weight of unseen keys off a posterior, and gives its variance to a prior that
// does not state its own.
func cutUnseen(q posterior.Stored, p credence.Prior) credence.Prior {
	s, ok := q.(*posterior.SpikeSlab)
	if !ok || len(s.Mean) == 0 {
		return p
	}
	last := len(s.Mean) - 1
	unseen := s.Variance[last]
	s.Mean, s.Variance = s.Mean[:last], s.Variance[:last]
	if s.Probability != nil {
		s.Probability = s.Probability[:last]
	}
	if normal, ok := p.(prior.Normal); ok {
		normal.Variance.Value = unseen
		return normal
	}
	return p
}

func (d *decoder) keyed(prefix string, data *keyedData) (_ credence.Features, err error) {
	f := &keyed.Features{NoIntercept: data.NoIntercept}
	if f.Keys, err = safetensors.Read[uint64](d.Reader, prefix+"features.keys"); err != nil {
		return nil, err
	}
	if data.Named {
		if f.Text, err = safetensors.Read[uint8](d.Reader, prefix+"features.names.text"); err != nil {
			return nil, err
		}
		if f.Ends, err = safetensors.Read[int64](d.Reader, prefix+"features.names.ends"); err != nil {
			return nil, err
		}
	}
	return f, f.Validate()
}
