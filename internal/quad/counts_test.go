package quad

import (
	"math"
	"testing"
)

func exactly(float64) float64 { return 0 }

// TestCounts: sums over whole numbers are those that are added up one by one, where g is smooth in the logarithm, has a
// step that is narrow beside where it is, and rises at the end; and beyond what one can add up those of closed
// forms.
func TestCounts(t *testing.T) {
	for _, c := range []struct {
		name                string
		g                   func(k float64) float64
		origin, first, last float64
	}{
		{"a power", func(k float64) float64 { return math.Pow(k+3, -1.5) }, 0, 0, 3e5},
		{"a power from a later count", func(k float64) float64 { return math.Pow(k+3, -1.5) }, 0, 1000, 3e5},
		{"a power, counted from below", func(k float64) float64 { return math.Pow(k+1e6+3, -1.5) }, -1e6, -1e6, 1e6},
		{"log-normal", func(k float64) float64 { z := math.Log(k+1) - 9; return math.Exp(-z * z / 4) }, 0, 0, 1e6},
		{"a narrow step", func(k float64) float64 { return math.Pow(1+math.Exp((k-1e6)/1e3), -2) }, 0, 0, 2e6},
		{"a rise at the end", func(k float64) float64 { z := (k - 1e6) / 1e3; return math.Exp(-z * z / 2) }, 0, 0, 1e6},
		{"a fall in some counts", func(k float64) float64 { return math.Exp((64 - k) / 20) }, 0, 64, 144},
		{"few", func(k float64) float64 { return k * k }, 0, 3, 40},
		{"none", func(k float64) float64 { return 1 }, 0, 5, 5},
		{"one more than are added up one by one", func(k float64) float64 { return 1 / (k + 1) }, 0, 0, 129},
	} {
		calls := 0
		got := Counts(func(k float64) float64 {
			if calls++; k != math.Floor(k) || k < c.first || k >= c.last {
				t.Fatalf("%s: g(%v)", c.name, k)
			}
			return c.g(k)
		}, c.origin, c.first, c.last, 1e-9, exactly)
		want := 0.0
		for k := c.first; k < c.last; k++ {
			want += c.g(k)
		}
		if !(math.Abs(got-want) <= 1e-9*want) {
			t.Errorf("%s: %v by parts, %v one by one", c.name, got, want)
		}
		if calls > 2000 {
			t.Errorf("%s: %d evaluations", c.name, calls)
		}
	}
	const offset = 1e5
	got := Counts(func(k float64) float64 { return 1 / ((k + offset) * (k + offset + 1)) }, 0, 0, 1e15, 0, exactly)
	if want := 1/offset - 1/(1e15+offset); !(math.Abs(got-want) <= 1e-9*want) {
		t.Errorf("a sum that telescopes: %v, want %v", got, want)
	}
	mean, sd := 1e15, 1e8
	got = Counts(func(k float64) float64 { z := (k - mean) / sd; return math.Exp(-z * z / 2) }, 0, mean, mean+10*sd, 0, exactly)
	if want := sd*math.Sqrt(math.Pi/2) + 0.5; !(math.Abs(got-want) <= 1e-9*want) {
		t.Errorf("a normal density: %v, want %v", got, want)
	}
}

// TestCountsOfNoise: what is uncertain anyway is not resolved into single counts.
func TestCountsOfNoise(t *testing.T) {
	const size = 1e-6
	calls, last := 0, 1e12
	got := Counts(func(k float64) float64 {
		calls++
		return 1 + size*math.Sin(1e9*k)
	}, 0, 0, last, 0, func(float64) float64 { return 2 * size })
	if calls > 200 || !(math.Abs(got-last) <= 4*size*last) {
		t.Errorf("%v after %d evaluations", got, calls)
	}
	got = Counts(func(k float64) float64 { return 1 + math.Mod(k, 2)*size }, 0, 0, 1000, 2*size*1000, exactly)
	if !(math.Abs(got-1000) <= 3*size*1000) {
		t.Errorf("%v with a tolerance", got)
	}
}

// TestCountsBeyondWholeNumbers: beyond 2⁵³ whole numbers are 2 and more apart, and a sum over them ends, with each
// number as often as it stands for others.
func TestCountsBeyondWholeNumbers(t *testing.T) {
	const limit = 1 << 53
	for _, c := range []struct{ first, last float64 }{
		{limit - 10, limit - 2}, {limit - 4, limit + 8}, {limit, limit + 12}, {4 * limit, 4*limit + 8}, {1e18, 1e18 + 1024},
		{limit - 1000, limit + 1000}, {1e18, 1e18 + 1<<20},
	} {
		for _, origin := range []float64{0, c.first} {
			if sum := Counts(func(float64) float64 { return 1 }, origin, c.first, c.last, 0, exactly); !(math.Abs(sum-(c.last-c.first)) <= 1e-9*(c.last-c.first)) {
				t.Errorf("from %v to %v there are %v, want %v", c.first, c.last, sum, c.last-c.first)
			}
		}
	}
}
