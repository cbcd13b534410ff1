package gauss

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// exact is the tolerance of algebra on well-conditioned matrices, relative.
const exact = 1e-11

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*(1e-300+math.Abs(want))) {
		t.Errorf("%s: %.17g, want %.17g (relative %.2g)", what, got, want, math.Abs(got-want)/math.Abs(want))
	}
}

// nearAll compares with a tolerance of the largest element.
func nearAll(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	largest := 0.0
	for _, v := range want {
		largest = math.Max(largest, math.Abs(v))
	}
	for i, v := range want {
		if !(math.Abs(got[i]-v) <= tolerance*largest) {
			t.Errorf("%s, element %d: %.17g, want %.17g of at most %.3g", what, i, got[i], v, largest)
			return
		}
	}
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// design is n×(dense+sparse), half of the sparse entries there.
func design(rng *rand.Rand, n, dense, sparse int) *credence.Design {
	phi := &credence.Design{Dense: linop.Dense{Rows: n, Cols: dense, Stride: dense, Data: normals(rng, n*dense)}}
	phi.Sparse.Rows, phi.Sparse.Cols = n, sparse
	phi.Sparse.Start = append(phi.Sparse.Start, 0)
	for range n {
		for j := range sparse {
			if rng.IntN(2) == 0 {
				phi.Sparse.Index, phi.Sparse.Value = append(phi.Sparse.Index, int32(j)), append(phi.Sparse.Value, rng.NormFloat64())
			}
		}
		phi.Sparse.Start = append(phi.Sparse.Start, len(phi.Sparse.Index))
	}
	return phi
}

// written is Φ, row by row.
func written(phi *credence.Design) *mat.Dense {
	n, d := phi.Dims()
	out := mat.NewDense(n, d, nil)
	for i := range n {
		phi.Each(i, func(j int, v float64) { out.Set(i, j, out.At(i, j)+v) })
	}
	return out
}

// posterior is C = (Λ⁻¹ + H)⁻¹ by the oracle's own way, Λ − ΛH(I + ΛH)⁻¹Λ with LU, and log|I + ΛH|. A variance of 0 is
// one like others.
func posterior(t *testing.T, h *mat.Dense, lambda []float64) (*mat.Dense, float64) {
	t.Helper()
	d := len(lambda)
	a := mat.NewDense(d, d, nil) // I + ΛH
	for i := range d {
		for j := range d {
			a.Set(i, j, lambda[i]*h.At(i, j))
		}
		a.Set(i, i, a.At(i, i)+1)
	}
	var lu mat.LU
	lu.Factorize(a)
	right, c := mat.NewDense(d, d, nil), new(mat.Dense)
	for i, v := range lambda {
		right.Set(i, i, v)
	}
	if err := lu.SolveTo(c, false, right); err != nil {
		t.Log(err)
	}
	logDet, _ := lu.LogDet()
	return c, logDet
}

// product is Φᵀ diag(w) Φ.
func product(x *mat.Dense, w []float64) *mat.Dense {
	n, _ := x.Dims()
	scaled := mat.DenseCopyOf(x)
	for i := range n {
		for j, v := range scaled.RawRowView(i) {
			scaled.RawRowView(i)[j] = v * w[i]
		}
	}
	out := new(mat.Dense)
	out.Mul(x.T(), scaled)
	return out
}

func quadratic(c mat.Matrix, x []float64) float64 {
	v := mat.NewVecDense(len(x), x)
	return mat.Inner(v, c, v)
}

// TestForms compares all that either form says with the explicit inverse, for dense and sparse columns, some prior
// variances 0, rows of weight 0, and variances from 1e-8 to 1e8; on one thread and on three.
func TestForms(t *testing.T) {
	for seed, shape := range [][3]int{{40, 12, 0}, {40, 5, 9}, {9, 20, 0}, {11, 7, 15}, {600, 150, 170}, {1, 1, 0}} {
		for _, threads := range []int{1, 3} {
			t.Run(fmt.Sprint(shape, threads), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(seed), 5))
				ws := credence.NewWorkspace(threads)
				n, d := shape[0], shape[1]+shape[2]
				phi := design(rng, n, shape[1], shape[2])
				x := written(phi)
				lambda, deviations, g, roots := make([]float64, d), make([]float64, d), make([]float64, n), make([]float64, n)
				for j := range lambda {
					lambda[j] = math.Exp(2 * rng.NormFloat64())
					if d > 1 && j%5 == 2 {
						lambda[j] = 0
					}
					deviations[j] = math.Sqrt(lambda[j])
				}
				for i := range g {
					g[i] = math.Exp(rng.NormFloat64())
					if n > 1 && i%4 == 1 {
						g[i] = 0
					}
					roots[i] = math.Sqrt(g[i])
				}
				h := product(x, g)
				c, logDet := posterior(t, h, lambda)
				b := normals(rng, d)

				const scale = 0.25
				layout := Dense{Weights: d, Definite: true}
				values := make([]float64, layout.Len())
				quarter := make([]float64, n)
				for i, v := range g {
					quarter[i] = v / scale
				}
				for first := 0; first < n; first += 16 {
					part := phi.Window(first, min(16, n-first))
					layout.AddRows(ws, values, &part, quarter[first:min(n, first+16)])
				}
				layout.Close(values, shape[1])
				f, own := layout.Factor(ws), slices.Clone(deviations)
				for _, by := range []float64{3, scale} { // nothing of the first values is left
					if err := f.Set(values, by, own); err != nil || f.Jitter() != 0 {
						t.Fatal(err, f.Jitter())
					}
					f.Root()
				}
				clear(own) // which is the caller's
				near(t, "LogDet", f.LogDet(), logDet, exact)
				got, white, want := make([]float64, d), make([]float64, d), mat.NewVecDense(d, nil)
				want.MulVec(c, mat.NewVecDense(d, b))
				f.Whiten(got, white, b)
				nearAll(t, "Whiten", got, want.RawVector().Data, exact)
				for j, s := range deviations {
					near(t, "of the prior", s*white[j], got[j], exact)
				}
				copy(got, b)
				f.Solve(got, got)
				nearAll(t, "Solve", got, want.RawVector().Data, exact)
				f.Variances(got)
				for j, v := range got {
					near(t, "Variances", v, c.At(j, j), exact)
				}
				covariance := make([]float64, d*d)
				f.Covariance(covariance)
				nearAll(t, "Covariance", covariance, c.RawMatrix().Data, exact)
				f.Inverse(covariance)
				for j, s := range deviations {
					for i, r := range deviations {
						covariance[j*d+i] *= s * r
					}
				}
				nearAll(t, "Inverse", covariance, c.RawMatrix().Data, exact)
				f.Root().Covariance(ws, covariance, d)
				nearAll(t, "Root", covariance, c.RawMatrix().Data, exact)
				var hc mat.Dense
				hc.Mul(h, c)
				near(t, "Trace", scale*f.Trace(values, covariance), mat.Trace(&hc), exact)
				half := append(append([]float64{}, b...), make([]float64, d)...)
				for j := range b { // two columns: b and 2b
					half[2*j], half[2*j+1] = b[j], 2*b[j]
				}
				f.Half(half, 2)
				square := 0.0
				for j := range d {
					square += half[2*j] * half[2*j+1]
				}
				near(t, "Half", square, 2*quadratic(c, b), exact)
				copy(got, b)
				f.Root().Mul(ws, got, white, got)
				nearAll(t, "Mul of the root", got, want.RawVector().Data, exact)
				near(t, "its half", kernel.Dot(white, white), quadratic(c, b), exact)
				rows := make([]float64, n)
				f.Root().RowVariances(ws, rows, phi)
				for i, v := range rows {
					near(t, "RowVariances", v, quadratic(c, x.RawRowView(i)), exact)
				}
				layout.Mul(got, values, b)
				var hb mat.VecDense
				hb.MulVec(h, mat.NewVecDense(d, b))
				kernel.Scale(scale, got)
				nearAll(t, "Mul", got, hb.RawVector().Data, exact)
				layout.Diagonal(got, values)
				for j, v := range got {
					near(t, "Diagonal", scale*v, h.At(j, j), exact)
				}

				dual := NewDual(ws, n)
				k := product(mat.DenseCopyOf(x.T()), lambda)
				if err := dual.Set(k.RawMatrix().Data, roots); err != nil || dual.Jitter() != 0 {
					t.Fatal(err)
				}
				near(t, "dual LogDet", dual.LogDet(), logDet, exact)
				nearAll(t, "Upper", []float64{LogDeterminant(n, dual.Upper())}, []float64{logDet}, exact)
				// T = G − GΦCΦᵀG
				var xc, all mat.Dense
				xc.Mul(x, c)
				all.Mul(&xc, x.T())
				whole, trace := mat.NewDense(n, n, nil), 0.0
				for i := range n {
					for l := range n {
						whole.Set(i, l, -g[i]*all.At(i, l)*g[l])
					}
					whole.Set(i, i, whole.At(i, i)+g[i])
					trace += g[i] * all.At(i, i)
				}
				inverse := make([]float64, n*n)
				dual.Inverse(inverse)
				nearAll(t, "dual Inverse", inverse, whole.RawMatrix().Data, exact)
				y, solved := normals(rng, n), make([]float64, n)
				form := dual.Solve(solved, y)
				near(t, "square of Solve", form, quadratic(whole, y), 1e-10)
				var ty mat.VecDense
				ty.MulVec(whole, mat.NewVecDense(n, y))
				nearAll(t, "dual Solve", solved, ty.RawVector().Data, exact)
				vectors := append(append([]float64{}, y...), y...)
				var squares [2]float64
				dual.Squares(squares[:], vectors, 2)
				near(t, "dual Squares", squares[0], form, exact)
				near(t, "dual Squares of the second", squares[1], form, exact)
				dual.Half(vectors, 2)
				near(t, "dual Half", kernel.Dot(vectors[:n], vectors[n:]), form, exact)
				dual.RowVariances(rows, inverse)
				for i, v := range rows {
					near(t, "dual RowVariances", v, all.At(i, i), exact)
				}
				near(t, "dual Trace", dual.Trace(inverse), trace, exact)
			})
		}
	}
}

// TestOnes: nil weights and roots are ones, after other ones as before.
func TestOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	ws := credence.NewWorkspace(1)
	const n, d = 7, 4
	phi := design(rng, n, d, 0)
	layout, ones := Dense{Weights: d}, []float64{1, 1, 1, 1, 1, 1, 1}
	a, b := make([]float64, d*d), make([]float64, d*d)
	layout.AddRows(ws, a, phi, nil)
	layout.AddRows(ws, b, phi, ones)
	nearAll(t, "AddRows", a, b, 0)
	k := product(mat.DenseCopyOf(written(phi).T()), []float64{1, 2, 3, 4}).RawMatrix().Data
	dual, halves := NewDual(ws, n), []float64{.5, .5, .5, .5, .5, .5, .5}
	want, inverse := 0.0, make([]float64, n*n)
	for _, roots := range [][]float64{ones, halves, nil} {
		must.Succeed(t, dual.Set(k, roots))
		dual.Inverse(inverse)
		switch got := dual.LogDet() + dual.Trace(inverse); {
		case want == 0:
			want = got
		case roots == nil && got != want:
			t.Errorf("nil roots: %v, want %v", got, want)
		case roots != nil && got == want:
			t.Error("half the roots make no difference")
		}
	}
}

// TestWide: variances and precisions that differ by 1e24 keep their digits, where Λ⁻¹ + H has a condition number no
// inverse survives: one weight is told by the rows alone, one by its prior, and the others by both.
func TestWide(t *testing.T) {
	ws := credence.NewWorkspace(1)
	lambda, told := []float64{1e-200, 1e-12, 1, 1e12, 1e200}, []float64{1e12, 1e12, 1e-12, 1, 1e-190}
	d := len(lambda)
	layout, h, deviations := Dense{Weights: d, Definite: true}, make([]float64, d*d), make([]float64, d)
	k, roots := make([]float64, d*d), make([]float64, d) // a row tells a weight
	for j, v := range lambda {
		h[j*d+j], deviations[j] = told[j], math.Sqrt(v)
		k[j*d+j], roots[j] = v, math.Sqrt(told[j])
	}
	f, dual := layout.Factor(ws), NewDual(ws, d)
	must.Succeed(t, errors.Join(f.Set(h, 1, deviations), dual.Set(k, roots)))
	got, rows, inverse := make([]float64, d), make([]float64, d), make([]float64, d*d)
	f.Variances(got)
	dual.Inverse(inverse)
	dual.RowVariances(rows, inverse)
	logDet := 0.0
	for j, v := range lambda {
		want := v / (1 + v*told[j])
		near(t, fmt.Sprint("variance ", j), got[j], want, 1e-13)
		near(t, fmt.Sprint("variance of row ", j), rows[j], want, 1e-9) // of faint rows 2⁻⁵³/1e-6
		logDet += math.Log1p(v * told[j])
	}
	near(t, "LogDet", f.LogDet(), logDet, 1e-13)
	near(t, "dual LogDet", dual.LogDet(), logDet, 1e-13)
}

// TestFaint: a row whose precision is next to nothing has the variance that a row of weight 0 has, and not what
// rounding leaves of 1, between others that say much.
func TestFaint(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	ws := credence.NewWorkspace(1)
	const n, d = 6, 9
	x := written(design(rng, n, d, 0))
	lambda := []float64{1, 1, 2, 2, 3, 3, 4, 4, 5}
	k := product(mat.DenseCopyOf(x.T()), lambda).RawMatrix().Data
	want, got, inverse := make([]float64, n), make([]float64, n), make([]float64, n*n)
	for i, faint := range []float64{0, 1e-5, 1e-8, 1e-12, 1e-20, 1e-160} {
		dual := NewDual(ws, n)
		must.Succeed(t, dual.Set(k, []float64{3, faint, 2, 1e4, 1, 1}))
		dual.Inverse(inverse)
		if dual.RowVariances(got, inverse); i == 0 {
			copy(want, got)
		}
		near(t, fmt.Sprint("variance at a root of ", faint), got[1], want[1], 1e-8)
	}
	if !(want[1] > 0.01 && want[1] < 0.6*k[n+1]) {
		t.Errorf("variance %v of %v: the other rows tell nothing", want[1], k[n+1])
	}
}

// TestCentre: H of columns and their means is that of centred columns.
func TestCentre(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	ws := credence.NewWorkspace(1)
	const n, d = 12, 5
	phi := design(rng, n, d, 0)
	means := []float64{0, 3, 0, -2, 100}
	for i := range n {
		phi.Dense.Row(i)[0] = 1
		kernel.Axpy(1, means, phi.Dense.Row(i))
	}
	w := []float64{1, 2, 3, 1, 0, 2, 1, 1, 1, 4, 1, 1}
	layout, got := Dense{Weights: d}, make([]float64, d*d)
	layout.AddRows(ws, got, phi, w)
	layout.Centre(got, means)
	x := written(phi)
	for i := range n {
		kernel.Axpy(-1, means, x.RawRowView(i))
	}
	want := product(x, w)
	for i := range d {
		for j := i; j < d; j++ {
			if gap := math.Abs(got[i*d+j] - want.At(i, j)); gap > 1e-9 { // 2⁻⁵³ of 12·100²
				t.Errorf("element %d, %d: %v, want %v", i, j, got[i*d+j], want.At(i, j))
			}
		}
	}
}

// TestRepeated: columns that repeat each other without noise are named where no jitter helps, and get jitter where it
// does; where H need not be positive no jitter is tried.
func TestRepeated(t *testing.T) {
	ws := credence.NewWorkspace(1)
	const d = 4
	h := make([]float64, d*d)
	// the third is half the first
	for i, row := range [][]float64{{2, 0, 1, 0}, {0, 3, 0, 0}, {1, 0, .5, 0}, {0, 0, 0, 1}} {
		copy(h[i*d:], row)
	}
	deviations := []float64{1, 1, 1, 1}
	f := Dense{Weights: d, Definite: true}.Factor(ws)
	if err := f.Set(h, 1e18, deviations); err != nil || !(f.Jitter() > 0 && f.Jitter() < 1e-6) {
		t.Errorf("equal columns: %v, jitter %g", err, f.Jitter())
	}
	b, got := []float64{4e18, 3e18, 2e18, 1e18}, make([]float64, d)
	f.Solve(got, b)
	near(t, "sum of the equal columns' weights", got[0]+got[2]/2, 2, 1e-5) // ten times the largest jitter
	added := f.Jitter() * 6.5e18 / d
	// 1e-2 of the last
	near(t, "LogDet", f.LogDet(), math.Log(2.5e18)+math.Log(3e18)+math.Log(1e18)+math.Log(added), 1e-4)
	if err := f.Set(h, 1, deviations); err != nil || f.Jitter() != 0 {
		t.Errorf("with noise: %v, jitter %g", err, f.Jitter())
	}
	var repeated *Repeated
	err := (Dense{Weights: d}).Factor(ws).Set(h, 1e18, deviations)
	if !errors.As(err, &repeated) || repeated.Pivot != 2 || repeated.Twin != 0 || repeated.Count != d || repeated.Rows {
		t.Fatalf("no jitter: %v", err)
	}
	if text := repeated.Of(func(j int) string { return string(rune('p' + j)) }); !strings.HasPrefix(text, "the column of r (3 of 4, most like that of p) is lost") {
		t.Error(text)
	}
	if text := err.Error(); !strings.Contains(text, "weight 3 (3 of 4, most like that of weight 1)") {
		t.Error(text)
	}
	h[0] = -3
	if err := f.Set(h, 1, deviations); !errors.As(err, &repeated) || repeated.Pivot != 0 || repeated.Twin >= 0 || strings.Contains(err.Error(), "like") {
		t.Errorf("a negative square: %v", err)
	}
	dual := NewDual(ws, d)
	if err := dual.Set([]float64{1, 2, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, nil); err != nil {
		t.Errorf("1 + 1 and 2: %v", err)
	}
	err = dual.Set([]float64{1, 20, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, nil)
	if !errors.As(err, &repeated) || !repeated.Rows || repeated.Pivot != 1 || !strings.Contains(err.Error(), "row 2 of 4") {
		t.Errorf("rows: %v", err)
	}
}

// TestDraw compares moments of 40,000 draws with the covariance, by five standard errors.
func TestDraw(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	ws := credence.NewWorkspace(1)
	const d, count = 4, 40000
	x := written(design(rng, 9, d, 0))
	one := []float64{1, 1, 1, 1, 1, 1, 1, 1, 1}
	h, deviations := product(x, one), []float64{1, 2, .1, 1}
	f := Dense{Weights: d, Definite: true}.Factor(ws)
	must.Succeed(t, f.Set(h.RawMatrix().Data, 1, deviations))
	c, sums, mean, w := make([]float64, d*d), make([]float64, d*d), make([]float64, d), make([]float64, d)
	f.Covariance(c)
	inverse := new(mat.Dense)
	must.Succeed(t, inverse.Inverse(mat.NewDense(d, d, c)))
	for range count {
		near(t, "zᵀz", f.Root().Draw(w, rng), quadratic(inverse, w), 1e-9)
		kernel.Axpy(1./count, w, mean)
		for i, v := range w {
			kernel.Axpy(v/count, w, sums[i*d:(i+1)*d])
		}
	}
	for i := range d {
		if gap := math.Abs(mean[i]) / math.Sqrt(c[i*d+i]/count); gap > 5 {
			t.Errorf("mean of weight %d is %.1f standard errors off", i, gap)
		}
		for j := range d {
			if gap := math.Abs(sums[i*d+j]-c[i*d+j]) / math.Sqrt((c[i*d+i]*c[j*d+j]+c[i*d+j]*c[i*d+j])/count); gap > 5 {
				t.Errorf("covariance of weights %d and %d is %.1f standard errors off", i, j, gap)
			}
		}
	}
}

// TestRepair: a covariance has its own factor; one that sums have left with a negative direction loses that and keeps
// its variances, in any units, and says so unless it is rounding.
func TestRepair(t *testing.T) {
	pool := credence.NewWorkspace(1).Pool()
	product := func(f []float64, d int) []float64 {
		out := make([]float64, d*d)
		for i := range d {
			for j := range d {
				out[i*d+j] = kernel.Dot(f[i*d:(i+1)*d], f[j*d:(j+1)*d])
			}
		}
		return out
	}
	const d = 3
	whole := []float64{4, 1, .5, 1, 9, -2, .5, -2, 1}
	upper := append([]float64{}, whole...)
	upper[3], upper[6], upper[7] = 99, 99, 99
	f, positive := Repair(pool, d, upper)
	nearAll(t, "of a covariance", product(f, d), whole, 1e-14)
	if !positive || f[3] != 0 || f[6] != 0 || f[7] != 0 {
		t.Errorf("positive %v, factor %v", positive, f)
	}
	// Correlations of .9, .9 and −.9 have the eigenvalue 1 − 1.8.
	scaled := func(r float64, s [d]float64) []float64 {
		c := []float64{1, r, r, r, 1, -r, r, -r, 1}
		for i := range d {
			for j := range d {
				c[i*d+j] *= s[i] * s[j]
			}
		}
		return c
	}
	unit, _ := Repair(pool, d, scaled(.9, [d]float64{1, 1, 1}))
	for _, s := range [][d]float64{{1, 1, 1}, {1e-9, 1, 1e7}} {
		f, positive := Repair(pool, d, scaled(.9, s))
		got := product(f, d)
		if positive {
			t.Error("a negative direction is not told")
		}
		for i := range d {
			near(t, "variance", got[i*d+i], s[i]*s[i], 1e-11)
			for j := range d {
				near(t, "covariance", got[i*d+j], s[i]*s[j]*product(unit, d)[i*d+j], 1e-9)
			}
		}
		// Without its negative part the matrix of eigenvalues 1.9, 1.9 and 0 has correlations of a half.
		near(t, "correlation", got[1]/s[0]/s[1], .5, 1e-9)
	}
	if _, positive := Repair(pool, d, scaled(.5+1e-10, [d]float64{1, 2, 3})); !positive {
		t.Error("rounding is told as a negative direction")
	}
	// No variances, one of 0, and one below.
	f, positive = Repair(pool, d, make([]float64, d*d))
	nearAll(t, "no variances", f, make([]float64, d*d), 0)
	if !positive {
		t.Error("no variances are told as negative")
	}
	f, positive = Repair(pool, d, []float64{1, 0, .5, 0, 0, 0, .5, 0, 1})
	nearAll(t, "a variance of 0", product(f, d), []float64{1, 0, .5, 0, 0, 0, .5, 0, 1}, 1e-11)
	if !positive {
		t.Error("a variance of 0 is told as negative")
	}
	f, positive = Repair(pool, d, []float64{1, 0, .5, 0, -1e-3, 0, .5, 0, 1})
	if got := product(f, d); positive || !(got[4] >= 0 && got[4] < 1e-9) {
		t.Errorf("a negative variance: %v, %v", got[4], positive)
	}
	near(t, "beside it", product(f, d)[2], .5, 1e-9)
}
