package convex

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/linop"
)

// TestThin: with columns of one row and of none left out, solutions, variances and draws are those of the whole A, with
// and without an intercept at the columns' means and weights that are sites. Draws are compared within five standard
// errors.
func TestThin(t *testing.T) {
	const n, dense, common, own, draws = 24, 2, 5, 30, 4000
	const d = dense + common + own
	ctx := context.Background()
	for _, centred := range []bool{false, true} {
		for _, heavy := range []bool{false, true} {
			ws, rng := credence.NewWorkspace(2), rand.New(rand.NewPCG(7, 8))
			var phi credence.Design
			phi.Dense.Reshape(n, dense)
			phi.Sparse.Reset(common + own)
			for i := range n {
				phi.Dense.Row(i)[0], phi.Dense.Row(i)[1] = 1, rng.NormFloat64()
				index, value := []int32{int32(i % common)}, []float64{1 + rng.Float64()}
				for j := range own { // two of each of the first 14 rows; the last two are empty
					if j < 28 && j%14 == i {
						index, value = append(index, int32(common+j)), append(value, float64(j%3)+0.5)
					}
				}
				phi.Sparse.AppendRow(index, value)
			}
			byColumn := phi.Sparse.Transpose()
			table := &columns{ws: ws, phi: &phi, byColumn: &byColumn}
			normal, roots, places := make([]float64, d), make(linop.Diagonal, d), make([]int, d-1)
			if centred {
				table.means = make([]float64, d)
			}
			for j := range normal {
				normal[j] = 0.2 + 0.05*float64(j)
				if j == 0 {
					normal[j] = 1e-7
				} else if centred {
					table.means[j] = 0.1 * rng.Float64()
				}
				roots[j] = math.Sqrt(normal[j])
			}
			for k := range places {
				places[k] = k + 1
			}
			s := &free{measured: &measured{x: roots, b: table}, ws: ws, draws: draws}
			precision := make([]float64, n, n+d)
			if heavy {
				s.b = linop.NewStack(table, &linop.Selection{Cols: d, Places: places})
				precision = precision[:n+d-1]
			}
			for i := range precision {
				precision[i] = 0.1 + rng.Float64()
			}
			if s.thin = newThin(&beside{table, true, normal, 1, heavy}); s.thin == nil || len(s.thin.kept) != dense+common {
				t.Fatalf("columns were not left out: %+v", s.thin)
			}
			s.thin.take(s)
			must.Succeed(t, s.factor(ctx, precision))
			whole := written(s.a)
			var a, inverse mat.Dense
			a.CloneFrom(mat.NewDense(d, d, whole.Data))
			must.Succeed(t, inverse.Inverse(&a))
			v, got := normals(rng, d), make([]float64, d)
			must.Succeed(t, s.solve(ctx, got, v))
			var want mat.VecDense
			want.MulVec(&inverse, mat.NewVecDense(d, v))
			for j, x := range got {
				if !(math.Abs(x-want.AtVec(j)) <= 1e-6*(1+math.Abs(want.AtVec(j)))) {
					t.Fatalf("centred %t, heavy %t: weight %d is %v, want %v", centred, heavy, j, x, want.AtVec(j))
				}
			}
			z := make([]float64, len(precision))
			must.Succeed(t, s.variances(ctx, z))
			sites := written(s.b)
			var half, all mat.Dense
			b := mat.NewDense(sites.Rows, d, sites.Data)
			half.Mul(b, &inverse)
			all.Mul(&half, b.T())
			for i, value := range z {
				if exact := all.At(i, i); !(math.Abs(value-exact) <= 5*drawnError(draws)*exact) {
					t.Errorf("centred %t, heavy %t: z of site %d is %v, want %v", centred, heavy, i, value, exact)
				}
			}
			for j := range d {
				for k := range j + 1 {
					sum, exact := 0.0, inverse.At(j, k)
					for _, xi := range s.last {
						sum += xi[j] * xi[k] / draws
					}
					if !(math.Abs(sum-exact) <= 5*math.Sqrt((inverse.At(j, j)*inverse.At(k, k)+exact*exact)/draws)) {
						t.Errorf("centred %t, heavy %t: the covariance of weights %d and %d is %v, want %v", centred, heavy, j, k, sum, exact)
					}
				}
			}
		}
	}
}

// Of tables whose columns are in several rows nothing is left out.
func TestNotThin(t *testing.T) {
	var phi credence.Design
	phi.Dense.Reshape(4, 1)
	phi.Sparse.Reset(3)
	for range 4 {
		phi.Sparse.AppendRow([]int32{0, 1, 2}, nil)
	}
	byColumn := phi.Sparse.Transpose()
	if newThin(&beside{table: &columns{phi: &phi, byColumn: &byColumn}}) != nil {
		t.Error("columns were left out")
	}
	if newThin(&beside{table: &columns{phi: &credence.Design{Dense: phi.Dense}}}) != nil {
		t.Error("dense columns were left out")
	}
}
