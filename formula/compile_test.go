package formula

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
	"github.com/credence-ml/credence/spec"
)

// describe is a set's blocks with the names of their weights: "block: a b c", the
// names of random features and centres counted.
func describe(set *feature.Set) string {
	var out []string
	for _, b := range set.Blocks() {
		var names []string
		for j := range b.Count {
			names = append(names, set.WeightName(b.First+j))
		}
		if strings.Contains(names[0], "cos ") || strings.HasPrefix(names[0], "centre ") {
			names = []string{fmt.Sprint(len(names), " weights")}
		}
		out = append(out, b.Name+": "+strings.Join(names, " "))
	}
	return strings.Join(out, "; ")
}

func TestFormulasByHand(t *testing.T) {
	const intercept = "(intercept): (intercept)"
	for _, c := range []struct{ formula, want string }{
		{"price ~ 1", intercept},
		{"price ~ lat", intercept + "; linear: lat"},
		{"price ~ 0 + lat", "linear: lat"},
		{"price ~ lat - 1", "linear: lat"},
		{"price ~ 0 + lat + 1", intercept + "; linear: lat"},
		{"price ~ .", intercept + "; linear: lat lon rooms new zip=94110 zip=94117 zip=94122 type=flat type=house"},
		{"price ~ . - zip - new", intercept + "; linear: lat lon rooms type=flat type=house"},
		{"price ~ (. - zip - new)", intercept + "; linear: lat lon rooms type=flat type=house"},
		{"price ~ - zip + . - new", intercept + "; linear: lat lon rooms type=flat type=house"},
		{"log(price) ~ rooms + log(rooms) + rooms + square(log(rooms))", intercept + "; linear: rooms log(rooms) square(log(rooms))"},
		{"price ~ onehot(zip) + . - type", intercept + "; linear: lat lon rooms new; onehot(zip): zip=94110 zip=94117 zip=94122"},
		{"price ~ zip + onehot(zip)", intercept + "; linear: zip=94110 zip=94117 zip=94122; onehot(zip): zip=94110 zip=94117 zip=94122"},
		{"price ~ lat:lon", intercept + "; lat:lon: lat:lon"},
		{"price ~ lat*lon", intercept + "; linear: lat lon; lat:lon: lat:lon"},
		{"price ~ lat*lon*rooms - lat:lon:rooms", intercept + "; linear: lat lon rooms; lat:lon: lat:lon; lat:rooms: lat:rooms; lon:rooms: lon:rooms"},
		{"price ~ lat*lon - lon:lat", intercept + "; linear: lat lon"},
		{"price ~ lat:lon + lon:lat", intercept + "; lat:lon: lat:lon"},
		{"price ~ (lat + lon):rooms", intercept + "; lat:rooms: lat:rooms; lon:rooms: lon:rooms"},
		{"price ~ (lat + lon):(lat + lon)", intercept + "; lat:lon: lat:lon"},
		{"price ~ log(rooms):new", intercept + "; log(rooms):new: log(rooms):new"},
		{"price ~ (lat + poly(lon, 2))", intercept + "; linear: lat; poly(lon, 2): lon lon^2"},
		{"price ~ poly(lat, rooms, 2)", intercept + "; poly(lat, rooms, 2): lat lat^2 rooms rooms^2"},
		{"price ~ poly(lat, degree=2)", intercept + "; poly(lat): lat lat^2"},
		{"price ~ rbf(lat, lon, n=7)", intercept + "; rbf(lat, lon): 14 weights"},
		{"price ~ rbf(., n=3) + matern32(log(rooms), n=2, kind=iid)", intercept + "; rbf(.): 6 weights; matern32(log(rooms)): 4 weights"},
		{"price ~ rbf(lat)", intercept + "; rbf(lat): 100 weights"},
		{"price ~ rbf(lat, n=1, lengthscale=1) + rbf(lat, n=1, lengthscale=9)",
			intercept + "; rbf(lat, n=1, lengthscale=1): 2 weights; rbf(lat, n=1, lengthscale=9): 2 weights"},
		{"price ~ radial(lat, centres=4) + sigmoid(lat, lon)", intercept + "; radial(lat): 4 weights; sigmoid(lat, lon): 50 weights"},
		{"price ~ . - zip - type + offset(log(rooms)) + weight(new)", intercept + "; linear: lat lon"},
		{"price ~ type:zip", intercept + "; type:zip: type=flat:zip=94110 type=flat:zip=94117 type=flat:zip=94122 type=house:zip=94110 type=house:zip=94117 type=house:zip=94122"},
		{"price ~ zip:lat", intercept + "; zip:lat: zip=94110:lat zip=94117:lat zip=94122:lat"},
		{"price ~ . - type + keep(rooms, zip)", intercept + "; linear: lat lon new; keep(rooms, zip): rooms zip=94110 zip=94117 zip=94122"},
		{"price ~ . - type - zip + keep(log(rooms)) + keep(new)", intercept + "; linear: lat lon; keep(log(rooms)): log(rooms); keep(new): new"},
		{"price ~ lat + group(type, lon) + keep(onehot(rooms), new) + lon:new", intercept + "; linear: lat; lon:new: lon:new; group(type, lon): lon type=flat type=house; keep(onehot(rooms), new): new rooms=1 rooms=2 rooms=3 rooms=4 rooms=5 rooms=6 rooms=7"},
		{"price ~ lat + keep(new) + keep(new)", intercept + "; linear: lat; keep(new): new"},
		{"price ~ rooms + I(rooms^2) + square(rooms) + rooms^3", intercept + "; linear: rooms square(rooms) rooms^3"},
		{"price ~ (rooms > 3) + rooms > 3 + rooms <= 3 + log1p(rooms) + clip(lat, -1, 1) + sign(abs(lon))", intercept + "; linear: (rooms > 3) (rooms <= 3) log1p(rooms) clip(lat, -1, 1) sign(abs(lon))"},
		{"price ~ (rooms > 3):lat + (rooms == 4)*new", intercept + "; linear: (rooms == 4) new; (rooms > 3):lat: (rooms > 3):lat; (rooms == 4):new: (rooms == 4):new"},
		{"price ~ clip(lat, 0, 1) + clip(lat, 0, 2) + clip(lat, 0.5, 2) + clip(lat, 0, 2)", intercept + "; linear: clip(lat, 0, 1) clip(lat, 0, 2) clip(lat, 0.5, 2)"},
		{"price ~ factor(zip) + C(type):lat + lat", intercept + "; linear: lat; onehot(zip): zip=94110 zip=94117 zip=94122; type:lat: type=flat:lat type=house:lat"},
		{"price ~ . - type + C(zip)", intercept + "; linear: lat lon rooms new; onehot(zip): zip=94110 zip=94117 zip=94122"},
		{"price ~ s(lat)", intercept + "; linear: lat; s(lat): lat bend 1 lat bend 2 lat bend 3 lat bend 4 lat bend 5 lat bend 6 lat bend 7 lat bend 8"},
		{"price ~ rbf(lat^2, rooms != 3, n=2)", intercept + "; rbf(lat^2, rooms != 3): 4 weights"},
		{"price ~ hsgp(lat, m=3) + periodic(rooms, period=7)", intercept + "; hsgp(lat): lat wave 1 lat wave 2 lat wave 3; periodic(rooms): rooms mean rooms cos 1 rooms sin 1 rooms cos 2 rooms sin 2 rooms cos 3 rooms sin 3"},
		{"price ~ hsgp(new, rooms, m=[1, 2], kernel=matern32) + periodic(rooms, period=7, m=1)", intercept + "; hsgp(new, rooms): new wave 1, rooms wave 1 new wave 1, rooms wave 2; periodic(rooms): rooms mean rooms cos 1 rooms sin 1"},
		{"price ~ lat + s(rooms, k=4) + lon + s(lat, k=3)", intercept + "; linear: lat rooms lon; s(rooms): rooms bend 1 rooms bend 2; s(lat): lat bend 1"},
		{"price ~ s(lat, k=3) - lat", intercept + "; s(lat): lat bend 1"},
		{"price ~ s(rooms, period=7)", intercept + "; s(rooms): 6 weights"},
		{"price ~ s(rooms, period=4) + s(log(rooms), k=3)", intercept + "; linear: log(rooms); s(rooms): 4 weights; s(log(rooms)): log(rooms) bend 1"},
		{"price ~ s(rooms, period=7, k=1) + s(rooms, period=700)", intercept + "; s(rooms, period=7, k=1): 2 weights; s(rooms, period=700): 6 weights"},
		{"price ~ onehot(zip):lat + zip", intercept + "; linear: zip=94110 zip=94117 zip=94122; zip:lat: zip=94110:lat zip=94117:lat zip=94122:lat"},
	} {
		plan, fr, data := fit(t, c.formula, houses(60), frame.Options{})
		set, err := plan.Features(fr, data, 1, nil)
		if err != nil {
			t.Errorf("%s: %v", c.formula, err)
			continue
		}
		if got := describe(set); got != c.want {
			t.Errorf("%s\ngives %s\n want %s", c.formula, got, c.want)
		}
		if fr.Target.Expr.Column != "price" {
			t.Errorf("%s: target %v", c.formula, fr.Target.Expr)
		}
		again, err := Parse(plan.String(), houses(1).Schema(), Options{})
		if err != nil || again.String() != plan.String() {
			t.Errorf("%s: printed as %s, which reads %v (%v)", c.formula, plan, again, err)
		}
	}
}

func TestSegmentsByHand(t *testing.T) {
	const intercept = "(intercept): (intercept)"
	for _, c := range []struct{ formula, want string }{
		{"", intercept + "; linear: x1 x2 x3 x4 x5"},
		{"label ~ .", intercept + "; linear: x1 x2 x3 x4 x5"},
		{". - x2 + x3 - x5", intercept + "; linear: x1 x3 x4"},
		{"x3 + . + x1", intercept + "; linear: x1 x2 x3 x4 x5"},
		{"x4 + square(x2)", intercept + "; linear: x4 square(x2)"},
		{"x4 + x2:x1", intercept + "; linear: x4; x2:x1: x2:x1"},
		{"rbf(., n=2)", intercept + "; rbf(.): 4 weights"},
		{"rbf(. - x1 - x2, x1, n=2, lengthscale=[1, 2, 3, 4])", intercept + "; rbf(. - x1 - x2, x1): 4 weights"},
		{"poly(., 1) - x3", intercept + "; poly(., 1): x1 x2 x4 x5"},
		{"radial(., centres=2)", intercept + "; radial(.): 2 weights"},
		{". - x1 + keep(x2) + group(x3, x4)", intercept + "; keep(x2): x2; group(x3, x4): x3 x4; linear: x5"},
		{". + offset(x2)", intercept + "; linear: x1 x3 x4 x5"},
	} {
		plan, fr, data := fit(t, c.formula, libsvm(40), frame.Options{})
		set, err := plan.Features(fr, data, 1, nil)
		if err != nil {
			t.Errorf("%s: %v", c.formula, err)
			continue
		}
		if got := describe(set); got != c.want {
			t.Errorf("%s\ngives %s\n want %s", c.formula, got, c.want)
		}
		if fr.Target.Mode != frame.Classes || plan.Frame.Target.Column != "label" {
			t.Errorf("%s: target %+v", c.formula, fr.Target)
		}
	}
}

// x1 as a dense input and x1 out of the segment are the same feature.
func TestSegmentEqualsNamedColumns(t *testing.T) {
	source := libsvm(30)
	designs := make([][]float64, 2)
	for k, text := range []string{".", "x1 + x2 + x3 + x4 + x5"} {
		plan, fr, data := fit(t, text, source, frame.Options{})
		set, err := plan.Features(fr, data, 1, nil)
		if err != nil {
			t.Fatal(err)
		}
		var batch credence.Batch
		if err := data.Read(&batch, 0, data.Rows()); err != nil {
			t.Fatal(err)
		}
		var phi credence.Design
		set.Transform(credence.NewWorkspace(1), &phi, &batch)
		w := []float64{1, 10, 100, 1000, 1e4, 1e5}
		designs[k] = make([]float64, 30)
		phi.MulVec(designs[k], w)
	}
	for i := range designs[0] {
		// The same six products, added in another order.
		if !(math.Abs(designs[0][i]-designs[1][i]) <= 1e-9) {
			t.Fatalf("row %d gives %g from the segment and %g by name", i, designs[0][i], designs[1][i])
		}
	}
}

// Numbers of frequencies that are left out go by columns, family and rows; none is above that of different values.
func TestDefaultsOfRandomFeatures(t *testing.T) {
	for _, c := range []struct {
		term, family string
		rows         int
		weights      int
	}{
		{"matern52(lat)", "", 5001, 100},
		{"cauchy(lat)", "poisson", 5001, 100},
		{"matern52(lat, lon)", "", 5001, 200},
		{"rbf(lat, lon)", "poisson", 600, 200},
		{"rbf(lat, lon, rooms)", "", 5000, 1000},
		{"rbf(lat, lon, rooms)", "gaussian", 5001, 2000},
		{"rbf(lat, lon, rooms)", "poisson", 5001, 500},
		{"rbf(new)", "", 600, 4},
		{"rbf(rooms)", "", 600, 14},
		{"rbf(rooms, new)", "", 600, 28},
		{"rbf(rooms, lat)", "", 30, 60},
		{"rbf(rooms, n=40)", "", 600, 80},
	} {
		family, err := ParseFamily(c.family, likelihood.All())
		if err != nil {
			t.Fatal(err)
		}
		source := houses(c.rows)
		plan, err := Parse("price ~ 0 + "+c.term, source.Schema(), Options{Family: family})
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
		if set.Weights() != c.weights {
			t.Errorf("%s under %q, %d rows: %d weights, want %d", c.term, c.family, c.rows, set.Weights(), c.weights)
		}
		term := set.Terms()[0].(*feature.RandomFourier)
		if sampling := term.Kernel.DefaultSampling(len(term.Inputs)); term.Sampling != sampling || term.Lengthscale.Shared || term.Lengthscale.State != param.Learned || term.Lengthscale.NoPrior {
			t.Errorf("defaults are %+v", term.Lengthscale)
		}
	}
}

// The numbers of frequencies that a plan tells are those of its features, and may be changed: the same number draws the
// same.
func TestFrequenciesAreDrawnAnew(t *testing.T) {
	plan, fr, data := fit(t, "price ~ rbf(lat) + rooms + rbf(rooms) + matern32(lat, lon, n=30) + rbf(lon, lat, rooms) + radial(lat)", houses(600), frame.Options{})
	drawn, err := plan.Frequencies(fr, data)
	if err != nil {
		t.Fatal(err)
	}
	want := []Frequencies{{"rbf(lat)", 50, false, 500, 0}, {"rbf(rooms)", 7, false, 7, 1}, {"matern32(lat, lon)", 30, true, 30, 2}, {"rbf(lon, lat, rooms)", 500, false, 500, 3}}
	if !slices.Equal(drawn, want) {
		t.Fatalf("%+v, want %+v", drawn, want)
	}
	weighed := houses(600)
	for _, row := range weighed.rows {
		if row[3] > 3 { // rooms
			row[4] = 0
		} else {
			row[4] = 1
		}
	}
	of, frOf, dataOf := fit(t, "price ~ rbf(rooms) + weight(new)", weighed, frame.Options{})
	if few, err := of.Frequencies(frOf, dataOf); err != nil || few[0].Count != 3 {
		t.Errorf("3 different values count, and %+v, %v", few, err)
	}
	set, err := plan.Features(fr, data, 5, drawn)
	if err != nil {
		t.Fatal(err)
	}
	more := slices.Clone(drawn)
	more[0].Count = 100
	other, err := plan.Draw(set, more, 5)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := plan.Features(fr, data, 5, more)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(other.Terms(), direct.Terms()) || other.Weights() != set.Weights()+100 {
		t.Error("features drawn anew are not those drawn at once")
	}
	back, err := plan.Draw(other, drawn, 5)
	if err != nil || !reflect.DeepEqual(back.Terms(), set.Terms()) {
		t.Errorf("features drawn back are others: %v", err)
	}
	stated, fr, data := fit(t, "price ~ rbf(lat, n=50) + rooms", houses(600), frame.Options{})
	alike, err := stated.Features(fr, data, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	label := func(s *feature.Set) *feature.RandomFourier {
		for _, term := range s.Terms() {
			if term.Label() == "rbf(lat)" {
				return term.(*feature.RandomFourier)
			}
		}
		return nil
	}
	if !slices.Equal(label(set).Frequencies, label(alike).Frequencies) {
		t.Error("50 frequencies stated are others than 50 left out")
	}
}

func TestArgumentsReachTheFeatures(t *testing.T) {
	files := func(path string) ([]byte, error) {
		if path != "folder/w.csv" {
			return nil, fmt.Errorf("no such file")
		}
		return []byte("lon, lat\n1,2\n3,4\n"), nil
	}
	source := houses(30)
	plan, err := Parse("price ~ rbf(lat, lon, lengthscale=~[0.9, 1.4], lengthscale_prior=none, n=5) + laplacian(lat, ard=false, n=2, lengthscale=3)"+
		" + cauchy(lat, lon, frequencies=@folder/w.csv) + rbf(rooms, kind=iid, n=3)", source.Schema(), Options{ReadFile: files})
	if err != nil {
		t.Fatal(err)
	}
	if text := plan.String(); !strings.Contains(text, "frequencies=@w.csv") || strings.Contains(text, "folder") {
		t.Errorf("the formula that a model keeps names a folder: %s", text)
	}
	fr, err := frame.Fit(t.Context(), &plan.Frame, source, frame.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := plan.Features(fr, nil, 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	terms := set.Terms()
	first, second, third, fourth := terms[1].(*feature.RandomFourier), terms[2].(*feature.RandomFourier), terms[3].(*feature.RandomFourier), terms[4].(*feature.RandomFourier)
	if l := first.Lengthscale; !slices.Equal(l.Values, []float64{0.9, 1.4}) || l.State != param.Guess || !l.NoPrior || l.Shared || len(first.Frequencies) != 10 {
		t.Errorf("rbf: %+v", first)
	}
	if l := second.Lengthscale; !slices.Equal(l.Values, []float64{3}) || l.State != param.Held || l.NoPrior || !l.Shared || second.Sampling != feature.Quasi || second.Kernel != feature.Laplacian {
		t.Errorf("laplacian: %+v", second)
	}
	if !third.Given || !slices.Equal(third.Frequencies, []float64{2, 1, 4, 3}) {
		t.Errorf("cauchy, whose header is in another order: %+v", third)
	}
	if fourth.Sampling != feature.IID || fourth.Given || len(fourth.Frequencies) != 3 {
		t.Errorf("rbf of one column: %+v", fourth)
	}
	again, err := plan.Features(fr, nil, 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Terms()[1].(*feature.RandomFourier).Frequencies, first.Frequencies) {
		t.Error("the same seed drew other frequencies")
	}
	other, err := plan.Features(fr, nil, 8, nil)
	if err != nil {
		t.Fatal(err)
	}
	if slices.Equal(other.Terms()[1].(*feature.RandomFourier).Frequencies, first.Frequencies) {
		t.Error("another seed drew the same frequencies")
	}
}

// TestEveryOptionReachesItsFeature: whatever option of a function is stated, and whatever it is, the terms are others
// than without it; the kernels of functions are others, too.
func TestEveryOptionReachesItsFeature(t *testing.T) {
	// What an option may be: those that it takes are tried.
	words := []string{"2", "3", "6", "0.5", "~0.5", "0.7", "1.2", "false", "none", "iid", "matern32", "matern52"}
	source, met := houses(30), map[string]string{}
	for _, f := range Functions() {
		if len(f.Options) == 0 {
			continue
		}
		columns := map[string]string{"poly": "lat, 4", "s": "lat", "spectral": "lat", "periodic": "lat, period=2.5", "hash": "zip"}[f.Name]
		if columns == "" {
			columns = "lat, lon"
		}
		for _, o := range slices.Concat([]spec.Option{{}}, f.Options) {
			choices, taken := words, 0
			if o.Key == "" {
				choices = []string{""}
			}
			for _, v := range choices {
				text := f.Name + "(" + columns + ")"
				if f.Name == "poly" && o.Key != "" {
					text = "poly(lat, degree=" + v + ")"
				} else if f.Name == "periodic" && o.Key == "period" {
					text = "periodic(lat, period=" + v + ")"
				} else if o.Key != "" {
					text = f.Name + "(" + columns + ", " + o.Key + "=" + v + ")"
				}
				if _, err := Parse("price ~ "+text, source.Schema(), Options{}); err != nil && o.Key != "" {
					continue
				}
				plan, fr, data := fit(t, "price ~ "+text, source, frame.Options{})
				set, err := plan.Features(fr, data, 7, nil)
				if err != nil {
					t.Fatal(text, err)
				}
				taken++
				made, err := json.Marshal(set.Terms()[1:])
				if err != nil {
					t.Fatal(err)
				}
				plain := fmt.Sprintf("%T of %d weights: %s", set.Terms()[1], set.Weights(), strings.ReplaceAll(string(made), text, ""))
				if other, twice := met[plain]; twice {
					t.Errorf("%s is made as %s: %s", text, other, plain)
				}
				met[plain] = text
			}
			if taken == 0 && o.Key != "frequencies" { // which has a test of its own
				t.Errorf("%s= of %s takes none of %q", o.Key, f.Name, words)
			}
		}
	}
}

func TestCentresAreRowsOfTheData(t *testing.T) {
	source := houses(3000)
	plan, fr, data := fit(t, "price ~ radial(lat, rooms, centres=40) + sigmoid(rooms)", source, frame.Options{Raw: true})
	set, err := plan.Features(fr, data, 3, nil)
	if err != nil {
		t.Fatal(err)
	}
	centres := set.Terms()[1].(*feature.Radial).Centres
	seen := map[float64]bool{}
	for k := range 40 {
		lat, rooms := centres[2*k], centres[2*k+1]
		if !slices.ContainsFunc(source.rows, func(row []float64) bool { return row[1] == lat && row[3] == rooms }) {
			t.Errorf("centre (%g, %g) is no row", lat, rooms)
		}
		if seen[lat] {
			t.Errorf("centre (%g, %g) stands twice", lat, rooms)
		}
		seen[lat] = true
	}
	// rooms has seven values: fifty centres by default come down to these.
	rooms := slices.Sorted(slices.Values(set.Terms()[2].(*feature.Sigmoid).Centres))
	if !slices.Equal(rooms, []float64{1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("centres of a column with seven values are %v", rooms)
	}
	plan, fr, data = fit(t, "price ~ radial(rooms, centres=8)", source, frame.Options{Raw: true})
	if _, err := plan.Features(fr, data, 3, nil); err == nil || err.Error() != "formula: radial(rooms): only 7 different rows were found for 8 centres: ask for fewer" {
		t.Errorf("eight centres out of seven values: %v", err)
	}
	for i := range source.rows {
		source.rows[i][3] = float64(i) * 1e200
	}
	plan, fr, data = fit(t, "price ~ radial(rooms)", source, frame.Options{Raw: true})
	if _, err := plan.Features(fr, data, 3, nil); err == nil || err.Error() != "formula: radial(rooms): its columns hold values too large for squared distances between rows: scale them, or use a larger unit" {
		t.Errorf("centres of huge values: %v", err)
	}
}

// Centres lie far from each other: where rows lie in three heaps, each has one of three centres, though the heap that
// the third lies in is nearer to the first centre than to the second.
func TestCentresLieApart(t *testing.T) {
	source := houses(300)
	for i := range source.rows {
		source.rows[i][1] = []float64{0, 1e4, -2e3}[i/100] + float64(i%100)/1000
	}
	plan, fr, data := fit(t, "price ~ radial(lat, centres=3)", source, frame.Options{Raw: true})
	for seed := range uint64(20) {
		set := must.Value(plan.Features(fr, data, seed, nil))(t)
		centres := slices.Sorted(slices.Values(set.Terms()[1].(*feature.Radial).Centres))
		if !(centres[0] < -1000 && math.Abs(centres[1]) < 1000 && centres[2] > 1000) {
			t.Errorf("seed %d: centres are %v", seed, centres)
		}
	}
}

// Columns of a file of frequencies are those that its header names, where it names each once, and else those of the
// function in its order.
func TestHeaderOfFrequencies(t *testing.T) {
	for header, want := range map[string][]float64{"": {1, 2, 3, 4}, "x, z\n": {1, 2, 3, 4}, " z ,x\n": {2, 1, 4, 3}, "x,x\n": {1, 2, 3, 4}, "z,y\n": {1, 2, 3, 4}} {
		values, _, err := parseFrequencies([]byte(header+"1,2\n3,4\n"), []string{"x", "z"})
		if err != nil || !slices.Equal(values, want) {
			t.Errorf("under header %q: %v, %v", header, values, err)
		}
	}
}

func TestIndicatorsAreLinear(t *testing.T) {
	source := houses(30)
	source.rows[4][1] = math.NaN()
	plan, fr, data := fit(t, "price ~ poly(lat, 2) + zip", source, frame.Options{Missing: frame.Indicator})
	set, err := plan.Features(fr, data, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(set); !strings.Contains(got, "linear: lat_missing zip=94110 zip=94117 zip=94122") {
		t.Errorf("features are %s", got)
	}
}

func TestTargetsOfFormulas(t *testing.T) {
	schema := houses(1).Schema()
	odd := &credence.Schema{Columns: []credence.Column{{Name: "my price"}, {Name: "x"}}}
	for _, c := range []struct {
		text, target string
		schema       *credence.Schema
		want         string
	}{
		{"lat", "price", schema, "price ~ lat"},
		{"", "price", schema, "price ~ ."},
		{"", "log(price)", schema, "log(price) ~ ."},
		{"price ~ lat", "price", schema, "price ~ lat"},
		{"log(price) ~ lat", "log(price)", schema, "log(price) ~ lat"},
		{"", "my price", odd, "`my price` ~ ."},
		{"`my price` ~ x", "my price", odd, "`my price` ~ x"},
		{"", "", libsvm(1).Schema(), "label ~ ."},
	} {
		plan, err := Parse(c.text, c.schema, Options{Target: c.target})
		if err != nil {
			t.Errorf("%q with --target %q: %v", c.text, c.target, err)
			continue
		}
		if plan.String() != c.want {
			t.Errorf("%q with --target %q is %s, want %s", c.text, c.target, plan, c.want)
		}
	}
}
