package table

import (
	"database/sql"
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

var trained = &credence.Schema{Columns: []credence.Column{
	{Name: "price"}, {Name: "Zip", Kind: credence.Category, Levels: []string{"a", "b"}}, {Name: "Sold", Kind: credence.Boolean},
}}

// readOne scores a value by a run that was bound once.
func readOne[T any](t *testing.T, binding *Binding[T], run *Run, v T) *credence.Chunk {
	t.Helper()
	var rows Rows
	binding.Reset(&rows)
	err := binding.Append(&rows, v)
	if err == nil {
		err = run.Set(&rows)
	}
	chunk := &credence.Chunk{}
	if err == nil {
		err = run.Read(chunk, 0, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	return chunk
}

func bindTo[T any](t *testing.T, schema *credence.Schema) (*Binding[T], *Run) {
	t.Helper()
	binding := must.Value(Bind[T](LayoutOf(schema)))(t)
	return binding, NewRun(schema)
}

// A row means the same, whatever it is stated as.
func TestOneRowHasOneMeaning(t *testing.T) {
	check := func(what string, chunk *credence.Chunk, want ...float64) {
		t.Helper()
		for j, v := range chunk.Values.Row(0) {
			if v != want[j] && (v == v || want[j] == want[j]) {
				t.Errorf("%s is %v, want %v", what, chunk.Values.Row(0), want)
			}
		}
	}
	ofStruct, run := bindTo[kinds](t, trained)
	check("struct", readOne(t, ofStruct, run, kinds{Price: 3, Zip: " b", Sold: true}), 3, 1, 1)
	check("unseen level", readOne(t, ofStruct, run, kinds{Price: nan, Zip: "other"}), nan, -1, 0)
	ofPointer, run := bindTo[*kinds](t, trained)
	check("pointer", readOne(t, ofPointer, run, &kinds{Price: 3, Zip: "b", Sold: true}), 3, 1, 1)
	ofMap, run := bindTo[map[string]any](t, trained)
	check("map", readOne(t, ofMap, run, map[string]any{"price": 3, "Zip": "b", "Sold": "yes", "more": nil}), 3, 1, 1)
	ofTexts, run := bindTo[map[string]string](t, trained)
	check("map of texts", readOne(t, ofTexts, run, map[string]string{"price": "3", "Zip": "NA", "Sold": "F"}), 3, nan, 0)
	ofAny, run := bindTo[any](t, trained)
	check("any struct", readOne[any](t, ofAny, run, &kinds{Price: 1, Zip: "a"}), 1, 0, 0)
	check("any map", readOne[any](t, ofAny, run, map[string]any{"price": nil, "Zip": "a", "Sold": 1}), nan, 0, 1)
	type named map[string]any
	check("named map", readOne[any](t, ofAny, run, named{"price": 2, "Zip": "a", "Sold": 1}), 2, 0, 1)
}

// Sparse columns are the other keys of a map; those that training did not have are added up.
func TestSparseMaps(t *testing.T) {
	schema := &credence.Schema{Columns: []credence.Column{{Name: "age"}}, Sparse: 5}
	binding, run := bindTo[map[string]float64](t, schema)
	chunk := readOne(t, binding, run, map[string]float64{"age": 40, "x5": 2, "x1": 1, "x9": 3, "x7": 4, "unread": 1})
	columns, values := chunk.Sparse.Row(0)
	if len(columns) != 2 || columns[0] != 0 || columns[1] != 4 || values[0] != 1 || values[1] != 2 || chunk.Unseen[0] != 25 {
		t.Errorf("entries %v %v, beyond them %v", columns, values, chunk.Unseen)
	}
	binding, run = bindTo[map[string]float64](t, &credence.Schema{Sparse: 2, SparseNames: credence.SparseNames{ZeroBased: true}})
	chunk = readOne(t, binding, run, map[string]float64{"x0": 5, "x2": 2})
	if columns, values := chunk.Sparse.Row(0); len(columns) != 1 || columns[0] != 0 || values[0] != 5 || chunk.Unseen[0] != 4 {
		t.Errorf("from 0 on: entries %v %v, beyond them %v", columns, values, chunk.Unseen)
	}
}

func TestBindingRefusals(t *testing.T) {
	if _, err := Bind[embedded](LayoutOf(trained)); err == nil || !strings.Contains(err.Error(), "table.embedded has no field for the column \"price\"") {
		t.Errorf("a struct without the column: %v", err)
	}
	if _, err := Bind[int](LayoutOf(trained)); err == nil || !strings.Contains(err.Error(), "a int is no row") {
		t.Errorf("a number as a row: %v", err)
	}
	binding, _ := bindTo[any](t, trained)
	var rows Rows
	binding.Reset(&rows)
	for _, c := range []struct {
		row  any
		want string
	}{
		{map[string]any{"price": 1, "Zip": "a"}, `the map lacks the column "Sold"`},
		{map[string]any{"price": "much", "Zip": "a", "Sold": true}, `column "price": "much" is not a number`},
		{map[string]any{"price": []int{1}, "Zip": "a", "Sold": true}, `column "price": holds what is no number`},
		{nil, "is no row"}, {3, "a int is no row"},
	} {
		if err := binding.Append(&rows, c.row); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.row, err, c.want)
		}
	}
	if rows.Count != 0 || len(rows.Values) != 0 {
		t.Errorf("refused rows left %d rows and the values %v", rows.Count, rows.Values)
	}
}

// A text is a level whatever the kind of its cell, a number in its shortest form and an integer with all its digits,
// beyond 2⁵³ too: identifiers that are near each other stay apart, and are those of a file.
func TestTextColumns(t *testing.T) {
	binding := must.Value(Bind[map[string]any](Layout{Columns: []Column{{Name: "id", Text: true}}}))(t)
	var rows Rows
	binding.Reset(&rows)
	for _, v := range []any{94110, 0.25, 1e21, true, " t ", "NA", int8(-3), math.Inf(1), 1234567, int64(-9007199254740993), uint64(1<<64 - 1), sql.NullInt64{Int64: 9007199254740993, Valid: true}} {
		must.Succeed(t, binding.Append(&rows, map[string]any{"id": v}))
	}
	var texts []string
	for _, v := range rows.Values {
		if v != v {
			texts = append(texts, "(missing)")
			continue
		}
		texts = append(texts, string(rows.Levels[0].List[int(v)].Text))
	}
	if got := strings.Join(texts, " "); got != "94110 0.25 1e+21 true t (missing) -3 +Inf 1234567 -9007199254740993 18446744073709551615 9007199254740993" {
		t.Errorf("levels are %s", got)
	}
}

// The texts of a column are stated as the column.
func TestTextsOfAColumn(t *testing.T) {
	schema := &credence.Schema{Columns: []credence.Column{
		{Name: "price"}, {Name: credence.TextOf("price"), Kind: credence.Category, Levels: []string{"2", "3.5"}},
	}}
	ofStruct, run := bindTo[kinds](t, schema)
	if row := readOne(t, ofStruct, run, kinds{Price: 3.5}).Values.Row(0); row[0] != 3.5 || row[1] != 1 {
		t.Errorf("a struct's row is %v", row)
	}
	ofMap, run := bindTo[map[string]any](t, schema)
	if row := readOne(t, ofMap, run, map[string]any{"price": 2}).Values.Row(0); row[0] != 2 || row[1] != 0 {
		t.Errorf("a map's row is %v", row)
	}
}

func TestBoundRowsAllocateNothing(t *testing.T) {
	check := func(what string, row func() error) {
		t.Helper()
		allocated := testing.AllocsPerRun(100, func() {
			must.Succeed(t, row())
		})
		if allocated != 0 {
			t.Errorf("%s allocates %v times a row", what, allocated)
		}
	}
	var rows Rows
	var chunk credence.Chunk
	score := func(run *Run, append func() error) error {
		err := append()
		if err == nil {
			err = run.Set(&rows)
		}
		if err == nil {
			err = run.Read(&chunk, 0, 1)
		}
		return err
	}
	ofStruct, run := bindTo[kinds](t, trained)
	house := kinds{Price: 3, Zip: "unseen", Sold: true}
	check("a struct", func() error {
		ofStruct.Reset(&rows)
		return score(run, func() error { return ofStruct.Append(&rows, house) })
	})
	ofMap, run := bindTo[map[string]any](t, trained)
	values := map[string]any{"price": 3.5, "Zip": "b", "Sold": true}
	check("a map", func() error {
		ofMap.Reset(&rows)
		return score(run, func() error { return ofMap.Append(&rows, values) })
	})
	sparse, run := bindTo[map[string]float64](t, &credence.Schema{Sparse: 9})
	entries := map[string]float64{"x1": 3.5, "x7": 1}
	check("a sparse map", func() error {
		sparse.Reset(&rows)
		return score(run, func() error { return sparse.Append(&rows, entries) })
	})
}

// Columns whose kinds are found out after a run was set are looked at again.
func TestRunLooksAtKindsFoundLater(t *testing.T) {
	run := NewRun(&credence.Schema{Columns: []credence.Column{{Name: "x"}}})
	rows := &Rows{Columns: []Column{{Name: "x", Unknown: true}}}
	must.Succeed(t, run.Set(rows))
	rows.Columns[0] = Column{Name: "x", Kind: credence.Category}
	if run.Set(rows) == nil {
		t.Error("a category is taken for a number")
	}
}
