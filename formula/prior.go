package formula

import (
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// priorReader makes a prior from its arguments; a holds the complaints.
type priorReader struct {
	name string
	read func(a *spec.Arguments) credence.Prior
}

// priors is the table of priors, in the order of messages.
func priors() []priorReader {
	return []priorReader{
		{"normal", readNormal},
		{"spikeslab", readSpikeSlab},
	}
}

func readNormal(a *spec.Arguments) credence.Prior {
	p := prior.Normal{Variance: a.Setting("variance", spec.Positive()), ARD: a.Bool("ard", false)}
	if written, ok := a.Argument("ard"); ok && p.ARD && p.Variance.State == param.Held {
		a.Errorf(written, "ard=true learns a variance for each weight, and variance= holds them all").
			WithRemedy("leave out one of the two, or write such as variance=~1 for a starting guess")
	}
	return p
}

func readSpikeSlab(a *spec.Arguments) credence.Prior {
	p := prior.SpikeSlab{
		Inclusion: a.Setting("inclusion", spec.Fraction()),
		Slab:      a.Setting("slab", spec.Positive()),
		Spike:     a.Setting("spike", spec.AtLeast(0)),
	}
	if err := p.Validate(); err != nil {
		if written, ok := a.Argument("spike"); ok {
			a.Errorf(written, "%v", err)
		}
	}
	return p
}

// ParsePrior reads a prior: its name, or name(key=value, …). An empty text is
// normal. An error is a [*spec.Error]. The prior's String parses back to it.
func ParsePrior(text string) (credence.Prior, error) {
	if text == "" {
		return prior.Normal{}, nil
	}
	call, err := spec.ParseSpec(text)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, candidate := range priors() {
		if candidate.name != call.Name {
			names = append(names, candidate.name)
			continue
		}
		a := spec.NewArguments(call, text)
		p := candidate.read(a)
		if err := a.Finish(); err != nil {
			return nil, err
		}
		return p, nil
	}
	at := call
	at.Length = len(call.Name)
	return nil, spec.Errorf(text, at, "there is no prior %q in this version", call.Name).
		WithRemedy("write %s", sentence(names)).DidYouMean(call.Name, names)
}

// sentence joins names for a remedy.
func sentence(names []string) string {
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}
