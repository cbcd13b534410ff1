package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/credence-ml/credence/spec"
)

// engine is the text of the engine with the bound of --prune.
func (f *streamFlags) engine() (string, error) {
	if f.prune == 0 {
		return f.Engine, nil
	}
	call, err := spec.ParseSpec(cmp.Or(f.Engine, "sep"))
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(call.Named, func(a spec.Argument) bool { return a.Key == "features" }) {
		return "", fmt.Errorf("--prune and features= of --engine say the same: keep one")
	}
	call.Named = append(call.Named, spec.Argument{Key: "features", Value: spec.Number{Value: float64(f.prune)}})
	return call.String(), nil
}
