package frame

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// filedRows are rows of several files.
type filedRows struct {
	placed
	begins []int
}

func (f filedRows) Files() []int { return f.begins }

// TestOnly: rows that are left out beside those that lack a value leave the others as they are, in their order, with
// their places; the files begin where their first rows that stay do.
func TestOnly(t *testing.T) {
	const n = 1500
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = []float64{float64(i), float64(i * i % 19)}
		if i%7 == 3 {
			rows[i][0] = nan
		}
	}
	source := filedRows{placed{numbers([]string{"x", "y"}, rows...)}, []int{0, 10, 10, 700}}
	f := must.Value(Fit(t.Context(), &Plan{Target: target("y"), Inputs: []Expr{Column("x")}}, source, Options{Missing: Drop, Raw: true}))(t)
	bound := must.Value(f.Bind(source, RequireTargets))(t)
	stays := func(row int) bool { return row%7 != 3 }
	check := func() {
		t.Helper()
		var want []int
		for row := range rows {
			if stays(row) {
				want = append(want, row)
			}
		}
		batch := must.Value(readAll(bound))(t)
		if bound.Rows() != len(want) || batch.X.Rows != len(want) {
			t.Fatalf("%d rows, want %d", bound.Rows(), len(want))
		}
		for i, row := range want {
			if bound.SourceRow(i) != row || batch.X.Row(i)[0] != float64(row) || batch.Target[i] != float64(row*row%19) || Place(bound, i) != fmt.Sprintf("train.csv:%d", row+2) {
				t.Fatalf("row %d is %d, %v, %v, %s; want %d", i, bound.SourceRow(i), batch.X.Row(i), batch.Target[i], Place(bound, i), row)
			}
		}
		for k, begin := range bound.Files() {
			if at, _ := slices.BinarySearch(want, source.begins[k]); begin != at {
				t.Errorf("file %d begins with row %d, want %d", k, begin, at)
			}
		}
	}
	check()
	bound.Only(func(row int) bool { return row%5 != 0 && row < 1400 })
	stays = func(row int) bool { return row%7 != 3 && row%5 != 0 && row < 1400 }
	check()
	bound.Only(func(row int) bool { return row > 9 })
	stays = func(row int) bool { return row%7 != 3 && row%5 != 0 && row < 1400 && row > 9 }
	check()
	if got := bound.Files(); len(got) != 4 {
		t.Errorf("files begin with %v", got)
	}
}

// TestFarthest: what is named is the number that is farthest from training in units of its spread, be it an input, an
// entry of the sparse segment, an offset or one over a precision, with its value as it stands in the table.
func TestFarthest(t *testing.T) {
	source := numbers([]string{"label", "a", "b", "o", "p"}, []float64{1, 10, 5, 0, 1}, []float64{-1, 30, 5, 0, 1}, []float64{1, 20, 8, 1, 2})
	source.schema.Sparse, source.schema.Label = 3, true
	source.sparse = []map[int]float64{{0: 1}, {1: 2}, {}}
	o, p := Column("o"), Column("p")
	f := must.Value(Fit(t.Context(), &Plan{Target: target("label"), Inputs: []Expr{Column("a"), Column("b")}, Offset: []Expr{o}, Precision: &p, Sparse: true}, source, Options{}))(t)
	sd := f.Inputs[0].Scale // of a, about 20
	for _, c := range []struct {
		row    []float64
		sparse map[int]float64
		name   string
		value  float64
	}{
		{[]float64{1, 20 - 50*sd, 6, 3, 1}, map[int]float64{2: 4}, "a", 20 - 50*sd},
		{[]float64{1, 20 + 5*sd, 6, 3, 1}, map[int]float64{0: 1, 2: -6}, "x3", -6},
		{[]float64{1, 20 + 5*sd, 6, -7, 1}, map[int]float64{2: -6}, "offset(o)", -7},
		{[]float64{1, 20 + 5*sd, 6, 3, 0.125}, map[int]float64{2: -6}, "precision(p)", 0.125},
		{[]float64{1, 20 + 9*sd, 6, 3, 0.125}, map[int]float64{2: -6}, "a", 20 + 9*sd},
	} {
		rows := numbers([]string{"label", "a", "b", "o", "p"}, []float64{1, 20, 6, 0, 1}, c.row)
		rows.schema = source.schema
		rows.sparse = []map[int]float64{{}, c.sparse}
		bound := must.Value(f.Bind(rows, RequireTargets))(t)
		batch := must.Value(readAll(bound))(t)
		if name, value := bound.Farthest(batch, 1); name != c.name || !(math.Abs(value-c.value) <= 1e-9) {
			t.Errorf("%v %v: the farthest is %s of %v, want %s of %v", c.row, c.sparse, name, value, c.name, c.value)
		}
	}
}

// TestUnseenClassIsNamed: a class that training did not see is told by its text, where the source knows it.
func TestUnseenClassIsNamed(t *testing.T) {
	training := numbers([]string{"y"}, []float64{0}, []float64{1}).with("y", "no", "yes")
	f := must.Value(Fit(t.Context(), &Plan{Target: target("y")}, training, Options{}))(t)
	later := numbers([]string{"y"}, []float64{1}, []float64{2}).with("y", "yes", "no", "maybe")
	must.Value(readAll(must.Value(f.Bind(numbers([]string{"y"}, []float64{0}, []float64{1}).with("y", "yes", "no"), RequireTargets))(t)))(t)
	later.rows[0][0] = 0
	for want, source := range map[string]credence.Source{
		"frame: row 2: target y is maybe, which training did not see: it must be one of no, yes":    later,
		"frame: row 2: target y is y 2, which training did not see: it must be one of no, yes":      texted{numbers([]string{"y"}, []float64{0}, []float64{-1}).with("y", "yes", "no")},
		"frame: row 2: target y has a class, which training did not see: it must be one of no, yes": numbers([]string{"y"}, []float64{0}, []float64{-1}).with("y", "yes", "no"),
	} {
		if _, err := readAll(must.Value(f.Bind(source, RequireTargets))(t)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestCensusOfRounds: a census tells its rows, those left out, its rounds and its first rows; one of another round or
// of other statistics is not merged, and none continues behind rows.
func TestCensusOfRounds(t *testing.T) {
	rows := make([][]float64, 1100)
	for i := range rows {
		rows[i] = []float64{float64(i), float64(i % 4)}
		if i%5 == 2 {
			rows[i][0] = nan
		}
	}
	source := numbers([]string{"x", "y"}, rows...)
	other := numbers([]string{"x", "y"}, []float64{7, 1}, []float64{9, 0})
	plan := func() *Plan {
		return &Plan{Target: target("y"), Inputs: []Expr{Column("x"), Column("x").With(Center).With(Square).With(Scale)}}
	}
	census := func(file int, source credence.Source) *Census {
		c := must.Value(NewCensus(plan(), source.Schema(), file, Options{Missing: Drop}))(t)
		if source.Rows() > 0 {
			must.Succeed(t, c.AddAll(t.Context(), source))
		}
		return c
	}
	refused := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	_, err := NewCensus(nil, source.Schema(), 0, Options{})
	refused(err, "there is no plan or no schema")
	_, err = NewCensus(plan(), nil, 0, Options{})
	refused(err, "there is no plan or no schema")
	c := census(0, source)
	refused(c.AddAll(t.Context(), nil), "there is no table")
	kept, dropped, err := c.Rows()
	if must.Succeed(t, err); kept != 880 || dropped != 220 || c.Left() != 2 {
		t.Errorf("%d rows, %d left out, %d rounds left; want 880, 220 and 2", kept, dropped, c.Left())
	}
	for _, count := range []int{0, 1, 700, 880, 2000} {
		first := must.Value(c.First(source, count))(t)
		if want := min(count, 880); first.Rows() != want {
			t.Fatalf("%d first rows, want %d", first.Rows(), want)
		}
		at := 0
		for i := range rows {
			if i%5 != 2 && at < first.Rows() {
				if first.Values.Row(at)[0] != float64(i) {
					t.Fatalf("row %d of the first %d is %v, want %d", at, count, first.Values.Row(at), i)
				}
				at++
			}
		}
	}
	begun := census(1, other)
	refused(begun.Continue(c), "a census continues before rows are added to it")
	one := filed(t, c)
	if more := must.Value(one.Next())(t); !more || one.Left() != 1 {
		t.Errorf("%d rounds are left", one.Left())
	}
	refused(one.Merge(begun), "a census of round 2 cannot be merged with one of round 1")
	refused(begun.Merge(one), "a census of round 1 cannot be merged with one of round 2")
	two := filed(t, begun)
	refused(two.AddAll(t.Context(), other), "a census that was read from a file takes no rows")
	refused(two.EndFile(), "a census that was read from a file takes no rows")
	_, err = two.First(other, 1)
	refused(err, "rows are read by a census that is made for the table")
	alone := census(0, other)
	must.Value(alone.Next())(t)
	apart := census(1, numbers([]string{"x", "y"}))
	must.Succeed(t, apart.Continue(alone))
	must.Succeed(t, apart.AddAll(t.Context(), other))
	refused(one.Merge(apart), "shards know different statistics of ")
	text := numbers([]string{"x", "y"}, []float64{0, 1}).with("x", "a")
	p := plan()
	p.Inputs = p.Inputs[:1]
	a := must.Value(NewCensus(p, source.Schema(), 0, Options{}))(t)
	b := must.Value(NewCensus(p, text.Schema(), 1, Options{}))(t)
	refused(a.Merge(b), `column "x" holds numbers in one shard and categories in another: declare its kind`)
	refused((&Census{}).UnmarshalJSON([]byte("[")), "the census cannot be read")
}
