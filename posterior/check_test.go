package posterior

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// checkPosterior tests an implementation of credence.Posterior over weights of which
// the last sparse are sparse columns of the design. tolerance is relative: the
// condition of the posterior times 1e-15.
func checkPosterior(t *testing.T, q credence.Posterior, sparse int, tolerance float64) {
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
		largest := floats.Max(variance)
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
			if !(math.Abs(latentMean[i]-want[i]) <= 1e-11*(1+math.Abs(want[i]))) {
				t.Errorf("row %d has mean %g, want %g", i, latentMean[i], want[i])
			}
		}
	})
	t.Run("variance is quadratic", func(t *testing.T) {
		double := *phi
		double.Dense.Data = append([]float64(nil), phi.Dense.Data...)
		double.Sparse.Value = append([]float64(nil), phi.Sparse.Value...)
		floats.Scale(-2, double.Dense.Data)
		floats.Scale(-2, double.Sparse.Value)
		v := make([]float64, n)
		q.Latent(ws, make([]float64, n), v, &double)
		for i := range n {
			if latentVariance[i] < 0 || !(math.Abs(v[i]-4*latentVariance[i]) <= 1e-12*v[i]) {
				t.Errorf("row %d has variance %g, and %g for twice the features", i, latentVariance[i], v[i])
			}
		}
	})
	t.Run("one row by itself", func(t *testing.T) {
		largest := slices.Max(latentVariance)
		for k := range 20 { // from the first to the last
			i := k * (n - 1) / 19
			row := phi.Window(i, 1)
			m, v := []float64{0}, []float64{0}
			q.Latent(ws, m, v, &row)
			if m[0] != latentMean[i] || !(math.Abs(v[0]-latentVariance[i]) <= tolerance*largest) {
				t.Errorf("row %d has mean %g and variance %g by itself, %g and %g among others", i, m[0], v[0], latentMean[i], latentVariance[i])
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
	if joint, ok := q.(credence.Joint); ok {
		t.Run("covariance", func(t *testing.T) { covariance(t, joint, phi, unitDesign(d-sparse, sparse), variance, tolerance) })
	}
	if selector, ok := q.(credence.Selector); ok {
		t.Run("inclusion", func(t *testing.T) {
			for j := range d {
				p := selector.InclusionProbability(j)
				if !(p >= 0 && p <= 1) || p < 1 && !selector.Selects() || p == 0 && (mean[j] != 0 || variance[j] != 0) {
					t.Errorf("weight %d, %g with variance %g, is included with probability %v", j, mean[j], variance[j], p)
				}
			}
		})
	}
	t.Run("workspace", func(t *testing.T) {
		if mark := ws.Mark(); mark != 0 {
			t.Errorf("Latent left %d numbers of scratch memory taken", mark)
		}
	})
}

// covariance compares joint covariances of rows with those of the weights, which are rows too.
func covariance(t *testing.T, q credence.Joint, phi, unit *credence.Design, variance []float64, tolerance float64) {
	ws := credence.NewWorkspace(1)
	d := q.Weights()
	weights := linop.NewDense(d, d)
	q.Covariance(ws, &weights, unit, unit)
	largest := floats.Max(variance)
	for j := range d {
		if !(math.Abs(weights.Row(j)[j]-variance[j]) <= tolerance*largest) {
			t.Errorf("weight %d has covariance %g with itself and variance %g", j, weights.Row(j)[j], variance[j])
		}
		for k := range j {
			if !(math.Abs(weights.Row(j)[k]-weights.Row(k)[j]) <= tolerance*largest) {
				t.Errorf("weights %d and %d have covariances %g and %g", j, k, weights.Row(j)[k], weights.Row(k)[j])
			}
		}
	}
	a, b := phi.Window(0, 7), phi.Window(3, 11)
	wide := linop.NewDense(7, 13)
	dst := wide.Columns(1, 11)
	for threads := 1; threads <= 2; threads++ {
		q.Covariance(credence.NewWorkspace(threads), &dst, &a, &b)
		for i := range 7 {
			half := make([]float64, d)
			a.Each(i, func(j int, v float64) {
				for k, c := range weights.Row(j) {
					half[k] += v * c
				}
			})
			for k := range 11 {
				want := b.RowDot(k, half)
				if got := dst.Row(i)[k]; !(math.Abs(got-want) <= 10*tolerance*float64(d)*largest) {
					t.Errorf("rows %d and %d have covariance %g, want %g", i, 3+k, got, want)
				}
			}
		}
	}
	for i := range 7 {
		if wide.Row(i)[0] != 0 || wide.Row(i)[12] != 0 {
			t.Errorf("Covariance wrote outside its window, in row %d", i)
		}
	}
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
