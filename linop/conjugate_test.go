package linop

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"
)

// TestConjugate compares solutions of several right sides, from zero and from a start, with the vectors that the
// right sides were made of; the error told is at most as far off as a factor of three.
func TestConjugate(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	const n, count = 60, 5
	spectrum := make(Diagonal, n)
	for i := range spectrum {
		spectrum[i] = math.Exp(4 * rng.Float64())
	}
	turned := NewConvolution(6, 10, dense(rng, 1, n).Data)
	a := NewSum(NewProduct(Transposed{turned}, turned), spectrum)
	inverse := make(Diagonal, n)
	for i := range inverse {
		inverse[i] = 1 / (spectrum[i] + n)
	}
	truth := dense(rng, n, count)
	b := NewDense(n, count)
	MulBlock(a, &b, truth)
	energy := func(x *Dense, k int) float64 {
		v, av, sum := make([]float64, n), make([]float64, n), 0.0
		for i := range v {
			v[i] = x.Row(i)[k]
		}
		a.MulVec(av, v)
		for i := range v {
			sum += v[i] * av[i]
		}
		return sum
	}
	for _, tolerance := range []float64{1e-1, 1e-3, 1e-9} {
		products := 0
		for _, warm := range []float64{0, 1 - 1e-4} {
			x := NewDense(n, count)
			for i, v := range truth.Data {
				x.Data[i] = v * warm
			}
			report, err := Conjugate(context.Background(), a, inverse, &x, &b, tolerance, 500)
			if err != nil {
				t.Fatal(err)
			}
			worst := 0.0
			for k := range count {
				gap := NewDense(n, count)
				for i, v := range truth.Data {
					gap.Data[i] = v - x.Data[i]
				}
				worst = math.Max(worst, math.Sqrt(energy(&gap, k)/energy(truth, k)))
			}
			if worst > 3*tolerance || report.Error > tolerance {
				t.Errorf("tolerance %g from %g of the solution: error %.2g, told %.2g", tolerance, warm, worst, report.Error)
			}
			if warm == 0 {
				products = report.Products
			} else if tolerance < 1e-6 && report.Products >= products {
				t.Errorf("from 1 %% of the way %d products, from zero %d", report.Products, products)
			}
		}
	}
	// A limit is kept and told.
	x := NewDense(n, count)
	if report, err := Conjugate(context.Background(), a, inverse, &x, &b, 1e-9, 7); err != nil || report.Products != 7 || report.Error < 1e-9 {
		t.Errorf("7 products allowed: %+v, %v", report, err)
	}
	// Where a column is solved before, it stays as it is; a right side of zeros has the solution 0.
	zero, nothing := NewDense(n, 1), NewDense(n, 1)
	if report, err := Conjugate(context.Background(), a, inverse, &zero, &nothing, 1e-9, 7); err != nil || report.Products > 0 || !zero.zero() {
		t.Errorf("nothing to solve: %+v, %v", report, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Conjugate(ctx, a, inverse, &x, &b, 1e-9, 70); err == nil {
		t.Error("a cancelled context is not told")
	}
}

// TestConjugateSlow: where every step gains little, the error is still within three times the tolerance.
func TestConjugateSlow(t *testing.T) {
	const n = 1000
	a, x, b := make(Diagonal, n), NewDense(n, 1), NewDense(n, 1)
	for i := range a {
		a[i] = math.Exp(10 * float64(i) / n)
		b.Data[i] = math.Sqrt(a[i]) // as a draw has it
	}
	const tolerance = 0.03
	report, err := Conjugate(context.Background(), a, Identity(n), &x, &b, tolerance, 1000)
	if err != nil {
		t.Fatal(err)
	}
	square := 0.0
	for i, v := range a {
		gap := x.Data[i] - b.Data[i]/v
		square += gap * gap * v / n
	}
	if root := math.Sqrt(square); root > 3*tolerance || report.Products > 500 {
		t.Errorf("error %.4f after %d products, told %.4f", root, report.Products, report.Error)
	}
}
