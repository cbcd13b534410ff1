package special

import (
	"math"
	"testing"
)

// Of 1, 2 and 4 degrees of freedom the distribution function has a closed form; the quantile of 2 too.
func TestStudentClosedForms(t *testing.T) {
	for _, x := range []float64{-1e9, -300, -12, -2.5, -1, -1e-3, 0, 1e-8, 0.5, 1, 3, 40} {
		// 1 − u of x < 0, without cancellation
		lower := func(u2, rest float64) float64 { // (1 − √u2)/2 with 1 − u2 = rest
			if x < 0 {
				return rest / (1 + math.Sqrt(u2)) / 2
			}
			return (1 + math.Sqrt(u2)) / 2
		}
		near := func(df, want float64) {
			if got := StudentCDF(x, df); !(math.Abs(got-want) <= 1e-13*want) {
				t.Errorf("CDF(%v) of %v is %v, want %v", x, df, got, want)
			}
		}
		cauchy := 0.5 + math.Atan(x)/math.Pi
		if x < 0 {
			cauchy = math.Atan(-1/x) / math.Pi
		}
		near(1, cauchy)
		near(2, lower(x*x/(2+x*x), 2/(2+x*x)))
		if x < 0 && x > -20 { // with s = x/√(4+x²): ½ + ¾ s (1 − s²/3)
			s := x / math.Sqrt(4+x*x)
			if want := 0.5 + s*(3-s*s)/4; !(math.Abs(StudentCDF(x, 4)-want) <= 1e-15) {
				t.Errorf("CDF(%v) of 4 is %v, want %v", x, StudentCDF(x, 4), want)
			}
		}
	}
	for _, p := range []float64{1e-200, 1e-12, 0.001, 0.05, 0.3, 0.5, 0.6, 0.999} {
		want := (2*p - 1) / math.Sqrt(2*p*(1-p))
		if got := StudentQuantile(p, 2); !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
			t.Errorf("quantile %v of 2 is %v, want %v", p, got, want)
		}
	}
	if !math.IsInf(StudentQuantile(0, 3), -1) || !math.IsInf(StudentQuantile(1, 3), 1) || !math.IsNaN(StudentQuantile(math.NaN(), 3)) {
		t.Error("quantiles at the ends")
	}
}

// The quantile inverts the distribution function, whose derivative is the density.
func TestStudentIsConsistent(t *testing.T) {
	for _, df := range []float64{2.1, 3, 4.2, 10, 77.5, 300, 1e6, 1e12} {
		for _, p := range []float64{1e-15, 1e-6, 0.01, 0.05, 0.2, 0.45, 0.7, 0.975} {
			x := StudentQuantile(p, df)
			if got := StudentCDF(x, df); !(math.Abs(got-p) <= 2e-12*p) {
				t.Errorf("df %v: CDF of quantile %v is %v", df, p, got)
			}
			const h = 1e-5
			density := math.Exp(LogStudentPeak(df, math.Sqrt(df)) - (df+1)/2*math.Log1p(x*x/df))
			slope := (StudentCDF(x+h, df) - StudentCDF(x-h, df)) / (2 * h)
			if p > 1e-3 && !(math.Abs(slope/density-1) <= 1e-6) {
				t.Errorf("df %v at %v: slope %v, density %v", df, x, slope, density)
			}
		}
		if df >= 1e12 && !(math.Abs(StudentQuantile(0.05, df)-NormalQuantile(0.05)) <= 1e-11) {
			t.Error("many degrees of freedom are not normal")
		}
	}
}

func BenchmarkStudentQuantile(b *testing.B) {
	for b.Loop() {
		StudentQuantile(0.05, 7)
	}
}
