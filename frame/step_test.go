package frame

import (
	"math"
	"strings"
	"testing"
)

// Transforms of numbers, by hand. A missing value stays missing, whatever it is compared with.
func TestStepsByHand(t *testing.T) {
	for _, c := range []struct {
		f      Function
		at, to float64
		text   string
		x, y   []float64
	}{
		{Log1p, 0, 0, "log1p(x)", []float64{0, math.E - 1, 1e-300}, []float64{0, 1, 1e-300}},
		{Expm1, 0, 0, "expm1(x)", []float64{0, 1, -1e-300}, []float64{0, math.E - 1, -1e-300}},
		{Abs, 0, 0, "abs(x)", []float64{-3, 0, 2}, []float64{3, 0, 2}},
		{Sign, 0, 0, "sign(x)", []float64{-3, 0, 2}, []float64{-1, 0, 1}},
		{Clip, -1, 2.5, "clip(x, -1, 2.5)", []float64{-3, 0, 9, -1}, []float64{-1, 0, 2.5, -1}},
		{Power, 3, 0, "x^3", []float64{-2, 0.5}, []float64{-8, 0.125}},
		{Power, 2, 0, "square(x)", []float64{-2, 0.5}, []float64{4, 0.25}},
		{Above, 2, 0, "(x > 2)", []float64{1, 2, 3}, []float64{0, 0, 1}},
		{Below, 2, 0, "(x < 2)", []float64{1, 2, 3}, []float64{1, 0, 0}},
		{AtLeast, 2, 0, "(x >= 2)", []float64{1, 2, 3}, []float64{0, 1, 1}},
		{AtMost, 2, 0, "(x <= 2)", []float64{1, 2, 3}, []float64{1, 1, 0}},
		{Equal, 2, 0, "(x == 2)", []float64{1, 2, 3}, []float64{0, 1, 0}},
		{NotEqual, 2, 0, "(x != 2)", []float64{1, 2, 3}, []float64{1, 0, 1}},
	} {
		e, err := Column("x").WithNumbers(c.f, c.at, c.to)
		if err != nil || e.String() != c.text {
			t.Errorf("%s, want %s; %v", e, c.text, err)
		}
		for i, x := range c.x {
			if y, err := e.Apply(x); err != nil || !(math.Abs(y-c.y[i]) <= 1e-15*math.Abs(c.y[i])) {
				t.Errorf("%s of %v is %v, want %v; %v", e, x, y, c.y[i], err)
			}
		}
		if y, err := e.Apply(math.NaN()); err != nil || y == y {
			t.Errorf("%s of a missing value is %v, %v", e, y, err)
		}
		if err := e.ValidateRow(); err != nil {
			t.Error(err)
		}
	}
	if _, err := Column("x").With(Log1p).Apply(-1); err == nil || !strings.Contains(err.Error(), "log1p(x): x is -1, and log1p needs a number above -1") {
		t.Errorf("log1p of −1: %v", err)
	}
	for _, e := range []Expr{
		{Column: "x", Steps: []Step{{Function: Clip, At: 2, To: 1}}}, {Column: "x", Steps: []Step{{Function: Power, At: 1.5}}},
		{Column: "x", Steps: []Step{{Function: Above, At: math.NaN()}}}, {Column: "x", Steps: []Step{{Function: "!"}}},
	} {
		if e.validate(true) == nil {
			t.Errorf("%s of a file is taken", e)
		}
	}
}
