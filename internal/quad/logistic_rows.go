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
	var middle, wide rowsOfSoftplus
	for i, v := range variance {
		switch {
		case v <= narrowVariance:
		case v <= middleVariance:
			middle.add(i, mean[i], v)
		default:
			wide.add(i, mean[i], v)
		}
	}
	if middle.count+wide.count < len(mean) {
		narrowSoftplusRows(value, dMean, dVariance, mean, variance)
	}
	middle.hermite()
	wide.integrate()
	for _, r := range []*rowsOfSoftplus{&middle, &wide} {
		for k, i := range r.places[:r.count] {
			value[i], dMean[i], dVariance[i] = r.value[k], r.dMean[k], r.dVariance[k]
		}
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

// rowsOfSoftplus are rows whose expectations are by one rule, and their places among others.
type rowsOfSoftplus struct {
	count                                   int
	places                                  [rowsAtOnce]int
	mean, variance, value, dMean, dVariance [rowsAtOnce]float64
}

func (r *rowsOfSoftplus) add(place int, mean, variance float64) {
	r.places[r.count], r.mean[r.count], r.variance[r.count] = place, mean, variance
	r.count++
}

// hermite is middleSoftplus for every row.
func (r *rowsOfSoftplus) hermite() {
	n := r.count
	if n == 0 {
		return
	}
	var sd, at, small, log, sums, slopes, bends [rowsAtOnce]float64
	for i, v := range r.variance[:n] {
		sd[i] = math.Sqrt(v)
	}
	for k := range nineNodes {
		w := nineNodes[k].weight
		for _, z := range [2]float64{nineNodes[k].z, -nineNodes[k].z} {
			for i, m := range r.mean[:n] {
				at[i] = sd[i]*z - math.Abs(m)
			}
			kernel.Logistic(small[:n], at[:n])
			kernel.Log1pExp(log[:n], at[:n])
			for i := range n {
				s := small[i]
				sums[i] += w * log[i]
				slopes[i] += w * s
				bends[i] += w * (s * (1 - s))
			}
			if k == 0 {
				break
			}
		}
	}
	r.take(&sums, &slopes, &bends)
}

// take stores sums for rows as if their means were below 0.
func (r *rowsOfSoftplus) take(sums, slopes, bends *[rowsAtOnce]float64) {
	for i, m := range r.mean[:r.count] {
		v, slope := math.Max(sums[i], 0), slopes[i] // rounding, far out
		if m > 0 {
			v, slope = m+v, 1-slope
		}
		r.value[i], r.dMean[i], r.dVariance[i] = v, slope, bends[i]/2
	}
}

func (r *rowsOfSoftplus) integrate() {
	n := r.count
	if n == 0 {
		return
	}
	mean, variance := r.mean[:n], r.variance[:n]
	var minusZ, density, tail, inverse, sums, slopes, bends [rowsAtOnce]float64
	for k := range logistic {
		node := &logistic[k]
		for i := range n {
			inverse[i] = 1 / math.Sqrt(node.variance+variance[i])
			minusZ[i] = -math.Abs(mean[i]) * inverse[i]
			density[i] = -minusZ[i] * minusZ[i] / 2
		}
		kernel.Exp(density[:n], density[:n])
		kernel.NormalCDF(tail[:n], minusZ[:n])
		normal := node.weight / math.Sqrt(2*math.Pi)
		for i := range n {
			d := density[i] * normal * inverse[i]
			t := tail[i] * node.weight
			bends[i] += d
			slopes[i] += t
			sums[i] += d*(node.variance+variance[i]) - t*math.Abs(mean[i])
		}
	}
	r.take(&sums, &slopes, &bends)
}
