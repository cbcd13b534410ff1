package active

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
)

// TestLeft: of a boundary that comes nearer by random steps, what is left to gain is told as it is.
func TestLeft(t *testing.T) {
	const rows, inputs, runs = 4000, 20, 40
	left, right := 0.0, 0.0
	for run := range uint64(runs) {
		rng := credence.Rand(run, credence.ActiveRandom, 0)
		x := make([]float64, rows*inputs)
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		truth, off := make([]float64, inputs), make([]float64, inputs) // what later labels take away
		truth[0] = 1
		var models []judgement
		var excess []float64
		for _, step := range []struct{ labels, variance float64 }{{1200, 1.0 / 1200}, {900, 1.0/900 - 1.0/1200}, {100, 1.0/100 - 1.0/900}} {
			for j := range off {
				off[j] += rng.NormFloat64() * math.Sqrt(step.variance)
			}
			model, sum := judgement{labels: int(step.labels)}, 0.0
			for i := range rows {
				at, f := 0.0, 0.0
				for j, v := range x[i*inputs : (i+1)*inputs] {
					f += 2 * truth[j] * v
					at += (truth[j] + off[j]) * v
				}
				model.positive = append(model.positive, at > 0)
				if at > 0 != (f > 0) {
					sum += math.Abs(math.Tanh(f / 2)) // |2p − 1|
				}
			}
			models, excess = append(models, model), append(excess, sum)
		}
		a := advisor{judged: []judgement{models[2], models[1], models[0]}}
		before, _, _, share := a.left(models[0])
		if before.labels != 900 {
			t.Fatalf("compared with the model of %d labels", before.labels)
		}
		left += share / runs
		right += excess[0] / (excess[2] - excess[0]) / runs
	}
	if math.Abs(left/right-1) > 0.2 { // runs differ by a third, and 20 directions are few
		t.Errorf("told on average %.3f of what was gained, %.3f is left", left, right)
	}
}

// TestAdvice: of a model whose excess error falls as 1/n the advice comes soon after four fifths are gained, never
// of one that does not change or that goes on changing, and it tells what rows by chance told.
func TestAdvice(t *testing.T) {
	const rows = 40_000
	run := func(initial int, excess func(n float64) float64, audit Audit) Stop {
		a, mean := newAdvisor(), make([]float64, rows)
		for labels := initial; labels <= 40*initial; labels += initial / 10 {
			// The boundary is off by √excess, so that the error is by excess, with p linear across it.
			off := math.Sqrt(excess(float64(labels)))
			for i := range mean {
				mean[i] = float64(i)/rows - 0.5 - off
			}
			a.judge(labels, mean, audit)
		}
		return a.stop
	}
	for _, c := range []struct {
		name      string
		excess    func(n float64) float64
		low, high int
	}{
		{"1/n", func(n float64) float64 { return 10 / n }, 200, 800},
		{"at rest", func(n float64) float64 { return 0.01 }, 0, 0},
		{"steady fall", func(n float64) float64 { return 0.16 * (1 - n/4000) * (1 - n/4000) }, 0, 0},
	} {
		got := run(100, c.excess, Audit{})
		if got.Labels < c.low || got.Labels > c.high {
			t.Errorf("%s: advice at %d labels, want %d to %d: %s", c.name, got.Labels, c.low, c.high, got.Reason)
		}
	}
	if got := run(100, func(n float64) float64 { return 10 / n }, Audit{Rows: 100, Error: 20}); !strings.Contains(got.Reason, "of 100 random rows the models had 20.0 ± 4.0 % wrong") {
		t.Errorf("the reason is %q", got.Reason)
	}
	// What settled and changed again is to settle anew, for a tenth more labels.
	a := newAdvisor()
	for _, model := range []struct{ labels, moved int }{{100, 0}, {300, 500}, {400, 505}, {410, 900}, {600, 905}, {700, 906}} {
		mean := slices.Repeat([]float64{-1}, 1000)
		for i := range model.moved {
			mean[i] = 1
		}
		a.judge(model.labels, mean, Audit{})
	}
	if a.stop.Labels != 700 {
		t.Errorf("advice at %d labels, want 700, from 600 on at rest", a.stop.Labels)
	}
	if got := middle([]Stop{{Labels: 300}, {}, {Labels: 200}}); got.Labels != 300 {
		t.Errorf("the middle of 200, 300 and never is %d", got.Labels)
	}
	if got := middle([]Stop{{}, {Labels: 200}, {}}); got.Labels != 0 {
		t.Errorf("the middle of 200 and twice never is %d", got.Labels)
	}
}
