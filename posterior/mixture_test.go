package posterior

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// mixedDesign has three rows of two dense and two sparse columns, and the same written out.
func mixedDesign() (*credence.Design, [][]float64) {
	phi := &credence.Design{Dense: linop.Dense{Rows: 3, Cols: 2, Stride: 2, Data: []float64{1, -2, 0.5, 3, 0, 0}}}
	phi.Sparse.Reset(2)
	phi.Sparse.AppendRow([]int32{1}, []float64{4})
	phi.Sparse.AppendRow([]int32{0, 1}, []float64{-1, 0.5})
	phi.Sparse.AppendRow(nil, []float64{})
	return phi, [][]float64{{1, -2, 0, 4}, {0.5, 3, -1, 0.5}, {0, 0, 0, 0}}
}

// TestMixtureMoments compares latent moments with sums written out: rounding only.
func TestMixtureMoments(t *testing.T) {
	phi, rows := mixedDesign()
	ws := credence.NewWorkspace(2)
	q := &Mixture{Count: 2, Means: []float64{1, 2, 3, 4, -1, 0.5, 2, 0}, Variances: []float64{0.1, 0.2, 0.3, 0.4, 1, 2, 3, 4}}
	means, variances := make([][]float64, 2), make([][]float64, 2)
	for k := range 2 {
		means[k], variances[k] = make([]float64, 3), make([]float64, 3)
		q.LatentComponent(ws, k, means[k], variances[k], phi)
		for i, row := range rows {
			m, v := 0.0, 0.0
			for j, x := range row {
				m += x * q.Means[k*4+j]
				v += x * x * q.Variances[k*4+j]
			}
			if !(math.Abs(m-means[k][i]) <= 1e-14) || !(math.Abs(v-variances[k][i]) <= 1e-13) {
				t.Errorf("component %d, row %d: %g, %g, want %g, %g", k, i, means[k][i], variances[k][i], m, v)
			}
		}
	}
	mean, variance := make([]float64, 3), make([]float64, 3)
	q.Latent(ws, mean, variance, phi)
	for i := range rows {
		m := (means[0][i] + means[1][i]) / 2
		gap := (means[0][i] - means[1][i]) / 2
		v := (variances[0][i]+variances[1][i])/2 + gap*gap
		if !(math.Abs(m-mean[i]) <= 1e-14) || !(math.Abs(v-variance[i]) <= 1e-13) {
			t.Errorf("row %d: %g, %g, want %g, %g", i, mean[i], variance[i], m, v)
		}
	}
	q.Latent(ws, mean, nil, phi)
	marginal, spread := make([]float64, 4), make([]float64, 4)
	q.Marginals(marginal, spread)
	if marginal[0] != 0 || spread[0] != 1.55 { // means 1 and −1, variances 0.1 and 1
		t.Errorf("weight 0 has mean %g and variance %g, want 0 and 1.55", marginal[0], spread[0])
	}
}

// A mixture of one is a diagonal normal, to the bit.
func TestDiagonalIsMixtureOfOne(t *testing.T) {
	phi, _ := mixedDesign()
	ws := credence.NewWorkspace(1)
	one := &Diagonal{Mean: []float64{1, 2, 3, 4}, Variance: []float64{0.1, 0.2, 0.3, 0.4}}
	two := &Mixture{Count: 1, Means: one.Mean, Variances: one.Variance}
	a, b, c, d := make([]float64, 3), make([]float64, 3), make([]float64, 3), make([]float64, 3)
	one.Latent(ws, a, b, phi)
	two.Latent(ws, c, d, phi)
	for i := range a {
		if a[i] != c[i] || b[i] != d[i] {
			t.Errorf("row %d: %g, %g against %g, %g", i, a[i], b[i], c[i], d[i])
		}
	}
}
