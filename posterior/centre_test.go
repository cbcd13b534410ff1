package posterior

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// centredDesign returns the rows less φ_0 c, all of their columns dense.
func centredDesign(phi *credence.Design, c []float64) *credence.Design {
	n, d := phi.Dims()
	out := &credence.Design{Dense: linop.NewDense(n, d)}
	for i := range n {
		row := out.Dense.Row(i)
		phi.Each(i, func(j int, v float64) { row[j] += v })
		lead := row[0]
		for j := range d {
			row[j] -= lead * c[j]
		}
	}
	return out
}

// TestCentre compares posteriors with a centre with those of centred rows, for rows that have any
// amount of the intercept.
func TestCentre(t *testing.T) {
	for _, s := range shapes {
		plain, _ := randomDual(t, s.n, s.dense, s.sparse, 0.5)
		if s.dense == 0 || s.n > 20 {
			continue
		}
		d := s.dense + s.sparse
		rng := rand.New(rand.NewPCG(7, uint64(d)))
		c := make([]float64, d)
		for j := 1; j < d; j++ {
			c[j] = rng.NormFloat64()
		}
		for i := range plain.Factor { // noise enough for rows that lie elsewhere now
			plain.Factor[i] *= 30
		}
		sum, _ := randomSum(t, plain, []int{1, d - 2, 1}, threePoints(3), []float64{0.5, -0.01})
		for i := range sum.Forms {
			sum.Forms[i] /= 900
		}
		phi := credence.Design{Dense: linop.NewDense(5, s.dense)}
		phi.Sparse.Reset(s.sparse)
		for i := range 5 {
			for j := range s.dense {
				phi.Dense.Row(i)[j] = rng.NormFloat64()
			}
			if s.sparse > 1 {
				phi.Sparse.AppendRow([]int32{int32(i % 2), int32(s.sparse - 1)}[:1+i%2], []float64{rng.NormFloat64(), 2}[:1+i%2])
			} else {
				phi.Sparse.AppendRow(nil, nil)
			}
		}
		ws := credence.NewWorkspace(2)
		got, want := linop.NewDense(5, 5), linop.NewDense(5, 5)
		compare := func(what string, q, centred credence.Joint) {
			t.Helper()
			q.Covariance(ws, &got, &phi, &phi)
			rows := centredDesign(&phi, c)
			centred.Covariance(ws, &want, rows, rows)
			mean, variance := make([]float64, 5), make([]float64, 5)
			q.Latent(ws, mean, variance, &phi)
			for i := range 5 {
				for k := range 5 {
					if g, w := got.Row(i)[k], want.Row(i)[k]; !(math.Abs(g-w) <= 1e-11*(1+math.Abs(w))) {
						t.Errorf("%s of %d, %d: covariance %v, want %v", what, i, k, g, w)
					}
				}
				if w := want.Row(i)[i]; !(math.Abs(variance[i]-w) <= 1e-11*(1+math.Abs(w))) {
					t.Errorf("%s: variance %v, want %v", what, variance[i], w)
				}
			}
		}
		design := *centredDesign(&plain.Design, c)
		with, dense := *plain, *plain
		with.Centre, dense.Design = c, design
		compare("dual", &with, &dense)
		checkPosterior(t, &with, s.sparse, 1e-11)
		if err := with.Validate(); err != nil {
			t.Error(err)
		}
		if with.Centre = c[1:]; with.Validate() == nil {
			t.Error("a centre that is too short was taken")
		}
		slab := &SpikeSlab{Mean: plain.Mean, Variance: plain.PriorVariance, Centre: c}
		compare("spike and slab", slab, &SpikeSlab{Mean: plain.Mean, Variance: plain.PriorVariance})
		checkPosterior(t, slab, s.sparse, 1e-11)
		withSum, denseSum := *sum, *sum
		withSum.Centre, withSum.Shares, withSum.Differences = c, nil, nil // which are not of centred rows
		denseSum.Design, denseSum.Shares, denseSum.Differences = design, nil, nil
		compare("sum", &withSum, &denseSum)
		withSum.Shares, withSum.Differences = sum.Shares, sum.Differences
		checkPosterior(t, &withSum, s.sparse, 1e-11)
		if err := withSum.Validate(); err != nil {
			t.Error(err)
		}
	}
}
