package frame

import (
	"math"
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
)

// TestInverse: Invert takes back what Apply made of values, to their rounding through steps of bounded
// slope, and LogSlope is the logarithm of the central difference quotient.
func TestInverse(t *testing.T) {
	scale, centre := Step{Function: Scale, Mean: 0.4, SD: 2.5}, Step{Function: Center, Mean: -3}
	for _, e := range []Expr{
		Column("x"), Column("x").With(Log), Column("x").With(Sqrt), Column("x").With(Exp), Column("x").With(Exp).With(Sqrt), Column("x").With(Log1p), Column("x").With(Expm1), Column("x").With(Expm1).With(Log),
		{Column: "x", Steps: []Step{{Function: Log}, scale}}, {Column: "x", Steps: []Step{centre, {Function: Log}, scale}},
	} {
		if !e.Invertible() {
			t.Errorf("%s has no inverse", e)
		}
		for _, x := range []float64{0.03, 0.7, 1, 4.2, 9} {
			y := must.Value(e.Apply(x))(t)
			if got := e.Invert(y); !(math.Abs(got-x) <= 1e-13*math.Max(1, x)*20) {
				t.Errorf("%s of %v is %v, which is taken back to %v", e, x, y, got)
			}
			const h = 1e-5
			up, _ := e.Apply(x + h*x)
			down, _ := e.Apply(x - h*x)
			// The error of the quotient is of second order in h, and that of rounding 1e-16/h.
			if got, want := e.LogSlope(y), math.Log((up-down)/(2*h*x)); !(math.Abs(got-want) <= 1e-8) {
				t.Errorf("slope of %s at %v is exp %v, by differences exp %v", e, x, got, want)
			}
		}
	}
	if Column("x").With(Log).With(Square).Invertible() {
		t.Error("a square has an inverse")
	}
	for _, f := range []Function{Abs, Sign, Clip, Power, Above, Day} {
		if e, _ := Column("x").WithNumbers(f, 3, 4); e.Invertible() {
			t.Errorf("%s has an inverse", e)
		}
	}
	if got := Column("x").With(Expm1).Invert(-2); !math.IsInf(got, -1) {
		t.Errorf("exp(x) − 1 = −2 is taken back to %v, want the nearest, −∞", got)
	}
	if got := Column("x").With(Sqrt).Invert(-1); got != 0 {
		t.Errorf("a root of −1 is taken back to %v, want the nearest, 0", got)
	}
}

// TestMomentsOfGrades: grades and classes have the weighted mean and variance of the rows of all segments.
func TestMomentsOfGrades(t *testing.T) {
	const n = 3*testSegment + 100
	for _, mode := range []Mode{Grades, Classes} {
		var rows [][]float64
		mean, square, total := 0.0, 0.0, 0.0
		for i := range n {
			y, w := float64(i*i%7%2), float64(i%5)/2+float64(i/testSegment)
			if mode == Grades {
				y = float64(i % 4)
			}
			rows = append(rows, []float64{y, w})
			mean, square, total = mean+w*y, square+w*y*y, total+w
		}
		mean, square = mean/total, square/total
		source := numbers([]string{"y", "w"}, rows...)
		y, w := Column("y"), Column("w")
		c := must.Value(newCensus(&Plan{Target: &y, Weight: &w}, source.Schema(), 0, testSegment, Options{Mode: mode}))(t)
		count(t, c, source, 0, n, 512)
		f := must.Value(c.Frame())(t)
		if !(math.Abs(f.Target.Mean-mean) <= 1e-12) || !(math.Abs(f.Target.Variance-(square-mean*mean)) <= 1e-12) {
			t.Errorf("%v: mean %v and variance %v, want %v and %v", mode, f.Target.Mean, f.Target.Variance, mean, square-mean*mean)
		}
	}
}

// TestSlopesOfTrainingRows: the frame has the weighted sum of the log slopes of all segments, and how many
// rows have a weight that is no whole number; a root at 0 has no slope.
func TestSlopesOfTrainingRows(t *testing.T) {
	const n = 2*testSegment + 100
	var rows [][]float64
	slope, fractions := 0.0, 0
	for i := range n {
		y, w := 1+float64(i%17), float64(i%5)/2
		rows = append(rows, []float64{y, w})
		slope -= w * math.Log(2*math.Sqrt(y))
		if i%5%2 == 1 {
			fractions++
		}
	}
	frameOf := func() *Frame {
		source := numbers([]string{"y", "w"}, rows...)
		y, w := Column("y").With(Sqrt), Column("w")
		c := must.Value(newCensus(&Plan{Target: &y, Weight: &w}, source.Schema(), 0, testSegment, Options{}))(t)
		count(t, c, source, 0, n, 512)
		f := must.Value(c.Frame())(t)
		return f
	}
	f := frameOf()
	if f.Target.LogSlope == nil || !(math.Abs(*f.Target.LogSlope/slope-1) <= 1e-12) || f.Fractions != fractions {
		t.Errorf("log slope %v, want %v; %d fractions, want %d", f.Target.LogSlope, slope, f.Fractions, fractions)
	}
	rows[n-1][0] = 0
	rows[n-1][1] = 1
	if f := frameOf(); f.Target.LogSlope != nil {
		t.Errorf("a root at 0 has the log slope %v", *f.Target.LogSlope)
	}
}
