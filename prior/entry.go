package prior

import (
	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/spec"
)

// Named is a prior with a name, as a table of priors holds it.
type Named interface {
	credence.Prior
	// Name is the name in the text form, without arguments.
	Name() string
}

// Entry is a prior in a table: its name, how its arguments are read, and its type for model files.
type Entry = spec.Entry[Named]

// All returns the priors of this package, in the order of messages.
func All() []Entry {
	return []Entry{
		{Zero: Normal{}, Read: readNormal},
		{Zero: SpikeSlab{}, Read: readSpikeSlab},
	}
}
