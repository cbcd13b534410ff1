package active

import (
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
)

// TestGain: where probabilities are right, the gain that a model expects over another one's classes is the
// difference of their errors, over many rows.
func TestGain(t *testing.T) {
	const n = 200_000
	rng := credence.Rand(3, credence.ActiveRandom, 0)
	probability, before, wrong := make([]float64, n), judgement{positive: make([]bool, n)}, 0.0
	for i := range probability {
		probability[i] = rng.Float64()
		before.positive[i] = probability[i]+0.4*rng.NormFloat64() > 0.5
		label := rng.Float64() < probability[i]
		if label != before.positive[i] {
			wrong++
		}
		if label != (probability[i] > 0.5) {
			wrong--
		}
	}
	if got, se := before.gain(probability), 1/math.Sqrt(n); math.Abs(got-wrong/n) > 5*se {
		t.Errorf("expected gain %v, errors differ by %v ± %v", got, wrong/n, se)
	}
}

// TestAdvice: of a model whose excess error falls as 1/n the advice comes soon after four fifths are gained, never
// of one that does not change or that goes on changing, and it tells what rows by chance told.
func TestAdvice(t *testing.T) {
	const rows = 40_000
	run := func(initial int, excess func(n float64) float64, audit Audit) Stop {
		a, probability := newAdvisor(), make([]float64, rows)
		for labels := initial; labels <= 40*initial; labels += initial / 10 {
			// The boundary is off by √excess, so that the error is by excess, with p linear across it.
			off := math.Sqrt(excess(float64(labels)))
			for i := range probability {
				probability[i] = min(max(0.5+float64(i)/rows-0.5-off, 0.01), 0.99)
			}
			a.judge(labels, probability, audit)
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
	if got := middle([]Stop{{Labels: 300}, {}, {Labels: 200}}); got.Labels != 300 {
		t.Errorf("the middle of 200, 300 and never is %d", got.Labels)
	}
	if got := middle([]Stop{{}, {Labels: 200}, {}}); got.Labels != 0 {
		t.Errorf("the middle of 200 and twice never is %d", got.Labels)
	}
}
