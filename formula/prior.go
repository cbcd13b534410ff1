package formula

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// ParsePrior reads a prior of a table, which is [prior.All] or a program's own: its name, or
// name(key=value, …). An empty text is normal. An error is a [*spec.Error]. The prior's String
// parses back to it.
func ParsePrior(text string, table []prior.Entry) (credence.Prior, error) {
	if text == "" {
		return prior.Normal{}, nil
	}
	p, _, err := spec.Choose(text, "prior", table)
	if err != nil {
		return nil, err
	}
	return p, nil
}
