package sep

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform"
	"github.com/credence-ml/credence/prior"
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
		"shards":       {Config{Shards: 3}, Hyper{}},
	} {
		t.Run(name, func(t *testing.T) {
			conform.Online(t, func(intercept float64) credence.Online {
				if c.cfg.Shards > 1 {
					s, err := NewSharded(c.cfg, c.hyper)
					if err != nil {
						t.Fatal(err)
					}
					for _, l := range append(s.shards, s.master) {
						l.early.stage = sample
						l.beginAt(intercept)
					}
					return s
				}
				l, err := NewLearner(c.cfg, c.hyper)
				if err != nil {
					t.Fatal(err)
				}
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

// Weight 2 is the row twice where the two copies go to two shards, which begin at the
// same state: their gains add up.
func TestWeightTwoInShards(t *testing.T) {
	const k = 3
	p := oneHotProblem(1000, []int{5, 20}, 14)
	history := batchOf(p.x, p.y)
	learner := func(weights ...float64) *Sharded {
		s, _ := NewSharded(Config{Shards: k}, p.hyper())
		s.master.early.stage = sample                        // no replay
		s.Learn(part(history, 0, 960), make([]float64, 960)) // every shard its runs of rows
		s.Finish()
		round := batchOf(p.x[:dealRows*k], p.y[:dealRows*k])
		round.Weight = make([]float64, dealRows*k)
		for shard, w := range weights {
			round.Weight[dealRows*shard] = w
			for _, i := range []int{0, dealRows, 2 * dealRows} { // the same row for every shard
				copy(round.Sparse.Index[round.Sparse.Start[i]:round.Sparse.Start[i+1]], round.Sparse.Index[:2])
				round.Target[i] = round.Target[0]
			}
		}
		s.Learn(round, make([]float64, dealRows*k))
		s.Finish()
		return s
	}
	before, weighted, twice := learner(), learner(2, 0, 0), learner(1, 0, 1)
	// Sums of some dozens, of which differences are taken; prior factors are in single precision.
	const rounding = 1e-7
	moved := 0
	for j := range p.features {
		a, b, c := weighted.Weight(j), twice.Weight(j), before.Weight(j)
		if math.Abs(a.Mean-b.Mean) > rounding || math.Abs(a.Variance-b.Variance) > rounding {
			t.Errorf("weight %d is %+v, twice %+v", j, a, b)
		}
		if a != c {
			moved++
		}
	}
	if moved != 2 {
		t.Errorf("a row of two features moves %d", moved)
	}
}

// A merge adds what the shards have gained to the master in the order of the shards, to
// the bit; in the reverse order some sums differ.
func TestMergeInOrderOfShards(t *testing.T) {
	p := oneHotProblem(3000, []int{5, 40}, 15)
	s, err := NewSharded(Config{Shards: 4}, p.hyper())
	if err != nil {
		t.Fatal(err)
	}
	s.Learn(batchOf(p.x, p.y), make([]float64, p.rows))
	if s.rows == s.merged {
		t.Fatal("nothing is left to merge")
	}
	// sum adds the gains of one number to the master's.
	type number func(l *Learner) float64
	sum := func(order []int, of number) float64 {
		total := of(s.master)
		for _, k := range order {
			total += of(s.shards[k]) - of(s.master)
		}
		return total
	}
	var numbers []number
	for slot := range int32(p.features) {
		for label := range 2 {
			numbers = append(numbers,
				func(l *Learner) float64 { return l.at(slot).lambda[label] },
				func(l *Learner) float64 { return l.at(slot).shift[label] })
		}
	}
	for label := range 2 {
		numbers = append(numbers, func(l *Learner) float64 { return l.bias.lambda[label] })
	}
	want, reverse := make([]float64, len(numbers)), 0
	for i, of := range numbers {
		want[i] = sum([]int{0, 1, 2, 3}, of)
		if sum([]int{3, 2, 1, 0}, of) != want[i] {
			reverse++
		}
	}
	if reverse == 0 {
		t.Fatal("the order makes no difference here")
	}
	s.merge()
	for i, of := range numbers {
		if got := of(s.master); got != want[i] {
			t.Errorf("number %d of the master is %v, want %v", i, got, want[i])
		}
	}
}

// Weights and offsets of fits, under a slab of variance 100 that nearly every weight is in.
// Where factors are averages the order of rows, which is another where rows are repeated, leaves
// errors of 0.2 standard deviations in either fit: the rows of the last pass weigh 1 at its end and
// 1/e at its beginning.
func TestRoles(t *testing.T) {
	p := denseProblem(2000, 3, 16)
	model := probit(p)
	model.Prior = prior.SpikeSlab{Inclusion: held(0.999), Slab: held(100)}
	for _, c := range []struct {
		cfg       Config
		tolerance float64
	}{{Config{}, 0.25}, {Config{Batch: 50}, 0.8}, {Config{KnownCounts: true}, 0.8}} {
		e, err := New(model, c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		conform.Roles(t, e, memory{p.x, p.y}, c.tolerance)
	}
}
