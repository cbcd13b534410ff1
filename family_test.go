package credence

import (
	"math"
	"testing"
)

// A gain goes through those of the nodes and 0, is a polynomial of the fourth degree between them, and a line that
// touches it beyond.
func TestGain(t *testing.T) {
	quartic := func(z float64) float64 { return 0.3*z - 0.2*z*z + 0.05*z*z*z + 0.01*z*z*z*z }
	slope := func(z float64) float64 { return 0.3 - 0.4*z + 0.15*z*z + 0.04*z*z*z }
	f := &FamilyPosterior{Mode: []float64{0}, Root: []float64{1, 2}, Nodes: []float64{-2.5, -1, 1, 2.5}, Gains: []float64{9, 9, 9, 9}}
	for _, z := range f.Nodes {
		f.Gains = append(f.Gains, quartic(z))
	}
	for _, z := range []float64{-2.5, -1.7, -1, 0, 0.4, 1, 2.2, 2.5} {
		if got := f.Gain(1, z); !(math.Abs(got-quartic(z)) <= 1e-12) {
			t.Errorf("at %v the gain is %v, want %v", z, got, quartic(z))
		}
	}
	for _, end := range []float64{-2.5, 2.5} {
		if got, want := f.Gain(1, 2*end), quartic(end)+end*slope(end); !(math.Abs(got-want) <= 1e-9) {
			t.Errorf("at %v the gain is %v, want %v", 2*end, got, want)
		}
	}
	if f.Nodes, f.Gains = nil, nil; f.Gain(1, 3) != 0 {
		t.Error("a normal distribution has gains")
	}
}

// What is no posterior of a family is refused.
func TestValidateFamily(t *testing.T) {
	sound := func() *FamilyPosterior {
		return &FamilyPosterior{
			Coordinates: make([]Coordinate, 2), Mode: []float64{0, 1}, Root: make([]float64, 6), Slopes: make([]float64, 12), Widths: make([]float64, 3),
			Nodes: []float64{-1, 1}, Gains: make([]float64, 6),
		}
	}
	if err := sound().Validate(4); err != nil || sound().Axes() != 3 {
		t.Errorf("%v, %d axes", err, sound().Axes())
	}
	for k, change := range []func(f *FamilyPosterior){
		func(f *FamilyPosterior) { f.Coordinates, f.Mode = nil, nil },
		func(f *FamilyPosterior) { f.Mode = f.Mode[:1] },
		func(f *FamilyPosterior) { f.Root = f.Root[:5] },
		func(f *FamilyPosterior) { f.Root, f.Slopes, f.Widths, f.Gains = nil, nil, nil, nil },
		func(f *FamilyPosterior) { f.Slopes = f.Slopes[:9] },
		func(f *FamilyPosterior) { f.Widths = f.Widths[:2] },
		func(f *FamilyPosterior) { f.Gains = f.Gains[:4] },
		func(f *FamilyPosterior) { f.Nodes = []float64{1, -1} },
		func(f *FamilyPosterior) { f.Nodes = []float64{0, 1} },
	} {
		f := sound()
		change(f)
		if f.Validate(4) == nil {
			t.Errorf("change %d is accepted", k)
		}
	}
}

// A coordinate of a parameter and its value are each other's inverses.
func TestCoordinates(t *testing.T) {
	for _, c := range []Coordinate{{}, {Power: 1}, {Power: 2}, {From: 2, Power: 1}} {
		if x := -0.7; !(math.Abs(c.Free(c.Value(x))-x) <= 1e-14) || c.Power > 0 && !(math.Abs(c.Value(x)-c.From-math.Exp(c.Power*x)) <= 1e-15) {
			t.Errorf("%+v takes %v to %v and back to %v", c, x, c.Value(x), c.Free(c.Value(x)))
		}
	}
}
