package metric

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestPIT: the expectations are those of draws between the two probabilities, and a right model of counts
// has uniform transforms although its intervals hold more than they promise.
func TestPIT(t *testing.T) {
	// A count of three values with probabilities 0.3, 0.6 and 0.1, by enumeration.
	var p PIT
	edges := []float64{0, 0.3, 0.9, 1}
	for k, probability := range []float64{0.3, 0.6, 0.1} {
		p.Add(edges[k], edges[k+1], 0.5, probability)
	}
	r, err := p.Result()
	if err != nil {
		t.Fatal(err)
	}
	for _, level := range Levels() {
		if got := r.Coverage[levelKey(level)]; !(math.Abs(got-level) <= 1e-12) {
			t.Errorf("coverage at %g is %g", level, got)
		}
	}
	for k, share := range r.Histogram {
		if !(math.Abs(share-0.1) <= 1e-12) {
			t.Errorf("bin %d has %g", k, share)
		}
	}
	// Any probabilities and weights, against draws.
	rng := rand.New(rand.NewPCG(1, 2))
	var q PIT
	const draws = 20000
	var total, inside, bin float64
	for range 20 {
		a, b, weight := rng.Float64(), rng.Float64(), float64(1+rng.IntN(3))
		a, b = min(a, b), max(a, b)
		q.Add(a, b, 0.5, weight)
		for range draws {
			u := a + (b-a)*rng.Float64()
			total += weight
			if 0.1 <= u && u <= 0.9 {
				inside += weight
			}
			if 0.3 <= u && u < 0.4 {
				bin += weight
			}
		}
	}
	r, _ = q.Result()
	if d := r.Coverage["0.8"] - inside/total; !(math.Abs(d) <= 5*0.5/math.Sqrt(20*draws)) {
		t.Errorf("coverage %g, draws %g", r.Coverage["0.8"], inside/total)
	}
	if d := r.Histogram[3] - bin/total; !(math.Abs(d) <= 5*0.5/math.Sqrt(20*draws)) {
		t.Errorf("bin %g, draws %g", r.Histogram[3], bin/total)
	}
}

// Points fall into one bin each, the last of which is closed, and what is no probability is refused.
func TestPITOfPoints(t *testing.T) {
	var p PIT
	for _, u := range []float64{0, 0.05, 0.1, 0.95, 1} {
		p.Add(u, u, 0, 1)
	}
	p.Add(0.5, 0.5, 0, 0)
	r, err := p.Result()
	want := []float64{0.4, 0.2, 0, 0, 0, 0, 0, 0, 0, 0.4}
	for k, share := range want {
		if !(math.Abs(r.Histogram[k]-share) <= 1e-15) {
			t.Errorf("%v, want %v; %v", r.Histogram, want, err)
			break
		}
	}
	if r.Coverage["0.9"] != 0.6 { // 0.05, 0.1 and 0.95
		t.Errorf("coverage %g", r.Coverage["0.9"])
	}
	for _, bad := range [][2]float64{{0.6, 0.5}, {math.NaN(), 1}, {0, 1.1}} {
		var p PIT
		p.Add(bad[0], bad[1], 0, 1)
		if _, err := p.Result(); err == nil {
			t.Errorf("%v passes", bad)
		}
	}
	var none PIT
	if r, err := none.Result(); err != nil || r.Coverage != nil {
		t.Errorf("%v, %v of no rows", r, err)
	}
}
