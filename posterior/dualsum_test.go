package posterior

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
)

// point is one setting of hyper-parameters: the prior variances of blocks, the weight of the setting.
type point struct {
	prior  []float64
	noise  float64
	weight float64
}

// randomSum averages the posteriors of points over the features of a Dual, with differences of means,
// and returns the average with its covariance by dense algebra.
func randomSum(t *testing.T, from *Dual, blocks []int, points []point, shares []float64) (*DualSum, *mat.SymDense) {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(len(points)), uint64(len(blocks))))
	n, d := from.Design.Dims()
	q := &DualSum{Mean: from.Mean, Design: from.Design, Scale: from.Scale, Blocks: blocks, Shares: shares,
		PriorVariance: make([]float64, d), Forms: make([]float64, Forms(n, blocks)), Differences: make([]float64, len(shares)*d)}
	phi := mat.NewDense(n, d, nil)
	for i := range n {
		from.Design.Each(i, func(j int, v float64) { phi.Set(i, j, v) })
	}
	cov := mat.NewSymDense(d, nil)
	for _, at := range points {
		lambda, j := mat.NewDiagDense(d, nil), 0
		for b, count := range blocks {
			for range count {
				lambda.SetDiag(j, at.prior[b])
				q.PriorVariance[j] += at.weight * at.prior[b]
				j++
			}
		}
		var scaled, kernel, inverse, reduction mat.Dense
		scaled.Mul(phi, lambda)
		kernel.Mul(&scaled, phi.T())
		for i := range n {
			kernel.Set(i, i, kernel.At(i, i)+at.noise)
		}
		if err := inverse.Inverse(&kernel); err != nil {
			t.Fatal(err)
		}
		forms, first := q.Forms, 0
		for b := range blocks {
			second := first
			for c := b; c < len(blocks); c++ {
				var form mat.Dense
				form.Product(columns(phi, first, blocks[b]).T(), &inverse, columns(phi, second, blocks[c]))
				rows, cols := form.Dims()
				for i := range rows {
					from := 0
					if b == c {
						from = i
					}
					for k := from; k < cols; k++ {
						forms[0] += at.weight * at.prior[b] * at.prior[c] * form.At(i, k)
						forms = forms[1:]
					}
				}
				second += blocks[c]
			}
			first += blocks[b]
		}
		reduction.Product(scaled.T(), &inverse, &scaled)
		for i := range d {
			for k := i; k < d; k++ {
				v := -reduction.At(i, k)
				if i == k {
					v += lambda.At(i, i)
				}
				cov.SetSym(i, k, cov.At(i, k)+at.weight*v)
			}
		}
	}
	for i := range q.Differences {
		q.Differences[i] = rng.NormFloat64() / 3
	}
	for k, share := range shares {
		cov.SymRankOne(cov, share, mat.NewVecDense(d, q.difference(k)))
	}
	cov.ScaleSym(from.Scale*from.Scale, cov)
	return q, cov
}

// columns are those of a block of fewer weights than rows, the identity for a larger one.
func columns(phi *mat.Dense, first, count int) mat.Matrix {
	n, _ := phi.Dims()
	if count < n {
		return phi.Slice(0, n, first, first+count)
	}
	ones := mat.NewDiagDense(n, nil)
	for i := range n {
		ones.SetDiag(i, 1)
	}
	return ones
}

// threePoints are a mode and two settings about it, the weight of one of which is negative.
func threePoints(blocks int) []point {
	points := []point{{noise: 1, weight: 1.05}, {noise: 1.3, weight: 0.1}, {noise: 0.8, weight: -0.15}}
	for k := range points {
		for b := range blocks {
			points[k].prior = append(points[k].prior, 0.5+0.2*float64(b)+0.1*float64((b+1)*k))
		}
	}
	return points
}

// TestDualSum compares the moments of rows and of weights with a dense covariance. Blocks begin
// and end in dense and in sparse columns, and one holds both.
func TestDualSum(t *testing.T) {
	for _, s := range shapes {
		d := s.dense + s.sparse
		for _, blocks := range [][]int{{d}, {1, d - 1}, {2, 1, d - 4, 1}} {
			if s.n > 100 && len(blocks) < 4 { // what many rows differ in, any blocks show
				continue
			}
			dual, _ := randomDual(t, s.n, s.dense, s.sparse, 2)
			q, cov := randomSum(t, dual, blocks, threePoints(len(blocks)), []float64{0.4, -0.01, 0.2})
			t.Run(fmt.Sprintf("%v %v", s, blocks), func(t *testing.T) {
				if err := q.Validate(); err != nil {
					t.Fatal(err)
				}
				checkPosterior(t, q, s.sparse, tolerance)
				againstCovariance(t, "sum", q, s.dense, s.sparse, cov)
				mean, variance := make([]float64, d), make([]float64, d)
				q.Marginals(mean, variance)
				for j := range d {
					if !(math.Abs(variance[j]-cov.At(j, j)) <= tolerance*float64(d)) {
						t.Errorf("weight %d has variance %v, want %v", j, variance[j], cov.At(j, j))
					}
				}
			})
		}
	}
}

// One point of weight 1 without differences is Dual.
func TestDualSumOfOnePoint(t *testing.T) {
	dual, cov := randomDual(t, 20, 30, 40, 3)
	d := len(dual.Mean)
	blocks, at := make([]int, d), point{prior: dual.PriorVariance, noise: 1, weight: 1}
	for j := range blocks {
		blocks[j] = 1
	}
	q, _ := randomSum(t, dual, blocks, []point{at}, nil)
	againstCovariance(t, "sum", q, 30, 40, cov)
	againstCovariance(t, "dual", dual, 30, 40, cov)
}

func TestDualSumRefusals(t *testing.T) {
	for name, change := range map[string]func(q *DualSum){
		"blocks do not cover":     func(q *DualSum) { q.Blocks = []int{5} },
		"an empty block":          func(q *DualSum) { q.Blocks = []int{0, 12} },
		"blocks overflow":         func(q *DualSum) { q.Blocks = []int{math.MaxInt, math.MaxInt, 14} },
		"too few forms":           func(q *DualSum) { q.Blocks = []int{4, 8} },
		"a share without numbers": func(q *DualSum) { q.Shares = append(q.Shares, 1) },
		"no scale":                func(q *DualSum) { q.Scale = math.NaN() },
		"no variance":             func(q *DualSum) { q.DF = 2 },
		"prior variances":         func(q *DualSum) { q.PriorVariance = q.PriorVariance[1:] },
	} {
		dual, _ := randomDual(t, 4, 7, 5, 1)
		q, _ := randomSum(t, dual, []int{12}, threePoints(1), []float64{1})
		if err := q.Validate(); err != nil {
			t.Fatal(err)
		}
		if change(q); q.Validate() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A row with dense columns alone takes no memory.
func TestDualSumRowTakesNoMemory(t *testing.T) {
	const n, d = 20, 60
	q := &DualSum{Mean: make([]float64, d), PriorVariance: make([]float64, d), Blocks: []int{1, d - 1}, Forms: make([]float64, 1+n+n*(n+1)/2), Scale: 1}
	q.Design.Dense.Reshape(n, d)
	var phi credence.Design
	phi.Dense.Reshape(1, d)
	ws := credence.NewWorkspace(1)
	mean, variance := make([]float64, 1), make([]float64, 1)
	if taken := testing.AllocsPerRun(20, func() { q.Latent(ws, mean, variance, &phi) }); taken != 0 {
		t.Errorf("a row takes memory %v times", taken)
	}
}

// BenchmarkDualSumLatent is a row of 1,000 features with 200 training rows in two blocks.
func BenchmarkDualSumLatent(b *testing.B) {
	const n, d, rows = 200, 1000, 256
	q := &DualSum{Mean: make([]float64, d), PriorVariance: make([]float64, d), Blocks: []int{1, d - 1}, Forms: make([]float64, 1+n+n*(n+1)/2), Scale: 1}
	q.Design.Dense.Reshape(n, d)
	var phi credence.Design
	phi.Dense.Reshape(rows, d)
	ws := credence.NewWorkspace(1)
	mean, variance := make([]float64, rows), make([]float64, rows)
	b.ReportAllocs()
	for b.Loop() {
		q.Latent(ws, mean, variance, &phi)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}
