package feature

import (
	"fmt"
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// one returns a batch of one row.
func one(x ...float64) *credence.Batch {
	rows := &credence.Batch{X: linop.NewDense(1, len(x))}
	copy(rows.X.Data, x)
	rows.Sparse.Reset(0)
	return rows
}

func TestBasisConformance(t *testing.T) {
	in := withCategory(withCategory(numbers(3), "zip", 5), "device", 90)
	rows := batch(in, conformRows, false)
	centres := append([]float64(nil), rows.X.Row(3)[:3]...) // a row of the data: distance 0 occurs
	centres = append(centres, 0.5, -1, 0.25, 3, 0, -2)
	for name, terms := range map[string][]Term{
		"polynomial": {&Polynomial{"poly(c, a, 4)", []int{2, 0}, 4}, &Intercept{}},
		"product":    {&Interaction{Name: "a:c", Inputs: []int{0, 2}}, &Interaction{Name: "a:b:c", Inputs: []int{0, 1, 2}}},
		"dense":      {&Interaction{Name: "zip:a", Inputs: []int{3, 0}}, &Linear{Inputs: span(0, 4)}},
		"sparse":     {&Interaction{Name: "zip:device", Inputs: []int{3, 4}}, &Interaction{Name: "b:zip:device", Inputs: []int{1, 3, 4}}, &OneHot{"onehot(zip)", 3}},
		"ones":       {&Interaction{Name: "zip:device", Inputs: []int{3, 4}}, &OneHot{"onehot(zip)", 3}},
		"radial": {&Radial{Bumps{Name: "radial(a, b, c)", Inputs: span(0, 3), Centres: centres,
			Lengthscale: Lengthscale{Values: []float64{0.4, 2, 5}}}}},
		"sigmoid": {&Sigmoid{Bumps{Name: "sigmoid(a, b, c)", Inputs: span(0, 3), Centres: centres,
			Lengthscale: Lengthscale{Values: []float64{0.4, 2, 5}}}}},
		"shared": {&Intercept{}, &Radial{Bumps{Name: "radial(a)", Inputs: []int{0}, Centres: []float64{-1, 0, 2},
			Lengthscale: Lengthscale{Values: []float64{0.7}, Shared: true}}},
			&Sigmoid{Bumps{Name: "sigmoid(b, a)", Inputs: []int{1, 0}, Centres: []float64{-1, 0, 2, 0.5},
				Lengthscale: Lengthscale{Values: []float64{3}, Shared: true}}}},
	} {
		t.Run(name, func(t *testing.T) { checkFeatures(t, newSet(t, in, terms...), rows) })
	}
}

func TestPolynomialByHand(t *testing.T) {
	s := newSet(t, numbers(3), &Polynomial{"poly(c, a, 3)", []int{2, 0}, 3})
	phi := spread(s, one(0.5, 9, -2))
	sameRow(t, "powers", phi.Row(0), []float64{-2, 4, -8, 0.5, 0.25, 0.125})
	for j, want := range []string{"c", "c^2", "c^3", "a", "a^2", "a^3"} {
		if got := s.WeightName(j); got != want {
			t.Fatalf("weight %d is named %s, want %s", j, got, want)
		}
	}
}

func TestInteractionByHand(t *testing.T) {
	in := withCategory(withCategory(numbers(2), "zip", 3), "make", 2)
	terms := []Term{&Interaction{Name: "a:b", Inputs: []int{0, 1}}, &Interaction{Name: "zip:make", Inputs: []int{2, 3}},
		&Interaction{Name: "make:a:zip", Inputs: []int{3, 0, 2}}, &Interaction{Name: "b:make", Inputs: []int{1, 3}}}
	s := newSet(t, in, terms...)
	phi := spread(s, one(0.5, -3, 2, 0))
	sameRow(t, "seen", phi.Row(0), []float64{-1.5, 0, 0, 0, 0, 1, 0, 0, 0, 0.5, 0, 0, 0, -3, 0})
	phi = spread(s, one(0.5, -3, -1, 1))
	sameRow(t, "zip never seen", phi.Row(0), []float64{-1.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -3})
	for j, want := range map[int]string{0: "a:b", 5: "zip=l2:make=l0", 9: "make=l0:a:zip=l2", 13: "b:make=l0"} {
		if got := s.WeightName(j); got != want {
			t.Fatalf("weight %d is named %s, want %s", j, got, want)
		}
	}
}

func TestBumpsByHand(t *testing.T) {
	bumps := Bumps{Name: "bumps(b, a)", Inputs: []int{1, 0}, Centres: []float64{0.5, -1, 2, 3}, Lengthscale: Lengthscale{Values: []float64{0.3, 4}}}
	rows := one(3, 2, 0)
	first := math.Hypot((2-0.5)/0.3, (3.0+1)/4)
	in := numbers(3)
	radial := spread(newSet(t, in, &Radial{bumps}), rows)
	sameRow(t, "radial", radial.Row(0), []float64{math.Exp(-first * first / 2), 1})
	sigmoid := spread(newSet(t, in, &Sigmoid{bumps}), rows)
	sameRow(t, "sigmoid", sigmoid.Row(0), []float64{1 / (1 + math.Exp(-first)), 0.5})
}

// Where rows differ by far less than their size, an expanded square would leave
// distances made of rounding; direct differences leave none.
func TestDistanceToOwnCentreIsZero(t *testing.T) {
	in := numbers(2)
	rows := batch(in, 30, false)
	for i := range rows.X.Data {
		rows.X.Data[i] = 1e6 + 1e-6*rows.X.Data[i]
	}
	s := newSet(t, in, &Sigmoid{Bumps{Name: "sigmoid(a, b)", Inputs: span(0, 2), Centres: rows.X.Data,
		Lengthscale: Lengthscale{Values: []float64{0.02, 0.05}}}})
	phi := spread(s, rows)
	for i := range 30 {
		if got := phi.Row(i)[i]; got != 0.5 {
			t.Fatalf("a centre has %v of itself, want 0.5", got)
		}
	}
}

func TestBasisStaysFinite(t *testing.T) {
	in := withCategory(numbers(3), "zip", 2)
	wide := Lengthscale{Values: []float64{1e-200, 1}}
	s := newSet(t, in,
		&Polynomial{"poly(a, 9)", []int{0}, 9}, &Interaction{Name: "a:b:c", Inputs: []int{0, 1, 2}}, &Interaction{Name: "a:b:c:zip", Inputs: []int{0, 1, 2, 3}},
		&Radial{Bumps{Name: "radial(a, b)", Inputs: []int{0, 1}, Centres: []float64{-1e300, 0, 0, 1e-300}, Lengthscale: wide}},
		&Sigmoid{Bumps{Name: "sigmoid(a, b)", Inputs: []int{0, 1}, Centres: []float64{-1e300, 0, 0, 1e-300}, Lengthscale: wide}})
	rows := batch(in, 3, false)
	copy(rows.X.Data, []float64{math.MaxFloat64, -math.MaxFloat64, 0, 1, 1e200, 1e200, 1e-300, 0, 0, 0, 0, 1})
	conformFinite(t, s, rows)
}

func conformFinite(t *testing.T, s *Set, rows *credence.Batch) {
	t.Helper()
	ws := credence.NewWorkspace(1)
	var phi credence.Design
	s.Transform(ws, &phi, rows)
	for _, values := range [][]float64{phi.Dense.Data, phi.Sparse.Value} {
		for i, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Fatalf("value %d is %g", i, v)
			}
		}
	}
	change := make([]float64, len(phi.Dense.Data))
	for i := range change {
		change[i] = 1
	}
	grad := make([]float64, len(s.Hyper()))
	s.Pullback(ws, grad, rows, &phi, change)
	for k, g := range grad {
		if math.IsNaN(g) {
			t.Fatalf("derivative %d is %g", k, g)
		}
	}
}

func TestBasisRefusals(t *testing.T) {
	in := withCategory(withCategory(numbers(2), "zip", 70000), "device", 70000)
	refuses(t, in, "feature: poly(a, 0) has degree 0: give one from 1 to 20", &Polynomial{"poly(a, 0)", []int{0}, 0})
	// Four inputs of such a degree would overflow to no column at all, or to too few.
	refuses(t, in, fmt.Sprintf("feature: poly(a) has degree %d: give one from 1 to 20", math.MaxInt/2+1), &Polynomial{"poly(a)", []int{0}, math.MaxInt/2 + 1})
	refuses(t, in, "feature: poly(a) has degree 21: give one from 1 to 20", &Polynomial{"poly(a)", []int{0}, 21})
	refuses(t, in, "feature: poly(2) has no inputs: name a column", &Polynomial{"poly(2)", nil, 2})
	refuses(t, in, "feature: poly(zip, 2): zip is a category: leave it out or use onehot(zip)", &Polynomial{"poly(zip, 2)", []int{2}, 2})
	refuses(t, in, "feature: a:a has a twice: name it once, or use poly(a, 2)", &Interaction{Name: "a:a", Inputs: []int{0, 0}})
	refuses(t, in, "feature: a is a product of 1 inputs: give at least two", &Interaction{Name: "a", Inputs: []int{0}})
	refuses(t, in, "feature: zip:device has more than 2147483647 combinations of levels: use hash(...)", &Interaction{Name: "zip:device", Inputs: []int{2, 3}})
	if most := math.MaxInt32; math.MaxInt > most {
		refuses(t, Inputs{Segment: most + 1}, "feature: a sparse segment of 2147483648 columns: give at most 2147483647", &Linear{Segment: true})
	}
	refuses(t, Inputs{Segment: -1}, "feature: a sparse segment of -1 columns: give at most 2147483647", &Linear{Segment: true})
	refuses(t, in, `feature: unknown kernel "rfb": use rbf, laplacian, cauchy, matern12, matern32 or matern52`,
		&RandomFourier{Name: "rbf(a)", Kernel: "rfb", Inputs: []int{0}, Frequencies: []float64{1}})
	refuses(t, in, "feature: radial(a, b) has 3 centre values for 2 inputs: give rows of 2",
		&Radial{Bumps{Name: "radial(a, b)", Inputs: span(0, 2), Centres: []float64{1, 2, 3}}})
	refuses(t, in, "feature: sigmoid(a): value 1 of centre 2 is NaN: give finite numbers",
		&Sigmoid{Bumps{Name: "sigmoid(a)", Inputs: []int{0}, Centres: []float64{1, math.NaN()}}})
	half := withCategory(numbers(0), "zip", 40000)
	half = withCategory(half, "device", 40000)
	terms := []Term{&Interaction{Name: "zip:device", Inputs: span(0, 2)}}
	for k := range 2 {
		half = withCategory(half, fmt.Sprintf("make%d", k), 40000)
		terms = append(terms, &Interaction{Name: fmt.Sprintf("zip:make%d", k), Inputs: []int{0, 2 + k}})
	}
	refuses(t, half, "feature: 4800000000 sparse columns, more than 2147483647: use hash(...) or fewer interactions", terms...)
}
