package criticism

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/param"
)

// The tail of the sum of products within groups is one of its first three cumulants, here by enumeration: residuals are
// 2 in a fifth of the rows and −1/2 in the others, of variance 1 and skewness 1.5.
func TestTailOfGroups(t *testing.T) {
	sizes := []int{3, 5, 8, 4, 10, 2, 6, 12}
	var values, group []float64
	var under moment3
	products, pairs := 0.0, 0.0
	for g, m := range sizes {
		var moments [4]float64
		for outcome := range 1 << m {
			p, sum, squares := 1.0, 0.0, 0.0
			for i := range m {
				v, chance := -0.5, 0.8
				if outcome>>i&1 == 1 {
					v, chance = 2, 0.2
				}
				p, sum, squares = p*chance, sum+v, squares+v*v
			}
			q := sum*sum - squares
			for k := range moments {
				moments[k] += p * math.Pow(q, float64(k))
			}
		}
		under.variance += moments[2] // about a mean of 0
		under.third += moments[3]
		large := []int{3, 0, 5, 0, 0, 2, 0, 0}[g]
		sum := 2*float64(large) - float64(m-large)/2
		products += sum*sum - 4*float64(large) - float64(m-large)/4
		pairs += float64(m * (m - 1))
		for i := range m {
			v := -0.5
			if i < large {
				v = 2
			}
			values, group = append(values, v), append(group, float64(g))
		}
	}
	n := float64(len(values))
	s := targets(values...)
	s.share, s.keys = 1, []column{{name: "g", values: group}}
	f := s.ask(&groupsCheck)
	want := under.above(products + pairs/(n-1))
	if f == nil || !(math.Abs(f.P/want-1) <= 1e-9) || want > 0.2 {
		t.Errorf("%+v, want %g", f, want)
	}
	if normal := (moment3{variance: under.variance, third: under.third / 2}).above(products + pairs/(n-1)); math.Abs(normal/want-1) < 0.01 {
		t.Errorf("the third cumulant does not matter: %g, %g", normal, want)
	}
}

// A column of a curve stands before the prediction, unless that explains twice as much or is alone.
func TestBentWith(t *testing.T) {
	of := func(explains float64, name string) scored { return scored{names: []string{name}, explains: explains} }
	for _, c := range []struct {
		results []scored
		want    []string
	}{
		{[]scored{of(0.5, "")}, nil},
		{[]scored{of(0.5, "a")}, []string{"a"}},
		{[]scored{of(0.5, ""), of(0.3, "a")}, []string{"a"}},
		{[]scored{of(0.5, ""), of(0.2, "a")}, nil},
		{[]scored{of(0.5, ""), of(0.3, "a"), of(0.2, "b")}, []string{"a"}},
		{[]scored{of(0.5, "a"), of(0.4, ""), of(0.1, "b")}, []string{"a", "b"}},
	} {
		if got := bentWith(c.results); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.results, got, c.want)
		}
	}
}

// A prediction of two columns in equal parts: a curve of one of them is told of it, and one of their sum of the
// prediction.
func TestTrendNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 9))
	const n = 2000
	columns := make([][]float64, 8)
	for j := range columns {
		columns[j] = normals(rng, n)
	}
	for _, c := range []struct {
		curve func(i int, f float64) float64
		text  string
		not   string
	}{
		{func(i int, _ float64) float64 { return columns[2][i] * columns[2][i] }, "bend with x2,", "the prediction"},
		{func(_ int, f float64) float64 { return f * f }, "bend with the prediction,", "x"},
	} {
		s := &sample{kind: kind{gaussian: true}, options: Options{Fitted: true}, ws: credence.NewWorkspace(1), share: 1e-3}
		s.inputs = make([]column, len(columns))
		for i := range n {
			f := 0.0
			for j := range columns {
				f += columns[j][i] / math.Sqrt(float64(len(columns)))
			}
			s.add(likelihood.Gaussian{NoiseVariance: param.Hold(1)}, i, f+0.5*(c.curve(i, f)-1)+rng.NormFloat64(), f, 0)
			s.used, s.compared = append(s.used, i), append(s.compared, i)
		}
		for j := range columns {
			s.inputs[j] = column{name: fmt.Sprintf("x%d", j), values: columns[j]}
			s.columns = append(s.columns, &s.inputs[j])
		}
		s.compare()
		f := s.ask(&trendCheck)
		if f == nil || !strings.Contains(f.Text, c.text) || strings.Contains(f.Text, c.not+" bend") || strings.Contains(f.Text, "bend with "+c.not+",") {
			t.Errorf("%+v, want %q", f, c.text)
		}
	}
}

// A model that was learned from a stream is told of no terms that streams do not have.
func TestSurfaceOfStreams(t *testing.T) {
	for learned, want := range map[bool]string{true: "poly(x, 3)", false: "rbf(.)"} {
		s := &sample{asked: asked{learned: learned}}
		if got := s.surface(); !strings.Contains(got, want) {
			t.Errorf("%v: %s, want %s", learned, got, want)
		}
	}
}

// What is linear in the prediction is no curve of a column that the prediction is a curve of.
func TestLineOfThePrediction(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 10))
	const n = 1000
	x := normals(rng, n)
	s := &sample{kind: kind{gaussian: true}, options: Options{Fitted: true}, ws: credence.NewWorkspace(1), share: 1e-3, inputs: []column{{name: "x", values: x}}}
	for i := range n {
		f := x[i] * x[i] * min(1, 3/math.Abs(x[i])) * min(1, 3/math.Abs(x[i]))
		s.add(likelihood.Gaussian{NoiseVariance: param.Hold(1)}, i, 1.4*f+rng.NormFloat64(), f, 0)
		s.used, s.compared = append(s.used, i), append(s.compared, i)
	}
	s.columns = []*column{&s.inputs[0]}
	s.compare()
	if f := s.ask(&trendCheck); f != nil {
		t.Errorf("%+v", f)
	}
}

// Functions of a column are told from groups that the column does not show.
func TestFollows(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 2))
	const n = 240
	drawn := func(f func(i int) float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = f(i)
		}
		return out
	}
	real := normals(rng, n)
	hour := drawn(func(int) float64 { return float64(rng.IntN(24)) })
	month := drawn(func(int) float64 { return float64(1 + rng.IntN(12)) })
	group := drawn(func(int) float64 { return float64(rng.IntN(20)) })
	ages := normals(rng, 20)
	age := drawn(func(i int) float64 { return ages[int(group[i])] })
	pair := drawn(func(int) float64 { return float64(rng.IntN(40)) })
	incomes := normals(rng, 40)
	income := drawn(func(i int) float64 { return incomes[int(pair[i])] })
	each := func(of []float64, f func(v float64) float64) []float64 {
		return drawn(func(i int) float64 { return f(of[i]) })
	}
	for _, c := range []struct {
		name    string
		key, of column
		want    bool
	}{
		{"whole part", column{values: each(real, math.Floor)}, column{values: real}, true},
		{"whole part, falling", column{values: each(real, func(v float64) float64 { return -math.Floor(v) })}, column{values: real}, true},
		{"whole part by name", column{values: each(real, func(v float64) float64 { return math.Mod(7*math.Floor(v)+70, 10) }), category: true}, column{values: real}, true},
		{"the same numbers", column{values: hour}, column{values: hour}, true},
		{"season of a number", column{values: each(month, func(v float64) float64 { return math.Mod(math.Floor(v/3), 4) })}, column{values: month}, true},
		{"other names of levels", column{values: each(hour, func(v float64) float64 { return math.Mod(5*v, 24) })}, column{values: hour, category: true}, true},
		{"other names of numbers", column{values: each(hour, func(v float64) float64 { return math.Mod(5*v, 24) })}, column{values: hour}, false},
		{"groups that have an age", column{values: group}, column{values: age}, false},
		{"groups of all numbers", column{values: group}, column{values: real}, false},
		{"groups of all levels", column{values: group}, column{values: drawn(func(i int) float64 { return float64(i) }), category: true}, false},
		{"finer than a level", column{values: hour}, column{values: each(hour, func(v float64) float64 { return math.Floor(v / 6) }), category: true}, false},
		{"the same numbers, falling", column{values: each(hour, func(v float64) float64 { return -v })}, column{values: hour}, true},
		{"levels in the order of numbers", column{values: hour, category: true}, column{values: hour}, false},
		{"groups that have two incomes", column{values: each(pair, func(v float64) float64 { return math.Floor(v / 2) }), category: true}, column{values: income}, false},
		{"apart", column{values: group}, column{values: hour}, false},
	} {
		if got := follows(c.key, c.of); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// Of rows whose inputs are kept, keys are compared with inputs; of all rows, with the target.
func TestKnown(t *testing.T) {
	s := targets(1, 2, 3, 4, 5, 6, 7, 8)
	s.compared = []int{1, 2, 4, 6, 7}
	s.inputs = []column{{name: "a", values: []float64{0.1, 0.7, 0.2, 0.4, 0.9}}}
	counts := targets(0, 1, 0, 2, 1, 3, 2, 0)
	twice := column{values: []float64{0, 2, 1, 4, 3, 6, 4, 0}} // and one more in two rows
	if !counts.known(twice) {
		t.Error("a key that tells the target is not known")
	}
	if twice.values[2] = 3; counts.known(twice) { // a row of none among those of one
		t.Error("a key that tells most of the target is known")
	}
	if twice.values[2] = 1; counts.known(column{values: twice.values, category: true}) {
		t.Error("the order of levels is no order")
	}
	for _, c := range []struct {
		key  []float64
		want bool
	}{
		{[]float64{5, 0, 3, 5, 1, 5, 2, 4}, true}, // goes up with a where a is known
		{[]float64{0, 3, 5, 1, 5, 2, 4, 5}, false},
		{[]float64{1, 1, 1, 2, 2, 2, 3, 3}, true}, // and with the target
	} {
		if got := s.known(column{values: c.key}); got != c.want {
			t.Errorf("%v: %v", c.key, got)
		}
	}
}
