package fit

import (
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/modelfile"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// Registry lists the parts that texts may name, in the order in which messages name them: engines,
// and the parts of models, which model files name too. Of engines auto takes the first that says so.
type Registry struct {
	modelfile.Parts
	Engines []Engine
}

// Default returns the registry of this module. Every call returns a new one, which the caller may
// change:
//
//	registry := fit.Default()
//	registry.Engines = append(registry.Engines, mine)
func Default() *Registry {
	return &Registry{Parts: modelfile.DefaultParts(), Engines: []Engine{exactEngine(), sviEngine(), epEngine(), gibbsEngine(), laplaceEngine(), convexEngine(), sepEngine(), ftrlEngine(), adPredictorEngine(), sgdEngine(),
		penalisedEngine("lasso", 1, 0), penalisedEngine("elasticnet", 0.5, 0), penalisedEngine("ridge", 0, 0), penalisedEngine("cappedl1", 1, 2)}}
}

// Engine is an engine as texts name it. Only Name and one of Batch and Online are needed.
type Engine struct {
	Name   string
	About  string // what it is, in a line
	Reason string // why auto chooses it
	// AskedFor says that the engine is a baseline, which neither auto nor a message proposes.
	AskedFor bool
	// Family and Prior are those of a model whose options state none; "" where the target tells the
	// family, and where the prior is normal.
	Family, Prior string
	// Priorless says that weights have no prior: what pulls them is the engine's own.
	Priorless bool
	// Refuses says why the engine cannot fit the pair, "" if it can.
	Refuses func(family credence.Likelihood, prior credence.Prior) string
	// Automatic returns the call that auto makes for a model, maybe of another engine, with the reason where it is
	// not that engine's own, or refuses its size; nil means a call without arguments.
	Automatic func(model credence.Model, rows int) (call spec.Call, reason string, err error)
	// Memory returns how many bytes a fit takes at the least beside mean, variance and prior
	// variance of every weight, by its call and the prior; nil means none worth counting.
	Memory func(call spec.Call, prior credence.Prior, rows, weights float64) float64
	// Groups says whether a call fits effects of groups, as (1 | g) has; nil means that none does.
	Groups func(call spec.Call) bool
	// Eliminates says that a call leaves the weights of the levels of a category of many out of those that Memory is
	// asked for; nil means that none does. See problem.Rest.
	Eliminates func(call spec.Call) bool
	// Crosses says that it solves by conjugate gradients where the two largest keys are crossed, so that the weights of
	// the second are none that Memory is asked for. See problem.Crossed.
	Crosses bool
	// Checkpoints says that it writes and takes up Options.Checkpoint.
	Checkpoints bool
	// Batch reads the arguments and returns what makes the engine for a model; it refuses arguments
	// that make no sense together. Nil: the engine learns online only.
	Batch func(with Settings, a *spec.Arguments) (Maker, error)
	// Online reads the arguments of an online learner, and refuses a prior that is not its own; nil:
	// the engine needs a table.
	Online func(a *spec.Arguments, prior credence.Prior) (Online, error)
}

// Options are the arguments of the engine, those of batch first: nothing is fitted.
func (e *Engine) Options() (options []spec.Option) {
	if e.Batch != nil {
		a := spec.NewArguments(spec.Call{Name: e.Name}, "")
		_, _ = e.Batch(Settings{}, a)
		options = a.Options()
	}
	if e.Online != nil {
		a := spec.NewArguments(spec.Call{Name: e.Name}, "")
		_, _ = e.Online(a, prior.SpikeSlab{})
		for _, o := range a.Options() {
			if !slices.ContainsFunc(options, func(known spec.Option) bool { return known.Key == o.Key }) {
				options = append(options, o)
			}
		}
	}
	return options
}

// Maker makes an engine for a model.
type Maker func(credence.Model) (credence.Engine, error)

// Settings are what an engine takes from Options beside its arguments.
type Settings struct {
	Prior      credence.Prior // of the model; nil where all arguments of the engine are to be read
	Seed       uint64
	Threads    int
	Checkpoint string
	Progress   func(credence.Progress)
}

// misplaced refuses arguments that an engine has for another prior than the run's.
func (s *Settings) misplaced(a *spec.Arguments, other string, keys ...string) {
	for _, key := range keys {
		if written, stated := a.Argument(key); stated && s.Prior != nil {
			a.Errorf(written, "%s is an option for the prior %s, not for %v", key, other, s.Prior).WithRemedy("leave it out, or use --prior %s", other)
		}
	}
}

// refuses is Refuses of an engine that fits tables.
func (e *Engine) refuses(family credence.Likelihood, prior credence.Prior) string {
	switch {
	case e.Batch == nil:
		return "it learns online: use the command stream or package learn"
	case e.Refuses == nil:
		return ""
	}
	return e.Refuses(family, prior)
}
