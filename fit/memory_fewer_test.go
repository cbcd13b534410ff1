package fit

import "testing"

// TestMemoryOfFewerFrequencies: memory is that of the frequencies that are drawn, not of those that were asked for.
// 2,500 frequencies would take 1.2 GB, the 999 that auto draws take .55 GB.
func TestMemoryOfFewerFrequencies(t *testing.T) {
	rows := waves(t, 6000, func(x []float64) float64 { return x[0] / 2 })
	job, err := New(Options{Formula: "y ~ rbf(a, b, c, n=2500)", Family: "poisson", Prior: "normal(variance=1)", Memory: 800 << 20})
	if err != nil {
		t.Fatal(err)
	}
	p, err := job.Prepare(t.Context(), rows)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	if d := p.Model().Features.Weights(); d > 2000 {
		t.Errorf("%d weights", d)
	}
}
