package formula

import (
	"fmt"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// Family is a family as a text states it. The zero value is one left out, which the
// target decides.
type Family struct {
	call    spec.Call
	source  string
	stated  credence.Likelihood // nil when left out
	trials  spec.Expr           // a column or transform, nil if none
	ordinal bool                // the number of grades comes from the data
}

// families are the names in the order of messages.
func families() []string {
	return []string{"gaussian", "bernoulli", "binomial", "poisson", "negbinomial", "gamma", "studentt", "ordinal"}
}

// ParseFamily reads a family: its name, or name(key=value, …). An empty text is
// the family left out. An error is a [*spec.Error].
//
// gaussian(variance=), bernoulli(link=logit|probit|cloglog), binomial(trials=column or number),
// poisson(link=log|softplus), negbinomial(size=), gamma(shape=), studentt(df=, scale=),
// ordinal(cutpoints=[…]).
func ParseFamily(text string) (Family, error) {
	if text == "" {
		return Family{}, nil
	}
	call, err := spec.ParseSpec(text)
	if err != nil {
		return Family{}, err
	}
	f := Family{call: call, source: text}
	a := spec.NewArguments(call, text)
	switch call.Name {
	case "gaussian":
		s := a.Setting("variance", spec.Positive())
		f.stated = likelihood.Gaussian{NoiseVariance: s.Value, Learn: s.State == param.Guess}
	case "bernoulli":
		f.stated = likelihood.Bernoulli{Link: likelihood.Link(a.Word("link", "",
			string(likelihood.Logit), string(likelihood.Probit), string(likelihood.Cloglog)))}
	case "binomial":
		f.stated = f.binomial(a)
	case "poisson":
		f.stated = likelihood.Poisson{Link: likelihood.Link(a.Word("link", "", string(likelihood.Log), string(likelihood.Softplus)))}
	case "negbinomial":
		s := a.Setting("size", spec.Positive())
		f.stated = likelihood.NegativeBinomial{Size: s.Value, Learn: s.State == param.Guess}
	case "gamma":
		s := a.Setting("shape", spec.Positive())
		f.stated = likelihood.Gamma{Shape: s.Value, Learn: s.State == param.Guess}
	case "studentt":
		df, scale := a.Setting("df", spec.Positive()), a.Setting("scale", spec.Positive())
		f.stated = likelihood.StudentT{
			DegreesOfFreedom: df.Value, LearnDegreesOfFreedom: df.State == param.Guess,
			Scale: scale.Value, LearnScale: scale.State == param.Guess,
		}
	case "ordinal":
		s := a.Settings("cutpoints", spec.Finite())
		f.stated, f.ordinal = likelihood.Ordinal{Cutpoints: s.Values, Learn: s.State == param.Guess}, len(s.Values) == 0
	default:
		at := call
		at.Length = len(call.Name)
		return Family{}, spec.Errorf(text, at, "there is no family %q", call.Name).
			WithRemedy("the families are %s", sentence(families())).DidYouMean(call.Name, families())
	}
	if err := a.Finish(); err != nil {
		return Family{}, err
	}
	// Finish has seen to single numbers; a list can still be out of order.
	if v, ok := f.stated.(likelihood.Validator); ok {
		if err := v.Validate(); err != nil {
			return Family{}, spec.Errorf(text, call, "%v", err)
		}
	}
	return f, nil
}

// binomial reads trials=, a number for all rows or a column.
func (f *Family) binomial(a *spec.Arguments) credence.Likelihood {
	trials, ok := a.Argument("trials")
	if !ok {
		return likelihood.Binomial{}
	}
	if _, ok := trials.Value.(spec.Number); ok {
		return likelihood.Binomial{Trials: float64(a.Int("trials", 0, spec.AtLeast(1)))}
	}
	if trials.Guess {
		a.Errorf(trials, "trials are not learned, so they cannot be a starting guess").WithRemedy("drop the ~")
	}
	f.trials = trials.Value
	return likelihood.Binomial{}
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
func (f Family) Stated() credence.Likelihood { return f.stated }

// Options sets in o how the frame is to read the family's target.
func (f Family) Options(o frame.Options) frame.Options {
	switch {
	case f.stated == nil:
		o.Mode = frame.Automatic
	case f.call.Name == "bernoulli":
		o.Mode = frame.Classes
	case f.ordinal:
		o.Mode = frame.Grades
	default:
		o.Mode = frame.Numbers
		o.CheckTarget = f.check
	}
	return o
}

// check says what is wrong with a target.
func (f Family) check(target, trials float64) error {
	part := f.stated
	if f.trials != nil {
		// A column of trials: 0 would read as left out.
		if trials == 0 {
			return fmt.Errorf("trials are 0: leave out rows without trials")
		}
		part = likelihood.Binomial{Trials: trials}
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
	case f.stated == nil && t.Mode == frame.Classes:
		return likelihood.Bernoulli{}, nil
	case f.stated == nil:
		return likelihood.Gaussian{}, nil
	case f.ordinal:
		return likelihood.OrdinalGrades(len(t.Levels)), nil
	}
	return f.stated, nil
}
