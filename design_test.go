package credence

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// mixedDesign draws a design and returns it with all columns written out.
func mixedDesign(rng *rand.Rand, n, dense, sparse int, ones bool) (*Design, linop.Dense) {
	phi := &Design{Dense: linop.NewDense(n, dense)}
	phi.Sparse.Reset(sparse)
	whole := linop.NewDense(n, dense+sparse)
	for i := range n {
		columns, values := []int32{}, []float64{}
		for j := range dense + sparse {
			v := rng.NormFloat64()
			if j < dense {
				phi.Dense.Row(i)[j] = v
			} else if rng.IntN(3) > 0 {
				continue
			} else {
				if ones {
					v = 1
				}
				columns, values = append(columns, int32(j-dense)), append(values, v)
			}
			whole.Row(i)[j] = v
		}
		if ones {
			values = nil
		}
		phi.Sparse.AppendRow(columns, values)
	}
	return phi, whole
}

// TestDesignProducts compares every product with the plain loops over all columns: rounding only.
func TestDesignProducts(t *testing.T) {
	for _, s := range []struct {
		n, dense, sparse int
		ones             bool
	}{{1, 3, 0, false}, {70, 300, 0, false}, {9, 0, 12, true}, {130, 5, 270, false}, {65, 17, 9, true}} {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(s.n), uint64(s.sparse)))
			phi, whole := mixedDesign(rng, s.n, s.dense, s.sparse, s.ones)
			d := s.dense + s.sparse
			squares := linop.NewDense(s.n, d)
			for i, v := range whole.Data {
				squares.Data[i] = v * v
			}
			w, u := make([]float64, d), make([]float64, s.n)
			for j := range w {
				w[j] = rng.NormFloat64()
			}
			for i := range u {
				u[i] = rng.Float64()
			}
			other := make([]float64, d)
			for j := range other {
				other[j] = rng.NormFloat64()
			}
			near := func(what string, got, want []float64) {
				t.Helper()
				for i := range want {
					if !(math.Abs(got[i]-want[i]) <= 1e-12*(1+math.Abs(want[i]))) {
						t.Fatalf("%s: element %d is %g, want %g", what, i, got[i], want[i])
					}
				}
			}
			rows := func(a *linop.Dense) []float64 { x := make([]float64, s.n); a.MulVec(x, w); return x }
			columns := func(a *linop.Dense) []float64 {
				x := make([]float64, d)
				a.MulVecTrans(x, u)
				for j := range x {
					x[j]++ // the transposed products add
				}
				return x
			}
			ones := func() []float64 {
				x := make([]float64, d)
				for j := range x {
					x[j] = 1
				}
				return x
			}
			for threads := 1; threads <= 3; threads++ {
				ws := NewWorkspace(threads)
				got := make([]float64, s.n)
				phi.Mul(ws, got, w)
				near("Mul", got, rows(&whole))
				phi.MulVec(got, w)
				near("MulVec", got, rows(&whole))
				phi.MulSquares(ws, got, w)
				near("MulSquares", got, rows(&squares))
				symmetric, forms := linop.NewDense(d, d), make([]float64, s.n)
				for j := range d {
					for k := range j + 1 {
						symmetric.Row(j)[k] = other[j]*other[k] + w[j]*w[k]
						symmetric.Row(k)[j] = symmetric.Row(j)[k]
					}
				}
				for i := range forms {
					image := make([]float64, d)
					symmetric.MulVec(image, whole.Row(i))
					forms[i] = kernel.Dot(whole.Row(i), image)
				}
				for j := range d {
					for k := range j {
						symmetric.Row(j)[k] = math.NaN() // what lies below the diagonal is not read
					}
				}
				phi.MulForms(ws, got, symmetric.Data)
				near("MulForms", got, forms)
				several, each := make([]float64, 3*s.n), make([]float64, s.n)
				vectors, turned := linop.NewDense(d, 3), make([]float64, 3*d)
				for j := range d {
					copy(vectors.Row(j), []float64{w[j], other[j], w[j]})
				}
				phi.MulColumns(ws, several, vectors.Data, 3)
				across := make([]float64, 3*s.n)
				for k, vector := range [][]float64{w, other, w} {
					copy(turned[k*d:], vector)
				}
				phi.MulTransposed(ws, across, turned, 3)
				for k, vector := range [][]float64{w, other, w} {
					whole.MulVec(each, vector)
					for i := range each {
						near("MulColumns", several[3*i+k:3*i+k+1], each[i:i+1])
						near("MulTransposed", across[3*i+k:3*i+k+1], each[i:i+1])
					}
				}
				upper := linop.NewDense(d, d)
				for j := range d {
					for k := j; k < d; k++ {
						upper.Row(j)[k] = math.Sin(float64(1 + 7*j + 3*k))
					}
				}
				for left := range d {
					cols := min(d-left, 2)
					product, column := make([]float64, s.n*cols), make([]float64, d)
					phi.MulUpper(ws, product, upper.Data, left, cols)
					for k := range cols {
						for j := range d {
							column[j] = upper.Row(j)[left+k]
						}
						whole.MulVec(each, column)
						for i := range each {
							near("MulUpper", product[cols*i+k:cols*i+k+1], each[i:i+1])
						}
					}
				}
				sum := ones()
				phi.AddMulTrans(ws, sum, u)
				near("AddMulTrans", sum, columns(&whole))
				sum = ones()
				phi.AddMulSquaresTrans(ws, sum, u)
				near("AddMulSquaresTrans", sum, columns(&squares))
				for _, weights := range [][]float64{nil, u} {
					gram := make([]float64, d*d)
					phi.AddGram(ws, gram, weights)
					linop.LiftGram(gram, d, s.dense)
					for j := range d {
						want := make([]float64, d)
						for i := range s.n {
							v := whole.Row(i)[j]
							if weights != nil {
								v *= weights[i]
							}
							for k := j; k < d; k++ {
								want[k] += v * whole.Row(i)[k]
							}
						}
						near("AddGram", gram[j*d+j:(j+1)*d], want[j:])
					}
				}
			}
			part := phi.Window(s.n/2, s.n-s.n/2)
			seen := make([]float64, d)
			part.Each(0, func(j int, v float64) { seen[j] = v })
			near("Each of a window", seen, whole.Row(s.n/2))
		})
	}
}

// A row alone allocates nothing, as a service scores.
func TestDesignOneRow(t *testing.T) {
	phi, _ := mixedDesign(rand.New(rand.NewPCG(1, 1)), 1, 4, 3, false)
	ws, dst, w := NewWorkspace(1), make([]float64, 1), make([]float64, 7)
	if n := testing.AllocsPerRun(10, func() { phi.Mul(ws, dst, w); phi.MulSquares(ws, dst, w) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
