package conform

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Posterior tests an implementation of credence.Posterior over weights of which
// the last sparse are sparse columns of the design. tolerance is relative: the
// condition of the posterior times 1e-15.
func Posterior(t *testing.T, q credence.Posterior, sparse int, tolerance float64) {
	t.Helper()
	d := q.Weights()
	mean, variance := make([]float64, d), make([]float64, d)
	q.Marginals(mean, variance)
	// Rows enough for several blocks, some of them empty in the sparse columns.
	phi := randomDesign(rand.New(rand.NewPCG(17, uint64(d))), 2*credence.BlockRows+3, d-sparse, sparse)
	n, _ := phi.Dims()
	ws := credence.NewWorkspace(1)
	latentMean, latentVariance := make([]float64, n), make([]float64, n)
	q.Latent(ws, latentMean, latentVariance, phi)

	t.Run("unit rows", func(t *testing.T) {
		unit := unitDesign(d-sparse, sparse)
		m, v := make([]float64, d), make([]float64, d)
		q.Latent(ws, m, v, unit)
		largest := 0.0
		for _, x := range variance {
			largest = math.Max(largest, x)
		}
		for j := range d {
			if !(math.Abs(m[j]-mean[j]) <= tolerance*(1+math.Abs(mean[j]))) || !(math.Abs(v[j]-variance[j]) <= tolerance*largest) {
				t.Errorf("weight %d is %g with variance %g as a row, %g with %g as a marginal", j, m[j], v[j], mean[j], variance[j])
			}
		}
	})
	t.Run("mean is linear", func(t *testing.T) {
		want := make([]float64, n)
		phi.MulVec(want, mean)
		for i := range n {
			if math.Abs(latentMean[i]-want[i]) > 1e-11*(1+math.Abs(want[i])) {
				t.Errorf("row %d has mean %g, want %g", i, latentMean[i], want[i])
			}
		}
	})
	t.Run("variance is quadratic", func(t *testing.T) {
		double := *phi
		double.Dense.Data = append([]float64(nil), phi.Dense.Data...)
		double.Sparse.Value = append([]float64(nil), phi.Sparse.Value...)
		for i := range double.Dense.Data {
			double.Dense.Data[i] *= -2
		}
		for i := range double.Sparse.Value {
			double.Sparse.Value[i] *= -2
		}
		v := make([]float64, n)
		q.Latent(ws, make([]float64, n), v, &double)
		for i := range n {
			if latentVariance[i] < 0 || math.Abs(v[i]-4*latentVariance[i]) > 1e-12*v[i] {
				t.Errorf("row %d has variance %g, and %g for twice the features", i, latentVariance[i], v[i])
			}
		}
	})
	t.Run("no variance", func(t *testing.T) {
		m := make([]float64, n)
		q.Latent(ws, m, nil, phi)
		for i := range n {
			if m[i] != latentMean[i] {
				t.Fatalf("row %d has mean %g without variances, %g with them", i, m[i], latentMean[i])
			}
		}
	})
	t.Run("threads", func(t *testing.T) {
		for threads := 2; threads <= 3; threads++ {
			m, v := make([]float64, n), make([]float64, n)
			q.Latent(credence.NewWorkspace(threads), m, v, phi)
			for i := range n {
				if m[i] != latentMean[i] || v[i] != latentVariance[i] {
					t.Fatalf("row %d differs between %d threads and one", i, threads)
				}
			}
		}
	})
	t.Run("workspace", func(t *testing.T) {
		if mark := ws.Mark(); mark != 0 {
			t.Errorf("Latent left %d numbers of scratch memory taken", mark)
		}
	})
}

// randomDesign draws a design with dense and sparse columns.
func randomDesign(rng *rand.Rand, n, dense, sparse int) *credence.Design {
	phi := &credence.Design{Dense: linop.NewDense(n, dense)}
	for i := range phi.Dense.Data {
		phi.Dense.Data[i] = rng.NormFloat64()
	}
	phi.Sparse.Reset(sparse)
	for i := range n {
		columns, values := []int32{}, []float64{}
		for j := range sparse {
			if i%5 > 0 && rng.IntN(3) == 0 {
				columns, values = append(columns, int32(j)), append(values, rng.NormFloat64())
			}
		}
		phi.Sparse.AppendRow(columns, values)
	}
	return phi
}

// unitDesign is the identity matrix.
func unitDesign(dense, sparse int) *credence.Design {
	d := dense + sparse
	phi := &credence.Design{Dense: linop.NewDense(d, dense)}
	phi.Sparse.Reset(sparse)
	for j := range d {
		if j < dense {
			phi.Dense.Row(j)[j] = 1
			phi.Sparse.AppendRow(nil, nil)
		} else {
			phi.Sparse.AppendRow([]int32{int32(j - dense)}, nil)
		}
	}
	return phi
}
