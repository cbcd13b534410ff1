package quad

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/internal/conform/hermite"
)

// TestSoftplusRows: rows agree with single ones to 1e-15 of one and the mean, which is rounding of sums of 14 terms, in
// any number and place.
func TestSoftplusRows(t *testing.T) {
	var mean, variance []float64
	for m := -30.0; m <= 30; m += 0.7 {
		for _, v := range []float64{0, 1e-6, narrowVariance, 0.05, middleVariance, 0.3, 4, 100} {
			mean, variance = append(mean, m), append(variance, v)
		}
	}
	for _, n := range []int{0, 1, 63, 64, 65, len(mean)} {
		value, slope, bend := make([]float64, n), make([]float64, n), make([]float64, n)
		SoftplusRows(value, slope, bend, mean[:n], variance[:n])
		for i := range n {
			a, b, c := Softplus(mean[i], variance[i])
			tolerance := 1e-15 * (1 + math.Abs(mean[i]))
			if !(math.Abs(value[i]-a) <= tolerance) || !(math.Abs(slope[i]-b) <= tolerance) || !(math.Abs(bend[i]-c) <= tolerance) {
				t.Errorf("%d rows, N(%g, %g): %v %v %v, alone %v %v %v", n, mean[i], variance[i], value[i], slope[i], bend[i], a, b, c)
			}
		}
	}
}

func BenchmarkSoftplusRows(b *testing.B) {
	for _, c := range []struct {
		name     string
		variance float64
	}{{"wide", 0.2}, {"middle", 0.017}, {"narrow", 0}} {
		b.Run(c.name, func(b *testing.B) {
			const n = 512
			var mean, variance, x, y, z [n]float64
			for i := range mean {
				mean[i], variance[i] = float64(i%41)/5-4, c.variance*(1+float64(i%7))
			}
			b.ReportAllocs()
			for b.Loop() {
				SoftplusRows(x[:], y[:], z[:], mean[:], variance[:])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}

// TestNarrowSoftplus: the series agrees with quadrature to what its first left-out term allows, and with the rule of
// the logistic distribution, which takes over above, to the error of that.
func TestNarrowSoftplus(t *testing.T) {
	for m := -30.0; m <= 30; m += 0.37 {
		for _, v := range []float64{0, 1e-9, 1e-4, 3e-3, narrowVariance} {
			value, slope, bend := Softplus(m, v)
			a, b, c := SoftplusExact(m, v)
			rounding := 1e-15 * (1 + math.Abs(m))
			for _, check := range []struct {
				name             string
				got, want, bound float64
			}{
				{"value", value, a, rounding + 1.9e-3*math.Pow(v, 6)}, {"slope", slope, b, 2e-15 + 1e-2*math.Pow(v, 6)}, {"bend", bend, c, 1e-15 + 1.2e-2*math.Pow(v, 5)},
			} {
				if !(math.Abs(check.got-check.want) <= check.bound) {
					t.Errorf("N(%g, %g): %s %v, want %v within %.1e, off by %.1e", m, v, check.name, check.got, check.want, check.bound, check.got-check.want)
				}
			}
		}
		v := math.Nextafter(narrowVariance, 1)
		value, slope, bend := Softplus(m, v)
		a, b, c := Softplus(m, narrowVariance)
		if !(math.Abs(value-a) <= 3e-11) || !(math.Abs(slope-b) <= 7e-11) || !(math.Abs(bend-c) <= 1e-10) {
			t.Errorf("N(%g, %g): %v %v %v on one side, %v %v %v on the other", m, v, value, slope, bend, a, b, c)
		}
	}
}

// TestMiddleSoftplus: nine nodes agree with quadrature to what their first term left out allows, and with the rules of
// lesser and larger variances to the errors of those.
func TestMiddleSoftplus(t *testing.T) {
	rule := hermite.New(2*len(nineNodes) - 1)
	for k, node := range nineNodes {
		if i := k + len(nineNodes) - 1; !(math.Abs(node.z-rule.Nodes[i]) <= 1e-15*node.z) || !(math.Abs(node.weight-rule.Weights[i]) <= 1e-14*node.weight) {
			t.Errorf("node %d is %v, want %v of weight %v", k, node, rule.Nodes[i], rule.Weights[i])
		}
	}
	for m := -30.0; m <= 30; m += 0.37 {
		for _, v := range []float64{math.Nextafter(narrowVariance, 1), 0.04, 0.09, middleVariance} {
			value, slope, bend := Softplus(m, v)
			a, b, c := SoftplusExact(m, v)
			rounding := 2e-15 * (1 + math.Abs(m))
			if !(math.Abs(value-a) <= rounding+4e-13) || !(math.Abs(slope-b) <= 2e-15+2e-12) || !(math.Abs(bend-c) <= 1e-15+8e-12) {
				t.Errorf("N(%g, %g): %v %v %v, want %v %v %v: off by %.1e, %.1e, %.1e", m, v, value, slope, bend, a, b, c, value-a, slope-b, bend-c)
			}
		}
		v := math.Nextafter(middleVariance, 1)
		value, slope, bend := Softplus(m, v)
		a, b, c := Softplus(m, middleVariance)
		if !(math.Abs(value-a) <= 3e-11) || !(math.Abs(slope-b) <= 7e-11) || !(math.Abs(bend-c) <= 1e-10) {
			t.Errorf("N(%g, %g): %v %v %v on one side, %v %v %v on the other", m, v, value, slope, bend, a, b, c)
		}
	}
}
