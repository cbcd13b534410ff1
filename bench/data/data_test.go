package data

import (
	"math"
	"slices"
	"testing"

	"github.com/credence-ml/credence"
)

// Golden: NumPy 1.24.2, default_rng([1, 2]).random(3), default_rng([7, 0]).normal(size=200000)
// and default_rng([1, 1]).poisson(exp(linspace(-2, 5, 1000))).
func TestStreamIsThatOfNumPy(t *testing.T) {
	s := NewStream(1, 2)
	for _, want := range []float64{0.44841514333227195, 0.4308819875443376, 0.4199991293921922} {
		if got := s.Float64(); got != want {
			t.Errorf("uniform %v, want %v", got, want)
		}
	}
	s = NewStream(7, 0)
	x := make([]float64, 200000)
	sum, cubes := 0.0, 0.0
	for i := range x {
		x[i] = s.Normal()
		sum += x[i]
		cubes += x[i] * x[i] * x[i]
	}
	for _, c := range []struct{ got, want float64 }{
		{x[0], 0.0012301533574825742}, {x[1], 0.2987455375084699}, {x[2], -0.2741378553622176},
		{x[len(x)-1], 0.5342501005320923}, {slices.Min(x), -4.502222241099144}, {slices.Max(x), 4.522829666849905},
	} {
		// Tables of layers agree to rounding.
		if !(math.Abs(c.got-c.want) <= 1e-14) {
			t.Errorf("normal %v, want %v", c.got, c.want)
		}
	}
	if !(math.Abs(sum-190.85261457580407) <= 1e-9) || !(math.Abs(cubes-161.0782113167366) <= 1e-9) {
		t.Errorf("sum %v, of cubes %v", sum, cubes)
	}
	s = NewStream(1, 1)
	total, moment := 0.0, 0.0
	for i := range 1000 {
		k := s.Poisson(math.Exp(-2 + 7*float64(i)/999))
		total += k
		moment += k * float64(i)
	}
	if total != 21387 || moment != 18360846 {
		t.Errorf("counts sum to %v, moment %v", total, moment)
	}
	if got := s.Float64(); got != 0.16849466165692173 {
		t.Errorf("after the counts %v", got)
	}
}

// Golden: sums of the targets that NumPy 1.24.2 generated.
func TestSmooth(t *testing.T) {
	for _, c := range []struct {
		kind        Kind
		train, test float64
	}{{Real, 11852.7833950246, 11827.041483635832}, {Class, 8799, 8794}, {Count, 43902, 44384}} {
		train, test, err := Smooth(c.kind, 10000, 20, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []struct {
			table *Table
			want  float64
		}{{train, c.train}, {test, c.test}} {
			sum := 0.0
			for _, y := range part.table.Column("y") {
				sum += y
			}
			if !(math.Abs(sum-part.want) <= 1e-7) {
				t.Errorf("%s: targets sum to %v, want %v", c.kind, sum, part.want)
			}
		}
		if x := train.Column("x1")[0]; !(math.Abs(x-0.345584192064786) <= 1e-14) {
			t.Errorf("%s: first input %v", c.kind, x)
		}
	}
	if _, _, err := Smooth("ordinal", 10, 2, 1); err == nil {
		t.Error("an unknown kind was generated")
	}
}

func TestPart(t *testing.T) {
	train, _, err := Smooth(Real, 100, 3, 5)
	if err != nil {
		t.Fatal(err)
	}
	odd := train.Part(func(row int) bool { return row%2 == 1 })
	again := odd.Part(func(row int) bool { return row >= 48 })
	y := train.Column("y")
	if got := again.Column("y"); !slices.Equal(got, []float64{y[97], y[99]}) {
		t.Errorf("rows 97 and 99 are %v", got)
	}
	var chunk credence.Chunk
	if err := odd.Read(&chunk, 10, 2); err != nil {
		t.Fatal(err)
	}
	if chunk.Rows() != 2 || chunk.Values.Row(1)[3] != y[23] || train.Column("z") != nil {
		t.Errorf("read %v", chunk.Values.Data)
	}
}
