package score

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// TestCavityIsWhatTheOthersKnow: of normal rows, whose factors are quadratic, the cavity is the posterior of the others
// in closed form; of Gamma rows it is the posterior whose best normal approximation with the row is the one given.
func TestCavityIsWhatTheOthersKnow(t *testing.T) {
	const mean, variance, y = 0.4, 0.3, 1.7
	centre, spread, ok := cavity(likelihood.Gaussian{NoiseVariance: param.Hold(0.8)}, y, mean, variance)
	precision := 1/variance - 1/0.8
	if want := (mean/variance - y/0.8) / precision; !ok || !(math.Abs(centre-want) <= 1e-12) || !(math.Abs(spread-1/precision) <= 1e-12) {
		t.Errorf("normal rows: %v, %v, %v, want %v, %v", centre, spread, ok, want, 1/precision)
	}
	family := likelihood.Gamma{Shape: param.Hold(2)}
	centre, spread, ok = cavity(family, y, 0.6, 0.1)
	// Newton steps to the approximation of the cavity times the row, by its bound.
	m, v := centre, spread
	for range 100 {
		_, slope, curvature := family.ExpectedLogDensity(y, m, v)
		v = 1 / (1/spread - 2*curvature)
		m += v * (slope - (m-centre)/spread)
	}
	if !ok || !(math.Abs(m-0.6) <= 1e-9) || !(math.Abs(v-0.1) <= 1e-9) {
		t.Errorf("gamma rows: the cavity %v, %v gives %v, %v, %v", centre, spread, m, v, ok)
	}
	if _, _, ok := cavity(family, y, 0.6, 0.6); ok {
		t.Error("a row that alone tells f has a cavity")
	}
}
