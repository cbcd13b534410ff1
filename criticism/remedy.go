package criticism

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/posterior"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

const (
	// fewestKnots is the number of different values that s(x) asks for, and manyKnots what a curve is given that needs
	// more than the usual.
	fewestKnots, manyKnots = 4, 30
	// mostEffects is the number of weights up to which families without a closed form have effects of groups.
	mostEffects = 2000
)

// asked is what a model was asked to be, which remedies depend on.
type asked struct {
	terms   map[string]string // inputs and columns beside the model as a formula writes them
	blocks  []credence.Block
	calls   []spec.Call // smooth terms
	learned bool        // from a stream, whose formulas have no smooths
	// weights of a posterior with all covariances under a normal prior, as effects of groups ask for; 0 of others
	weights int
}

func askedOf(fitted *credence.Fitted) asked {
	a := asked{terms: map[string]string{}, calls: smoothsOf(fitted.Recipe.Formula)}
	switch fr := fitted.Frame.(type) {
	case nil:
	case *frame.Frame:
		for j := range fr.Inputs {
			column := fr.Inputs[j].Expr.Column
			a.terms[fr.Inputs[j].Name] = strings.Replace(fr.Inputs[j].Name, column, spec.Column{Name: column}.String(), 1)
		}
		a.terms[fr.TargetName()] = spec.Column{Name: fr.TargetName()}.String() // of a function no remedy makes another
	default:
		a.learned = true
	}
	model := fitted.Members[0].Model
	if model.Features != nil {
		a.blocks = model.Features.Blocks()
	}
	if _, normal := model.Prior.(prior.Normal); normal || model.Prior == nil {
		switch q := fitted.Members[0].Posterior.(type) {
		case *posterior.Full, *posterior.Dual, *posterior.DualSum, *posterior.Arrow:
			a.weights = q.Weights()
		}
	}
	return a
}

// term is a column as a formula writes it.
func (a *asked) term(name string) string { return cmp.Or(a.terms[name], name) }

// curve says what to do about a curve of a column.
func (s *sample) curve(name string) string {
	at := slices.IndexFunc(s.inputs, func(in column) bool { return in.name == name })
	term, values := s.term(name), distinct(s.inputs[at].values)
	for _, call := range s.calls {
		if call.Name == "s" && call.Args[0].String() == term {
			if finer, ok := s.finer(call, values); ok {
				return "give it more functions: " + finer.String()
			}
			values = 0 // of which it has one for each already, or nearly
		}
	}
	if values < fewestKnots {
		return fmt.Sprintf("add onehot(%s) to the formula", term)
	}
	return fmt.Sprintf("add s(%s) to the formula", term)
}

// surface says what to do about a curve of the prediction, which is of several columns.
func (s *sample) surface() string {
	if s.learned {
		return "add products of columns or powers, as poly(x, 3), to the formula"
	}
	return "add products of columns or rbf(.) to the formula"
}

// effects is a term for groups of rows: an effect of each with a law of its own, where the engine fits them.
func (s *sample) effects(group column, count int) string {
	switch term := s.term(group.name); {
	case s.weights > 0 && (s.kind.gaussian || s.weights+count <= mostEffects):
		return "(1 | " + term + ")"
	case group.category:
		return term
	default:
		return "onehot(" + term + ")"
	}
}
