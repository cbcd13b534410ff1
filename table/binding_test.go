package table

import (
	"database/sql"
	"math"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
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
	check("any struct that is no pointer", readOne[any](t, ofAny, run, kinds{Price: 4, Zip: "b", Sold: true}), 4, 1, 1)
	check("any map", readOne[any](t, ofAny, run, map[string]any{"price": nil, "Zip": "a", "Sold": 1}), nan, 0, 1)
	type named map[string]any
	check("named map", readOne[any](t, ofAny, run, named{"price": 2, "Zip": "a", "Sold": 1}), 2, 0, 1)
	type texts map[string]string
	check("named map of texts", readOne[any](t, ofAny, run, texts{"price": "2", "Zip": "b", "Sold": "T"}), 2, 1, 1)
	type numbers map[string]float64
	check("named map of numbers", readOne(t, must.Value(Bind[any](LayoutOf(&credence.Schema{Columns: []credence.Column{{Name: "a"}, {Name: "b"}}})))(t),
		NewRun(&credence.Schema{Columns: []credence.Column{{Name: "a"}, {Name: "b"}}}), any(numbers{"a": 2, "b": -3})), 2, -3)
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
	ofAny, run := bindTo[map[string]any](t, schema)
	chunk = readOne(t, ofAny, run, map[string]any{"age": "40", "x5": true, "x1": 3, "x6": 2.5, "xy": "unread", "X2": 1})
	columns, values = chunk.Sparse.Row(0)
	if len(columns) != 2 || columns[0] != 0 || columns[1] != 4 || values[0] != 3 || values[1] != 1 || chunk.Unseen[0] != 6.25 || run.Outside() != 1 {
		t.Errorf("a map of any: entries %v %v, beyond them %v, %d", columns, values, chunk.Unseen, run.Outside())
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

type chain struct {
	Price float64 `credence:"price"`
	*Chain
}

// Chain embeds itself.
type Chain struct{ *Chain }

type tagged struct {
	Price float64 `credence:"price"`
	Tags  []int   `credence:"tags"`
}

// What is no row is refused wherever a row is asked for, and by the type that was given; a field that is no column is
// an error where the column is needed, and no other.
func TestWhatIsNoRow(t *testing.T) {
	price := Layout{Columns: []Column{{Name: "price"}}}
	ofAny := must.Value(Bind[any](price))(t)
	var rows Rows
	append := func(row any) error {
		ofAny.Reset(&rows)
		return ofAny.Append(&rows, row)
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{last(ColumnsOf(3)), "a int is no row: give a struct, or a map[string]any"},
		{last(ColumnsOf(nil)), "a <nil> is no row: give a struct, or a map[string]any"},
		{last(ColumnsOf(map[string]int{"price": 1})), "a map[string]int is no row"},
		{last(ColumnsOf(map[int]any{1: 1})), "a map[int]interface {} is no row"},
		{append(map[string]int{"price": 1}), "a map[string]int is no row"},
		{append(&[]float64{1}), "a []float64 is no row"},
		{append(embedded{}), `table.embedded has no field for the column "price": add one, or name it with the tag`},
		{last(ColumnsOf(chain{})), `table.Chain embeds itself: leave the field out with the tag`},
		{append(chain{}), `table.Chain embeds itself`},
		{last(Bind[chain](price)), `table.Chain embeds itself`},
		{last(Structs([]chain{{}})), `table.Chain embeds itself`},
		{last(Bind[tagged](Layout{Columns: []Column{{Name: "price"}, {Name: "tags"}}})), "field Tags of table.tagged is a []int"},
		{append(&tagged{}), ""},
		{last(Bind[tagged](price)), ""},
	} {
		if c.want == "" && c.err != nil || c.want != "" && (c.err == nil || !strings.HasPrefix(c.err.Error(), "table: ") || !strings.Contains(c.err.Error(), c.want)) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
}

// last is the error of a call.
func last[T any](_ T, err error) error { return err }

// A text that cannot be a level is refused in each row that has it, not in the first alone, and the rows that are left
// out change none of those that stay. The longest text is one of 64 kB.
func TestTextsThatAreNoLevels(t *testing.T) {
	binding, run := bindTo[kinds](t, &credence.Schema{Columns: []credence.Column{{Name: "price"}, {Name: "Zip", Kind: credence.Category, Levels: []string{"a"}}}})
	var rows Rows
	binding.Reset(&rows)
	longest := strings.Repeat("y", cell.MaxLevel)
	for round := range 2 {
		for _, c := range []struct{ zip, want string }{
			{"a", ""}, {longest, ""}, {longest + "y", "a text of 65537 bytes is no category: leave the column out"},
			{"b\xff", `"b\xff" is not text in UTF-8`}, {"b\x00", `"b\x00" is not text in UTF-8`}, {"é", ""},
		} {
			err := binding.Append(&rows, kinds{Price: float64(round), Zip: c.zip})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), `table: column "Zip": `+c.want)) {
				t.Errorf("round %d: a text of %d bytes: %v, want %q", round, len(c.zip), err, c.want)
			}
		}
	}
	if rows.Count != 6 || len(rows.Values) != 12 {
		t.Fatalf("%d rows and %d values are left, want 6 and 12", rows.Count, len(rows.Values))
	}
	must.Succeed(t, run.Set(&rows))
	for i, want := range []string{"a", longest, "é", "a", longest, "é"} {
		if text, ok := run.Text(i, "Zip"); !ok || text != want || rows.Row(i)[0] != float64(i/3) {
			t.Errorf("row %d has %.10q and %v", i, text, rows.Row(i)[0])
		}
	}
}

// Entries of the sparse segment are finite numbers: a feature that is missing is left out by the caller, and none is a
// text.
func TestSparseEntriesAreNumbers(t *testing.T) {
	schema := &credence.Schema{Columns: []credence.Column{{Name: "x0"}}, Sparse: 5}
	ofAny, run := bindTo[any](t, schema)
	var rows Rows
	ofAny.Reset(&rows)
	for _, c := range []struct {
		row  any
		want string
	}{
		{map[string]float64{"x0": 1, "x3": math.NaN()}, "feature x3 is missing: leave it out, which means 0"},
		{map[string]any{"x0": 1, "x3": nil}, "feature x3 is missing: leave it out, which means 0"},
		{map[string]float64{"x0": 1, "x4": math.Inf(1)}, "feature x4 is not a finite number"},
		{map[string]float64{"x0": 1, "x4": math.Inf(-1)}, "feature x4 is not a finite number"},
		{map[string]any{"x0": 1, "x2": "1"}, "feature x2 is not a finite number"},
		{map[string]any{"x0": 1, "x2": []int{1}}, "feature x2 is not a finite number"},
		{map[string]string{"x0": "1", "x2": "1"}, "feature x2 is not a finite number"},
	} {
		if err := ofAny.Append(&rows, c.row); err == nil || err.Error() != "table: "+c.want {
			t.Errorf("%v: %v, want %s", c.row, err, c.want)
		}
	}
	// names that are no features, and a column that is called like one, are none
	must.Succeed(t, ofAny.Append(&rows, map[string]any{"x0": nil, "x": nil, "x-1": nil, "x1.5": nil, "x9007199254740992": nil, "y1": nil, "x1": 2}))
	must.Succeed(t, run.Set(&rows))
	if rows.Count != 1 || len(rows.Keys) != 1 || rows.Keys[0] != 1 || rows.Value[0] != 2 {
		t.Errorf("%d rows with the entries %v %v", rows.Count, rows.Keys, rows.Value)
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

// TestWholeNumbersOfEveryWidth: integers of every width and sign have their values, in fields and in maps.
func TestWholeNumbersOfEveryWidth(t *testing.T) {
	type row struct {
		A uint8
		B uint64
		C int16
		D uint
		E int64
	}
	schema := &credence.Schema{Columns: []credence.Column{{Name: "A"}, {Name: "B"}, {Name: "C"}, {Name: "D"}, {Name: "E"}}}
	binding, run := bindTo[any](t, schema)
	for what, v := range map[string]any{
		"struct": row{200, 1 << 40, -5, 7, -1 << 40},
		"map":    map[string]any{"A": uint8(200), "B": uint64(1 << 40), "C": int16(-5), "D": uint(7), "E": int64(-1 << 40)},
	} {
		chunk := readOne(t, binding, run, v)
		for j, want := range []float64{200, 1 << 40, -5, 7, -1 << 40} {
			if got := chunk.Values.Row(0)[j]; got != want {
				t.Errorf("%s: column %s is %v, want %v", what, schema.Columns[j].Name, got, want)
			}
		}
	}
	source := must.Value(Structs([]row{{200, 1 << 40, -5, 7, -1 << 40}, {1, 2, 3, 4, 5}}))(t)
	want(t, source, schema.Columns, []float64{200, 1 << 40, -5, 7, -1 << 40}, []float64{1, 2, 3, 4, 5})
}

// TestLayoutHasTheReading: texts of a program are read as those of training: by the notation of their column, and with
// the texts that meant missing; the text of each category that training did not see is known.
func TestLayoutHasTheReading(t *testing.T) {
	schema := &credence.Schema{Columns: []credence.Column{
		{Name: "g", Kind: credence.Category, Levels: []string{"a", "b"}}, {Name: "day"}, {Name: "x"}, {Name: "h", Kind: credence.Category, Levels: []string{"c"}},
	}, Sparse: 3}
	schema.Reading.Missing = []string{"none"}
	schema.Reading.Set("day", credence.Notation{Date: "dmy"})
	binding, run := bindTo[map[string]any](t, schema)
	chunk := readOne(t, binding, run, map[string]any{"g": "z", "day": "11.01.1970", "x": "none", "h": "q", "x1": 5})
	if row := chunk.Values.Row(0); row[0] != -1 || row[1] != 10 || row[2] == row[2] || row[3] != -1 {
		t.Errorf("the row is %v", row)
	}
	if chunk.Sparse.Rows != 1 || chunk.Sparse.Cols != 3 {
		t.Errorf("%d rows of %d sparse columns", chunk.Sparse.Rows, chunk.Sparse.Cols)
	}
	for column, want := range map[string]string{"g": "z", "h": "q", "x": ""} {
		if text, ok := run.Text(0, column); text != want || ok != (want != "") {
			t.Errorf("the text of %s is %q, %v", column, text, ok)
		}
	}
}
