package active

import (
	"math"
	"testing"
)

// TestKappa: the table of 20, 5, 10 and 15 rows that textbooks have.
func TestKappa(t *testing.T) {
	var a, b []bool
	for _, c := range []struct {
		a, b  bool
		count int
	}{{true, true, 20}, {true, false, 5}, {false, true, 10}, {false, false, 15}} {
		for range c.count {
			a, b = append(a, c.a), append(b, c.b)
		}
	}
	if got := kappa(a, b); math.Abs(got-0.4) > 1e-12 {
		t.Errorf("kappa %v, want 0.4", got)
	}
	if got := kappa(make([]bool, 4), make([]bool, 4)); got != 1 {
		t.Errorf("kappa of one class alone %v, want 1", got)
	}
}

// TestAdvice: the advice comes when two judgements in a row find the models the same and the gain
// small, and not where one is missing.
func TestAdvice(t *testing.T) {
	steady, other := []float64{1, 1, -1, -1}, []float64{1, -1, -1, -1}
	for _, c := range []struct {
		name  string
		means [][]float64
		gains []int // picks before each judgement
		want  int
	}{
		{"steady", [][]float64{steady, steady, steady, steady}, []int{100, 1, 1, 1}, 102},
		{"changing", [][]float64{steady, other, steady, other}, []int{100, 1, 1, 1}, 0},
		{"gaining", [][]float64{steady, steady, steady, steady}, []int{10, 10, 10, 10}, 0},
		{"interrupted", [][]float64{steady, steady, other, other, other}, []int{100, 1, 1, 1, 1}, 104},
	} {
		a, labels := newAdvisor(), 0
		for k, mean := range c.means {
			for range c.gains[k] {
				a.gain(0.3, 0.5)
				labels++
			}
			a.judge(labels, mean)
		}
		if a.stop.Labels != c.want {
			t.Errorf("%s: stop at %d, want %d", c.name, a.stop.Labels, c.want)
		}
	}
	if got := middle([]Stop{{Labels: 300}, {}, {Labels: 200}}); got.Labels != 300 {
		t.Errorf("the middle of 200, 300 and never is %d", got.Labels)
	}
	if got := middle([]Stop{{}, {Labels: 200}, {}}); got.Labels != 0 {
		t.Errorf("the middle of 200 and twice never is %d", got.Labels)
	}
}
