package main

import (
	"fmt"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/exact"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// engineEntry is one engine as the command line knows it. This table is the only
// place that knows them all.
type engineEntry struct {
	name, summary string
	// refuses says why the engine cannot fit the pair, "" if it can.
	refuses func(family credence.Likelihood, prior credence.Prior) string
	// configure reads the arguments and returns what makes the engine.
	configure func(p *program, a *spec.Arguments, report func(credence.Progress)) func(credence.Model) (credence.Engine, error)
}

// engines lists the engines in the order in which messages name them.
func engines() []engineEntry {
	return []engineEntry{exactEngine()}
}

func exactEngine() engineEntry {
	return engineEntry{
		name:    "exact",
		summary: "Bayesian linear regression, type-II maximum likelihood over all hyper-parameters",
		refuses: func(family credence.Likelihood, p credence.Prior) string {
			if _, ok := family.(likelihood.Gaussian); !ok {
				return fmt.Sprintf("it needs the family gaussian, not %v", family)
			}
			if _, ok := p.(prior.Normal); !ok {
				return fmt.Sprintf("it needs the prior normal, not %v", p)
			}
			return ""
		},
		configure: func(p *program, a *spec.Arguments, report func(credence.Progress)) func(credence.Model) (credence.Engine, error) {
			config := exact.Config{
				Starts:        a.Int("starts", 0, spec.AtLeast(1)),
				Draws:         a.Int("draws", 0, spec.AtLeast(1)),
				MaxIterations: a.Int("iterations", 0, spec.AtLeast(1)),
				Tolerance:     a.Float("tolerance", 0, spec.Positive()),
				ScreenRows:    a.Int("screen", 0, spec.AtLeast(1)),
				PolishRows:    a.Int("polish", 0, spec.AtLeast(1)),
				Seed:          p.seed,
				Threads:       p.threads,
				Progress:      report,
			}
			return func(model credence.Model) (credence.Engine, error) { return exact.New(model, config) }
		},
	}
}

// engineChoice is --engine as given.
type engineChoice struct {
	call   spec.Call
	source string
	entry  *engineEntry // nil for auto
}

// parseEngine reads --engine and refuses unknown names.
func parseEngine(text string) (*engineChoice, error) {
	if text == "" {
		text = "auto"
	}
	call, err := spec.ParseSpec(text)
	if err != nil {
		return nil, misused(err)
	}
	choice := &engineChoice{call: call, source: text}
	if call.Name == "auto" {
		if len(call.Args)+len(call.Named) > 0 {
			return nil, misused(spec.Errorf(text, call, "auto takes no arguments").WithRemedy("name the engine whose arguments these are"))
		}
		return choice, nil
	}
	var names []string
	for _, e := range engines() {
		if e.name == call.Name {
			choice.entry = &e
			// Arguments are checked now, before any data are opened.
			a := spec.NewArguments(call, text)
			e.configure(&program{}, a, nil)
			if err := a.Finish(); err != nil {
				return nil, misused(err)
			}
			return choice, nil
		}
		names = append(names, e.name)
	}
	return nil, misused(spec.Errorf(text, call, "there is no engine %q in this version", call.Name).
		WithRemedy("use auto, %s", strings.Join(names, ", ")))
}

// check refuses a model that the stated engine cannot fit, naming those that can.
func (c *engineChoice) check(family credence.Likelihood, p credence.Prior) error {
	if c.entry == nil {
		if len(able(family, p)) == 0 {
			return fmt.Errorf("no engine of this version fits family %v with prior %v: %s", family, p, supported())
		}
		return nil
	}
	reason := c.entry.refuses(family, p)
	if reason == "" {
		return nil
	}
	others := able(family, p)
	if len(others) == 0 {
		return fmt.Errorf("engine %s cannot fit this model: %s; %s", c.entry.name, reason, supported())
	}
	return fmt.Errorf("engine %s cannot fit this model: %s; use --engine %s", c.entry.name, reason, strings.Join(others, " or "))
}

// able names the engines that fit the pair.
func able(family credence.Likelihood, p credence.Prior) []string {
	var names []string
	for _, e := range engines() {
		if e.refuses(family, p) == "" {
			names = append(names, e.name)
		}
	}
	return names
}

// supported says what the engines can fit.
func supported() string {
	var lines []string
	for _, e := range engines() {
		lines = append(lines, e.name+" is "+e.summary)
	}
	return strings.Join(lines, "; ")
}

// largestExact is the largest min(rows, weights) that auto gives to exact, whose
// cost is cubic in it.
const largestExact = 10_000

// choose settles on an engine for a model of known size, and says why.
func (c *engineChoice) choose(model credence.Model, rows int) (entry *engineEntry, why string, err error) {
	if err := c.check(model.Likelihood, model.Prior); err != nil {
		return nil, "", err
	}
	if c.entry != nil {
		return c.entry, "as asked for", nil
	}
	weights := model.Features.Weights()
	for _, e := range engines() {
		if e.refuses(model.Likelihood, model.Prior) != "" {
			continue
		}
		if e.name == "exact" {
			if min(rows, weights) > largestExact {
				return nil, "", fmt.Errorf("the model has %d weights and %d rows, and the exact engine takes the smaller of the two up to %d: use fewer features, or ask for --engine exact",
					weights, rows, largestExact)
			}
			return &e, "a Gaussian family with a normal prior has a closed form", nil
		}
		return &e, "the first engine that fits this family and prior", nil
	}
	return nil, "", fmt.Errorf("no engine fits this model: %s", supported())
}

// build makes the engine.
func (c *engineChoice) build(p *program, entry *engineEntry, model credence.Model, report func(credence.Progress)) (credence.Engine, error) {
	call, source := c.call, c.source
	if c.entry == nil {
		call, source = spec.Call{Name: entry.name}, ""
	}
	a := spec.NewArguments(call, source)
	make := entry.configure(p, a, report)
	if err := a.Finish(); err != nil {
		return nil, err
	}
	return make(model)
}

// text is the engine in words that fit it again: the options stated, under the
// name chosen.
func (c *engineChoice) text(entry *engineEntry) string {
	if c.entry == nil {
		return entry.name
	}
	return c.call.String()
}
