package fit_test

import (
	"fmt"

	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// pull is a prior of a program's own: N(0, 1/Strength) on every weight.
type pull struct {
	Strength float64 `json:"strength"`
}

func (pull) Name() string     { return "pull" }
func (p pull) String() string { return fmt.Sprintf("pull(strength=%g)", p.Strength) }

func readPull(a *spec.Arguments) prior.Named {
	return pull{a.Float("strength", 1, spec.Positive())}
}
