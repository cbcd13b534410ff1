package linop

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestXDiag: the mean over many sets of signs is the diagonal, its spread the error that is told, and few vectors are
// exact where the matrix has few directions.
func TestXDiag(t *testing.T) {
	const n = 50
	for _, rank := range []int{n, 9} {
		rng := rand.New(rand.NewPCG(1, uint64(rank)))
		a := NewDense(n, n)
		for k := range rank {
			v := make([]float64, n)
			for i := range v {
				v[i] = rng.NormFloat64() / float64(1+k)
			}
			for i := range v {
				for j := range v {
					a.Row(i)[j] += v[i] * v[j]
				}
			}
		}
		product := func(dst, x *Dense) error {
			MulBlock(&a, dst, x)
			return nil
		}
		estimate := func(count int, seed uint64) *EstimatedDiagonal {
			d, err := XDiag(n, count, func(k int, dst []float64) {
				rng := rand.New(rand.NewPCG(seed, uint64(k)))
				for i := range dst {
					dst[i] = float64(2*rng.IntN(2) - 1)
				}
			}, product)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		if rank < n {
			d := estimate(20, 1)
			for i, v := range d.Values {
				if want := a.Row(i)[i]; !(math.Abs(v-want) <= 1e-9*want) {
					t.Errorf("element %d is %v, want %v", i, v, want)
				}
			}
			if !d.Exact || d.Products > 20+rank {
				t.Errorf("%d products, exact %t", d.Products, d.Exact)
			}
			continue
		}
		const sets, count = 3000, 8
		sum, square, told := make([]float64, n), make([]float64, n), make([]float64, n)
		for s := range sets {
			d := estimate(count, uint64(s+2))
			for i, v := range d.Values {
				gap := v - a.Row(i)[i]
				sum[i] += gap / sets
				square[i] += gap * gap / sets
				told[i] += d.Square[i] / sets
				if d.Exact || d.Products != 2*count {
					t.Fatalf("exact %t, %d products", d.Exact, d.Products)
				}
			}
		}
		all, toldAll := 0.0, 0.0
		for i := range sum {
			if math.Abs(sum[i]) > 5*math.Sqrt(square[i]/sets) { // five standard errors of the mean
				t.Errorf("element %d is off by %v on average, standard error %v", i, sum[i], math.Sqrt(square[i]/sets))
			}
			all += square[i]
			toldAll += told[i]
		}
		// each estimate stands on vectors of the others, too
		if ratio := math.Sqrt(toldAll / all); ratio < 0.7 || ratio > 1.6 {
			t.Errorf("the error told is %v of what it is", ratio)
		}
	}
	fails := errors.New("no product")
	if _, err := XDiag(3, 2, func(_ int, dst []float64) { dst[0] = 1 }, func(_, _ *Dense) error { return fails }); err != fails {
		t.Errorf("a product that fails: %v", err)
	}
}

// TestXDiagLeast: squared rows of AQ are below the diagonal where no eigenvalue is above 1.
func TestXDiagLeast(t *testing.T) {
	const n = 20
	d := make(Diagonal, n)
	for i := range d {
		d[i] = float64(i) / n
	}
	e, err := XDiag(n, 6, func(k int, dst []float64) {
		for i := range dst {
			dst[i] = 1 - 2*float64((i>>(k%5)+k/5)&1)
		}
	}, func(dst, x *Dense) error { d.MulBlock(dst, x); return nil })
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for i, v := range e.Least {
		if total += v; v > d[i]+1e-12 {
			t.Errorf("element %d is at least %v, and is %v", i, v, d[i])
		}
	}
	if !(total > 1) {
		t.Errorf("lower bounds add up to %v", total)
	}
}

// TestXDiagLeaveOneOut: values and their standard errors are mean and spread of the estimates diag Q_iQ_iᵀA +
// s_i∘(I − Q_iQ_iᵀ)As_i, with Q_i a basis of the products of all vectors but s_i, each taken by itself.
func TestXDiagLeaveOneOut(t *testing.T) {
	for _, size := range [][2]int{{25, 3}, {40, 18}} { // 18 take two rounds of products
		n, count := size[0], size[1]
		a := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				a.SetSym(i, j, math.Sin(float64(i*i+2*j))/float64(1+j-i))
			}
		}
		sign := func(k int, dst []float64) {
			for i := range dst {
				dst[i] = math.Copysign(1, math.Sin(float64(i*i*(k+1)+k+1)))
			}
		}
		got, err := XDiag(n, count, sign, func(dst, x *Dense) error {
			mat.NewDense(n, x.Cols, dst.Data).Mul(a, mat.NewDense(n, x.Cols, x.Data))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all, mean, square := mat.NewDense(n, count, nil), make([]float64, n), make([]float64, n)
		for left := range count {
			others, s := mat.NewDense(n, count-1, nil), make([]float64, n)
			for k := range count - 1 {
				sign((left+1+k)%count, s)
				var column mat.VecDense
				column.MulVec(a, mat.NewVecDense(n, s))
				others.SetCol(k, column.RawVector().Data)
				all.SetCol((left+1+k)%count, column.RawVector().Data)
			}
			var qr mat.QR
			qr.Factorize(others)
			var q, projection, known, rest mat.Dense
			qr.QTo(&q)
			basis := q.Slice(0, n, 0, count-1)
			projection.Mul(basis, basis.T())
			known.Mul(&projection, a)
			rest.Sub(a, &known)
			sign(left, s)
			var image mat.VecDense
			image.MulVec(&rest, mat.NewVecDense(n, s))
			for j := range n {
				e := known.At(j, j) + s[j]*image.AtVec(j)
				mean[j] += e / float64(count)
				square[j] += e * e / float64(count)
			}
		}
		var qr mat.QR
		qr.Factorize(all)
		var q, images mat.Dense
		qr.QTo(&q)
		images.Mul(a, q.Slice(0, n, 0, count))
		for j, m := range mean {
			if row := images.RawRowView(j); !(math.Abs(got.Least[j]-mat.Dot(mat.NewVecDense(count, row), mat.NewVecDense(count, row))) <= 1e-10) {
				t.Errorf("element %d is at least %v, which is not the squared norm of its row of AQ", j, got.Least[j])
			}
			if spread := (square[j] - m*m) / float64(count-1); !(math.Abs(got.Values[j]-m) <= 1e-10) || !(math.Abs(got.Square[j]-spread) <= 1e-10) {
				t.Errorf("element %d is %v, squared error %v, by the definition %v, %v", j, got.Values[j], got.Square[j], m, spread)
			}
		}
	}
}

// TestXDiagFew: where vectors of signs may be the same, as of few elements, the diagonal is exact all the same.
func TestXDiagFew(t *testing.T) {
	for n := 1; n < 9; n++ {
		d := make(Diagonal, n)
		for i := range d {
			d[i] = float64(1+i) / 10
		}
		for count := min(2, (n+1)/2); count <= n; count++ {
			e, err := XDiag(n, count, func(_ int, dst []float64) {
				for i := range dst {
					dst[i] = 1
				}
			}, func(dst, x *Dense) error { d.MulBlock(dst, x); return nil })
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range e.Values {
				if !(math.Abs(v-d[i]) <= 1e-12) || !(math.Abs(e.Least[i]-d[i]*d[i]) <= 1e-12) || e.Square[i] != 0 || !e.Exact || e.Products > max(n, 2*count) {
					t.Errorf("%d of %d elements by %d vectors: %+v", i, n, count, e)
				}
			}
		}
	}
	// What one vector adds is told to be chance.
	d := Diagonal{1, 2, 3}
	e, err := XDiag(3, 1, func(_ int, dst []float64) { copy(dst, []float64{1, -1, 1}) }, func(dst, x *Dense) error { d.MulBlock(dst, x); return nil })
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range e.Values {
		if known := d[i] * d[i] * d[i] / 14; !(math.Abs(e.Square[i]-(v-known)*(v-known)) <= 1e-12) || e.Exact {
			t.Errorf("one vector: element %d is %v, squared error %v; %v is known", i, v, e.Square[i], known)
		}
	}
}
