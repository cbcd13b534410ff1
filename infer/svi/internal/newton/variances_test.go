package newton

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/infer/svi/internal/problem"
	"github.com/credence-ml/credence/internal/gauss"
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
			n := New(&problem.Problem{Workspace: credence.NewWorkspace(2), Dims: d})
			for range 2 {
				factor := make([]float64, d*d)
				for i := range d {
					for j := i; j < d; j++ {
						factor[i*d+j] = rng.NormFloat64()
					}
				}
				got, block := make([]float64, rows), &problem.Block{Phi: phi}
				n.plan(block, gauss.Root(factor))
				if n.dense {
					block = n.whole.filled(block)
				}
				n.variances(&n.whole, got, block, gauss.Root(factor))
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
					if want := kernel.Dot(image, image); !(math.Abs(v-want) <= 1e-12*want) {
						t.Fatalf("row %d has variance %g, want %g", i, v, want)
					}
				}
			}
		})
	}
}

// TestSampled: sites of some rows stand for more rows where they tell of every weight, and else for none.
func TestSampled(t *testing.T) {
	n := New(&problem.Problem{Workspace: credence.NewWorkspace(1), Dims: 2, Groups: []base.Group{{Count: 2}}})
	for _, c := range []struct {
		sites []float64
		kept  bool
	}{{[]float64{3, 1, 0, 5}, true}, {[]float64{3, 0, 0, 0}, false}} {
		at := &Point{Mean: make([]float64, 2), Prior: []float64{4}, Sites: c.sites}
		if _, ok := n.Place(at); !ok {
			t.Fatal("not positive definite")
		}
		if n.Sampled(at, 8); (at.Sites != nil) != c.kept {
			t.Errorf("%v: the sites are %v", c.sites, at.Sites)
		}
		if c.kept && (at.Sites[0] != 24 || at.Sites[1] != 8 || at.Sites[3] != 40) {
			t.Errorf("the sites are %v", at.Sites)
		}
	}
}
