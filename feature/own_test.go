package feature

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// rawTable is a table of raw numbers and levels with its scaled rows.
type rawTable struct {
	inputs Inputs
	cells  []map[string]string
	rows   *credence.Batch
}

// newRawTable draws columns a, b, c with means far from 0, the boolean d, and categories g, h, k.
func newRawTable(n int) rawTable {
	in := withCategory(withCategory(withCategory(numbers(4), "g", 3), "h", 4), "k", 2)
	for j, scale := range []struct{ center, scale float64 }{{100, 8}, {-3, 0.5}, {0.25, 40}, {0, 0}} {
		in.Dense[j].Center, in.Dense[j].Scale = scale.center, scale.scale
	}
	rng := rand.New(rand.NewPCG(8, 15))
	t := rawTable{inputs: in, rows: &credence.Batch{X: linop.NewDense(n, len(in.Dense))}}
	for i := range n {
		cells := map[string]string{}
		for j, input := range in.Dense {
			x := &t.rows.X.Row(i)[j]
			switch {
			case input.Kind == credence.Category:
				level := rng.IntN(len(input.Levels))
				*x, cells[input.Name] = float64(level), input.Levels[level]
			case j == 3:
				*x = float64(rng.IntN(2))
				cells[input.Name] = fmt.Sprint(*x)
			default:
				*x = rng.NormFloat64()
				cells[input.Name] = strconv.FormatFloat(*x*input.Scale+input.Center, 'g', -1, 64)
			}
		}
		t.cells = append(t.cells, cells)
	}
	return t
}

// column works out a column of row i from its name alone: a:b^2:g=l1.
func (t *rawTable) column(i int, name string) float64 {
	if name == "(intercept)" {
		return 1
	}
	product := 1.0
	for _, factor := range strings.Split(name, ":") {
		if column, level, ok := strings.Cut(factor, "="); ok {
			if t.cells[i][column] != level {
				return 0
			}
			continue
		}
		column, exponent, powered := strings.Cut(factor, "^")
		x, err := strconv.ParseFloat(t.cells[i][column], 64)
		if err != nil {
			panic(name)
		}
		degree := 1.0
		if powered {
			degree, _ = strconv.ParseFloat(exponent, 64)
		}
		product *= math.Pow(x, degree)
	}
	return product
}

func product(name string, inputs ...int) *Interaction {
	return &Interaction{Name: name, Inputs: inputs}
}

// linear is the block of plain columns.
func linear(inputs ...int) *Linear { return &Linear{Inputs: inputs} }

// sets of terms over a, b, c, d and g, h, k, which are inputs 0 … 6.
var ownSets = map[string][]Term{
	"plain":           {&Intercept{}, linear(0, 1, 2, 3, 4)},
	"no intercept":    {linear(0, 1, 4)},
	"numbers":         {&Intercept{}, linear(0, 1), product("a:b", 0, 1)},
	"three numbers":   {&Intercept{}, linear(0, 1, 2), product("a:b", 0, 1), product("c:a", 2, 0), product("b:c", 1, 2), product("b:a:c", 1, 0, 2)},
	"product alone":   {&Intercept{}, product("a:b", 0, 1)},
	"one factor":      {&Intercept{}, linear(0), product("a:b", 0, 1), product("d:b", 3, 1)},
	"lines":           {&Intercept{}, product("a:g", 0, 4)},
	"lines, slope":    {&Intercept{}, linear(0), product("a:g", 0, 4)},
	"lines, levels":   {&Intercept{}, linear(4), product("a:g", 0, 4)},
	"lines, both":     {&Intercept{}, linear(0, 4), product("g:a", 4, 0)},
	"crossed":         {&Intercept{}, linear(0, 4, 5), product("g:h", 4, 5), product("a:h", 0, 5), product("a:g", 0, 4), product("h:a:g", 5, 0, 4)},
	"crossed alone":   {&Intercept{}, product("g:h", 4, 5), product("h:b:g", 5, 1, 4)},
	"three levels":    {&Intercept{}, linear(0, 4, 5, 6), product("g:h", 4, 5), product("k:g", 6, 4), product("h:k", 5, 6), product("k:g:h", 6, 4, 5)},
	"powers":          {&Intercept{}, &Polynomial{"poly(a, b, 4)", []int{0, 1}, 4}},
	"powers, product": {&Intercept{}, linear(1, 4), &Polynomial{"poly(a, 3)", []int{0}, 3}, product("a:b", 0, 1), product("b:g", 1, 4)},
	"pairs alone":     {&Intercept{}, product("a:b", 0, 1), product("b:c", 1, 2), product("a:c", 0, 2), product("a:b:c", 0, 1, 2)},
	"onehot":          {&Intercept{}, linear(0), &OneHot{"onehot(g)", 4}, product("a:g", 0, 4)},
	"kept":            {&Intercept{}, &Kept{"keep(a, g)", []int{0, 4}}, linear(1), product("a:b", 0, 1), product("a:g", 0, 4)},
	"no constant":     {linear(0, 1), product("a:b", 0, 1), &OneHot{"onehot(h)", 5}},
}

// Σ weight × column is the linear predictor, whatever the terms, with and without the rule that makes
// products those of R, and against any base. The columns are worked out from their names and the raw
// table. The bound is relative to the sum of absolute summands, which rounding is.
func TestOwnUnitsGiveTheLinearPredictor(t *testing.T) {
	table := newRawTable(40)
	for name, terms := range ownSets {
		for _, bases := range [][]string{nil, {"mean"}, {"g=l1"}, {"h=mean", "g=l2"}, {"mean", "g=l0"}} {
			plain := newSet(t, table.inputs, terms...)
			for _, s := range []*Set{plain, plain.Hierarchical()} {
				own, err := s.OwnUnits(bases...)
				if err != nil {
					if !strings.Contains(err.Error(), "base") {
						t.Fatalf("%s, %v: %v", name, bases, err)
					}
					continue
				}
				weights := make([]float64, s.Weights())
				rng := rand.New(rand.NewPCG(3, 4))
				for j := range weights {
					weights[j] = rng.NormFloat64()
				}
				raw := make([]float64, own.Map.Rows)
				own.Map.MulVec(raw, weights)
				phi := spread(s, table.rows)
				for i := range phi.Rows {
					f, sum, size := 0.0, 0.0, 0.0
					for j, w := range weights {
						f += w * phi.Row(i)[j]
					}
					for j, w := range raw {
						if own.Columns[j].Base && w != 0 {
							t.Fatalf("%s, %v: the base %s has weight %g", name, bases, own.Columns[j].Name, w)
						}
						x := w * table.column(i, own.Columns[j].Name)
						sum, size = sum+x, size+math.Abs(x)
					}
					if !(math.Abs(f-sum) <= 1e-12*size) {
						t.Fatalf("%s, %v, row %d: Σ weight × column is %.12g and f is %.12g (%d columns)", name, bases, i, sum, f, len(raw))
					}
				}
			}
		}
	}
}

// Columns that are drawn or have learned parameters are not the data's.
func TestColumnsOfTheFitVary(t *testing.T) {
	in := numbers(2)
	rbf := draw(t, in, RandomFourier{Name: "rbf(a)", Kernel: RBF, Inputs: []int{0}}, 3, 1)
	own, err := newSet(t, in, &Intercept{}, linear(0, 1), rbf, &Radial{Bumps{Name: "radial(b)", Inputs: []int{1}, Centres: []float64{1}}}).OwnUnits()
	if err != nil {
		t.Fatal(err)
	}
	for _, column := range own.Columns {
		if want := column.Block == "rbf(a)" || column.Block == "radial(b)"; column.Varies != want {
			t.Errorf("%+v", column)
		}
	}
}

// Differences from the mean of the levels add up to 0.
func TestMeanIsABase(t *testing.T) {
	table := newRawTable(1)
	s := newSet(t, table.inputs, ownSets["crossed"]...)
	own, err := s.OwnUnits("g=mean")
	if err != nil {
		t.Fatal(err)
	}
	total := make([]float64, s.Weights())
	for i, column := range own.Columns {
		if strings.Contains(column.Name, "g=") && strings.Contains(column.Name, "a:h=l2") || strings.HasPrefix(column.Name, "g=") && !strings.Contains(column.Name, ":") {
			own.Map.AddRow(total, i, 1)
		}
		if column.Base {
			t.Errorf("%s is a base", column.Name)
		}
	}
	for j, sum := range total {
		if !(math.Abs(sum) <= 1e-13) {
			t.Errorf("differences from the mean add up to %g times weight %d", sum, j)
		}
	}
}

// A product of centred columns stands only beside what undoing the centring brings; the set then has no
// columns but those of its terms, and a constant where it has no intercept.
func TestHierarchical(t *testing.T) {
	table := newRawTable(1)
	for name, want := range map[string]string{
		"numbers": "", "three numbers": "", "product alone": "a:b", "one factor": "a:b d:b", "lines": "a:g", "lines, slope": "a:g",
		"lines, levels": "", "lines, both": "", "crossed": "", "crossed alone": "", "powers, product": "", "onehot": "", "no constant": "", "pairs alone": "a:b b:c a:c a:b:c",
	} {
		s := newSet(t, table.inputs, ownSets[name]...).Hierarchical()
		var uncentred []string
		for _, term := range s.Terms() {
			if product, ok := term.(*Interaction); ok && product.Uncentred {
				uncentred = append(uncentred, product.Name)
			}
		}
		if got := strings.Join(uncentred, " "); got != want {
			t.Errorf("%s: %q stand uncentred, want %q", name, got, want)
		}
		own, err := s.OwnUnits()
		if err != nil {
			t.Fatal(err)
		}
		for _, column := range own.Columns[s.Weights():] {
			if column.Name != "(intercept)" || name != "no constant" {
				t.Errorf("%s has the further column %s", name, column.Name)
			}
		}
	}
}

// Uncentred factors are the raw columns over their scales.
func TestUncentredProducts(t *testing.T) {
	table := newRawTable(5)
	s := newSet(t, table.inputs, &Interaction{Name: "a:b:d", Inputs: []int{0, 1, 3}, Uncentred: true}, &Interaction{Name: "b:g", Inputs: []int{1, 4}, Uncentred: true})
	phi := spread(s, table.rows)
	for i := range phi.Rows {
		want := []float64{table.column(i, "a:b:d") / 8 / 0.5}
		for l := range 3 {
			want = append(want, table.column(i, fmt.Sprintf("b:g=l%d", l))/0.5)
		}
		sameRow(t, "uncentred", phi.Row(i), want)
	}
}

func TestBasesAreRefused(t *testing.T) {
	table := newRawTable(1)
	s := newSet(t, table.inputs, ownSets["crossed"]...)
	for text, want := range map[string]string{
		"g=zz":      "base g=zz: g has no such level: the levels are l0, l1, l2",
		"a=1":       "base a=1 is no level: write g=LEVEL, or mean; the categories are g, h, k",
		"g=l0 g=l1": "the base of g is given twice: leave out g=l1",
		"k=l0":      "base k=l0: k has no weights for its levels: leave the base out",
	} {
		if _, err := s.OwnUnits(strings.Fields(text)...); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	want := "base g=l0: a:g has one weight for each level, and a, the other factor, is no term of its own: add it to the formula or leave the base out"
	if _, err := newSet(t, table.inputs, ownSets["lines"]...).Hierarchical().OwnUnits("g=l0"); err == nil || err.Error() != want {
		t.Errorf("lines: %v, want %s", err, want)
	}
	if _, err := newSet(t, numbers(1), linear(0)).OwnUnits("mean"); err == nil || err.Error() != "base mean: the model has no categories: leave the base out" {
		t.Errorf("no categories: %v", err)
	}
	wide := withCategory(numbers(1), "id", 5000)
	if _, err := newSet(t, wide, &Intercept{}, linear(1)).OwnUnits("mean"); err == nil || !strings.Contains(err.Error(), "5000 levels of id") {
		t.Errorf("5000 levels: %v", err)
	}
}
