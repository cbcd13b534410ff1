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

// softplusRows is SoftplusRows for at most rowsAtOnce rows. Those of little variance are few operations each, and the
// others are brought together.
func softplusRows(value, dMean, dVariance, mean, variance []float64) {
	var wide rowsOfSoftplus
	var places [rowsAtOnce]int
	count := 0
	for i, v := range variance {
		if !(v <= narrowVariance) {
			wide.mean[count], wide.variance[count], places[count] = mean[i], v, i
			count++
		}
	}
	if count < len(mean) {
		narrowSoftplusRows(value, dMean, dVariance, mean, variance)
	}
	wide.integrate(count)
	for k, i := range places[:count] {
		value[i], dMean[i], dVariance[i] = wide.value[k], wide.dMean[k], wide.dVariance[k]
	}
}

// narrowSoftplusRows is narrowSoftplus for every row.
func narrowSoftplusRows(value, dMean, dVariance, mean, variance []float64) {
	var minus, small, log [rowsAtOnce]float64
	n := len(mean)
	for i, m := range mean {
		minus[i] = -math.Abs(m)
	}
	kernel.Logistic(small[:n], minus[:n])
	kernel.Log1pExp(log[:n], minus[:n])
	for i, m := range mean {
		value[i], dMean[i], dVariance[i] = narrowSoftplus(m, variance[i], small[i], log[i])
	}
}

// rowsOfSoftplus are rows whose expectations are by the rule of the logistic distribution.
type rowsOfSoftplus struct {
	mean, variance, value, dMean, dVariance [rowsAtOnce]float64
}

func (r *rowsOfSoftplus) integrate(n int) {
	if n == 0 {
		return
	}
	mean, variance := r.mean[:n], r.variance[:n]
	var minusZ, density, tail, scale, sums, slopes, bends [rowsAtOnce]float64
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
		r.value[i], r.dMean[i], r.dVariance[i] = v, slope, bends[i]/2
	}
}
