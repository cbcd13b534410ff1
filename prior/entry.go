package prior

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// Named is a prior with a name, as a table of priors holds it.
type Named interface {
	credence.Prior
	// Name is the name in the text form, without arguments.
	Name() string
}

// Parametric is the ability of a prior to have its parameters learned, as likelihoods have it.
type Parametric interface {
	Named
	// Parameters lists the parameters, held ones included, by their names in the text form.
	Parameters() []param.Named
	// WithParameters returns the prior at other values, one for each of Parameters, of the
	// same concrete type and in the same states.
	WithParameters(values []float64) Named
}

// Dense is the ability of a prior whose weights have a density: pictures show it.
type Dense interface {
	credence.UnseenPrior
	// LogDensity returns the log density of a weight of the block, at what the fit learned.
	LogDensity(block credence.Block, weight float64) float64
}

// stated builds the text form of a prior with its parameters.
func stated(p Parametric) *param.Text {
	t := &param.Text{Name: p.Name()}
	for _, parameter := range p.Parameters() {
		t.Parameter(parameter.Name, parameter.Parameter)
	}
	return t
}

// checkStates refuses parameters in states that there are not.
func checkStates(p Parametric) error {
	for _, parameter := range p.Parameters() {
		if parameter.State > param.Held {
			return fmt.Errorf("prior: %s: %s is in the unknown state %d: hold it, guess it, or leave it out", p.Name(), parameter.Name, parameter.State)
		}
	}
	return nil
}

// Entry is a prior in a table: its name, how its arguments are read, and its type for model files.
type Entry = spec.Entry[Named]

// All returns the priors of this package, in the order of messages.
func All() []Entry {
	return []Entry{
		{Zero: Normal{}, Read: readNormal},
		{Zero: SpikeSlab{}, Read: readSpikeSlab},
		{Zero: Laplace{}, Read: readLaplace},
		{Zero: StudentT{}, Read: readStudentT},
		{Zero: Horseshoe{}, Read: readHorseshoe},
	}
}
