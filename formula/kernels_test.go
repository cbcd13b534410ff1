package formula

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/table"
)

// random returns the terms of random features of a formula.
func random(t *testing.T, text string, source credence.Source) (terms []*feature.RandomFourier, plan *Plan) {
	t.Helper()
	plan, err := Parse(text, source.Schema(), Options{})
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
		t.Fatal(err)
	}
	for _, term := range set.Terms() {
		if r, ok := term.(*feature.RandomFourier); ok {
			terms = append(terms, r)
		}
	}
	return terms, plan
}

// waves is a source of t and z, and of a target that is waves of t.
func waves(t *testing.T, rows int, of func(t float64) float64) credence.Source {
	t.Helper()
	at, z, y, o := make([]float64, rows), make([]float64, rows), make([]float64, rows), make([]float64, rows)
	for i := range at {
		at[i], z[i] = 1000+float64(i), math.Sqrt(float64(i*i%97))
		o[i] = 3 * math.Sin(2*math.Pi*at[i]/24)
		y[i] = of(at[i])
	}
	source, err := table.New().Numbers("y", y).Numbers("t", at).Numbers("z", z).Numbers("o", o).Source()
	if err != nil {
		t.Fatal(err)
	}
	return source
}

func TestProductsOfKernelsByHand(t *testing.T) {
	source := waves(t, 60, math.Sin)
	describe := func(text string) string {
		terms, _ := random(t, text, source)
		var list []string
		for _, r := range terms {
			one := r.Name + " is " + string(r.Kernel) + strings.Repeat("x", len(r.Inputs))
			for _, f := range r.Times {
				one += " " + string(f.Kernel) + strings.Repeat("x", len(f.Inputs))
			}
			list = append(list, one)
		}
		return strings.Join(list, "; ")
	}
	for text, want := range map[string]string{
		"y ~ rbf(t, z):matern32(t)":              "rbf(t, z):matern32(t) is rbfxx matern32x",
		"y ~ rbf(t):cauchy(z):rbf(z)":            "rbf(t):cauchy(z):rbf(z) is rbfx cauchyx rbfx",
		"y ~ rbf(t)*matern32(z)":                 "rbf(t) is rbfx; matern32(z) is matern32x; rbf(t):matern32(z) is rbfx matern32x",
		"y ~ (rbf(t) + rbf(z)):matern12(t)":      "rbf(t):matern12(t) is rbfx matern12x; rbf(z):matern12(t) is rbfx matern12x",
		"y ~ rbf(t):rbf(z) + rbf(z):rbf(t)":      "rbf(t):rbf(z) is rbfx rbfx",
		"y ~ rbf(t):rbf(z) + rbf(t, n=9):rbf(z)": "rbf(t):rbf(z) is rbfx rbfx; rbf(t, n=9):rbf(z) is rbfx rbfx",
	} {
		if got := describe(text); got != want {
			t.Errorf("%s makes %s, want %s", text, got, want)
		}
	}
	terms, plan := random(t, "y ~ rbf(t, n=9, kind=iid, lengthscale=2):matern32(z, ard=false, n=9, lengthscale=~3) + rbf(z):rbf(t) + rbf(t):rbf(z)", source)
	r := terms[0]
	if len(r.Frequencies) != 18 || r.Sampling != feature.IID || r.Lengthscale.State != param.Held || r.Times[0].Lengthscale.State != param.Guess || r.Times[0].Lengthscale.Values[0] != 3 || !r.Times[0].Lengthscale.Shared {
		t.Errorf("arguments make %+v", r)
	}
	if len(terms) != 2 || !slices.Contains(plan.Warnings, "rbf(t):rbf(z) stands twice in the formula: it is one term") {
		t.Errorf("%d terms, warned of %q", len(terms), plan.Warnings)
	}
	if n := len(terms[1].Frequencies) / 2; n != 60 { // of two columns 100, and no more than different pairs
		t.Errorf("%d frequencies of two columns with 60 different pairs", n)
	}
}

// Components start at the largest waves of the target, in the unit of the column, and stated periods are the first.
func TestPeriodsOfSpectral(t *testing.T) {
	source := waves(t, 600, func(t float64) float64 {
		return 7 + 3*math.Sin(2*math.Pi*t/24) + 2*math.Sin(2*math.Pi*t/168) + math.Cos(2*math.Pi*t/5)
	})
	periods := func(text string) (list []float64, all []*feature.RandomFourier) {
		all, _ = random(t, text, source)
		for _, r := range all {
			list = append(list, r.Times[0].Lengthscale.Values[0])
		}
		return list, all
	}
	near := func(text string, want ...float64) []*feature.RandomFourier {
		t.Helper()
		got, all := periods(text)
		for k := range want {
			if len(got) != len(want) || !(math.Abs(1/got[k]-1/want[k]) <= 0.3/600) {
				t.Fatalf("%s begins at %v, want %v", text, got, want)
			}
		}
		return all
	}
	all := near("y ~ spectral(t, components=3)", 24, 168, 5)
	if all[1].Name != "spectral(t)[2]" || all[1].Kernel != feature.RBF || all[1].Times[0].Kernel != feature.Cosine || len(all[1].Frequencies) != 100 {
		t.Errorf("the second component is %+v", all[1])
	}
	p := all[0].Times[0].Lengthscale
	if p.State != param.Learned || !(math.Abs(p.Periods.Lower[0]-2) <= 1e-9) || !(math.Abs(p.Periods.Upper[0]-599) <= 1e-9) || len(p.Periods.Starts) != 1 {
		t.Errorf("a period is searched for by %+v, %+v", p, p.Periods)
	}
	near("y ~ spectral(t, components=1) + offset(o)", 168) // which has the wave of 24
	all = near("y ~ spectral(t, components=2, period=24)", 24, 168)
	if all[0].Times[0].Lengthscale.State != param.Held || all[1].Times[0].Lengthscale.State != param.Learned {
		t.Error("a stated period is learned, or one that is left out is not")
	}
	all = near("y ~ spectral(t, components=3, period=~[167, 24])", 167, 24, 5)
	if all[1].Times[0].Lengthscale.State != param.Guess || all[2].Times[0].Lengthscale.State != param.Learned {
		t.Error("guessed periods are not learned from where they are")
	}
	one := near("y ~ spectral(t, components=1)", 24)
	if one[0].Name != "spectral(t)" {
		t.Errorf("the only component is called %s", one[0].Name)
	}
	twice, _ := random(t, "y ~ spectral(t, components=2) + spectral(t, components=2, n=7)", source)
	if len(twice) != 4 || twice[1].Name != "spectral(t, components=2)[2]" || twice[2].Name != "spectral(t, components=2, n=7)[1]" {
		t.Errorf("two terms make %d blocks", len(twice))
	}
	_, both := periods("y ~ spectral(t, z, components=2)")
	starts := both[1].Times[0].Lengthscale.Periods
	if len(starts.Starts) != 16 || slices.Equal(starts.Starts[0], both[0].Times[0].Lengthscale.Periods.Starts[0]) {
		t.Errorf("searches in two columns begin at %v", starts.Starts)
	}
	for _, start := range starts.Starts {
		for j, v := range start {
			if v < starts.Lower[j] || v > starts.Upper[j] {
				t.Errorf("a search begins at %v, outside of %v to %v", start, starts.Lower, starts.Upper)
			}
		}
	}
	fast, _ := random(t, "y ~ spectral(t, z, components=1, kind=fastfood) + rbf(t, z, kind=fastfood, n=5)", source)
	if len(fast[0].Fastfood) != 25*2*5 || fast[0].Count != 50 || len(fast[1].Fastfood) != 3*2*4 || fast[1].Frequencies != nil {
		t.Errorf("fastfood has %d and %d numbers", len(fast[0].Fastfood), len(fast[1].Fastfood))
	}
}

func TestScalesAreRefused(t *testing.T) {
	source := waves(t, 3, math.Sin)
	long := waves(t, 100, math.Sin)
	close, err := table.New().Numbers("t", []float64{0, 5e-324, 2e-323, 1e-322}).Numbers("y", []float64{1, 2, 3, 4}).Source()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		source        credence.Source
		formula, want string
	}{
		{close, "y ~ hsgp(t)", "formula: hsgp(t): the values of t lie within 9.9e-323 of each other, too close to divide by: multiply the column"},
		{source, "y ~ spectral(t)", "formula: spectral(t)[1]: t has 3 different values, and a period needs 4: write t for a line, or onehot(t)"},
		{long, "y ~ spectral(t, period=1e6)", "formula: spectral(t)[1]: a period of 1e+06 is not between 1e-09 and 1000 times the range of t, which is 99: give the period in the unit of the column"},
	} {
		plan, err := Parse(c.formula, c.source.Schema(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		fr, err := frame.Fit(t.Context(), &plan.Frame, c.source, frame.Options{})
		if err != nil {
			t.Fatal(err)
		}
		data, err := fr.Bind(c.source, frame.RequireTargets)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Features(fr, data, 1, nil); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", c.formula, err, c.want)
		}
	}
}
