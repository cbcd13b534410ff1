package fit

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// choice is Options.Engine as given.
type choice struct {
	registry *Registry
	call     spec.Call
	source   string
	entry    *Engine // nil for auto
	// selecting says that the prior is what the fit is for: none other is a remedy.
	selecting bool
}

// normal names the prior of an engine that has none of its own.
const normal = "normal"

// parseEngine reads Options.Engine, and refuses unknown names and arguments.
func parseEngine(text string, registry *Registry) (*choice, error) {
	c := &choice{registry: registry, source: text}
	if text == "" || text == "auto" {
		return c, nil
	}
	var err error
	if c.entry, c.call, err = registry.find(text, false); err == nil {
		_, err = c.maker(Settings{}, c.entry, c.call) // arguments are checked now, before any data are read
	}
	return c, err
}

// find returns the engine that a text names, of those that learn online or of the others.
func (r *Registry) find(text string, online bool) (*Engine, spec.Call, error) {
	call, err := spec.ParseSpec(text)
	if err != nil {
		return nil, call, err
	}
	var names []string
	problem := "there is no engine %q in this version"
	if !online {
		names = append(names, "auto")
		if call.Name == "auto" {
			return nil, call, spec.Errorf(text, call, "auto takes no arguments").WithRemedy("name the engine whose arguments these are")
		}
	}
	for i := range r.Engines {
		switch e := &r.Engines[i]; {
		case online && e.Online != nil || !online && e.Batch != nil:
			if names = append(names, e.Name); e.Name == call.Name {
				return e, call, nil
			}
		case e.Name == call.Name && online:
			problem = "engine %q needs a table that can be read again: it is one of the command fit"
		case e.Name == call.Name:
			problem = "engine %q learns online, from rows as they come: it is one of the command stream"
		}
	}
	at := call
	at.Length = len(call.Name)
	return nil, call, spec.Errorf(text, at, problem, call.Name).WithRemedy("use %s", strings.Join(names, ", ")).DidYouMean(call.Name, names)
}

// check refuses a model that the stated engine cannot fit, naming those that can.
func (c *choice) check(family credence.Likelihood, p credence.Prior) error {
	stated, _, _ := strings.Cut(fmt.Sprint(p), "(")
	var able, stating, reasons []string
	for i := range c.registry.Engines {
		e := &c.registry.Engines[i]
		if e.AskedFor {
			continue
		}
		if reason := e.refuses(family, p); reason == "" && !c.selecting && cmp.Or(e.Prior, normal) != stated {
			// which means another by itself
			stating = append(stating, fmt.Sprintf("--engine %s --prior %s", e.Name, stated))
		} else if reason == "" {
			able = append(able, e.Name)
		} else if e.Batch != nil {
			reasons = append(reasons, e.Name+": "+reason)
		}
	}
	why := strings.Join(reasons, "; ")
	if c.entry == nil {
		if len(able)+len(stating) == 0 {
			return fmt.Errorf("no engine of this version fits family %v with prior %v: %s", family, p, why)
		}
		return nil
	}
	reason := c.entry.refuses(family, p)
	if reason == "" {
		return nil
	}
	var remedies []string
	if c.selecting && c.entry.refuses(likelihood.Gaussian{}, prior.SpikeSlab{}) != "" && c.entry.refuses(likelihood.Bernoulli{Link: likelihood.Probit}, prior.SpikeSlab{}) != "" {
		reason = fmt.Sprintf("it does not fit the prior %s, under which features are selected", stated)
	} else if model := c.otherModel(family); model != "" && !c.selecting {
		remedies = append(remedies, model)
	}
	if len(able) > 0 {
		remedies = append(remedies, "--engine "+strings.Join(able, " or "))
	}
	remedies = append(remedies, stating...)
	if len(remedies) == 0 {
		return fmt.Errorf("engine %s cannot fit this model: %s; nor can any other of this version: %s", c.entry.Name, reason, why)
	}
	return fmt.Errorf("engine %s cannot fit this model: %s; use %s", c.entry.Name, reason, strings.Join(remedies, ", or "))
}

// ofGroups refuses what fits no effects of groups, such as those of the terms.
func (c *choice) ofGroups(terms []string, p credence.Prior) error {
	if len(terms) == 0 {
		return nil
	}
	_, key, _ := strings.Cut(strings.TrimSuffix(terms[0], ")"), " | ")
	use := fmt.Sprintf("use --engine exact for the family gaussian and --engine 'svi(covariance=full)' for others, or write onehot(%s)", key)
	if strings.Contains(key, ":") {
		use = strings.TrimSuffix(use, fmt.Sprintf("onehot(%s)", key)) + key
	}
	switch _, normal := p.(prior.Normal); {
	case c.selecting:
		return fmt.Errorf("select takes features in or leaves them out, and %s is no such feature: use fit, or write onehot(%s)", terms[0], key)
	case !normal:
		return fmt.Errorf("effects of groups, %s, are normal with a variance of their own, and prior %v is another law: leave --prior out; %s", terms[0], p, use)
	case c.entry != nil && (c.entry.Groups == nil || !c.entry.Groups(c.call)):
		return fmt.Errorf("engine %s does not fit effects of groups, %s: %s", c.entry.Name, terms[0], use)
	}
	return nil
}

// otherModel states a model that the engine asked for can fit: the one it means where none is stated, or the family
// with another prior; "" if there is none.
func (c *choice) otherModel(family credence.Likelihood) string {
	if e := c.entry; e.Family != "" {
		return fmt.Sprintf("--family '%s' --prior %s", e.Family, cmp.Or(e.Prior, normal))
	}
	var able []string
	for _, p := range c.registry.Priors {
		if c.entry.refuses(family, p.Zero) == "" {
			able = append(able, p.Zero.Name())
		}
	}
	if len(able) == 0 {
		return ""
	}
	return "--prior " + strings.Join(able, " or ")
}

// choose settles on an engine and its call for a model of known size, and says why.
func (c *choice) choose(model credence.Model, rows int) (entry *Engine, call spec.Call, why string, err error) {
	if err := c.check(model.Likelihood, model.Prior); err != nil {
		return nil, call, "", err
	}
	if c.entry != nil {
		return c.entry, c.call, "as asked for", nil
	}
	for i := range c.registry.Engines {
		e := &c.registry.Engines[i]
		if e.AskedFor || e.refuses(model.Likelihood, model.Prior) != "" {
			continue
		}
		call, reason := spec.Call{Name: e.Name}, ""
		if e.Automatic != nil {
			call, reason, err = e.Automatic(model, rows)
		}
		if call.Name != e.Name && err == nil { // another engine for a model of this size
			e, call, err = c.registry.find(call.String(), false)
		}
		return e, call, cmp.Or(reason, e.Reason), err
	}
	panic("fit: check found an engine and choose none")
}

// maker reads the arguments of a call.
func (c *choice) maker(with Settings, entry *Engine, call spec.Call) (Maker, error) {
	source := ""
	if c.entry != nil {
		source = c.source
	}
	a := spec.NewArguments(call, source)
	maker, err := entry.Batch(with, a)
	if unread := a.Finish(); unread != nil {
		return nil, unread
	}
	return maker, err
}
