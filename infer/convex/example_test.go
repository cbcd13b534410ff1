package convex_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/linop"
)

// A signal of 128 numbers, constant but for two jumps, is measured at 24 of its 128 frequencies with
// noise of known size. Laplace sites on differences say that jumps are few; the answer is a mean, with
// a standard deviation for each difference.
func ExampleSolve() {
	const n, sigma = 128, 0.02
	rng := rand.New(rand.NewPCG(2, 1))
	signal := make([]float64, n)
	for i := range signal {
		switch {
		case i >= 90:
			signal[i] = -0.5
		case i >= 40:
			signal[i] = 1
		}
	}
	places := []int{0}
	for _, p := range rng.Perm(n / 2)[:23] {
		places = append(places, p+1)
	}
	x := linop.NewFourier(1, n, places)
	rows, _ := x.Dims()
	y := make([]float64, rows)
	x.MulVec(y, signal)
	for i := range y {
		y[i] += sigma * rng.NormFloat64()
	}
	b := linop.NewDifference(1, n)
	sites, _ := b.Dims()
	solution, err := convex.Solve(context.Background(), convex.Problem{
		X: linop.NewStack(x, linop.Scaled{Factor: 1e-3, A: linop.Identity(n)}), // and a wide normal prior
		Y: append(y, make([]float64, n)...), Noise: sigma * sigma, B: b,
		Sites: []convex.Group{{Count: sites, Potential: convex.Laplace{Rate: 0.5}}},
	}, convex.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	square, zero := 0.0, 0.0
	back := make([]float64, n)
	x.MulVecTrans(back, y) // zero-filled, what was not measured is 0; each frequency but 0 stands for two
	mean := y[0] / math.Sqrt(n)
	for i, v := range signal {
		square += (solution.Mean[i] - v) * (solution.Mean[i] - v) / n
		zero += (2*back[i] - mean - v) * (2*back[i] - mean - v) / n
	}
	jumps := 0
	for i, s := range solution.Sites {
		if !(math.Abs(s) <= 3*math.Sqrt(solution.Variance[i])) {
			jumps++
		}
	}
	fmt.Println("jumps found:", jumps)
	fmt.Println("error below a third of the zero-filled signal's:", math.Sqrt(square) < math.Sqrt(zero)/3)
	// Output:
	// jumps found: 2
	// error below a third of the zero-filled signal's: true
}
