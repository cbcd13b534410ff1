package convex

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/linop"
)

// TestLeading: the preconditioner is the inverse of A between the leading columns and of A's diagonal elsewhere, for
// dense and sparse columns, with and without an intercept at their means and weights of the rows.
func TestLeading(t *testing.T) {
	const n, dense, sparse = 25, 4, 5
	const d = dense + sparse
	for _, centred := range []bool{false, true} {
		for _, classes := range []bool{false, true} {
			ws := credence.NewWorkspace(1)
			var phi credence.Design
			phi.Dense.Reshape(n, dense)
			phi.Sparse.Reset(sparse)
			for i := range n {
				for j := range dense {
					phi.Dense.Row(i)[j] = math.Sin(float64(i*i+j)) + float64(j)
				}
				phi.Dense.Row(i)[0] = 1
				phi.Sparse.AppendRow([]int32{int32(i % sparse), int32(sparse - 1)}[:1+i%2*min(1, (i+1)%sparse)], []float64{1, 0.5}[:1+i%2*min(1, (i+1)%sparse)])
			}
			table := &columns{ws: ws, phi: &phi}
			if centred {
				table.means = make([]float64, d)
				for j := 1; j < d; j++ {
					table.means[j] = 0.2 * float64(j)
				}
			}
			normal, roots := make([]float64, d), make(linop.Diagonal, d)
			for j := range normal {
				normal[j] = 0.1 + 0.3*float64(j)
				roots[j] = math.Sqrt(normal[j])
			}
			of := &beside{table, classes, normal, 1, true}
			s := &free{measured: new(measured), ws: ws, near: of.preconditioner}
			var precision []float64
			if classes { // rows, and weights from the second on
				precision = make([]float64, n+d-1)
				s.b, s.x = linop.NewStack(table, &linop.Selection{Cols: d, Places: []int{1, 2, 3, 4, 5, 6, 7, 8}}), roots
			} else {
				precision = make([]float64, d-1)
				rows := make(linop.Diagonal, n)
				for i := range rows {
					rows[i] = 1 + 0.1*float64(i)
				}
				rows.MulBlock(&phi.Dense, &phi.Dense)
				phi.Sparse = phi.Sparse.ScaleRows(rows)
				s.b, s.x = linop.NewStack(&linop.Selection{Cols: d, Places: []int{1, 2, 3, 4, 5, 6, 7, 8}}), linop.NewStack(table, roots)
			}
			for i := range precision {
				precision[i] = 0.05 + 0.02*float64(i)
			}
			must.Succeed(t, s.factor(context.Background(), precision))
			a := written(s.a)
			whole := written(s.inverse)
			var product mat.Dense
			product.Mul(mat.NewDense(d, d, a.Data), mat.NewDense(d, d, whole.Data))
			for i := range d {
				for j := range d {
					want := 0.0
					if i == j {
						want = 1
					}
					if !(math.Abs(product.At(i, j)-want) <= 1e-9) {
						t.Fatalf("centred %t, classes %t: the product with A has %v at %d, %d", centred, classes, product.At(i, j), i, j)
					}
				}
			}
			// A few columns lead.
			weights, diagonal := slices.Repeat([]float64{1}, n), make([]float64, d)
			if classes {
				weights = precision[:n]
			}
			for j := range diagonal {
				diagonal[j] = a.Row(j)[j]
			}
			last := make([]float64, d) // of the sparse columns alone
			for j := dense; j < d; j++ {
				last[j] = diagonal[j]
			}
			for _, told := range [][]float64{table.squares(weights), last} {
				part := table.newLeading(diagonal, told, weights, 4)
				few := written(part)
				if len(part.places) != 4 {
					t.Fatalf("%v lead", part.places)
				}
				block := mat.NewDense(4, 4, nil)
				for x, i := range part.places {
					for y, j := range part.places {
						block.Set(x, y, a.Row(i)[j])
					}
				}
				must.Succeed(t, block.Inverse(block))
				for i := range d {
					x := slices.Index(part.places, i)
					for j := range d {
						y, want := slices.Index(part.places, j), 0.0
						switch {
						case x >= 0 && y >= 0:
							want = block.At(x, y)
						case i == j:
							want = 1 / diagonal[i]
						}
						if !(math.Abs(few.Row(i)[j]-want) <= 1e-9) {
							t.Errorf("centred %t, classes %t: %v at %d, %d, want %v", centred, classes, few.Row(i)[j], i, j, want)
						}
					}
				}
			}
		}
	}
}
