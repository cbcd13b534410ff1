package main

import (
	"fmt"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/online"
	"github.com/credence-ml/credence/infer/sep"
	"github.com/credence-ml/credence/internal/safetensors"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// streamEngine is one engine of the stream command.
type streamEngine struct {
	name      string
	configure func(a *spec.Arguments, p prior.SpikeSlab) (streamEngineChoice, error)
	restore   func(document []byte, r *safetensors.Reader) (credence.Online, error)
}

// streamEngineChoice is an engine with its options.
type streamEngineChoice struct {
	learner  func() (credence.Online, error) // makes one
	step     int                             // rows of a batch; 0 means the reader's own
	passes   int
	hasPrior bool // the spike-and-slab prior
}

// streamEngines lists the engines of the stream command.
func streamEngines() []streamEngine {
	return []streamEngine{
		{"sep", configureSEP, sep.RestoreOnline},
		{"ftrl", configureFTRL, restorer(online.RestoreFTRL)},
		{"adpredictor", configureAdPredictor, restorer(online.RestoreAdPredictor)},
		{"sgd", configureSGD, restorer(online.RestoreSGD)},
	}
}

// restorer gives the restoring function of one learner the type of them all.
func restorer[T credence.Online](restore func([]byte, *safetensors.Reader) (T, error)) func([]byte, *safetensors.Reader) (credence.Online, error) {
	return func(document []byte, r *safetensors.Reader) (credence.Online, error) {
		l, err := restore(document, r)
		if err != nil {
			return nil, err
		}
		return l, nil
	}
}

// parseStreamEngine reads --engine and --prior.
func parseStreamEngine(text string, p prior.SpikeSlab, priorStated bool) (streamEngine, streamEngineChoice, error) {
	call, err := spec.ParseSpec(text)
	if err != nil {
		return streamEngine{}, streamEngineChoice{}, err
	}
	if call.Name == "auto" && len(call.Args)+len(call.Named) == 0 {
		call.Name = "sep"
	}
	var names []string
	for _, e := range streamEngines() {
		names = append(names, e.name)
		if e.name != call.Name {
			continue
		}
		a := spec.NewArguments(call, text)
		choice, err := e.configure(a, p)
		if finished := a.Finish(); finished != nil {
			return e, choice, finished
		}
		if err != nil {
			return e, choice, err
		}
		if priorStated && !choice.hasPrior {
			return e, choice, fmt.Errorf("engine %s has no prior: leave --prior out, or use --engine sep", e.name)
		}
		if choice.learner != nil {
			_, err = choice.learner()
		}
		return e, choice, err
	}
	at := call
	at.Length = len(call.Name)
	return streamEngine{}, streamEngineChoice{}, spec.Errorf(text, at, "stream has no engine %q", call.Name).
		WithRemedy("use %s", strings.Join(names, ", ")).DidYouMean(call.Name, names)
}

func configureSEP(a *spec.Arguments, p prior.SpikeSlab) (streamEngineChoice, error) {
	cfg := sep.Config{
		Batch:          a.Int("batch", 0, spec.AtLeast(1)),
		PriorEvery:     a.Int("prior_every", 0, spec.AtLeast(1)),
		Passes:         a.Int("passes", 1, spec.AtLeast(1)),
		PositiveWeight: a.Float("positive_weight", 0, spec.Positive()),
		NegativeWeight: a.Float("negative_weight", 0, spec.Positive()),
		Forget:         a.Float("forget", 0, spec.AtLeast(1)),
		Prune:          a.Float("prune", 0, spec.Positive(), spec.Between(0, 0.5)),
		Shards:         a.Int("shards", 0, spec.Between(1, 64)),
	}
	choice := streamEngineChoice{passes: cfg.Passes, hasPrior: true}
	if p.Spike.State != param.Learned && p.Spike.Value != 0 {
		return choice, fmt.Errorf("engine sep has its spike at 0: leave spike=%v out", p.Spike.Value)
	}
	hyper := sep.Hyper{Inclusion: p.Inclusion, Slab: p.Slab}
	choice.learner = func() (credence.Online, error) { return sep.NewOnline(cfg, hyper) }
	return choice, nil
}

func configureFTRL(a *spec.Arguments, _ prior.SpikeSlab) (streamEngineChoice, error) {
	cfg := online.FTRLConfig{
		Alpha: a.Float("alpha", 0, spec.Positive()), Beta: a.Float("beta", 0, spec.Positive()),
		L1: a.Float("l1", 1, spec.AtLeast(0)), L2: a.Float("l2", 0, spec.AtLeast(0)),
	}
	return streamEngineChoice{passes: a.Int("passes", 1, spec.AtLeast(1)), learner: func() (credence.Online, error) {
		return online.NewFTRL(cfg), nil
	}}, nil
}

func configureAdPredictor(a *spec.Arguments, _ prior.SpikeSlab) (streamEngineChoice, error) {
	cfg := online.AdPredictorConfig{Variance: a.Float("variance", 0, spec.Positive()), Beta: a.Float("beta", 0, spec.Positive())}
	return streamEngineChoice{passes: a.Int("passes", 1, spec.Between(1, 1)), learner: func() (credence.Online, error) {
		return online.NewAdPredictor(cfg), nil
	}}, nil
}

func configureSGD(a *spec.Arguments, _ prior.SpikeSlab) (streamEngineChoice, error) {
	cfg := online.SGDConfig{Rate: a.Float("rate", 0, spec.Positive()), L2: a.Float("l2", 0, spec.AtLeast(0))}
	return streamEngineChoice{passes: a.Int("passes", 1, spec.AtLeast(1)), learner: func() (credence.Online, error) {
		return online.NewSGD(cfg), nil
	}}, nil
}
