package quad

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/internal/special"
)

// The mixture has the moments of the t, and nearly its quantiles.
func TestScales(t *testing.T) {
	for _, df := range []float64{2.1, 3, 4.2, 4.5, 5, 5.01, 6, 8, 19.99, 20, 59.99, 60, 99.9, 100, 300, 1e9, 1e17, 1e300} {
		scales := Scales(df)
		if want := map[bool]int{df < 20: 5, df >= 20 && df < 60: 3, df >= 60 && df < 100: 2, df >= 100: 1}[true]; len(scales) != want {
			t.Errorf("df %v: %d points", df, len(scales))
		}
		total, mean, square := 0.0, 0.0, 0.0
		for _, s := range scales {
			if !(s.Weight > 0 && s.Factor > 0) {
				t.Errorf("df %v: a point of factor %v and weight %v", df, s.Factor, s.Weight)
			}
			total += s.Weight
			mean += s.Weight * s.Factor
			square += s.Weight * s.Factor * s.Factor
		}
		if !(math.Abs(total-1) <= 1e-15) || !(math.Abs(mean-1) <= 1e-12) {
			t.Errorf("df %v: the weights sum to %v, the mean factor is %v", df, total, mean)
		}
		if want := (df - 2) / (df - 4); df > 5 && df < 100 && !(math.Abs(square/want-1) <= 1e-12) {
			t.Errorf("df %v: the mean square factor is %v, want %v", df, square, want)
		}
		tails := map[float64]float64{0.05: 0.01, 0.25: 0.01} // probability and relative error
		switch {
		case df < 4.2:
			continue
		case df >= 100:
			tails = map[float64]float64{0.05: 0.001, 0.25: 0.007, 0.001: 0.02, 0.01: 0.007}
		case df >= 8:
			tails[0.001], tails[0.01] = 0.01, 0.01
		}
		for p, within := range tails {
			want := special.StudentQuantile(p, df) * math.Sqrt(1-2/df)
			got := Quantile(func(y float64) float64 {
				cdf := 0.0
				for _, s := range scales {
					cdf += s.Weight * special.NormalCDF(y/math.Sqrt(s.Factor))
				}
				return cdf
			}, p, want, 1, math.Inf(-1), 0)
			if !(math.Abs(got/want-1) <= within) {
				t.Errorf("df %v: quantile %v is %v, of the t %v", df, p, got, want)
			}
		}
	}
}

func BenchmarkScales(b *testing.B) {
	for b.Loop() {
		Scales(7)
	}
}
