package quad_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence/internal/quad"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

type located struct {
	name  string
	unit  float64
	noise func(d float64) float64
	of    interface {
		PredictiveCDF(y, mean, variance float64) float64
	}
	y func(d float64) float64
}

func studentCase(df, scale float64) located {
	l := likelihood.StudentT{DegreesOfFreedom: param.Hold(df), Scale: param.Hold(scale)}
	unit, _ := l.Location()
	return located{l.String(), unit, func(d float64) float64 { return l.CDF(d, 0) }, l, func(d float64) float64 { return d }}
}

func gammaCase(shape float64) located {
	l := likelihood.Gamma{Shape: param.Hold(shape)}
	unit, _ := l.Location()
	return located{l.String(), unit, func(d float64) float64 { return l.CDF(math.Exp(d), 0) }, l, math.Exp}
}

// The table is P(e + f ≤ d) by the trapezium rule over f, of a step of a fortieth of the narrower of the two.
func TestLocatedAgainstQuadrature(t *testing.T) {
	for _, c := range []located{
		studentCase(0.8, 1), studentCase(2.1, 3), studentCase(5, 0.5), studentCase(30, 1), gammaCase(0.3), gammaCase(1), gammaCase(3), gammaCase(200),
	} {
		table := quad.NewLocated(c.unit, func(d, sd float64) float64 { return c.of.PredictiveCDF(c.y(d), 0, sd*sd) })
		rng := rand.New(rand.NewPCG(1, 2))
		known, worst := 0, 0.0
		var near quad.Slice
		for n := range 400 {
			sd := c.unit * math.Exp(2*rng.NormFloat64()-1)
			if n%10 == 0 {
				sd = 0
			}
			d := math.Sqrt(c.unit*c.unit+sd*sd) * math.Sinh(1.2*rng.NormFloat64())
			table.Slice(&near, sd)
			z := near.At(d)
			if again := near.At(d); again != z && !math.IsNaN(z) {
				t.Fatalf("%s: %v, and then %v", c.name, z, again)
			}
			if math.IsNaN(z) {
				continue
			}
			known++
			want := c.noise(d)
			if sd > 0 {
				h := math.Min(1, c.unit/sd) / 40
				want = 0
				for x := -9.0; x <= 9; x += h {
					want += c.noise(d-sd*x) * special.NormalDensity(x) * h
				}
			}
			gap := math.Abs(special.NormalCDF(z) - want)
			worst = max(worst, gap)
			if !(gap <= 1e-9 && gap <= 1e-3*min(want, 1-want)) { // in the tails a table ends before digits do
				t.Errorf("%s: d %.6g sd %.4g: the table is %.3g off %.12g", c.name, d, sd, gap, want)
			}
		}
		t.Logf("%s: the largest error is %.2g of %d", c.name, worst, known)
		if known < 300 {
			t.Errorf("%s: the table knows %d of 400 places", c.name, known)
		}
	}
}

// TestLocatedBeyondOne: a distribution function that rounding takes above 1 or below 0, as that of several members far
// out, is out of the table's reach there, and right elsewhere.
func TestLocatedBeyondOne(t *testing.T) {
	table := quad.NewLocated(1, func(d, sd float64) float64 {
		p := special.NormalCDF(d / math.Sqrt(1+sd*sd))
		switch {
		case p > 1-1e-15:
			return math.Nextafter(1, 2)
		case p < 1e-15:
			return -1e-17
		}
		return p
	})
	var near quad.Slice
	table.Slice(&near, 0.7)
	for _, d := range []float64{-30, 30} {
		if z := near.At(d); !math.IsNaN(z) {
			t.Errorf("at %v: %v, which rounding makes", d, z)
		}
	}
	if z, want := near.At(1.5), 1.5/math.Sqrt(1.49); !(math.Abs(z-want) <= 1e-9) {
		t.Errorf("%v, want %v", z, want)
	}
}
