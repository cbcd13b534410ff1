package main

import (
	"fmt"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/spec"
)

// engineEntry is one engine as the command line knows it. This table is the only
// place that knows them all.
type engineEntry struct {
	name   string
	reason string // why auto chooses it
	// refuses says why the engine cannot fit the pair, "" if it can.
	refuses func(family credence.Likelihood, prior credence.Prior) string
	// automatic returns the call that auto makes for a model; nil means one without arguments.
	automatic func(model credence.Model) spec.Call
	// memory returns how many bytes a fit takes at the least beside bytesPerWeight, by
	// its call; nil means none worth counting.
	memory      func(call spec.Call, rows, weights float64) float64
	checkpoints bool // it writes and takes up --checkpoint
	// configure reads the arguments.
	configure func(run engineRun, a *spec.Arguments) engineMaker
}

// engineMaker is an engine with its options, for any model.
type engineMaker struct {
	validate func() error // refuses options that make no sense, whatever the model
	make     func(credence.Model) (credence.Engine, error)
}

// engineRun is what engines take from the command line besides their arguments.
type engineRun struct {
	seed       uint64
	threads    int
	checkpoint string
	progress   func(credence.Progress)
}

// engines lists the engines in the order in which messages name them.
func engines() []engineEntry {
	return []engineEntry{exactEngine(), sviEngine(), sepEngine()}
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
			maker := e.configure(engineRun{}, a)
			if err := a.Finish(); err != nil {
				return nil, misused(err)
			}
			return choice, misused(maker.validate())
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
			return fmt.Errorf("no engine of this version fits family %v with prior %v: %s", family, p, reasons(family, p))
		}
		return nil
	}
	reason := c.entry.refuses(family, p)
	if reason == "" {
		return nil
	}
	others := able(family, p)
	if len(others) == 0 {
		return fmt.Errorf("engine %s cannot fit this model: %s; nor can any other of this version: %s", c.entry.name, reason, reasons(family, p))
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

// reasons says why no engine can fit a pair, and so what each of them can.
func reasons(family credence.Likelihood, p credence.Prior) string {
	var list []string
	for _, e := range engines() {
		if reason := e.refuses(family, p); reason != "" {
			list = append(list, e.name+": "+reason)
		}
	}
	return strings.Join(list, "; ")
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
				return nil, "", fmt.Errorf("the model has %d weights and %d rows, and the exact engine takes the smaller of the two up to %d: use fewer features, or ask for --engine exact, which takes long, or --engine svi, which approximates",
					weights, rows, largestExact)
			}
			return &e, e.reason, nil
		}
		return &e, e.reason, nil
	}
	return nil, "", fmt.Errorf("no engine fits this model: %s", reasons(model.Likelihood, model.Prior))
}

// resolve returns the call of the engine, which auto makes, and the text that it was
// parsed from.
func (c *engineChoice) resolve(entry *engineEntry, model credence.Model) (call spec.Call, source string) {
	if c.entry != nil {
		return c.call, c.source
	}
	if entry.automatic != nil {
		return entry.automatic(model), ""
	}
	return spec.Call{Name: entry.name}, ""
}

// build makes the engine, and returns the call that makes it again.
func (c *engineChoice) build(run engineRun, entry *engineEntry, model credence.Model) (credence.Engine, spec.Call, error) {
	call, source := c.resolve(entry, model)
	a := spec.NewArguments(call, source)
	maker := entry.configure(run, a)
	if err := a.Finish(); err != nil {
		return nil, call, err
	}
	engine, err := maker.make(model)
	return engine, call, err
}
