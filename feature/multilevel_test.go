package feature

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// grouped has inputs x, z (centred and scaled) and categories f of 2 levels and g of 3, in rows with every pair of f
// and g but the last.
func grouped(t *testing.T, terms ...Term) (*Set, *credence.Batch) {
	t.Helper()
	in := withCategory(withCategory(numbers(2), "f", 2), "g", 3)
	in.Dense[0].Center, in.Dense[0].Scale, in.Dense[1].Center, in.Dense[1].Scale = 3, 2, -1, 0.5
	rows := &credence.Batch{X: linop.NewDense(6, 4)}
	for i := range 6 {
		copy(rows.X.Row(i), []float64{math.Sin(float64(i)), math.Cos(float64(i)), float64(i % 2), float64(i / 2)})
	}
	set, err := New(in, terms...)
	if err != nil {
		t.Fatal(err)
	}
	return set, rows
}

// Weights in the units of the data's own columns make the same f: of columns that are centred beside a constant, and of
// others that are not.
func TestMultilevelOwnUnits(t *testing.T) {
	for name, term := range map[string]*Multilevel{
		"(1 + x + z | g)": {Name: "(1 + x + z | g)", Key: []int{3}, Columns: [][]int{nil, {0}, {1}}},
		"(0 + x + z | g)": {Name: "(0 + x + z | g)", Key: []int{3}, Columns: [][]int{{0}, {1}}},
		"(1 + x:f | g)":   {Name: "(1 + x:f | g)", Key: []int{3}, Columns: [][]int{nil, {0, 2}}},
		"(0 + x:z | g)":   {Name: "(0 + x:z | g)", Key: []int{3}, Columns: [][]int{{0, 1}}},
		"part":            {Name: "part", Key: []int{3}, Columns: [][]int{{0, 2}}, Part: 2},
	} {
		set, rows := grouped(t, term)
		own, err := set.OwnUnits()
		if err != nil {
			t.Fatal(err)
		}
		w, mine := make([]float64, set.Weights()), make([]float64, len(own.Columns))
		for j := range w {
			w[j] = math.Cos(float64(3 * j))
		}
		own.Map.MulVec(mine, w)
		var phi credence.Design
		set.Transform(credence.NewWorkspace(1), &phi, rows)
		for i := range rows.Rows() {
			x := rows.X.Row(i)
			data := map[string]float64{"": 1, "a": 3 + 2*x[0], "b": -1 + 0.5*x[1], "a:b": (3 + 2*x[0]) * (-1 + 0.5*x[1])}
			for l := range 2 {
				data["a:f="+set.inputs.Dense[2].Levels[l]] = 0
				if int(x[2]) == l {
					data["a:f="+set.inputs.Dense[2].Levels[l]] = data["a"]
				}
			}
			f := 0.0
			for j, c := range own.Columns {
				for column, value := range data {
					group := "g=" + set.inputs.Dense[3].Levels[int(x[3])]
					if column != "" {
						group = column + ":" + group
					}
					if c.Name == group {
						f += mine[j] * value
					}
				}
			}
			if want := phi.RowDot(i, w); !(math.Abs(f-want) <= 1e-12*math.Max(1, math.Abs(want))) {
				t.Errorf("%s, row %d: f is %v by own weights, want %v", name, i, f, want)
			}
		}
	}
}

// Only combinations of training have weights; of other rows the squares are the law's, and a term that is off has
// neither.
func TestMultilevelRows(t *testing.T) {
	term := &Multilevel{Name: "(0 + x | f:g)", Key: []int{2, 3}, Columns: [][]int{{0}}}
	in := withCategory(withCategory(numbers(2), "f", 2), "g", 3)
	_, rows := grouped(t, &Intercept{})
	met, err := term.OfRows(&in, func(yield func(*credence.Batch, error) bool) {
		few := *rows
		few.X.Rows = 4
		yield(&few, nil)
	})
	if err != nil || !slices.Equal(met.Met, []int32{0, 1, 3, 4}) {
		t.Fatalf("%v, %v", met.Met, err)
	}
	set, rows := grouped(t, met)
	if c := set.Covariances(); len(c) != 1 || c[0].Levels != 4 || c[0].Key != "f:g" || !slices.Equal(c[0].Columns, []string{"a"}) || c[0].Own[0] != 0.5 {
		t.Errorf("%+v", c)
	}
	off := *met
	off.Off = true
	silent := set.Replace(func(Term) Term { return &off })
	for k, s := range []*Set{set, silent} {
		variance := make([]float64, 6)
		s.AddUnseen(variance, rows, perWeight{2, 2, 2, 2})
		var phi credence.Design
		s.Transform(credence.NewWorkspace(1), &phi, rows)
		for i := range rows.Rows() {
			value, want := rows.X.Row(i)[0]+1.5, [2]float64{} // x/s, not centred
			if k == 0 && i < 4 {
				want[0] = value
			} else if k == 0 {
				want[1] = 2 * value * value
			}
			if sum := phi.RowDot(i, []float64{1, 1, 1, 1}); !(math.Abs(sum-want[0]) <= 1e-12) || !(math.Abs(variance[i]-want[1]) <= 1e-12) {
				t.Errorf("off %v, row %d: %v and %v, want %v", k == 1, i, sum, variance[i], want)
			}
		}
	}
}

// apart is a law of columns that vary together, of a variance of its own by block.
type apart struct{ perWeight }

func (apart) UnseenForm(block credence.Block, z []float64) float64 {
	return float64(1+block.First)*z[0]*z[0] + 3*z[1]*z[1] - z[0]*z[1]
}

// A row of a group that training did not have has the variances of all terms of it, each by the law of its columns; a
// term that is off has none.
func TestUnseenColumnsTogether(t *testing.T) {
	first := &Multilevel{Name: "(1 + x | f:g)", Key: []int{2, 3}, Columns: [][]int{nil, {0}}, Met: []int32{0, 1}}
	second := &Multilevel{Name: "(1 + z | f:g)", Key: []int{2, 3}, Columns: [][]int{nil, {1}}, Met: []int32{0, 1, 3}}
	off := *second
	off.Off = true
	set, rows := grouped(t, first, second)
	for _, s := range []*Set{set, set.Replace(func(t Term) Term {
		if t.Label() == second.Name {
			return &off
		}
		return nil
	})} {
		variance := []float64{0.25, 0.25, 0.25, 0.25, 0.25, 0.25}
		s.AddUnseen(variance, rows, apart{})
		for i, got := range variance {
			x, z, want := rows.X.Row(i)[0], rows.X.Row(i)[1], 0.25
			pair := rows.X.Row(i)[2]*3 + rows.X.Row(i)[3]
			if pair > 1 {
				want += 1 + 3*x*x - x
			}
			if pair > 1 && pair != 3 && s == set {
				want += float64(1+4) + 3*z*z - z
			}
			if !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("row %d: %v, want %v", i, got, want)
			}
		}
	}
}

// TestOwnUnitsOfManyTerms: weights in the units of the data's own columns make the same f where a set has several terms
// of groups, numbers and their products, in whatever order: every column is the product that its name says.
func TestOwnUnitsOfManyTerms(t *testing.T) {
	terms := []Term{
		&Intercept{}, &Linear{Inputs: []int{0, 2}},
		&Multilevel{Name: "(1 + a | g)", Key: []int{3}, Columns: [][]int{nil, {0}}},
		&Interaction{Name: "a:g", Inputs: []int{0, 3}},
		&Multilevel{Name: "(0 + b | f)", Key: []int{2}, Columns: [][]int{{1}}},
	}
	for _, order := range [][]int{{0, 1, 2, 3, 4}, {2, 4, 0, 1, 3}, {4, 3, 2, 1, 0}, {1, 2, 4}} {
		var some []Term
		for _, k := range order {
			some = append(some, terms[k])
		}
		set, rows := grouped(t, some...)
		own, err := set.OwnUnits()
		if err != nil {
			t.Fatal(err)
		}
		w, mine := make([]float64, set.Weights()), make([]float64, len(own.Columns))
		for j := range w {
			w[j] = math.Cos(float64(3 * j))
		}
		own.Map.MulVec(mine, w)
		var phi credence.Design
		set.Transform(credence.NewWorkspace(1), &phi, rows)
		for i := range rows.Rows() {
			x := rows.X.Row(i)
			f := 0.0
			for j, c := range own.Columns {
				value := mine[j]
				for part := range strings.SplitSeq(c.Name, ":") {
					switch column, level, category := strings.Cut(part, "="); {
					case part == "(intercept)":
					case part == "a":
						value *= 3 + 2*x[0]
					case part == "b":
						value *= -1 + 0.5*x[1]
					case !category:
						t.Fatalf("there is a column %s", c.Name)
					case column == "f" && set.inputs.Dense[2].Levels[int(x[2])] != level || column == "g" && set.inputs.Dense[3].Levels[int(x[3])] != level:
						value = 0
					}
				}
				f += value
			}
			if want := phi.RowDot(i, w); !(math.Abs(f-want) <= 1e-12*math.Max(1, math.Abs(want))) {
				t.Errorf("terms %v, row %d: f is %v by own weights, want %v", order, i, f, want)
			}
		}
	}
}
