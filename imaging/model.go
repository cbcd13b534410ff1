package imaging

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence/infer/convex"
	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

// Model is what is known of an image before and by its measurements: y = Xu + noise, and that neighbours differ
// little and wavelet coefficients are small but for a few, both by Laplace densities.
type Model struct {
	Height, Width int
	X             linop.Matrix // of Height·Width columns, row by row
	Y             []float64
	// Noise is the standard deviation of the noise of a measurement, in the units of Y.
	Noise float64
	// Variation is the scale b of the density exp(−|s|/b) of the differences s of neighbours in a row or a
	// column, in the units of the image: the anisotropic total variation. 0 leaves it out.
	Variation float64
	// Detail is that of the coefficients of orthonormal wavelets (Daubechies, 4 taps), averages left out. 0
	// leaves it out.
	Detail float64
	// NonNegative is refused; see [Model.Problem].
	NonNegative bool
}

// levels is the number of times that wavelets halve an image, which may be less for its size.
const levels = 4

// Problem returns the model as [convex.Solve] takes it.
//
// The isotropic total variation couples the two differences at a pixel, and non-negativity is no symmetric
// potential: neither is a site that a Gaussian of free width bounds from below, so neither is offered.
func (m Model) Problem() (convex.Problem, error) {
	p := convex.Problem{X: m.X, Y: m.Y, Noise: m.Noise * m.Noise}
	switch n := m.Height * m.Width; {
	case m.NonNegative:
		return p, fmt.Errorf("imaging: an image cannot be held non-negative: the bound needs potentials that are even in u and log-convex in u², and a step at 0 is neither; leave NonNegative out, and read pixels near 0 by their standard deviations")
	case m.Height < 1 || m.Width < 1:
		return p, fmt.Errorf("imaging: an image of %d×%d numbers", m.Height, m.Width)
	case !(m.Noise > 0) || math.IsInf(m.Noise, 0):
		return p, fmt.Errorf("imaging: Noise is %v: state the standard deviation of the noise, in the units of the measurements", m.Noise)
	case !(m.Variation >= 0) || !(m.Detail >= 0) || m.Variation+m.Detail == 0 || math.IsInf(m.Variation+m.Detail, 0):
		return p, fmt.Errorf("imaging: Variation is %v and Detail %v: state at least one positive scale, in the units of the image", m.Variation, m.Detail)
	case m.X == nil:
		return p, fmt.Errorf("imaging: X is missing: use linop.NewFourier or another operator")
	default:
		if _, cols := m.X.Dims(); cols != n {
			return p, fmt.Errorf("imaging: X has %d columns for an image of %d×%d", cols, m.Height, m.Width)
		}
	}
	var parts []linop.Matrix
	add := func(a linop.Matrix, scale float64) {
		count, _ := a.Dims()
		parts = append(parts, a)
		p.Sites = append(p.Sites, convex.Group{Count: count, Potential: convex.Laplace{Rate: m.Noise / scale}})
	}
	if m.Variation > 0 {
		add(linop.NewDifference(m.Height, m.Width), m.Variation)
	}
	if m.Detail > 0 {
		wavelet := m.wavelet()
		add(linop.NewProduct(wavelet.Details(), wavelet), m.Detail)
	}
	p.B = linop.NewStack(parts...)
	p.Near = m.near
	return p, nil
}

// Reconstruction is what is known of an image after its measurements.
type Reconstruction struct {
	Mean     *Image
	SD       *Image // standard deviations of the pixels: the error map; nil for the mode
	Solution *convex.Solution
}

// The defaults of Reconstruct: draws of the posterior, and outer loops.
const (
	reconstructionDraws = 64
	reconstructionSteps = 3
)

// Reconstruct solves the model: by 64 draws and 3 outer loops unless the options say otherwise, or, with
// variances=mode, for the mode of the posterior.
func (m Model) Reconstruct(ctx context.Context, options convex.Options) (*Reconstruction, error) {
	p, err := m.Problem()
	if err != nil {
		return nil, err
	}
	if options.Variances == "" {
		options.Variances, options.K = convex.Sampled, cmp.Or(options.K, reconstructionDraws)
		options.Steps = cmp.Or(options.Steps, reconstructionSteps)
	}
	solution, err := convex.Solve(ctx, p, options)
	if err != nil {
		return nil, err
	}
	out := &Reconstruction{Mean: &Image{m.Height, m.Width, solution.Mean}, Solution: solution}
	if variance := solution.Marginals(); variance != nil {
		for i, v := range variance {
			variance[i] = math.Sqrt(v)
		}
		out.SD = &Image{m.Height, m.Width, variance}
	}
	return out, nil
}

// wavelet is the transform of as many levels as the size allows.
func (m Model) wavelet() *linop.Wavelet {
	halvings := 0
	for halvings < levels && (m.Height == 1 || m.Height%(2<<halvings) == 0) && (m.Width == 1 || m.Width%(2<<halvings) == 0) {
		halvings++
	}
	return linop.NewWavelet(m.Height, m.Width, halvings, linop.Daubechies4)
}

// near returns the inverse of a matrix near A for the precisions of the sites: SCS, with C the inverse of A where
// the precisions of every kind of site are replaced by their mean, which the Fourier transform makes diagonal if
// XᵀX is a convolution, and S the diagonal that follows the precisions from pixel to pixel. Of an X that is no
// convolution, the response at the first pixel stands for that at all.
func (m Model) near(precision []float64) linop.Matrix {
	n := m.Height * m.Width
	rows, _ := m.X.Dims()
	point, measured, response := make([]float64, n), make([]float64, rows), make([]float64, n)
	point[0] = 1
	m.X.MulVec(measured, point)
	m.X.MulVecTrans(response, measured)
	spectrum := linop.NewConvolution(m.Height, m.Width, response).Spectrum()

	own := make([]float64, n) // diagonal of A, but for what is the same at all pixels
	across, down := 0.0, 0.0
	if m.Variation > 0 {
		difference := linop.NewDifference(m.Height, m.Width)
		count, _ := difference.Dims()
		difference.AddSquaresTrans(own, precision[:count])
		horizontal := m.Height * (m.Width - 1)
		across, down = average(precision[:horizontal]), average(precision[horizontal:count])
		precision = precision[count:]
	}
	detail := average(precision)
	for p, v := range spectrum {
		// |1 − e^{iω}|² = 2 − 2 cos ω.
		i, j := float64(p/m.Width)/float64(m.Height), float64(p%m.Width)/float64(m.Width)
		v = math.Max(v, 0) + down*(2-2*math.Cos(2*math.Pi*i)) + across*(2-2*math.Cos(2*math.Pi*j)) + detail
		spectrum[p] = 1 / math.Max(v, leastEigenvalue)
	}
	scale, whole, mean := make(linop.Diagonal, n), response[0]+detail, average(own)
	for j, v := range own {
		scale[j] = math.Sqrt((whole + mean) / (whole + v))
	}
	return linop.NewProduct(scale, linop.NewProduct(linop.NewFilter(m.Height, m.Width, spectrum), scale))
}

// leastEigenvalue bounds those of the matrix near A, as a share of what a measured frequency has.
const leastEigenvalue = 1e-6

func average(x []float64) float64 { return kernel.Sum(x) / math.Max(1, float64(len(x))) }
