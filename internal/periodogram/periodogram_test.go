package periodogram

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// left is the sum of squares that least squares by a constant and waves of some periods leave.
func left(x, y, w []float64, periods ...float64) float64 {
	columns := 1 + 2*len(periods)
	a, b := mat.NewDense(len(x), columns, nil), mat.NewVecDense(len(x), nil)
	for i := range x {
		root := math.Sqrt(w[i])
		a.Set(i, 0, root)
		for k, p := range periods {
			s, c := math.Sincos(2 * math.Pi * x[i] / p)
			a.Set(i, 2*k+1, root*c)
			a.Set(i, 2*k+2, root*s)
		}
		b.SetVec(i, root*y[i])
	}
	var solved, fitted mat.VecDense
	if solved.SolveVec(a, b) != nil {
		return math.NaN()
	}
	fitted.MulVec(a, &solved)
	fitted.SubVec(b, &fitted)
	return mat.Dot(&fitted, &fitted)
}

// The largest wave is that which least squares by sines leave least of, among all frequencies four to a cycle: even and
// uneven places, weights, a mean that is far away, and what is left when the first waves are removed.
func TestLargestWaveHasLeastSquares(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 34))
		n, width := 150, 60.0
		x, y, w := make([]float64, n), make([]float64, n), make([]float64, n)
		waves := New(5, 0.4, width)
		for i := range x {
			x[i], w[i] = 5+0.4*float64(i), 1
			if seed%2 == 1 {
				x[i], w[i] = 5+width*rng.Float64(), float64(rng.IntN(3))
			}
			y[i] = 1e3 + 3*math.Sin(2*math.Pi*x[i]/11.3+1) + 2*math.Cos(2*math.Pi*x[i]/4.1) + math.Sin(2*math.Pi*x[i]/1.7) + 0.3*rng.NormFloat64()
			if seed%4 == 1 && i%10 == 0 {
				w[i], y[i] = 0, 1e6
			}
			waves.Add(x[i], y[i], w[i])
		}
		var found []float64
		for _, truth := range []float64{11.3, 4.1, 1.7} {
			got := waves.Largest()
			best, period := math.Inf(1), 0.0
			for f := 1 / width; f < 1/0.8; f += 1 / (8 * width) {
				apart := true
				for _, p := range found {
					apart = apart && math.Abs(f-1/p) >= 2/width
				}
				if ss := left(x, y, w, append(found[:len(found):len(found)], 1/f)...); apart && ss < best {
					best, period = ss, 1/f
				}
			}
			if !(math.Abs(1/got-1/period) <= 0.26/width) {
				t.Errorf("seed %d: the largest wave has the period %.3f, by least squares %.3f", seed, got, period)
			}
			if !(math.Abs(1/got-1/truth) <= 0.3/width) {
				t.Errorf("seed %d: the largest wave has the period %.3f, the data %.3f", seed, got, truth)
			}
			waves.Remove(got)
			found = append(found, got)
		}
	}
}

// What is stated is removed before, values that are no numbers and weights of 0 count nothing, and cells are bounded.
func TestWavesAreRemoved(t *testing.T) {
	waves := New(0, 1e-9, 1000)
	if cells := len(waves.sum); cells > finer*mostCells {
		t.Errorf("%d cells", cells)
	}
	rng := rand.New(rand.NewPCG(2, 2))
	for range 3000 {
		x := 1000 * rng.Float64()
		waves.Add(x, 5*math.Sin(2*math.Pi*x/24)+math.Sin(2*math.Pi*x/168), 1)
		waves.Add(x, math.Inf(1), 1)
		waves.Add(x, math.NaN(), 0)
	}
	waves.Remove(24)
	if got := waves.Largest(); !(math.Abs(got-168) <= 8) {
		t.Errorf("beside 24 the largest wave has the period %v, want 168", got)
	}
	empty := New(0, 1, 10)
	if got := empty.Largest(); !(got > 0) || math.IsInf(got, 0) {
		t.Errorf("no rows have the period %v", got)
	}
	empty.Remove(3)
}
