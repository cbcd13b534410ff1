package online

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/safetensors"
)

// Trial learns the same rows under several settings at once, and lets those go under which rows are scored
// worst before they are learned: the worse half after each of its rounds, all but one after the last. What it
// answers is of the best so far, so that its progressive scores are of rows that nothing has seen.
// Jamieson & Talwalkar, "Non-stochastic best arm identification" (AISTATS 2016), have the scheme.
type Trial struct {
	learners    []ability.Continuer // from the best of the last round on
	loss        []float64           // of the rows of this round
	rows        int64               // that were learned
	probability [][]float64
}

// rounds are the rows after which the worse half is let go, all but one after the last. The first
// rows tell of steps that are far too short or too long, and the best rate falls as rows come.
var rounds = [...]int64{1 << 12, 1 << 15, 1 << 18}

// Settings that are tried where none is stated, the first of them the one to begin with.
var (
	triedAlphas    = []float64{0.3, 0.1, 0.03, 1, 3}     // of FTRL
	triedVariances = []float64{0.1, 0.03, 0.01, 0.3, 1}  // of AdPredictor
	triedRates     = []float64{0.15, 0.08, 0.03, 0.3, 1} // of SGD
)

// Tried returns the settings to be tried: the one stated, or several.
func (c FTRLConfig) Tried() []FTRLConfig {
	return tried(c, c.Alpha, triedAlphas, func(c *FTRLConfig, v float64) { c.Alpha = v })
}

// Tried returns the settings to be tried: the one stated, or several.
func (c AdPredictorConfig) Tried() []AdPredictorConfig {
	return tried(c, c.Variance, triedVariances, func(c *AdPredictorConfig, v float64) { c.Variance = v })
}

// Tried returns the settings to be tried: the one stated, or several.
func (c SGDConfig) Tried() []SGDConfig {
	return tried(c, c.Rate, triedRates, func(c *SGDConfig, v float64) { c.Rate = v })
}

func tried[C any](config C, stated float64, values []float64, set func(*C, float64)) []C {
	if stated != 0 {
		return []C{config}
	}
	all := make([]C, len(values))
	for k, v := range values {
		all[k] = config
		set(&all[k], v)
	}
	return all
}

// NewTrial returns a trial of the learners, which have seen nothing.
func NewTrial(learners []ability.Continuer) *Trial {
	return &Trial{learners: learners, loss: make([]float64, len(learners)), probability: make([][]float64, len(learners))}
}

// best is the learner with the least loss in this round, the first of equals.
func (t *Trial) best() int {
	best := 0
	for k, loss := range t.loss {
		if loss < t.loss[best] {
			best = k
		}
	}
	return best
}

// drop lets a learner go.
func (t *Trial) drop(k int) {
	t.learners, t.loss, t.probability = slices.Delete(t.learners, k, k+1), slices.Delete(t.loss, k, k+1), slices.Delete(t.probability, k, k+1)
}

// Learn implements [credence.Online]. A row that one of the learners refuses is refused.
func (t *Trial) Learn(b *credence.Batch, probability []float64) (refused []int) {
	if len(t.learners) == 1 {
		return t.learners[0].Learn(b, probability)
	}
	for k, l := range t.learners {
		t.probability[k] = slices.Grow(t.probability[k][:0], b.Sparse.Rows)[:b.Sparse.Rows]
		refused = append(refused, l.Learn(b, t.probability[k])...)
	}
	slices.Sort(refused)
	refused = slices.Compact(refused)
	for i := range b.Sparse.Rows {
		for k := len(t.learners) - 1; k >= 0 && len(t.learners) > 1; k-- {
			if math.IsNaN(t.probability[k][i]) {
				t.drop(k) // what it knows is no number
			}
		}
		probability[i] = t.probability[t.best()][i]
		y, w := b.Target[i], b.WeightOf(i)
		if math.IsNaN(y) || w == 0 || slices.Contains(refused, i) {
			continue
		}
		for k := range t.loss {
			t.loss[k] += w * metric.LogLoss(y, t.probability[k][i])
		}
		if t.rows++; slices.Contains(rounds[:], t.rows) {
			t.endRound()
		}
	}
	return refused
}

// endRound lets the worse half go, and all but one after the last round.
func (t *Trial) endRound() {
	best := order.By(len(t.learners), func(a, b int) int {
		switch {
		case t.loss[a] < t.loss[b]:
			return -1
		case t.loss[a] > t.loss[b]:
			return 1
		}
		return 0
	})
	keep := (len(best) + 1) / 2
	if t.rows >= rounds[len(rounds)-1] {
		keep = 1
	}
	learners, probability := make([]ability.Continuer, keep), make([][]float64, keep)
	for k, of := range best[:keep] {
		learners[k], probability[k] = t.learners[of], t.probability[of]
	}
	t.learners, t.probability, t.loss = learners, probability, make([]float64, keep)
}

// Unites is that of [ability.Uniter], which a trial is none of.
func (t *Trial) Unites() error {
	if _, ok := t.learners[0].(ability.Uniter); !ok {
		return errNoPosterior
	}
	return errors.New("each file would find a setting of its own: state it, as adpredictor(variance=0.01)")
}

// Unites is that of [ability.Uniter], which FTRL is none of.
func (f *FTRL) Unites() error { return errNoPosterior }

// Unites is that of [ability.Uniter], which SGD is none of.
func (s *SGD) Unites() error { return errNoPosterior }

var errNoPosterior = errors.New("it has no posterior, and learners of files apart cannot be brought together: use --engine sep, or the command stream on one machine")

// EndPass implements [credence.Online].
func (t *Trial) EndPass() {
	for _, l := range t.learners {
		l.EndPass()
	}
}

// Finish implements [credence.Online].
func (t *Trial) Finish() {
	for _, l := range t.learners {
		l.Finish()
	}
}

// Continue implements [ability.Continuer].
func (t *Trial) Continue(share float64) {
	for _, l := range t.learners {
		l.Continue(share)
	}
}

// Weight implements [credence.Online].
func (t *Trial) Weight(slot int) credence.Marginal { return t.learners[t.best()].Weight(slot) }

// Selected implements [credence.Online].
func (t *Trial) Selected(count int) int { return t.learners[t.best()].Selected(count) }

// Describe implements [credence.Online].
func (t *Trial) Describe(f *credence.Fitted) { t.learners[t.best()].Describe(f) }

// trialState is the document of a trial.
type trialState struct {
	Trial *trialScalars `json:"trial"`
}

type trialScalars struct {
	Rows     int64             `json:"rows"`
	Loss     []float64         `json:"loss"`
	Learners []json.RawMessage `json:"learners"`
}

func trialPrefix(k int) string { return fmt.Sprintf("trial.%d.", k) }

// State implements [credence.Online].
func (t *Trial) State() ([]byte, []safetensors.Tensor, error) {
	s := &trialScalars{Rows: t.rows, Loss: t.loss}
	var all []safetensors.Tensor
	for k, l := range t.learners {
		document, tensors, err := l.State()
		if err != nil {
			return nil, nil, err
		}
		s.Learners = append(s.Learners, document)
		for _, tensor := range tensors {
			tensor.Name = trialPrefix(k) + tensor.Name
			all = append(all, tensor)
		}
	}
	document, err := json.Marshal(trialState{s})
	return document, all, err
}

// RestoreTrial returns the trial of a state, whose learners restore gives, or a single learner that was
// none of a trial.
func RestoreTrial[L ability.Continuer](document []byte, r *safetensors.Reader, restore func(document []byte, r *safetensors.Reader) (L, error)) (credence.Online, error) {
	var state trialState
	if err := json.Unmarshal(document, &state); err != nil {
		return nil, fmt.Errorf("online: state: %w", err)
	}
	s := state.Trial
	if s == nil {
		l, err := restore(document, r)
		if err != nil {
			return nil, err
		}
		return l, nil
	}
	if len(s.Learners) == 0 || len(s.Learners) != len(s.Loss) || s.Rows < 0 || !ability.Bounded(s.Loss...) {
		return nil, fmt.Errorf("online: state: a trial of %d learners with %d losses: the file is damaged", len(s.Learners), len(s.Loss))
	}
	var learners []ability.Continuer
	for k, document := range s.Learners {
		l, err := restore(document, r.Under(trialPrefix(k)))
		if err != nil {
			return nil, err
		}
		learners = append(learners, l)
	}
	t := NewTrial(learners)
	t.rows, t.loss = s.Rows, s.Loss
	return t, nil
}
