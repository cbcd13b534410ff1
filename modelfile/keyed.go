package modelfile

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/safetensors"
)

// Models over keys have these tensors for each member:
//
//	member.0.features.keys           n  keys, 64 bits each
//	member.0.features.names.text     bytes of all names, where they are kept
//	member.0.features.names.ends     n  where each ends
//	member.0.posterior.mean, .variance, .inclusion    1+n: intercept, keys

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
