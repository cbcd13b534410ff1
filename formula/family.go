package formula

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// Family is a family as a text states it. The zero value is one left out, which the
// target decides.
type Family struct {
	call   spec.Call
	source string
	stated likelihood.Named // nil when left out
	trials spec.Expr        // a column or transform, nil if none
}

// ParseFamily reads a family of a table, which is [likelihood.All] or a program's own: its
// name, or name(key=value, …). An empty text is the family left out. An error is a [*spec.Error].
//
// gaussian(variance=), bernoulli(link=logit|probit|cloglog), binomial(trials=column or number),
// poisson(link=log|softplus), negbinomial(size=), gamma(shape=), studentt(df=, scale=),
// ordinal(cutpoints=[…]).
func ParseFamily(text string, table []likelihood.Entry) (Family, error) {
	if text == "" {
		return Family{}, nil
	}
	stated, call, err := spec.Choose(text, "family", table)
	if err != nil {
		return Family{}, err
	}
	f := Family{call: call, source: text, stated: stated}
	if _, ok := stated.(likelihood.PerRow); ok {
		f.trials = trialsOf(call)
	}
	// Arguments have seen to single numbers; a list can still be out of order.
	if v, ok := stated.(likelihood.Validator); ok {
		if err := v.Validate(); err != nil {
			return Family{}, spec.Errorf(text, call, "%v", err)
		}
	}
	return f, nil
}

// trialsOf returns the column or transform that trials= names, nil for a number.
func trialsOf(call spec.Call) spec.Expr {
	for _, a := range call.Named {
		if _, number := a.Value.(spec.Number); a.Key == "trials" && !number {
			return a.Value
		}
	}
	return nil
}

// Name is the family's name, "" when it is left out.
func (f Family) Name() string { return f.call.Name }

// String is the text form, "" when the family is left out; ParseFamily reads it back.
func (f Family) String() string {
	if f.stated == nil {
		return ""
	}
	return f.call.String()
}

// Stated is the likelihood as far as the text states it, nil when it is left out.
func (f Family) Stated() credence.Likelihood {
	if f.stated == nil {
		return nil
	}
	return f.stated
}

// Possible are the likelihoods that the text leaves open: the stated one, or what the kinds of targets
// take by default.
func (f Family) Possible() []credence.Likelihood {
	if f.stated == nil {
		return []credence.Likelihood{likelihood.Gaussian{}, likelihood.Bernoulli{}}
	}
	return []credence.Likelihood{f.stated}
}

// ungraded is the family where it is one whose number of grades the data decide.
func (f Family) ungraded() (likelihood.Graded, bool) {
	g, ok := f.stated.(likelihood.Graded)
	return g, ok && g.Grades() == 0
}

// dispersed says whether rows may divide the dispersion of the family by a precision. Under any other
// a precision is a weight: its dispersion is fixed, or not of the form that a mean of several rows has.
func (f Family) dispersed() bool {
	_, ok := f.stated.(likelihood.Dispersed)
	return ok || f.stated == nil
}

// Options sets in o how the frame is to read the family's target.
func (f Family) Options(o frame.Options) frame.Options {
	_, ungraded := f.ungraded()
	_, kind := likelihood.Describe(f.stated)
	switch {
	case f.stated == nil:
		o.Mode = frame.Automatic
	case kind == likelihood.Classes:
		o.Mode = frame.Classes
	case ungraded:
		o.Mode = frame.Grades
	default:
		o.Mode = frame.Numbers
		o.CheckTarget = f.check
	}
	return o
}

// check says what is wrong with a target.
func (f Family) check(target, trials float64) error {
	part := likelihood.Family(f.stated)
	if f.trials != nil {
		// A column of trials: 0 would read as left out.
		if trials == 0 {
			return fmt.Errorf("trials are 0: leave out rows without trials")
		}
		part = f.stated.(likelihood.PerRow).WithTrials(trials)
	}
	if supported, ok := part.(likelihood.Supported); ok {
		return supported.CheckTarget(target)
	}
	return nil
}

// Likelihood returns the likelihood for the target of a fitted frame: the stated one, or the
// default of the target's kind.
func (f Family) Likelihood(fr *frame.Frame) (credence.Likelihood, error) {
	t := fr.Target
	switch {
	case t == nil:
		return nil, fmt.Errorf("formula: the model has no target: name one in the formula")
	case f.stated == nil && t.Mode == frame.Classes && fr.Precision != nil:
		return nil, fmt.Errorf("formula: target %s has classes, and their family, bernoulli, no dispersion for precision(%s) to divide: write weight(%s)", t.Expr, fr.Precision.Written(), fr.Precision.Written())
	case f.stated == nil && t.Mode == frame.Classes:
		return likelihood.Bernoulli{}, nil
	case f.stated == nil:
		return likelihood.Gaussian{}, nil
	}
	if g, ok := f.ungraded(); ok {
		return g.WithGrades(len(t.Levels)), nil
	}
	return f.stated, nil
}

// ParsePrior reads a prior of a table, which is [prior.All] or a program's own: its name, or
// name(key=value, …). An empty text is normal. An error is a [*spec.Error]. The prior's String
// parses back to it.
func ParsePrior(text string, table []prior.Entry) (credence.Prior, error) {
	if text == "" {
		return prior.Normal{}, nil
	}
	p, _, err := spec.Choose(text, "prior", table)
	if err != nil {
		return nil, err
	}
	return p, nil
}
