package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/online"
	"github.com/credence-ml/credence/infer/sep"
	"github.com/credence-ml/credence/internal/safetensors"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/prior"
	"github.com/credence-ml/credence/spec"
)

// streamLearner is an online learner as the stream command drives it.
type streamLearner interface {
	// Learn scores every row and then learns it.
	Learn(b *credence.Batch, probability []float64)
	// State is all that it knows.
	State() (document []byte, tensors []safetensors.Tensor, err error)

	// selected returns the number of selected features out of those in the index.
	selected(features int) int
	// endPass says that the data begin again.
	endPass()
	// finish brings everything up to date for the results.
	finish()
	// prune drops features, returning the slots that stay, or nil.
	prune() []int32
	// weight returns the posterior of the weight of a slot; -1 is the bias, and a
	// slot beyond all is a feature never seen.
	weight(slot int) (mean, variance, inclusion float64)
	// describe fills what a fit tells of the learner.
	describe(f *credence.Fitted)
}

// streamEngine is one engine of the stream command.
type streamEngine struct {
	name      string
	configure func(a *spec.Arguments, p prior.SpikeSlab) (streamEngineChoice, error)
	restore   func(document []byte, r *safetensors.Reader) (streamLearner, error)
}

// streamEngineChoice is an engine with its options.
type streamEngineChoice struct {
	learner  func() (streamLearner, error) // makes one
	step     int                           // rows of a batch; 0 means the reader's own
	passes   int
	pause    int64 // rows between prunings; 0 is none
	hasPrior bool  // the spike-and-slab prior
}

// streamEngines lists the engines of the stream command.
func streamEngines() []streamEngine {
	return []streamEngine{
		{"sep", configureSEP, func(document []byte, r *safetensors.Reader) (streamLearner, error) {
			if strings.Contains(string(document), `"shards_state"`) {
				l, err := sep.RestoreSharded(document, r)
				return &sepLearner{sepModel: l}, err
			}
			l, err := sep.Restore(document, r)
			return &sepLearner{sepModel: l, learner: l}, err
		}},
		{"ftrl", configureFTRL, func(document []byte, r *safetensors.Reader) (streamLearner, error) {
			l, err := online.RestoreFTRL(document, r)
			return &ftrlLearner{l}, err
		}},
		{"adpredictor", configureAdPredictor, func(document []byte, r *safetensors.Reader) (streamLearner, error) {
			l, err := online.RestoreAdPredictor(document, r)
			return &adPredictorLearner{l}, err
		}},
		{"sgd", configureSGD, func(document []byte, r *safetensors.Reader) (streamLearner, error) {
			l, err := online.RestoreSGD(document, r)
			return &sgdLearner{l}, err
		}},
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

// sepModel is what a learner of package sep and a sharded one have in common.
type sepModel interface {
	Learn(b *credence.Batch, probability []float64)
	State() (document []byte, tensors []safetensors.Tensor, err error)
	EndPass()
	Finish()
	Features() (seen, selected int)
	Feature(slot int) sep.Weight
	Bias() sep.Weight
	Prior() (inclusion, slab float64)
	Events() sep.Events
	Hyper() sep.Hyper
}

type sepLearner struct {
	sepModel
	learner *sep.Learner // nil where sharded: only one learner prunes
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
	if cfg.Prune > 0 {
		choice.pause = sep.PruneEvery
	}
	if p.Spike.State != param.Learned && p.Spike.Value != 0 {
		return choice, fmt.Errorf("engine sep has its spike at 0: leave spike=%v out", p.Spike.Value)
	}
	hyper := sep.Hyper{Inclusion: p.Inclusion, Slab: p.Slab}
	choice.learner = func() (streamLearner, error) {
		if cfg.Shards > 1 {
			l, err := sep.NewSharded(cfg, hyper)
			return &sepLearner{sepModel: l}, err
		}
		l, err := sep.NewLearner(cfg, hyper)
		return &sepLearner{sepModel: l, learner: l}, err
	}
	return choice, nil
}

func (l *sepLearner) selected(int) int { _, selected := l.Features(); return selected }
func (l *sepLearner) endPass()         { l.EndPass() }
func (l *sepLearner) finish()          { l.Finish() }

func (l *sepLearner) prune() []int32 {
	if l.learner == nil {
		return nil
	}
	return l.learner.Prune()
}

func (l *sepLearner) weight(slot int) (mean, variance, inclusion float64) {
	w := l.Bias()
	if slot >= 0 {
		w = l.Feature(slot)
	}
	return w.Mean, w.Variance, w.Inclusion
}

func (l *sepLearner) describe(f *credence.Fitted) {
	inclusion, slab := l.Prior()
	hyper := l.Hyper()
	hyper.Inclusion.Value, hyper.Slab.Value = inclusion, slab
	f.Members[0].Model.Likelihood = likelihood.Bernoulli{Link: likelihood.Probit}
	f.Members[0].Model.Prior = prior.SpikeSlab{Inclusion: hyper.Inclusion, Slab: hyper.Slab}
	events := l.Events()
	f.Report.Hyper = []credence.Value{{Name: "inclusion", Value: inclusion}, {Name: "slab", Value: slab}}
	if events.SkippedCavities > 0 {
		f.Report.Hyper = append(f.Report.Hyper, credence.Value{Name: "skipped_cavities", Value: float64(events.SkippedCavities)})
	}
	f.Report.Hyper = append(f.Report.Hyper, credence.Value{Name: "negative_sites", Value: float64(events.NegativeSites)})
}

type ftrlLearner struct{ *online.FTRL }

func configureFTRL(a *spec.Arguments, _ prior.SpikeSlab) (streamEngineChoice, error) {
	cfg := online.FTRLConfig{
		Alpha: a.Float("alpha", 0, spec.Positive()), Beta: a.Float("beta", 0, spec.Positive()),
		L1: a.Float("l1", 1, spec.AtLeast(0)), L2: a.Float("l2", 0, spec.AtLeast(0)),
	}
	return streamEngineChoice{passes: a.Int("passes", 1, spec.AtLeast(1)), learner: func() (streamLearner, error) {
		return &ftrlLearner{online.NewFTRL(cfg)}, nil
	}}, nil
}

func (l *ftrlLearner) selected(int) int { return l.Selected() }
func (l *ftrlLearner) endPass()         {}
func (l *ftrlLearner) finish()          {}
func (l *ftrlLearner) prune() []int32   { return nil }
func (l *ftrlLearner) weight(slot int) (mean, variance, inclusion float64) {
	w := l.Bias()
	if slot >= 0 {
		w = l.Weight(slot)
	}
	return w.Mean, 0, indicator(w.Included)
}

func (l *ftrlLearner) describe(f *credence.Fitted) {
	cfg := l.Config()
	f.Members[0].Model.Likelihood = likelihood.Bernoulli{}
	f.Members[0].Model.Prior = prior.Normal{}
	f.Report.Hyper = []credence.Value{{Name: "alpha", Value: cfg.Alpha}, {Name: "beta", Value: cfg.Beta}, {Name: "l1", Value: cfg.L1}, {Name: "l2", Value: cfg.L2}}
}

func indicator(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

type adPredictorLearner struct{ *online.AdPredictor }

func configureAdPredictor(a *spec.Arguments, _ prior.SpikeSlab) (streamEngineChoice, error) {
	cfg := online.AdPredictorConfig{Variance: a.Float("variance", 0, spec.Positive()), Beta: a.Float("beta", 0, spec.Positive())}
	return streamEngineChoice{passes: a.Int("passes", 1, spec.Between(1, 1)), learner: func() (streamLearner, error) {
		return &adPredictorLearner{online.NewAdPredictor(cfg)}, nil
	}}, nil
}

func (l *adPredictorLearner) selected(features int) int { return features }
func (l *adPredictorLearner) endPass()                  {}
func (l *adPredictorLearner) finish()                   {}
func (l *adPredictorLearner) prune() []int32            { return nil }
func (l *adPredictorLearner) weight(slot int) (mean, variance, inclusion float64) {
	w := l.Bias()
	if slot >= 0 {
		w = l.Weight(slot)
	}
	return w.Mean, w.Variance, 1
}

func (l *adPredictorLearner) describe(f *credence.Fitted) {
	cfg := l.Config()
	f.Members[0].Model.Likelihood = likelihood.Bernoulli{Link: likelihood.Probit}
	f.Members[0].Model.Prior = prior.Normal{Variance: param.Parameter{Value: cfg.Variance, State: param.Held}}
	f.Report.Hyper = []credence.Value{{Name: "variance", Value: cfg.Variance}, {Name: "beta", Value: cfg.Beta}}
}

type sgdLearner struct{ *online.SGD }

func configureSGD(a *spec.Arguments, _ prior.SpikeSlab) (streamEngineChoice, error) {
	cfg := online.SGDConfig{Rate: a.Float("rate", 0, spec.Positive()), L2: a.Float("l2", 0, spec.AtLeast(0))}
	return streamEngineChoice{passes: a.Int("passes", 1, spec.AtLeast(1)), learner: func() (streamLearner, error) {
		return &sgdLearner{online.NewSGD(cfg)}, nil
	}}, nil
}

func (l *sgdLearner) selected(features int) int { return features }
func (l *sgdLearner) endPass()                  {}
func (l *sgdLearner) finish()                   {}
func (l *sgdLearner) prune() []int32            { return nil }
func (l *sgdLearner) weight(slot int) (mean, variance, inclusion float64) {
	w := l.Bias()
	if slot >= 0 {
		w = l.Weight(slot)
	}
	return w.Mean, 0, 1
}

func (l *sgdLearner) describe(f *credence.Fitted) {
	cfg := l.Config()
	f.Members[0].Model.Likelihood = likelihood.Bernoulli{}
	f.Members[0].Model.Prior = prior.Normal{}
	f.Report.Hyper = []credence.Value{{Name: "rate", Value: cfg.Rate}, {Name: "l2", Value: cfg.L2}}
}

// beyond is a slot that no feature has.
const beyond = math.MaxInt32
