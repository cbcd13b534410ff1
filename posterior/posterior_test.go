package posterior

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// randomDual draws a posterior in dual form, with its covariance by dense algebra.
func randomDual(t *testing.T, n, dense, sparse int, scale float64) (*Dual, *mat.SymDense) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(n), uint64(dense)))
	d := dense + sparse
	q := &Dual{Scale: scale, Design: credence.Design{Dense: linop.NewDense(n, dense)}}
	q.Design.Sparse.Reset(sparse)
	phi := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range dense {
			q.Design.Dense.Row(i)[j] = rng.NormFloat64()
			phi.Set(i, j, q.Design.Dense.Row(i)[j])
		}
		columns, values := []int32{}, []float64{}
		for j := range sparse {
			if rng.IntN(3) == 0 {
				columns, values = append(columns, int32(j)), append(values, rng.NormFloat64())
				phi.Set(i, dense+j, values[len(values)-1])
			}
		}
		q.Design.Sparse.AppendRow(columns, values)
	}
	lambda := mat.NewDiagDense(d, nil)
	for j := range d {
		q.Mean = append(q.Mean, rng.NormFloat64())
		q.PriorVariance = append(q.PriorVariance, 0.5+rng.Float64())
		lambda.SetDiag(j, q.PriorVariance[j])
	}
	var scaled, k, solved mat.Dense
	scaled.Mul(phi, lambda)
	k.Mul(&scaled, phi.T())
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sym.SetSym(i, j, k.At(i, j))
		}
		sym.SetSym(i, i, k.At(i, i)+1)
	}
	var chol mat.Cholesky
	if !chol.Factorize(sym) {
		t.Fatal("not positive definite")
	}
	var u mat.TriDense
	chol.UTo(&u)
	q.Factor = make([]float64, n*n)
	for i := range n {
		for j := i; j < n; j++ {
			q.Factor[i*n+j] = u.At(i, j)
		}
	}
	if err := chol.SolveTo(&solved, &scaled); err != nil {
		t.Fatal(err)
	}
	var reduction mat.Dense
	reduction.Mul(scaled.T(), &solved)
	cov := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			v := -reduction.At(i, j)
			if i == j {
				v += q.PriorVariance[j]
			}
			cov.SetSym(i, j, v*scale*scale)
		}
	}
	return q, cov
}

// fullOf returns the same posterior with a dense covariance: F is U⁻¹, where UᵀU
// is the inverse of the covariance.
func fullOf(t *testing.T, mean []float64, cov *mat.SymDense) *Full {
	t.Helper()
	d := len(mean)
	var chol, inverse mat.Cholesky
	if !chol.Factorize(cov) {
		t.Fatal("covariance not positive definite")
	}
	precision := mat.NewSymDense(d, nil)
	if err := chol.InverseTo(precision); err != nil {
		t.Fatal(err)
	}
	if !inverse.Factorize(precision) {
		t.Fatal("precision not positive definite")
	}
	var u, f mat.TriDense
	inverse.UTo(&u)
	if err := f.InverseTri(&u); err != nil {
		t.Fatal(err)
	}
	q := &Full{Mean: mean, Factor: make([]float64, d*d)}
	for i := range d {
		for j := i; j < d; j++ {
			q.Factor[i*d+j] = f.At(i, j)
		}
	}
	return q
}

// shapes cover one and several panels, dense, sparse and mixed weights, and none of a sort.
var shapes = []struct{ n, dense, sparse int }{{3, 5, 0}, {4, 0, 7}, {20, 30, 40}, {30, 300, 20}, {300, 310, 0}, {10, 40, 270}}

// tolerance covers condition numbers of up to 1e5 in the reference's two inverses.
const tolerance = 1e-10

func TestConformance(t *testing.T) {
	for _, s := range shapes {
		dual, cov := randomDual(t, s.n, s.dense, s.sparse, 4)
		t.Run(fmt.Sprintf("dual %v", s), func(t *testing.T) { checkPosterior(t, dual, s.sparse, tolerance) })
		full := fullOf(t, dual.Mean, cov)
		t.Run(fmt.Sprintf("full %v", s), func(t *testing.T) { checkPosterior(t, full, s.sparse, tolerance) })
	}
}

// TestFactorisedConformance runs the suite on posteriors whose weights are independent, or draws.
func TestFactorisedConformance(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	const d, sparse, parts = 40, 25, 70
	numbers := func(n int, draw func() float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = draw()
		}
		return x
	}
	slab := &SpikeSlab{Mean: numbers(d, rng.NormFloat64), Variance: numbers(d, rng.Float64), Probability: numbers(d, rng.Float64)}
	slab.Mean[3], slab.Variance[3], slab.Probability[3] = 0, 0, 0
	for name, q := range map[string]credence.Posterior{
		"diagonal":   &Diagonal{Mean: slab.Mean, Variance: slab.Variance},
		"spike-slab": slab,
		"mixture":    &Mixture{Count: 3, Means: numbers(3*d, rng.NormFloat64), Variances: numbers(3*d, rng.Float64)},
		"draws":      &Draws{Count: parts, Values: numbers(parts*d, rng.NormFloat64)},
	} {
		t.Run(name, func(t *testing.T) { checkPosterior(t, q, sparse, 1e-13) })
	}
}

// A normal posterior with inclusion probabilities selects, one without does not.
func TestFullSelects(t *testing.T) {
	q := &Full{Mean: []float64{1, 0}, Factor: []float64{1, 0, 0, 0}}
	if q.Selects() || q.InclusionProbability(1) != 1 {
		t.Error("a posterior without probabilities selects")
	}
	q.Probability = []float64{1, 0}
	if !q.Selects() || q.InclusionProbability(1) != 0 {
		t.Error("the inclusion probability is not the one stated")
	}
	checkPosterior(t, q, 1, 1e-15)
}

// TestAgainstCovariance compares both forms with φᵀCφ.
func TestAgainstCovariance(t *testing.T) {
	for _, s := range shapes {
		dual, cov := randomDual(t, s.n, s.dense, s.sparse, 0.5)
		againstCovariance(t, fmt.Sprintf("dual %v", s), dual, s.dense, s.sparse, cov)
		againstCovariance(t, fmt.Sprintf("full %v", s), fullOf(t, dual.Mean, cov), s.dense, s.sparse, cov)
	}
}

// againstCovariance compares variances and covariances of f under q with φᵀCφ.
func againstCovariance(t *testing.T, name string, q credence.Joint, dense, sparse int, cov *mat.SymDense) {
	t.Helper()
	d := dense + sparse
	rng := rand.New(rand.NewPCG(5, 6))
	phi := credence.Design{Dense: linop.NewDense(9, dense)}
	phi.Sparse.Reset(sparse)
	want := make([]float64, 9)
	for i := range 9 {
		row := mat.NewVecDense(d, nil)
		for j := range dense {
			row.SetVec(j, rng.NormFloat64())
			phi.Dense.Row(i)[j] = row.AtVec(j)
		}
		var columns []int32
		for j := range sparse {
			if rng.IntN(2) == 0 {
				columns = append(columns, int32(j))
				row.SetVec(dense+j, 1)
			}
		}
		phi.Sparse.AppendRow(columns, nil) // entries of 1
		want[i] = mat.Inner(row, cov, row)
	}
	joint := linop.NewDense(9, 9)
	q.Covariance(credence.NewWorkspace(2), &joint, &phi, &phi)
	for i := range 9 {
		for k := range 9 {
			of := 0.0
			phi.Each(i, func(j int, x float64) {
				phi.Each(k, func(l int, y float64) { of += x * y * cov.At(j, l) })
			})
			if !(math.Abs(joint.Row(i)[k]-of) <= tolerance*(1+want[i]+want[k])*float64(d)) {
				t.Errorf("%s: rows %d and %d have covariance %v, want %v", name, i, k, joint.Row(i)[k], of)
			}
		}
	}
	mean, variance := make([]float64, 9), make([]float64, 9)
	q.Latent(credence.NewWorkspace(2), mean, variance, &phi)
	for i := range 9 {
		if !(math.Abs(variance[i]-want[i]) <= tolerance*(1+want[i])*float64(d)) {
			t.Errorf("%s: row %d has variance %v, want %v", name, i, variance[i], want[i])
		}
	}
}

// TestNoRows is the prior itself.
func TestNoRows(t *testing.T) {
	q := &Dual{Mean: []float64{0, 0}, PriorVariance: []float64{2, 3}, Design: credence.Design{Dense: linop.NewDense(0, 2)}, Scale: 1}
	phi := credence.Design{Dense: linop.Dense{Rows: 1, Cols: 2, Stride: 2, Data: []float64{1, 2}}}
	mean, variance := []float64{9}, []float64{9}
	q.Latent(credence.NewWorkspace(1), mean, variance, &phi)
	if mean[0] != 0 || variance[0] != 14 {
		t.Fatalf("f is %v with variance %v, want 0 and 14", mean[0], variance[0])
	}
}

func BenchmarkFullLatent(b *testing.B) {
	const d, n = 1000, 512
	q := &Full{Mean: make([]float64, d), Factor: make([]float64, d*d)}
	for i := range d {
		q.Factor[i*d+i] = 1
	}
	phi := credence.Design{Dense: linop.NewDense(n, d)}
	ws := credence.NewWorkspace(1)
	mean, variance := make([]float64, n), make([]float64, n)
	q.Latent(ws, mean, variance, &phi)
	b.ReportAllocs()
	for b.Loop() {
		q.Latent(ws, mean, variance, &phi)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}
