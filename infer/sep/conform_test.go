package sep

import (
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/internal/conform/must"
)

// beginAt gives a learner that has seen nothing a prior of the bias with another mean.
func (l *Learner) beginAt(bias float64) {
	l.bias.priorShift = float32(bias) * l.bias.priorLambda
}

// What is asked of single steps: rows are not learned again.
func TestOnlineConformance(t *testing.T) {
	const single = 1e-6 // prior factors are kept in single precision
	for name, c := range map[string]struct {
		cfg   Config
		hyper Hyper
	}{
		"sequential":   {Config{}, Hyper{}},
		"stated prior": {Config{}, Hyper{Inclusion: held(0.3), Slab: held(0.5)}},
		"mini-batches": {Config{Batch: 20, PriorEvery: 3}, Hyper{}},
		"forgetting":   {Config{Forget: 200}, Hyper{}},
		"both":         {Config{Batch: 20, Forget: 200}, Hyper{}},
		"classes":      {Config{PositiveWeight: 1.5, NegativeWeight: 0.25}, Hyper{}},
	} {
		t.Run(name, func(t *testing.T) {
			conform.Online(t, func(intercept float64) credence.Online {
				l := must.Value(NewLearner(c.cfg, c.hyper))(t)
				l.early.stage = sample
				l.beginAt(intercept)
				return l
			}, single)
		})
	}
}

// A weight of a class is a weight of its rows, to the bit, where counts run and where
// they are known before.
func TestClassWeights(t *testing.T) {
	p := oneHotProblem(600, []int{5, 20}, 12)
	const positive, negative = 3, 0.25
	weighted := batchOf(p.x, p.y)
	for _, y := range p.y {
		weighted.Weight = append(weighted.Weight, []float64{negative, positive}[y])
	}
	for _, cfg := range []Config{{}, {Batch: 30}, {Forget: 100}} {
		a, _ := NewLearner(cfg, Hyper{})
		a.Learn(weighted, make([]float64, p.rows))
		cfg.PositiveWeight, cfg.NegativeWeight = positive, negative
		b, _ := NewLearner(cfg, Hyper{})
		b.Learn(batchOf(p.x, p.y), make([]float64, p.rows))
		for j := range p.features {
			if a.Weight(j) != b.Weight(j) || a.Weight(j).Variance == 0 {
				t.Errorf("%+v: weight %d is %+v with weights of rows, %+v with weights of classes", cfg, j, a.Weight(j), b.Weight(j))
			}
		}
		if a.Weight(credence.InterceptSlot) != b.Weight(credence.InterceptSlot) {
			t.Errorf("%+v: the bias is %+v with weights of rows, %+v with weights of classes", cfg, a.Weight(credence.InterceptSlot), b.Weight(credence.InterceptSlot))
		}
	}
}

// Weight 2 is the row twice, to the bit, inside a mini-batch: all its rows meet the q
// at its start, and their factors add up.
func TestWeightTwoInMiniBatch(t *testing.T) {
	p := oneHotProblem(400, []int{5, 20}, 13)
	history, row := batchOf(p.x[:399], p.y[:399]), batchOf(p.x[399:], p.y[399:])
	learner := func(weights ...float64) *Learner {
		l, _ := NewLearner(Config{Batch: 10}, p.hyper())
		l.Learn(history, make([]float64, 399))
		l.Finish() // the next row begins a mini-batch
		for _, w := range weights {
			row.Weight, row.Offset = []float64{w}, []float64{0.3}
			l.Learn(row, make([]float64, 1))
		}
		l.Finish()
		return l
	}
	before, weighted, twice := learner(), learner(2), learner(1, 1)
	columns, _ := row.Sparse.Row(0)
	for _, j := range columns {
		if weighted.Weight(int(j)) != twice.Weight(int(j)) || weighted.Weight(int(j)) == before.Weight(int(j)) {
			t.Errorf("weight %d is %+v, twice %+v, before %+v", j, weighted.Weight(int(j)), twice.Weight(int(j)), before.Weight(int(j)))
		}
	}
	if weighted.Weight(credence.InterceptSlot) != twice.Weight(credence.InterceptSlot) {
		t.Errorf("the bias is %+v, twice %+v", weighted.Weight(credence.InterceptSlot), twice.Weight(credence.InterceptSlot))
	}
}
