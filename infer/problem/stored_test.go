package problem

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
)

// TestStoredColumns: what is said of columns as they are stored, dense ones about their means and sparse ones about 0,
// with the means that are said beside it, is what the columns are that are written out: products, squares by weights,
// sums of columns by weights, entries and their number, the squares of all columns and of all rows; with sparse values
// and with ones, with the roots of rows' weights and without.
func TestStoredColumns(t *testing.T) {
	const n, dense, sparse = 7, 2, 3
	for _, c := range []struct{ ones, roots bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		rng := rand.New(rand.NewPCG(6, 2))
		random := func(count int) []float64 {
			x := make([]float64, count)
			for i := range x {
				x[i] = 0.3 + rng.Float64()
			}
			return x
		}
		phi := &credence.Design{Dense: linop.NewDense(n, dense)}
		phi.Sparse.Reset(sparse)
		all, present, means, unit := linop.NewDense(n, dense+sparse), make([]int, dense+sparse), random(dense+sparse), make([]float64, n)
		for i := range n {
			copy(phi.Dense.Row(i), random(dense))
			columns, values := []int32{int32(i % 2)}, []float64{1}
			if i%3 > 0 {
				columns, values = append(columns, 2), append(values, 1)
			}
			if !c.ones {
				copy(values, random(len(values)))
			}
			if present[0], present[1] = n, n; c.ones {
				phi.Sparse.AppendRow(columns, nil)
			} else {
				phi.Sparse.AppendRow(columns, values)
			}
			copy(all.Row(i), phi.Dense.Row(i))
			for k, j := range columns {
				all.Row(i)[dense+int(j)] = values[k]
				present[dense+int(j)]++
			}
			unit[i] = 1
		}
		var roots []float64
		if c.roots {
			unit = random(n)
			roots = unit
		}
		columns := NewColumns(phi, means, roots)
		near := func(what string, j int, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-12*(1+math.Abs(want))) {
				t.Errorf("%+v: %s of column %d: %v, want %v", c, what, j, got, want)
			}
		}
		v, by, scales := random(n), random(n), random(dense+sparse)
		squares, rows := make([]float64, dense+sparse), make([]float64, n)
		columns.Squares(squares, by)
		columns.RowSquares(rows, scales)
		wantRows := make([]float64, n)
		for j := range dense + sparse {
			stored, dot, square, whole := make([]float64, n), 0.0, 0.0, 0.0
			for i := range n {
				centred := (all.Row(i)[j] - means[j]) * unit[i]
				stored[i] = centred + columns.Mean(j)*unit[i]
				dot, square, whole = dot+stored[i]*v[i], square+by[i]*stored[i]*stored[i], whole+by[i]*centred*centred
				wantRows[i] += scales[j] * centred * centred
			}
			near("the product", j, columns.StoredDot(j, v), dot)
			near("the square", j, columns.StoredSquare(j, by), square)
			near("the square about the mean", j, squares[j], whole)
			near("the number of entries", j, float64(columns.Stored(j)), float64(present[j]))
			for _, weights := range [][]float64{nil, by} {
				sum := append([]float64(nil), v...)
				columns.AddStored(sum, j, 0.7, weights)
				for i, x := range stored {
					if weights != nil {
						x *= weights[i]
					}
					near("a sum", j, sum[i], v[i]+0.7*x)
				}
			}
			count := 0
			columns.Entries(j, func(i int, x float64) {
				count++
				near("an entry", j, x, (all.Row(i)[j]-means[j])*unit[i])
			})
			near("the count of entries", j, float64(count), float64(present[j]))
		}
		for i, v := range rows {
			near("the square of a row, not", i, v, wantRows[i])
		}
	}
}

// filed is counted data of several files.
type filed struct {
	*counted
	begins []int
}

func (f *filed) Files() []int { return f.begins }

// TestByFile: blocks by the file are runs of rows of one file each, in order and of a block's rows at most, whether
// rows are kept or not, and a refusal names the row of all; data of a block at most are one file.
func TestByFile(t *testing.T) {
	for _, c := range []struct {
		rows          int
		begins        []int
		counts, files []int
	}{
		{1500, []int{0, 512, 512, 700}, []int{512, 188, 512, 288}, []int{0, 2, 3, 3}},
		{1500, []int{0, 100}, []int{100, 512, 512, 376}, []int{0, 1, 1, 1}},
		{1500, nil, []int{512, 512, 476}, []int{0, 0, 0}},
		{500, []int{0, 100}, []int{500}, []int{0}},
	} {
		for _, keep := range []bool{false, true} {
			data := &filed{&counted{rows: c.rows, roles: true}, c.begins}
			r := open(t, likelihood.Gaussian{}, data)
			if keep {
				must.Succeed(t, r.Keep(context.Background(), math.MaxInt))
			}
			var counts, files []int
			next := 0
			for b, err := range r.ByFile(context.Background()) {
				must.Succeed(t, err)
				counts, files = append(counts, b.Rows()), append(files, b.File)
				for i := range b.Rows() {
					if b.X.Row(i)[0] != float64(next) || b.Weight[i] != float64(next) {
						t.Fatalf("%+v: row %v at place %d", c, b.X.Row(i)[0], next)
					}
					next++
				}
			}
			if next != c.rows || !reflect.DeepEqual(counts, c.counts) || !reflect.DeepEqual(files, c.files) {
				t.Errorf("%+v, kept %v: %d rows, blocks of %v in the files %v", c, keep, next, counts, files)
			}
		}
	}
	data := &filed{&counted{rows: 1500, roles: true}, []int{0, 700}}
	r := open(t, likelihood.Gaussian{}, data)
	data.change = func(b *credence.Batch) {
		for i := range b.Target {
			if b.X.Row(i)[0] == 1300 {
				b.Target[i] = math.NaN()
			}
		}
	}
	failed := 0
	for _, err := range r.ByFile(context.Background()) {
		if err == nil {
			continue
		}
		if failed++; !strings.Contains(err.Error(), "test: row 1301:") {
			t.Errorf("error %v, want one of row 1301", err)
		}
	}
	if failed != 1 {
		t.Errorf("%d blocks are refused", failed)
	}
}
