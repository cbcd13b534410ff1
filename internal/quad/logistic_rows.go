package quad

import (
	"math"

	"github.com/credence-ml/credence/internal/kernel"
)

// rowsAtOnce is the number of rows whose nodes are evaluated together.
const rowsAtOnce = 64

// SoftplusRows is Softplus for every row, by vector kernels. The results agree with those of Softplus to
// rounding; destinations may be the arguments.
func SoftplusRows(value, dMean, dVariance, mean, variance []float64) {
	for from := 0; from < len(mean); from += rowsAtOnce {
		to := min(from+rowsAtOnce, len(mean))
		softplusRows(value[from:to], dMean[from:to], dVariance[from:to], mean[from:to], variance[from:to])
	}
}

func softplusRows(value, dMean, dVariance, mean, variance []float64) {
	var minusZ, density, tail, scale, sums, slopes, bends [rowsAtOnce]float64
	n := len(mean)
	for k := range logistic {
		node := &logistic[k]
		for i := range n {
			scale[i] = math.Sqrt(node.variance + variance[i])
			minusZ[i] = -math.Abs(mean[i]) / scale[i]
			density[i] = -minusZ[i] * minusZ[i] / 2
		}
		kernel.Exp(density[:n], density[:n])
		kernel.NormalCDF(tail[:n], minusZ[:n])
		normal := node.weight / math.Sqrt(2*math.Pi)
		for i := range n {
			d := density[i] * normal / scale[i]
			t := tail[i] * node.weight
			bends[i] += d
			slopes[i] += t
			sums[i] += d*scale[i]*scale[i] - t*math.Abs(mean[i])
		}
	}
	for i := range n {
		v, slope := math.Max(sums[i], 0), slopes[i] // rounding, far out
		if mean[i] > 0 {
			v, slope = mean[i]+v, 1-slope
		}
		value[i], dMean[i], dVariance[i] = v, slope, bends[i]/2
	}
}
