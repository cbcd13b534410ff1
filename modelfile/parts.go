package modelfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/feature/keyed"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/safetensors"
	"github.com/credence-ml/credence/spec"
)

// Parts are the parts of models that texts and model files can name, each by an empty value of its type.
// A program appends its own to a copy of [DefaultParts].
type Parts struct {
	Families   []likelihood.Entry
	Priors     []prior.Entry
	Terms      []feature.Term
	Posteriors []posterior.Stored
}

// DefaultParts returns the parts of this module.
func DefaultParts() Parts {
	return Parts{Families: likelihood.All(), Priors: prior.All(), Terms: feature.All(), Posteriors: posterior.All()}
}

// byName returns the empty value of every entry by its name.
func byName[T interface{ Name() string }](table []spec.Entry[T]) map[string]T {
	zeros := make(map[string]T, len(table))
	for _, entry := range table {
		zeros[entry.Zero.Name()] = entry.Zero
	}
	return zeros
}

// byKind is byName for parts that texts do not name.
func byKind[T interface{ Kind() string }](table []T) map[string]T {
	zeros := make(map[string]T, len(table))
	for _, zero := range table {
		zeros[zero.Kind()] = zero
	}
	return zeros
}

// encodePart returns the JSON of a part whose name and type stand in zeros.
func encodePart[T any](role string, zeros map[string]T, value any) (part, error) {
	kind := ""
	switch named := value.(type) {
	case interface{ Name() string }:
		kind = named.Name()
	case interface{ Kind() string }:
		kind = named.Kind()
	}
	if zero, known := zeros[kind]; !known || reflect.TypeOf(zero) != reflect.TypeOf(value) {
		return part{}, fmt.Errorf("%s %T cannot be stored: add it to the Parts that the file is written with", role, value)
	}
	if err := validate(value); err != nil {
		return part{}, err
	}
	data, err := marshal(role+" "+kind, value)
	return part{Kind: kind, Data: data}, err
}

// marshal returns the JSON of what the model has under that name.
func marshal(name string, value any) ([]byte, error) {
	data, err := json.Marshal(value)
	if infinite := (*json.UnsupportedValueError)(nil); errors.As(err, &infinite) {
		return nil, fmt.Errorf("the %s has the number %s: the fit did not end in finite numbers: scale the columns and the target, leave out offsets and weights far above 10⁶, and leave out the variances that family and prior state", name, infinite.Str)
	}
	return data, err
}

// decodePart returns the value that a part holds, but for its tensors.
func decodePart[T any](role string, zeros map[string]T, p part) (T, error) {
	zero, known := zeros[p.Kind]
	if !known {
		return zero, fmt.Errorf("%s %q is unknown: the file may come from a newer version", role, p.Kind)
	}
	var value reflect.Value // a pointer to a copy of zero
	if of := reflect.ValueOf(zero); of.Kind() == reflect.Pointer {
		value = reflect.New(of.Type().Elem())
		value.Elem().Set(of.Elem())
		zero = value.Interface().(T)
	} else {
		value = reflect.New(of.Type())
		value.Elem().Set(of)
	}
	if err := json.Unmarshal(p.Data, value.Interface()); err != nil {
		return zero, fmt.Errorf("%s %s: %w", role, p.Kind, err)
	}
	if value.Type() != reflect.TypeOf(zero) {
		zero = value.Elem().Interface().(T)
	}
	return zero, nil
}

// validate asks a part that can tell whether it is one.
func validate(part any) error {
	if v, ok := part.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

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
		err = cmp.Or(safetensors.Load(d.Reader, &f.Text, prefix+"features.names.text"), safetensors.Load(d.Reader, &f.Ends, prefix+"features.names.ends"))
		if err != nil {
			return nil, err
		}
	}
	return f, f.Validate()
}
