package modelfile

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
)

// likelihoods and priors name the types that a model file can hold. Each value
// is the zero value of its type.
var (
	likelihoods = map[string]credence.Likelihood{
		"gaussian":    likelihood.Gaussian{},
		"bernoulli":   likelihood.Bernoulli{},
		"binomial":    likelihood.Binomial{},
		"poisson":     likelihood.Poisson{},
		"negbinomial": likelihood.NegativeBinomial{},
		"gamma":       likelihood.Gamma{},
		"studentt":    likelihood.StudentT{},
		"ordinal":     likelihood.Ordinal{},
	}
	priors = map[string]credence.Prior{
		"normal":    prior.Normal{},
		"spikeslab": prior.SpikeSlab{},
	}
)

// encodePart returns the JSON of a part whose type stands in kinds.
func encodePart[T any](role string, kinds map[string]T, value T) (part, error) {
	for kind, zero := range kinds {
		if reflect.TypeOf(zero) != reflect.TypeOf(value) {
			continue
		}
		data, err := json.Marshal(value)
		if err != nil {
			return part{}, fmt.Errorf("%s %s: %w", role, kind, err)
		}
		return part{Kind: kind, Data: data}, nil
	}
	return part{}, fmt.Errorf("%s %T cannot be stored: model files hold the %ss of this module", role, value, role)
}

// decodePart returns the value that a part holds.
func decodePart[T any](role string, kinds map[string]T, p part) (T, error) {
	var none T
	zero, known := kinds[p.Kind]
	if !known {
		return none, fmt.Errorf("%s %q is unknown: the file may come from a newer version", role, p.Kind)
	}
	value := reflect.New(reflect.TypeOf(zero))
	if err := json.Unmarshal(p.Data, value.Interface()); err != nil {
		return none, fmt.Errorf("%s %s: %w", role, p.Kind, err)
	}
	decoded := value.Elem().Interface().(T)
	if validator, ok := any(decoded).(interface{ Validate() error }); ok {
		if err := validator.Validate(); err != nil {
			return none, err
		}
	}
	return decoded, nil
}
