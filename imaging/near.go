package imaging

import (
	"math"

	"github.com/credence-ml/credence/internal/kernel"
	"github.com/credence-ml/credence/linop"
)

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
