package posterior

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// The moments of f against the sums written out.
func TestSpikeSlabLatent(t *testing.T) {
	q := &SpikeSlab{
		Mean:        []float64{0.5, -1, 2, 0.25},
		Variance:    []float64{0.1, 0.2, 0.3, 0.4},
		Probability: []float64{1, 0.4, 0.6, 0.9},
	}
	if err := q.Validate(); err != nil {
		t.Fatal(err)
	}
	phi := &credence.Design{
		Dense:  linop.Dense{Rows: 2, Cols: 1, Stride: 1, Data: []float64{1, 3}},
		Sparse: linop.CSR{Rows: 2, Cols: 3, Start: []int{0, 2, 3}, Index: []int32{2, 0, 1}, Value: []float64{2, 1, -1}},
	}
	mean, variance := make([]float64, 2), make([]float64, 2)
	q.Latent(credence.NewWorkspace(1), mean, variance, phi)
	wantMean := []float64{0.5 + 2*0.25 - 1, 3*0.5 - 2}
	wantVariance := []float64{0.1 + 4*0.4 + 0.2, 9*0.1 + 0.3}
	for i := range mean {
		if !(math.Abs(mean[i]-wantMean[i]) <= 1e-15) || !(math.Abs(variance[i]-wantVariance[i]) <= 1e-15) {
			t.Errorf("row %d: %g ± %g, want %g ± %g", i, mean[i], variance[i], wantMean[i], wantVariance[i])
		}
	}
}

// TestSpikeSlabFarAway: columns that stand far from 0 lose no digits of the variances of f.
func TestSpikeSlabFarAway(t *testing.T) {
	q := &SpikeSlab{Mean: []float64{0, 1}, Variance: []float64{0.1, 0.2}, Centre: []float64{0, 1e8}}
	if err := q.Validate(); err != nil {
		t.Fatal(err)
	}
	phi := &credence.Design{Dense: linop.Dense{Rows: 1, Cols: 2, Stride: 2, Data: []float64{1, 1e8 + 3}}}
	ws, mean, variance, covariance := credence.NewWorkspace(1), []float64{0}, []float64{0}, linop.NewDense(1, 1)
	q.Latent(ws, mean, variance, phi)
	q.Covariance(ws, &covariance, phi, phi)
	for _, got := range []float64{variance[0], covariance.Data[0]} {
		if want := 0.1 + 9*0.2; !(math.Abs(got-want) <= 1e-15) {
			t.Errorf("the variance of f is %v, want %v", got, want)
		}
	}
}

func TestSpikeSlabRefusals(t *testing.T) {
	for _, q := range []*SpikeSlab{
		{Mean: []float64{1}},
		{Mean: []float64{1}, Variance: []float64{-1}},
		{Mean: []float64{1}, Variance: []float64{math.NaN()}},
		{Mean: []float64{1}, Variance: []float64{1}, Probability: []float64{1.5}},
		{Mean: []float64{1}, Variance: []float64{1}, Probability: []float64{}},
		{Mean: []float64{1}, Variance: []float64{1}, Centre: []float64{0, 1}},
		{Mean: []float64{1}, Variance: []float64{1}, Centre: []float64{1}},
		{Mean: []float64{}, Variance: []float64{}, Centre: []float64{}},
	} {
		if q.Validate() == nil {
			t.Errorf("%+v is accepted", q)
		}
	}
}
