package newton

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/svi/problem"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// TestVariances compares the variances of rows with few and with many entries, and after another
// factor, with the squares of Fᵀφ.
func TestVariances(t *testing.T) {
	const dense, sparse, rows = 1, 79, 300
	d := dense + sparse
	for _, entries := range []int{3, 40} {
		t.Run(fmt.Sprint(entries), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, uint64(entries)))
			phi := &credence.Design{Dense: linop.NewDense(rows, dense)}
			phi.Sparse.Reset(sparse)
			for i := range rows {
				phi.Dense.Row(i)[0] = 1
				var columns []int32
				var values []float64
				for j := range sparse {
					if rng.IntN(sparse) < entries {
						columns, values = append(columns, int32(j)), append(values, rng.NormFloat64())
					}
				}
				phi.Sparse.AppendRow(columns, values)
			}
			n := New(&problem.Problem{Workspace: credence.NewWorkspace(2), Dims: d}, nil)
			for range 2 {
				factor := make([]float64, d*d)
				for i := range d {
					for j := i; j < d; j++ {
						factor[i*d+j] = rng.NormFloat64()
					}
				}
				n.formed = false
				got := make([]float64, rows)
				n.variances(got, &problem.Block{Phi: phi}, factor)
				if few := entries == 3; n.formed != few {
					t.Fatalf("V was formed: %v, want %v", n.formed, few)
				}
				image, row := make([]float64, d), make([]float64, d)
				for i, v := range got {
					clear(row)
					phi.Each(i, func(j int, v float64) { row[j] = v })
					clear(image)
					for j, x := range row {
						kernel.Axpy(x, factor[j*d:(j+1)*d], image)
					}
					if want := kernel.Dot(image, image); math.Abs(v-want) > 1e-12*want {
						t.Fatalf("row %d has variance %g, want %g", i, v, want)
					}
				}
			}
		})
	}
}
