package quad

import (
	"math"
	"testing"
)

// TestSoftplusRows: rows agree with single ones to 1e-15 of one and the mean, which is rounding of sums of 14 terms, in
// any number and place.
func TestSoftplusRows(t *testing.T) {
	var mean, variance []float64
	for m := -30.0; m <= 30; m += 0.7 {
		for _, v := range []float64{0, 1e-6, 0.3, 4, 100} {
			mean, variance = append(mean, m), append(variance, v)
		}
	}
	for _, n := range []int{0, 1, 63, 64, 65, len(mean)} {
		value, slope, bend := make([]float64, n), make([]float64, n), make([]float64, n)
		SoftplusRows(value, slope, bend, mean[:n], variance[:n])
		for i := range n {
			a, b, c := Softplus(mean[i], variance[i])
			tolerance := 1e-15 * (1 + math.Abs(mean[i]))
			if math.Abs(value[i]-a) > tolerance || math.Abs(slope[i]-b) > tolerance || math.Abs(bend[i]-c) > tolerance {
				t.Errorf("%d rows, N(%g, %g): %v %v %v, alone %v %v %v", n, mean[i], variance[i], value[i], slope[i], bend[i], a, b, c)
			}
		}
	}
}

func BenchmarkSoftplusRows(b *testing.B) {
	const n = 512
	var mean, variance, x, y, z [n]float64
	for i := range mean {
		mean[i], variance[i] = float64(i%41)/5-4, 0.1+float64(i%7)/3
	}
	b.ReportAllocs()
	for b.Loop() {
		SoftplusRows(x[:], y[:], z[:], mean[:], variance[:])
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}
