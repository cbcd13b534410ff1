package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/formula"
	"github.com/credence-ml/credence/infer/online"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/sep"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/safetensors"
	"github.com/credence-ml/credence/spec"
)

// Online is an online engine with its options, for package learn.
type Online struct {
	Engine string // its name
	Call   string // the text that makes it again
	Prior  string // the text of its prior, "" if it has none
	Passes int    // over the data
	Timed  bool   // rows need a time: Options.Time
	// New returns a learner that has seen nothing, Restore that of a state.
	New     func() (credence.Online, error)
	Restore func(document []byte, r *safetensors.Reader) (credence.Online, error)
}

// ParseHalfLife reads [Options].HalfLife: a number of days where it has a unit, else one in the unit of the column of
// times.
func ParseHalfLife(text string) (value float64, days bool, err error) {
	number, length := text, 1.0
	for _, unit := range []struct {
		name string
		days float64
	}{{"w", 7}, {"d", 1}, {"h", 1.0 / 24}, {"m", 1.0 / (24 * 60)}, {"s", 1.0 / (24 * 3600)}} {
		if cut, found := strings.CutSuffix(text, unit.name); found {
			number, length, days = cut, unit.days, true
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !(v > 0) || math.IsInf(v, 1) {
		return 0, false, fmt.Errorf("%s is no time: write for example 7d, 12h or 30m for a column of dates, or a number in the unit of the column", text)
	}
	return v * length, days, nil
}

// NewOnline reads engine and prior of the options for an online learner. Without them they are sep
// and spikeslab. An error is [ErrMisuse].
func NewOnline(options Options) (*Online, error) {
	if options.Registry == nil {
		options.Registry = Default()
	}
	if err := options.validate(); err != nil {
		return nil, err
	}
	text, priorText := options.Engine, options.Prior
	if text == "" || text == "auto" {
		text = "sep"
	}
	if priorText == "" {
		priorText = "spikeslab"
	}
	p, err := formula.ParsePrior(priorText, options.Registry.Priors)
	if err != nil {
		return nil, &Misuse{"prior", err}
	}
	entry, call, err := options.Registry.find(text, true)
	if err != nil {
		return nil, &Misuse{"engine", err}
	}
	if options.HalfLife != "" {
		if slices.ContainsFunc(call.Named, func(a spec.Argument) bool { return a.Key == "half_life" }) {
			return nil, &Misuse{"half_life", errors.New("half_life= of the engine and it say the same: keep one")}
		}
		value, _, err := ParseHalfLife(options.HalfLife)
		if err == nil && options.Time == "" {
			err = errors.New("it goes with the column of times: state both, as --half-life 7d --time day")
		}
		if err != nil {
			return nil, &Misuse{"half_life", err}
		}
		call.Named = append(call.Named, spec.Argument{Key: "half_life", Value: spec.Number{Value: value}})
		text = call.String()
	}
	a := spec.NewArguments(call, text)
	o, err := entry.Online(a, p)
	if unread := a.Finish(); unread != nil {
		err = unread
	}
	if err == nil && o.Prior == "" && priorText != "spikeslab" {
		err = fmt.Errorf("engine %s has no prior: leave --prior out, or use --engine sep", entry.Name)
	}
	if err == nil {
		_, err = o.New() // refuses options that do not go together
	}
	if err == nil && o.Timed != (options.Time != "") {
		err = fmt.Errorf("half_life and the column of times go together: state both, as sep(half_life=7) and --time day, or neither")
	}
	if err != nil {
		return nil, &Misuse{"engine", err}
	}
	o.Engine, o.Call = entry.Name, call.String()
	return &o, nil
}

func onlineSEP(a *spec.Arguments, p credence.Prior) (Online, error) {
	config := sep.Config{Passes: 1}
	a.Fields(append(config.Fields(), config.StreamFields()...))
	slab, ok := p.(prior.SpikeSlab)
	switch {
	case !ok:
		return Online{}, fmt.Errorf("it needs the prior spikeslab, not %v", p)
	case slab.Validate() != nil:
		return Online{}, slab.Validate()
	case slab.Spike.State != param.Learned && slab.Spike.Value != 0:
		return Online{}, fmt.Errorf("engine sep has its spike at 0: leave spike=%v out", slab.Spike.Value)
	}
	hyper := sep.Hyper{Inclusion: slab.Inclusion, Slab: slab.Slab}
	return Online{
		Prior: slab.String(), Passes: config.Passes, Timed: config.HalfLife > 0, Restore: sep.RestoreOnline,
		New: func() (credence.Online, error) { return sep.NewOnline(config, hyper) },
	}, nil
}

func ftrlEngine() Engine {
	return Engine{Name: "ftrl", About: "the baseline follow-the-regularised-leader, proximal; under stream", Online: func(a *spec.Arguments, _ credence.Prior) (Online, error) {
		config := online.FTRLConfig{L1: 1}
		a.Fields(config.Fields())
		return without(a, problem.MostPasses, online.NewFTRL, config.Tried(), online.RestoreFTRL)
	}}
}

func adPredictorEngine() Engine {
	return Engine{Name: "adpredictor", About: "the baseline adPredictor; under stream", Online: func(a *spec.Arguments, _ credence.Prior) (Online, error) {
		var config online.AdPredictorConfig
		a.Fields(config.Fields())
		return without(a, 1, online.NewAdPredictor, config.Tried(), online.RestoreAdPredictor)
	}}
}

func sgdEngine() Engine {
	return Engine{Name: "sgd", About: "the baseline stochastic gradient descent; under stream", Online: func(a *spec.Arguments, _ credence.Prior) (Online, error) {
		var config online.SGDConfig
		a.Fields(config.Fields())
		return without(a, problem.MostPasses, online.NewSGD, config.Tried(), online.RestoreSGD)
	}}
}

// without returns an engine without a prior, which tries several settings where there are.
func without[C any, T ability.Continuer](a *spec.Arguments, most float64, make func(C) T, settings []C, restore func([]byte, *safetensors.Reader) (T, error)) (Online, error) {
	return Online{
		Passes: a.Means("passes over the data", "").Int("passes", 1, spec.Between(1, most)),
		New: func() (credence.Online, error) {
			var learners []ability.Continuer
			for _, config := range settings {
				learners = append(learners, make(config))
			}
			if len(learners) == 1 {
				return learners[0], nil
			}
			return online.NewTrial(learners), nil
		},
		Restore: func(document []byte, r *safetensors.Reader) (credence.Online, error) {
			return online.RestoreTrial(document, r, restore)
		},
	}, nil
}
