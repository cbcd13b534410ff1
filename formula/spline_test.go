package formula

import (
	"math"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/table"
)

// splineOf compiles a formula for y and x, and returns the term of its smooth.
func splineOf(t *testing.T, formula string, x []float64, weight []float64) (feature.Term, *frame.Frame, error) {
	t.Helper()
	rows := table.New().Numbers("y", make([]float64, len(x))).Numbers("x", x)
	if weight != nil {
		rows.Numbers("w", weight)
	}
	source, err := rows.Source()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := Parse(formula, source.Schema(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	fr, err := frame.Fit(t.Context(), &plan.Frame, source, frame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := fr.Bind(source, frame.RequireTargets)
	if err != nil {
		t.Fatal(err)
	}
	set, err := plan.Features(fr, data, 1, nil)
	if err != nil {
		return nil, fr, err
	}
	for _, term := range set.Terms() {
		if term.Label() == "s(x)" {
			return term, fr, nil
		}
	}
	t.Fatalf("%s has no smooth", formula)
	return nil, nil, nil
}

// Knots stand at quantiles of the different values, as of mgcv 1.8-41: smoothCon(s(x, bs="cr", k=5),
// data.frame(x=x))[[1]]$xp. Rows twice and rows of weight 0 do not move them.
func TestKnotsAreQuantilesOfDifferentValues(t *testing.T) {
	x := []float64{1024, 1, 2, 4, 8, 16, 32, 5000, 64, 1, 128, 256, 512, 1024}
	weight := []float64{1, 2, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 3}
	want := []float64{1, 6, 32, 192, 1024}
	term, fr, err := splineOf(t, "y ~ s(x, k=5) + weight(w)", x, weight)
	if err != nil {
		t.Fatal(err)
	}
	for i, knot := range term.(*feature.Spline).Knots {
		if got := fr.Inputs[0].Center + fr.Inputs[0].Scale*knot; !(math.Abs(got-want[i]) <= 1e-12*1024) {
			t.Fatalf("knot %d at %v, want %v", i+1, got, want[i])
		}
	}
	term, _, err = splineOf(t, "y ~ s(x) + weight(w)", x[:8], weight[:8])
	if err != nil || len(term.(*feature.Spline).Knots) != 6 { // of 7 values
		t.Fatalf("%v, %v", term, err)
	}
}

func TestSmoothsAreRefused(t *testing.T) {
	grid := func(n int, step float64) (x []float64) {
		for i := range 3 * n {
			x = append(x, 10+step*float64(i%n))
		}
		return x
	}
	for _, c := range []struct {
		formula string
		x       []float64
		want    string
	}{
		{"y ~ s(x)", grid(3, 1), "formula: s(x): x has 3 different values, and a curve needs 4: write x for a line, or onehot(x)"},
		{"y ~ s(x, k=7)", grid(6, 1), "formula: s(x): k=7 is more than the 6 that the 6 different values of x allow: write k=6, or leave out k="},
		{"y ~ s(x, period=2)", grid(6, 1), "formula: s(x): x has 2 different values within a period of 2, and a curve needs 4: write x for a line, or onehot(x)"},
		{"y ~ s(x, period=9, k=4)", grid(6, 1), "formula: s(x): k=4 is more than the 3 that the 6 different values of x within a period of 9 allow: write k=3, or leave out k="},
		{"y ~ s(x, period=5001)", grid(6, 1), "formula: s(x): a period of 5001 is not between 1e-09 and 1000 times the range of x, which is 5: give the period in the unit of the column"},
		{"y ~ s(x, period=1e-300)", grid(6, 1), "formula: s(x): a period of 1e-300 is not between 1e-09 and 1000 times the range of x, which is 5: give the period in the unit of the column"},
	} {
		if _, _, err := splineOf(t, c.formula, c.x, nil); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.formula, err, c.want)
		}
	}
	// 10, 10.05, …: places differ by rounding from row to row
	term, _, err := splineOf(t, "y ~ s(x, period=.5)", grid(9, 0.05), nil)
	if cyclic, ok := term.(*feature.Cyclic); err != nil || !ok || cyclic.Harmonics != 4 || cyclic.Period != 0.5 {
		t.Fatalf("%+v, %v", term, err)
	}
	plan, err := Parse("y ~ s(x)", &credence.Schema{Columns: []credence.Column{{Name: "y"}, {Name: "x"}}}, Options{})
	if err != nil || !plan.NeedsData() {
		t.Fatalf("%v: a smooth takes its knots from the data", err)
	}
}
