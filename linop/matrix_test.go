package linop

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/credence-ml/credence/internal/kernel"
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

			turned, back := sparse.Transpose(), NewDense(shape[0], shape[1])
			again := turned.Transpose()
			again.AddTo(&back)
			compare(t, "Transpose twice", back.Data, dense.Data)
			turned.MulVec(got, u)
			compare(t, "Transpose", got, want)

			scaled, spread := sparse.ScaleRows(u), NewDense(shape[0], shape[1])
			scaled.AddTo(&spread)
			for i, v := range dense.Data {
				compare(t, "ScaleRows", spread.Data[i:i+1], []float64{v * u[i/shape[1]]})
			}
		}
	}
}

// TestGram compares the sums of products, on one thread and on several, with the triple loop.
func TestGram(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, threads := range []int{1, 3} {
		pool := kernel.New(threads)
		for _, c := range []struct {
			rows, cols int
			ones       bool
			// The last two are work for several threads.
		}{{12, 9, true}, {12, 9, false}, {2000, 40, true}, {2000, 40, false}} {
			sparse, dense := randomPair(rng, c.rows, c.cols, c.ones)
			weights := make([]float64, c.rows)
			for i := range weights {
				weights[i] = rng.Float64()
			}
			for _, w := range [][]float64{nil, weights} {
				gram := NewDense(c.cols, c.cols)
				sparse.AddGram(pool, &gram, w)
				for j := range c.cols {
					want := make([]float64, c.cols)
					for i := range c.rows {
						for k := j; k < c.cols; k++ {
							want[k] += weight(w, i) * dense.Row(i)[j] * dense.Row(i)[k]
						}
					}
					compare(t, "AddGram", gram.Row(j), want)
				}
				for _, cols := range []int{9, 1} {
					_, other := randomPair(rng, c.rows, cols, false)
					cross := NewDense(c.cols, cols)
					sparse.AddTransMul(pool, &cross, w, other)
					for j := range c.cols {
						want := make([]float64, cols)
						for i := range c.rows {
							for k := range cols {
								want[k] += weight(w, i) * dense.Row(i)[j] * other.Row(i)[k]
							}
						}
						compare(t, "AddTransMul", cross.Row(j), want)
					}
				}
			}
		}
	}
}

// TestRowProducts compares products of one row of a window with sums written out.
func TestRowProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, ones := range []bool{true, false} {
		whole, dense := randomPair(rng, 9, 7, ones)
		part := whole.Window(4, 3)
		if part.Entries() != whole.Start[7]-whole.Start[4] {
			t.Errorf("the window has %d entries", part.Entries())
		}
		b := NewDense(5, 2) // two rows are missing
		for i := range b.Data {
			b.Data[i] = rng.NormFloat64()
		}
		x := []float64{1, -2, 3, 0.5, 0.25, -1, 4}
		for i := range 3 {
			row := dense.Row(4 + i)
			want := []float64{10, 20, 1, 2}
			got := []float64{part.AddRowDot(10, i, x), part.AddRowSquareDot(20, i, x), 1, 2}
			part.AddRowMul(got[2:], i, -3, &b)
			added, squares := make([]float64, 7), make([]float64, 7)
			part.AddRow(added, i, 2)
			part.AddRowSquares(squares, i, 2)
			for j, v := range row {
				want[0] += v * x[j]
				want[1] += v * v * x[j]
				if j < 5 {
					want[2] -= 3 * v * b.Row(j)[0]
					want[3] -= 3 * v * b.Row(j)[1]
				}
				compare(t, "AddRow", []float64{added[j], squares[j]}, []float64{2 * v, 2 * v * v})
			}
			compare(t, "row products", got, want)
		}
	}
}

// TestRowOfAnUpperTriangle: the product of a sparse row with columns of an upper triangle, by the rows of a matrix that
// may hold anything below the diagonal, is that with the triangle written out, in every block of columns.
func TestRowOfAnUpperTriangle(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 6))
	const first, size = 3, 10 // the sparse columns are the last seven
	for _, ones := range []bool{true, false} {
		sparse, dense := randomPair(rng, 9, size-first, ones)
		for _, block := range [][2]int{{0, size}, {0, 2}, {2, 4}, {4, 3}, {5, 1}, {size - 1, 1}} {
			left, cols := block[0], block[1]
			b := NewDense(size-first, cols)
			for j := range b.Rows {
				for c := range cols {
					if b.Row(j)[c] = rng.NormFloat64(); left+c < first+j {
						b.Row(j)[c] = math.NaN() // is not read
					}
				}
			}
			for i := range dense.Rows {
				want, got := make([]float64, cols), make([]float64, cols)
				for c := range want {
					want[c], got[c] = float64(c), float64(c)
					for j, v := range dense.Row(i) {
						if v != 0 && left+c >= first+j {
							want[c] += v * b.Row(j)[c]
						}
					}
				}
				sparse.AddRowMulUpper(got, i, &b, first, left)
				compare(t, "AddRowMulUpper", got, want)
			}
		}
	}
}

// TestLiftGram: products of sparse with dense columns come to stand above the diagonal, and nothing else moves.
func TestLiftGram(t *testing.T) {
	const size, dense = 5, 2
	gram := make([]float64, size*size)
	for k := range gram {
		gram[k] = float64(k)
	}
	want := slices.Clone(gram)
	for i := range dense {
		for j := dense; j < size; j++ {
			want[i*size+j] = gram[j*size+i]
		}
	}
	if LiftGram(gram, size, dense); !slices.Equal(gram, want) {
		t.Errorf("the matrix is %v, want %v", gram, want)
	}
}

// Rows of ones and rows of values may stand in one matrix, in any order.
func TestAppendRowMixes(t *testing.T) {
	a := &CSR{}
	a.Reset(3)
	a.AppendRow([]int32{0, 2}, nil)
	a.AppendRow([]int32{1}, []float64{5})
	a.AppendRow([]int32{0, 1}, nil)
	dense := NewDense(3, 3)
	a.AddTo(&dense)
	compare(t, "AppendRow", dense.Data, []float64{1, 0, 1, 0, 5, 0, 1, 1, 0})
	a.Reset(3)
	a.AppendRow([]int32{1}, nil)
	if a.Value != nil {
		t.Error("rows of ones alone keep values")
	}
}

func TestColumnsIsAWindow(t *testing.T) {
	a := NewDense(3, 4)
	window := a.Columns(1, 2)
	window.Row(2)[1] = 5
	if a.Row(2)[2] != 5 {
		t.Fatalf("writing the window left the matrix at %v", a.Row(2))
	}
	for i := range a.Data {
		a.Data[i] = float64(i)
	}
	within := window.Columns(1, 1)
	if rows := within.Window(1, 2); within.Row(2)[0] != 10 || rows.Row(1)[0] != 10 {
		t.Fatalf("a window of a window holds %v and %v, want 10", within.Row(2), rows.Row(1))
	}
	if empty := a.Columns(4, 0); empty.Cols != 0 {
		t.Fatalf("empty window has %d columns", empty.Cols)
	}
}

func compare(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		// The two storages add the same terms in the same order, but for exact zeros.
		if !(math.Abs(got[i]-want[i]) <= 1e-14*(1+math.Abs(want[i]))) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}

// TestAppend: rows of a window follow those that are there, with and without values, in a matrix that had others.
func TestAppend(t *testing.T) {
	ones, some := CSR{Cols: 4}, CSR{Cols: 4}
	for _, columns := range [][]int32{{0, 3}, {1}, nil, {0, 1, 2}} {
		values := make([]float64, len(columns))
		for k := range values {
			values[k] = float64(k) + 0.5
		}
		ones.AppendRow(columns, nil)
		some.AppendRow(columns, values)
	}
	for _, pair := range [][2]CSR{{ones, ones}, {some, some}, {ones, some}, {some, ones}} {
		var got, want CSR
		got.Append(&pair[1])
		got.Reset(4)
		want.Reset(4)
		for _, m := range pair {
			part := m.Window(1, 3)
			got.Append(&part)
			for i := range part.Rows {
				want.AppendRow(part.Row(i))
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}
