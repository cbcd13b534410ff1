package fit_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/fit"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/internal/study"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// curveRows makes a source of one column and its target.
func curveRows(t *testing.T, x, y []float64) credence.Source {
	return must.Value(table.New().Numbers("x", x).Numbers("y", y).Source())(t)
}

// drawKernel draws a function of mean square 1 from the Gaussian process of a kernel, by its Cholesky factor.
func drawKernel(t *testing.T, rng *rand.Rand, x []float64, kernel func(d float64) float64) []float64 {
	n := len(x)
	gram := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			gram.SetSym(i, j, kernel(x[i]-x[j]))
		}
		gram.SetSym(i, i, 1+1e-8)
	}
	var factor mat.Cholesky
	if !factor.Factorize(gram) {
		t.Fatal("the kernel is not positive definite")
	}
	var lower mat.TriDense
	factor.LTo(&lower)
	z := mat.NewVecDense(n, nil)
	for i := range n {
		z.SetVec(i, rng.NormFloat64())
	}
	var f mat.VecDense
	f.MulVec(&lower, z)
	return f.RawVector().Data
}

// drawSpline draws a curve from the prior of s(x): the columns that a fit has, in units of their mean square, with
// normal weights.
func drawSpline(t *testing.T, rng *rand.Rand, x []float64, rows int) (curve, straight []float64) {
	noise := make([]float64, len(x))
	for i := range noise {
		noise[i] = rng.NormFloat64()
	}
	fitted := must.Value(fit.Table(t.Context(), curveRows(t, x[:rows], noise[:rows]), fit.Options{Formula: "y ~ s(x)", Threads: 1}))(t)
	all := must.Value(fitted.Frame.(*frame.Frame).Bind(curveRows(t, x, noise), frame.RequireTargets))(t)
	var b credence.Batch
	must.Succeed(t, all.Read(&b, 0, len(x)))
	features := fitted.Members[0].Model.Features.(*feature.Set)
	var phi credence.Design
	features.Transform(credence.NewWorkspace(1), &phi, &b)
	curve, straight = make([]float64, len(x)), make([]float64, len(x))
	for _, block := range features.Blocks() {
		if block.Intercept {
			continue
		}
		f, total := curve, 0.0
		if block.Name == "linear" {
			f = straight
		}
		w := make([]float64, block.Count)
		for j := range w {
			w[j] = rng.NormFloat64()
		}
		for i := range f {
			for j, v := range phi.Dense.Row(i)[block.First : block.First+block.Count] {
				f[i] += v * w[j]
				total += v * v / float64(len(x))
			}
		}
		for i := range f {
			f[i] /= math.Sqrt(total)
		}
	}
	return curve, straight
}

// TestSmoothCoverage: 90 % intervals of f at new rows within the data, where signal, lengthscale and weights are drawn
// from the priors of the fit: standard deviations in units of the noise have the square BetaPrime(1, ½), log ℓ is
// standard normal. Curves of hsgp and of periodic are drawn by their kernels, not by the functions that the fit has.
func TestSmoothCoverage(t *testing.T) {
	study.OnlyCalibration(t)
	const sets, fresh = 500, 10
	for _, formula := range []string{"s(x)", "hsgp(x)", "hsgp(x, kernel=matern32)", "periodic(x, period=1)"} {
		for _, n := range []int{50, 100, 400} {
			t.Run(fmt.Sprintf("%s, %d rows", formula, n), func(t *testing.T) {
				var shares []float64
				for seed := range uint64(sets) {
					rng := rand.New(rand.NewPCG(study.Seed(34)+seed, uint64(n)))
					x := make([]float64, n+fresh)
					for i := range x {
						x[i] = rng.Float64()
					}
					sd := func() float64 { // its square is BetaPrime(1, ½)
						k := math.Pow(rng.Float64(), 2) // Beta(½, 1)
						return math.Sqrt((1 - k) / k)
					}
					lengthscale := math.Exp(rng.NormFloat64())
					var f, g []float64
					switch formula {
					case "s(x)":
						f, g = drawSpline(t, rng, x, n)
					case "periodic(x, period=1)":
						f = drawKernel(t, rng, x, func(d float64) float64 {
							return math.Exp(-2 * math.Pow(math.Sin(math.Pi*d)/lengthscale, 2))
						})
					case "hsgp(x)":
						// the SD of x is 1/√12
						f = drawKernel(t, rng, x, func(d float64) float64 { return math.Exp(-6 * d * d / lengthscale / lengthscale) })
					default:
						f = drawKernel(t, rng, x, func(d float64) float64 {
							r := 6 * math.Abs(d) / lengthscale // √3 · √12
							return (1 + r) * math.Exp(-r)
						})
					}
					a, b := sd(), sd()
					y := make([]float64, len(x))
					for i := range f {
						f[i] *= a
						if g != nil {
							f[i] += b * g[i]
						}
						y[i] = f[i] + rng.NormFloat64()
					}
					fitted := must.Value(fit.Table(t.Context(), curveRows(t, x[:n], y[:n]), fit.Options{Formula: "y ~ " + formula, Threads: 1}))(t)
					held := 0.0
					scored := must.Value(must.Value(score.New(fitted, score.Options{}))(t).Table(curveRows(t, x[n:], y[n:]), score.IgnoreTargets))(t)
					must.Succeed(t, scored.Each(t.Context(), func(rows *score.Rows) error {
						lower, upper, err := rows.MeanIntervals()
						for i := range lower {
							if v := f[n+rows.First()+i]; v >= lower[i] && v <= upper[i] {
								held += 1. / fresh
							}
						}
						return err
					}))
					shares = append(shares, held)
				}
				share, spread := study.MeanAndError(shares)
				t.Logf("held %.3f ± %.3f", share, spread)
				if share < 0.86-2*spread || share > 0.94+2*spread {
					t.Errorf("90 %% intervals hold f %.3f ± %.3f times, want .86 to .94", share, spread)
				}
			})
		}
	}
}
