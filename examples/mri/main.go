// Mri reconstructs an image from a part of the lines of its Fourier transform, as a magnetic resonance scanner
// measures them, and says how sure it is of every pixel. Here the scanner is simulated: an image is read, and
// noise of a known size added to what is measured of it.
//
//	mri -image slice.png -out folder            mean.png, sd.png (the error map), the same as .npy, and mode.png
//	mri -image slice.png -choose -out folder    lines are chosen one pair after another by what they would tell
//
// The prior is anisotropic: differences in rows and columns are sparse each on their own. The isotropic total
// variation, which couples them, is not offered, nor are images held non-negative: see imaging.Model.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
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
		fmt.Fprintln(os.Stderr, "mri:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, args []string) error {
	flags := flag.NewFlagSet("mri", flag.ContinueOnError)
	path := flags.String("image", "", "a .png or .npy file")
	folder := flags.String("out", ".", "the folder that images are written to")
	share := flags.Float64("lines", 0.3, "the share of the Fourier lines that is measured")
	noise := flags.Float64("noise", 0.005, "standard deviation of the noise, in the units of the image")
	variation := flags.Float64("variation", 0.004, "scale of the differences of neighbours, in the units of the image")
	detail := flags.Float64("detail", 0.013, "scale of the wavelet coefficients, in the units of the image")
	mask := flags.String("mask", "", "a .npy file of a number for every line, 0 where it is not measured, in place of -lines")
	choose := flags.Bool("choose", false, "choose lines by what they would tell, from a fifth of them on")
	seed := flags.Uint64("seed", 1, "of noise, lines and draws")
	if err := flags.Parse(args); err != nil {
		return err
	}
	truth, err := imaging.Read(*path)
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(*seed, 0))
	scan := func(lines imaging.Lines) []float64 { // the scanner
		x := linop.NewFourier(truth.Height, truth.Width, lines.Places(truth.Width))
		rows, _ := x.Dims()
		y := make([]float64, rows)
		x.MulVec(y, truth.Values)
		for i := range y {
			y[i] += *noise * rng.NormFloat64()
		}
		return y
	}
	count := int(*share * float64(truth.Height))
	model := imaging.Model{Height: truth.Height, Width: truth.Width, Noise: *noise, Variation: *variation, Detail: *detail}
	report := func(name string, estimate []float64) {
		fmt.Fprintf(out, "%s: PSNR %.2f dB\n", name, imaging.PSNR(estimate, truth.Values))
	}
	if *choose {
		lines, chosen, err := model.Choose(ctx, scan, imaging.NewLines(truth.Height, count/5, truth.Height/16, *seed), count, 4, convex.Options{Seed: *seed})
		if err != nil {
			return err
		}
		report(fmt.Sprintf("%d lines chosen", len(lines)), chosen.Mean.Values)
		return chosen.Mean.Write(filepath.Join(*folder, "chosen.png"), 0, 1)
	}
	lines := imaging.NewLines(truth.Height, count, truth.Height/16, *seed)
	if *mask != "" {
		if lines, err = imaging.ReadMask(*mask, truth.Height); err != nil {
			return err
		}
	}
	model.X, model.Y = linop.NewFourier(truth.Height, truth.Width, lines.Places(truth.Width)), scan(lines)
	filled := imaging.Image{Height: truth.Height, Width: truth.Width, Values: make([]float64, len(truth.Values))}
	model.X.MulVecTrans(filled.Values, model.Y)
	report(fmt.Sprintf("%d of %d lines, the others zero", len(lines), truth.Height), filled.Values)
	result, err := model.Reconstruct(ctx, convex.Options{Seed: *seed})
	if err != nil {
		return err
	}
	report("mean of the posterior", result.Mean.Values)
	fmt.Fprintf(out, "rank correlation of the error map with the error: %.2f\n", imaging.RankCorrelation(result.SD.Values, result.Mean.Values, truth.Values))
	mode, err := model.Reconstruct(ctx, convex.Options{Variances: convex.Mode})
	if err != nil {
		return err
	}
	report("mode of the posterior", mode.Mean.Values)
	for name, image := range map[string]*imaging.Image{"zero": &filled, "mode": mode.Mean, "mean": result.Mean, "sd": result.SD} {
		white := 1.0
		if name == "sd" {
			white = 10 * *noise
		}
		for _, kind := range []string{".png", ".npy"} {
			if err := image.Write(filepath.Join(*folder, name+kind), 0, white); err != nil {
				return err
			}
		}
	}
	return nil
}
