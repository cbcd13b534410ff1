package linop

import (
	"math"
	"math/rand/v2"
	"testing"
)

// randomPair returns the same random matrix in both storages.
func randomPair(rng *rand.Rand, rows, cols int, ones bool) (*CSR, *Dense) {
	sparse := &CSR{}
	sparse.Reset(cols)
	dense := NewDense(rows, cols)
	for i := range rows {
		var columns []int32
		var values []float64
		for j := range cols {
			if rng.Float64() < 0.3 {
				v := 1.0
				if !ones {
					v = rng.NormFloat64()
					values = append(values, v)
				}
				columns = append(columns, int32(j))
				dense.Row(i)[j] = v
			}
		}
		if !ones && values == nil {
			values = []float64{}
		}
		sparse.AppendRow(columns, values)
	}
	return sparse, &dense
}

func TestSparseEqualsDense(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, ones := range []bool{true, false} {
		for _, shape := range [][2]int{{0, 3}, {1, 1}, {7, 5}, {20, 31}} {
			sparse, dense := randomPair(rng, shape[0], shape[1], ones)
			x := make([]float64, shape[1])
			for i := range x {
				x[i] = rng.NormFloat64()
			}
			got, want := make([]float64, shape[0]), make([]float64, shape[0])
			sparse.MulVec(got, x)
			dense.MulVec(want, x)
			compare(t, "MulVec", got, want)

			u := make([]float64, shape[0])
			for i := range u {
				u[i] = rng.NormFloat64()
			}
			got, want = make([]float64, shape[1]), make([]float64, shape[1])
			sparse.MulVecTrans(got, u)
			dense.MulVecTrans(want, u)
			compare(t, "MulVecTrans", got, want)

			sum := NewDense(shape[0], shape[1])
			sparse.AddTo(&sum)
			compare(t, "AddTo", sum.Data, dense.Data)
		}
	}
}

func TestColumnsIsAWindow(t *testing.T) {
	a := NewDense(3, 4)
	window := a.Columns(1, 2)
	window.Row(2)[1] = 5
	if a.Row(2)[2] != 5 {
		t.Fatalf("writing the window left the matrix at %v", a.Row(2))
	}
	if empty := a.Columns(4, 0); empty.Cols != 0 {
		t.Fatalf("empty window has %d columns", empty.Cols)
	}
}

func compare(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		// The two storages add the same terms in the same order, but for exact zeros.
		if math.Abs(got[i]-want[i]) > 1e-14*(1+math.Abs(want[i])) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}
