package score

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/calibration"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/posterior"
)

// TestCalibratedCRPS compares the score with the integral of (P(Y ≤ x) − 1{x ≥ y})², or the sum over whole numbers, of
// the calibrated distribution function itself, of few scores and of many.
func TestCalibratedCRPS(t *testing.T) {
	for name, c := range map[string]struct {
		likelihood      credence.Likelihood
		mean, low, high float64 // of f; the range of y
		discrete        bool
	}{
		"gaussian": {likelihood.Gaussian{NoiseVariance: param.Hold(2)}, 1, -40, 40, false},
		"studentt": {likelihood.StudentT{Scale: param.Hold(1), DegreesOfFreedom: param.Hold(4)}, 0, -300, 300, false},
		"gamma":    {likelihood.Gamma{Shape: param.Hold(2)}, 0.5, 1e-9, 60, false},
		"poisson":  {likelihood.Poisson{}, 1.2, 0, 400, true},
	} {
		for _, n := range []int{39, 1000} {
			rng := rand.New(rand.NewPCG(uint64(n), 3))
			var held []calibration.Row
			for range n {
				held = append(held, calibration.Row{Score: 0.4 + 1.7*rng.NormFloat64()})
			}
			result, err := calibration.Fit("", false, held)
			if err != nil {
				t.Fatal(err)
			}
			fitted := &credence.Fitted{
				Frame: &frame.Frame{}, Calibration: result,
				Members: []credence.Member{{Weight: 1, Posterior: &posterior.Diagonal{Mean: []float64{c.mean}, Variance: []float64{0.01}}, Model: credence.Model{Likelihood: c.likelihood, Features: constant{}}}},
			}
			scorer, err := New(fitted, Options{})
			if err != nil {
				t.Fatal(err)
			}
			rows := scorer.NewRows()
			rows.batch.X.Reshape(1, 0)
			if err := rows.score(); err != nil {
				t.Fatal(err)
			}
			upTo := func(x float64) float64 { return rows.calibrated(0, math.Min(rows.dist.CDF(0, x), 1), x) }
			for _, y := range []float64{0, 2, 9} {
				y = math.Max(y, c.low)
				want := 0.0
				square := func(x float64, above bool) float64 {
					p := upTo(x)
					if above {
						p = 1 - p
					}
					return p * p
				}
				if c.discrete {
					for k := c.low; k < c.high; k++ {
						want += square(k, k >= y)
					}
				} else { // midpoints after x = y ± u², which are dense about y
					const steps = 800
					for side, end := range map[float64]float64{-1: y - c.low, 1: c.high - y} {
						width := math.Sqrt(end) / steps
						for k := range steps {
							u := (float64(k) + 0.5) * width
							want += square(y+side*u*u, side > 0) * 2 * u * width
						}
					}
				}
				tolerance := 1e-3
				if c.discrete {
					tolerance = 1e-6
				}
				if got := rows.CRPS(0, y); !(math.Abs(got-want) <= tolerance*want) {
					t.Errorf("%s, %d scores: of %v it is %v, want %v (%.1e)", name, n, y, got, want, got/want-1)
				}
			}
		}
	}
}

// constant is a feature that is 1.
type constant struct{}

func (constant) Weights() int { return 1 }
func (constant) Blocks() []credence.Block {
	return []credence.Block{{Name: "(intercept)", Count: 1, Intercept: true}}
}
func (constant) Transform(_ *credence.Workspace, phi *credence.Design, rows *credence.Batch) {
	phi.Dense.Reshape(rows.Rows(), 1)
	for i := range phi.Dense.Data {
		phi.Dense.Data[i] = 1
	}
	phi.Sparse.Reset(0)
	for range rows.Rows() {
		phi.Sparse.AppendRow(nil, nil)
	}
}

// tailed is a posterior with heavy tails.
type tailed struct {
	credence.Posterior
	df, mean, variance float64
}

func (p tailed) LatentDF() float64 { return p.df }

func (p tailed) Marginals(mean, variance []float64) { mean[0], variance[0] = p.mean, p.variance }

// TestHalfWidths: intervals of weights reach as far as the quantile of the Student distribution that has their standard
// deviation, and as that of a normal one where there is none or its variance is not finite.
func TestHalfWidths(t *testing.T) {
	normal := special.NormalQuantile(0.95)
	for df, want := range map[float64]float64{5: special.StudentQuantile(0.95, 5) * math.Sqrt(3./5), 1e9: normal, math.Inf(1): normal, 2: normal, 1: normal, 0: normal} {
		if got := halfWidth(tailed{df: df}, 0.9); !(math.Abs(got-want) <= 1e-6) {
			t.Errorf("%v degrees of freedom: %v, want %v", df, got, want)
		}
	}
}

// TestPooledMoments: the weights of all members together have the moments of the mixture.
func TestPooledMoments(t *testing.T) {
	fitted := &credence.Fitted{Members: []credence.Member{{Weight: 0.25, Posterior: tailed{mean: 3, variance: 0.5}}, {Weight: 0.75, Posterior: tailed{mean: -1, variance: 2}}}}
	a, b := fitted.Share(0), fitted.Share(1)
	mean, variance := []float64{7}, []float64{7}
	pooled{fitted}.Marginals(mean, variance)
	if want := 3*a - b; mean[0] != want || !(math.Abs(variance[0]-(a*0.5+b*2+a*b*16)) <= 1e-12) || a == b {
		t.Errorf("%v ± %v, want %v and %v", mean, variance, want, a*0.5+b*2+a*b*16)
	}
}

// TestQuantilesOfClasses: a quantile is the smaller class where its probability is just the one that is asked for.
func TestQuantilesOfClasses(t *testing.T) {
	got := make([]float64, 4)
	if ofClasses(got, 0.5, []float64{0.25, 0.5, math.Nextafter(0.5, 1), 0.75}); !slices.Equal(got, []float64{0, 0, 1, 1}) {
		t.Errorf("%v", got)
	}
}
