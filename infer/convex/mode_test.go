package convex

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence/linop"
)

// TestModeOf: no step lowers −log density of sites of several kinds, copies and shifts among them, and a smaller
// tolerance comes as near as is asked.
func TestModeOf(t *testing.T) {
	const n, m = 8, 12
	rng := rand.New(rand.NewPCG(2, 2))
	x, b := linop.NewDense(m, n), linop.NewDense(3*n, n)
	for i := range x.Data {
		x.Data[i] = rng.NormFloat64()
	}
	for i := range b.Data {
		b.Data[i] = rng.NormFloat64()
	}
	p := Problem{X: &x, Y: normals(rng, m), Noise: 0.5, B: &b, Sites: []Group{
		{Count: n, Potential: Laplace{Rate: 2}, Copies: []float64{1, 2, 3, 1, 2, 0.5, 1, 1}},
		{Count: n, Potential: Logistic{Slope: 2}, Shift: normals(rng, n), Copies: []float64{1, 2, 3, 1, 2, 0.5, 1, 1}},
		{Count: n, Potential: ExponentialPower{Rate: 1, Power: 1.5}},
	}}
	for i, v := range p.Sites[1].Shift { // those of classes
		p.Sites[1].Shift[i] = math.Copysign(2*math.Sqrt(p.Noise)/2, v)
	}
	objective := func(u []float64) float64 {
		fit, s, sum := make([]float64, m), make([]float64, 3*n), 0.0
		x.MulVec(fit, u)
		for i, v := range fit {
			sum += (v - p.Y[i]) * (v - p.Y[i]) / (2 * p.Noise)
		}
		b.MulVec(s, u)
		for i, v := range s {
			g := p.Sites[i/n]
			value, _, _ := g.Potential.At(v * v / p.Noise)
			sum -= at(g.Copies, i%n, 1) * (value + at(g.Shift, i%n, 0)*v/p.Noise)
		}
		return sum
	}
	for _, tolerance := range []float64{1e-4, 1e-7} {
		found, err := Solve(context.Background(), p, Options{Variances: Mode, Tolerance: tolerance})
		if err != nil || !found.Converged {
			t.Fatal(found, err)
		}
		least := objective(found.Mean)
		for k := range 2000 {
			u := slices.Clone(found.Mean)
			for j := range u {
				u[j] += math.Pow(10, -1-float64(k%6)) * rng.NormFloat64() * float64(rng.IntN(2))
			}
			if other := objective(u); other < least-10*tolerance*least {
				t.Fatalf("tolerance %.0e: a step lowers %.9f to %.9f", tolerance, least, other)
			}
		}
		s := make([]float64, 3*n)
		if b.MulVec(s, found.Mean); !slices.Equal(s, found.Sites) || found.Precision != nil || len(found.Draws) > 0 {
			t.Errorf("sites %v, want %v; precisions %v", found.Sites, s, found.Precision)
		}
	}
}

// TestNearest compares with a search over a grid.
func TestNearest(t *testing.T) {
	for _, p := range []Potential{Laplace{1.5}, Logistic{2}, StudentT{2, 3}, Gaussian{3}, ExponentialPower{1, 1.3}, Sech2{1}} {
		for _, v := range []float64{-3, -0.2, 0, 0.7, 4} {
			const shift, weight, noise = 0.3, 0.6, 0.8
			cost := func(s float64) float64 {
				g, _, _ := p.At(s * s / noise)
				return -weight*(noise*g+shift*s) + (s-v)*(s-v)/2
			}
			best := 0.0
			for s := -5.0; s <= 5; s += 1e-3 {
				if cost(s) < cost(best) {
					best = s
				}
			}
			if got := nearest(p, v, shift, weight, noise); !(math.Abs(got-best) <= 1.1e-3) {
				t.Errorf("%T at %v: %v, by the grid %v", p, v, got, best)
			}
		}
	}
}
