package hyper

import "fmt"

// Treatment says what is done about hyper-parameters that are not stated.
type Treatment string

// The treatments. The empty one is the engine's default.
const (
	Integrate         Treatment = "integrate" // integrated under their priors
	Mode              Treatment = "mode"      // the mode under the same priors
	MaximumLikelihood Treatment = "ml"        // type-II maximum likelihood: no priors
)

// Held is what a report says where every hyper-parameter is stated.
const Held = "held"

// Validate refuses any other word.
func (t Treatment) Validate() error {
	switch t {
	case "", Integrate, Mode, MaximumLikelihood:
		return nil
	}
	return fmt.Errorf("hyper=%s is none of integrate, mode and ml", string(t))
}
