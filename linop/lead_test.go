package linop

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence/internal/kernel"
)

// TestLead: forms and sums of products of rows that share first entries are those of the dense matrix, for rows of
// ones and of values, empty ones, equal ones and long ones, from any row on and with any number of threads.
func TestLead(t *testing.T) {
	const cols = 150
	rng := rand.New(rand.NewPCG(5, 1))
	for _, ones := range []bool{true, false} {
		a := CSR{Cols: cols}
		var lead []int32
		var columns []int32
		var values []float64
		for i := range 40 {
			keep := 0
			if i > 0 {
				keep = rng.IntN(len(columns) + 1)
			}
			if i%9 == 8 {
				keep = len(columns) // an equal row, or one that goes on
			}
			columns, values = slices.Clone(columns[:keep]), slices.Clone(values[:keep])
			at := -1
			if keep > 0 {
				at = int(columns[keep-1])
			}
			for at++; at < cols && i%9 != 8; at++ {
				if rng.IntN(3) == 0 || i == 20 && at%2 == 0 {
					columns, values = append(columns, int32(at)), append(values, rng.NormFloat64())
				}
			}
			if i == 0 || i == 30 {
				columns, values, keep = nil, nil, 0
			}
			if ones {
				a.AppendRow(columns, nil)
			} else {
				a.AppendRow(columns, values)
			}
			lead = append(lead, int32(keep))
		}
		dense := NewDense(a.Rows, cols)
		a.AddTo(&dense)
		v, weights := make([]float64, cols*cols), make([]float64, a.Rows)
		for c := range cols {
			for j := range c + 1 {
				v[c*cols+j] = rng.NormFloat64()
			}
		}
		for i := range weights {
			weights[i] = rng.NormFloat64()
		}
		forms := make([]float64, a.Rows)
		a.LeadForms(forms, v, lead, 0, 17)
		a.LeadForms(forms, v, lead, 17, a.Rows)
		for i, got := range forms {
			want, size := 0.0, 1.0
			for c, x := range dense.Row(i) {
				for j, y := range dense.Row(i)[:c+1] {
					term := x * y * v[c*cols+j]
					if j < c {
						term *= 2
					}
					want += term
					size += math.Abs(term)
				}
			}
			if !(math.Abs(got-want) <= 1e-14*size) {
				t.Errorf("ones %v: form of row %d is %v, want %v", ones, i, got, want)
			}
		}
		var first []float64
		for _, threads := range []int{1, 3} {
			gram := NewDense(cols, cols)
			a.AddLeadGram(kernel.New(threads), &gram, weights, lead)
			for c := range cols {
				for j := range cols {
					want := 0.0
					for i := 0; j <= c && i < a.Rows; i++ {
						want += weights[i] * dense.Row(i)[c] * dense.Row(i)[j]
					}
					if got := gram.Row(c)[j]; !(math.Abs(got-want) <= 1e-13) {
						t.Fatalf("ones %v, %d threads: element %d, %d is %v, want %v", ones, threads, c, j, got, want)
					}
				}
			}
			if first != nil && !slices.Equal(first, gram.Data) {
				t.Error("the sums depend on the threads")
			}
			first = gram.Data
		}
	}
}
