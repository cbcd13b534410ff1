// Sparse-recovery finds a sparse vector from fewer random projections than it has numbers, and says which of them
// are not zero: convex variational inference with Laplace sites beside least squares.
//
//	sparse-recovery -numbers 400 -nonzero 20 -measurements 140 -out folder
//
// writes truth.npy, mean.npy and sd.npy. To recover your own, give -matrix x.npy (m×n), -measured y.npy (m) and the
// standard deviation of the noise of a measurement, -noise.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/credence-ml/credence/imaging"
	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/linop"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sparse-recovery:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("sparse-recovery", flag.ContinueOnError)
	numbers := flags.Int("numbers", 400, "length of the vector")
	nonzero := flags.Int("nonzero", 20, "how many of them are not zero; they are N(0, 1)")
	measurements := flags.Int("measurements", 140, "random projections, of rows of N(0, 1/m)")
	noise := flags.Float64("noise", 0.02, "standard deviation of the noise of a measurement")
	scale := flags.Float64("scale", 0.05, "scale b of the Laplace prior exp(−|u|/b), the mean size of a number")
	matrix := flags.String("matrix", "", "a .npy file of the projections, in place of random ones")
	measured := flags.String("measured", "", "a .npy file of what they measured")
	folder := flags.String("out", ".", "the folder of truth.npy, mean.npy and sd.npy")
	seed := flags.Uint64("seed", 1, "of the vector, projections and noise")
	if err := flags.Parse(args); err != nil {
		return err
	}
	var x linop.Dense
	var y, truth []float64
	if *matrix != "" {
		shape, values, err := imaging.ReadArray(*matrix)
		if err != nil {
			return err
		}
		if len(shape) != 2 {
			return fmt.Errorf("%s: the array has %d dimensions, a matrix has 2", *matrix, len(shape))
		}
		x = linop.Dense{Rows: shape[0], Cols: shape[1], Stride: shape[1], Data: values}
		if _, y, err = imaging.ReadArray(*measured); err != nil {
			return err
		}
	} else {
		if *numbers < 1 || *measurements < 1 || *nonzero < 0 || *nonzero > *numbers {
			return fmt.Errorf("-numbers %d -nonzero %d -measurements %d: state positive sizes, and no more that are not zero than there are", *numbers, *nonzero, *measurements)
		}
		rng := rand.New(rand.NewPCG(*seed, 0))
		x, y, truth = linop.NewDense(*measurements, *numbers), make([]float64, *measurements), make([]float64, *numbers)
		for i := range x.Data {
			x.Data[i] = rng.NormFloat64() / math.Sqrt(float64(*measurements))
		}
		for _, j := range rng.Perm(*numbers)[:*nonzero] {
			truth[j] = rng.NormFloat64()
		}
		x.MulVec(y, truth)
		for i := range y {
			y[i] += *noise * rng.NormFloat64()
		}
	}
	solution, err := convex.Solve(ctx, convex.Problem{
		X: &x, Y: y, Noise: *noise * *noise, B: linop.Identity(x.Cols),
		Sites: []convex.Group{{Count: x.Cols, Potential: convex.Laplace{Rate: *noise / *scale}}},
	}, convex.Options{Variances: convex.Exact})
	if err != nil {
		return err
	}
	deviation, away := make([]float64, x.Cols), 0
	for j, v := range solution.Variance { // of the sites, which are the numbers
		if deviation[j] = math.Sqrt(v); math.Abs(solution.Mean[j]) > 3*deviation[j] {
			away++
		}
	}
	fmt.Fprintf(out, "%d of %d numbers are more than 3 standard deviations from 0\n", away, x.Cols)
	columns := map[string][]float64{"mean": solution.Mean, "sd": deviation}
	if truth != nil {
		columns["truth"] = truth
		square, size := 0.0, 0.0
		for j, v := range truth {
			square += (v - solution.Mean[j]) * (v - solution.Mean[j])
			size += v * v
		}
		fmt.Fprintf(out, "relative error %.3f\n", math.Sqrt(square/size))
	}
	for name, values := range columns {
		if err := imaging.WriteArray(filepath.Join(*folder, name+".npy"), []int{len(values)}, values); err != nil {
			return err
		}
	}
	return nil
}
