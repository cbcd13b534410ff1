package formula

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/feature"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/internal/conform/must"
	"github.com/credence-ml/credence/table"
)

// TestDifferentValuesOfAllBlocks: values that the last block alone has are counted among those of a column, of pairs,
// and of the factors of a product, and are centres; those of rows of weight 0 are neither, and the count ends at the
// largest number of frequencies, whatever terms stand before and behind.
func TestDifferentValuesOfAllBlocks(t *testing.T) {
	source := houses(3*credence.BlockRows - 10)
	late := 2*credence.BlockRows + 3
	pairs := map[[2]float64]bool{}
	for i, row := range source.rows {
		row[2] = float64(i % 3) // lon
		row[3] = float64(i % 2) // rooms
		if row[4] = 1; i >= late {
			row[2] += 3 * float64(i%2)
			row[3] += 2
		}
		if i%10 == 7 {
			row[2], row[3], row[4] = 100, 50, 0 // of no weight
			continue
		}
		pairs[[2]float64{row[2], row[3]}] = true
	}
	if len(pairs) != 12 {
		t.Fatalf("%d pairs", len(pairs))
	}
	plan, fr, data := fit(t, "price ~ rbf(lon) + rbf(rooms) + rbf(lon, rooms) + rbf(lat) + rbf(lon):rbf(rooms) + radial(lon, rooms) + weight(new)", source, frame.Options{Raw: true})
	want := []Frequencies{{"rbf(lon)", 6, false, 6, 0}, {"rbf(rooms)", 4, false, 4, 1}, {"rbf(lon, rooms)", 12, false, 12, 2}, {"rbf(lat)", 50, false, 500, 3}, {"rbf(lon):rbf(rooms)", 12, false, 12, 4}}
	got := must.Value(plan.Frequencies(fr, data))(t)
	slices.SortFunc(got, func(a, b Frequencies) int { return a.place - b.place })
	for k := range got {
		got[k].place = k
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	set := must.Value(plan.Features(fr, data, 3, nil))(t)
	found := map[[2]float64]bool{}
	for _, term := range set.Terms() {
		if radial, ok := term.(*feature.Radial); ok {
			for pair := range slices.Chunk(radial.Centres, 2) {
				if p := [2]float64{pair[0], pair[1]}; !pairs[p] || found[p] {
					t.Errorf("%v is no pair of a row, or a centre twice", p)
				}
				found[[2]float64{pair[0], pair[1]}] = true
			}
		}
	}
	if len(found) != len(pairs) {
		t.Errorf("%d centres, want the %d pairs", len(found), len(pairs))
	}
}

// TestPossibleCorrelations: correlations are taken where the matrix that they make has positive eigenvalues alone, of
// two to five columns, and the term has them as they are written.
func TestPossibleCorrelations(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 5))
	columns := []string{"lat", "lon", "log(rooms)", "new"}
	taken, refused := 0, 0
	for i := range 80 {
		k := 2 + i%4
		matrix := mat.NewSymDense(k, nil)
		var values []float64
		var texts []string
		for a := range k {
			matrix.SetSym(a, a, 1)
			for b := range a {
				v := math.Round(1000*rng.NormFloat64()/math.Sqrt(float64(k))) / 1000
				v = max(-0.999, min(0.999, v))
				matrix.SetSym(a, b, v)
				values, texts = append(values, v), append(texts, fmt.Sprint(v))
			}
		}
		var eigen mat.EigenSym
		eigen.Factorize(matrix, false)
		least := slices.Min(eigen.Values(nil))
		if math.Abs(least) < 1e-6 {
			continue
		}
		text := "price ~ (" + strings.Join(columns[:k-1], " + ") + " | zip, cor=[" + strings.Join(texts, ", ") + "])"
		plan, err := Parse(text, houses(30).Schema(), Options{})
		if (err == nil) != (least > 0) {
			t.Errorf("%s, of least eigenvalue %v: %v", text, least, err)
		}
		if err != nil {
			refused++
			continue
		}
		taken++
		if f := plan.functions[0]; !slices.Equal(f.bar.correlations, values) {
			t.Errorf("%s has correlations %v", text, f.bar.correlations)
		}
	}
	if taken < 20 || refused < 5 {
		t.Errorf("%d taken and %d refused", taken, refused)
	}
	plan, fr, data := fit(t, "price ~ (lat | zip, cor=0.5)", houses(60), frame.Options{})
	set := must.Value(plan.Features(fr, data, 1, nil))(t)
	if term := set.Terms()[1].(*feature.Multilevel); !slices.Equal(term.Correlations, []float64{0.5}) {
		t.Errorf("the term has correlations %v", term.Correlations)
	}
}

// TestKeyedRoles: the plan of keys has the roles of the formula, in which a precision is a weight and nothing is
// counted as trials, and the kinds of its inputs; the keys of a product are in one order, however it is written.
func TestKeyedRoles(t *testing.T) {
	_, plan, err := ForRows("click ~ site + price + new + late + weight(w) + offset(log(price)) + offset(2)", clicks(), false, false, Options{})
	must.Succeed(t, err)
	if plan.Target.Column != "click" || plan.Weight == nil || plan.Weight.Column != "w" || len(plan.Offset) != 2 || plan.Offset[0].String() != "log(price)" || plan.Offset[1].Value != 2 || plan.Trials != nil {
		t.Errorf("roles %+v", plan.Roles)
	}
	var kinds []string
	for _, in := range plan.Inputs {
		kinds = append(kinds, fmt.Sprint(in.Expr.Column, " ", in.Kind, " ", in.Unknown))
	}
	if want := []string{"site category false", "price number false", "new boolean false", "late number true"}; !slices.Equal(kinds, want) {
		t.Errorf("kinds %q, want %q", kinds, want)
	}
	_, plan, err = ForRows("click ~ price + precision(w)", clicks(), false, false, Options{})
	must.Succeed(t, err)
	if plan.Weight == nil || plan.Weight.Column != "w" || plan.Precision != nil {
		t.Errorf("a precision is %+v", plan.Roles)
	}
	for _, names := range [][]string{{"ad", "late", "new", "site"}, {"site", "new", "late", "ad"}, {"new", "ad", "site", "late"}, {"late", "site", "ad", "new"}} {
		_, plan, err := ForRows("click ~ "+strings.Join(names, ":"), clicks(), false, false, Options{})
		must.Succeed(t, err)
		if got := outline(plan); got != "ad:late:new:site" {
			t.Errorf("%q make %s", names, got)
		}
	}
	_, plan, err = ForRows("x8 + hash(. - x7 - x9, bits=9)", []table.Column{{Name: "label"}}, true, false, Options{})
	must.Succeed(t, err)
	if got := outline(plan); got != "x8/index .-x7-x9 bits" {
		t.Errorf("bags are %s", got)
	}
}
