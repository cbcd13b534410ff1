package table

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// under is a run of three rows of a file under a schema that has the first two of their three columns, and one level.
func under(t *testing.T) (*Run, *Rows) {
	columns := []Column{{Name: "x"}, {Name: "zip", Kind: credence.Category}, {Name: "more"}}
	rows := &Rows{}
	rows.Reset("a.csv", columns)
	for i, zip := range []string{"b", "", "new"} {
		code := nan
		if zip != "" {
			found, _ := rows.Levels[1].Find([]byte(zip), i)
			code = float64(found)
		}
		rows.At(2 + 3*i)
		rows.Values = append(rows.Values, float64(i), code, 9)
		rows.Count++
	}
	run := NewRun(&credence.Schema{Columns: []credence.Column{{Name: "x"}, {Name: "zip", Kind: credence.Category, Levels: []string{"a", "b"}}}})
	must.Succeed(t, run.Set(rows))
	return run, rows
}

// TestRunReadsTheColumnsOfItsSchema: columns behind those of the schema are left out, a level that the schema lacks is
// −1, and what stood in a row can still be asked for.
func TestRunReadsTheColumnsOfItsSchema(t *testing.T) {
	run, rows := under(t)
	var chunk credence.Chunk
	must.Succeed(t, run.Read(&chunk, 1, 2))
	if got := fmt.Sprint(chunk.Values.Row(0), chunk.Values.Row(1), chunk.First, chunk.Unseen); got != "[1 NaN] [2 -1] 1 []" {
		t.Errorf("rows are %s", got)
	}
	for i, want := range []string{"b true", " false", "new true"} {
		text, ok := run.Text(i, "zip")
		if got := fmt.Sprint(text, " ", ok); got != want {
			t.Errorf("row %d: the text is %s, want %s", i, got, want)
		}
	}
	if text, ok := run.Text(0, "x"); ok {
		t.Errorf("a number has the text %q", text)
	}
	for from, want := range [][]string{{"2 zip new"}, {"2 zip new"}, {"2 zip new"}, nil} {
		var got []string
		run.Unseen(from, func(row int, column string, text []byte) {
			got = append(got, fmt.Sprint(row, " ", column, " ", string(text)))
		})
		if !slices.Equal(got, want) {
			t.Errorf("from row %d on %q is unseen, want %q", from, got, want)
		}
	}
	if a, b := run.Place(0), run.Place(2); a != "a.csv:2" || b != "a.csv:8" {
		t.Errorf("rows stand at %s and %s", a, b)
	}
	rows.File = ""
	if got := run.Place(2); got != "row 3" {
		t.Errorf("a row of a program stands at %s", got)
	}
	rows.File, rows.Places = "a.csv", nil
	if got := run.Place(2); got != "row 3" {
		t.Errorf("a row without a line stands at %s", got)
	}
}

// TestRunRefusesOtherColumns: rows must begin with the schema's columns, by name and kind, and are looked at again
// after a refusal.
func TestRunRefusesOtherColumns(t *testing.T) {
	run, _ := under(t)
	x, zip := Column{Name: "x"}, Column{Name: "zip", Kind: credence.Category}
	for _, c := range []struct {
		columns []Column
		want    string
	}{
		{[]Column{x}, "rows of 1 columns for a schema of 2"},
		{[]Column{zip, x}, `rows with the category "zip" for a schema with the number "x"`},
		{[]Column{x, {Name: "zip"}}, `rows with the number "zip" for a schema with the category "zip"`},
		{[]Column{x, {Name: "Zip", Kind: credence.Category}}, `rows with the category "Zip" for a schema with the category "zip"`},
		{[]Column{{Name: "x", Kind: credence.Boolean}, zip}, ""},
	} {
		for range 2 {
			err := run.Set(&Rows{Columns: c.columns})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		}
	}
}

// TestRunFindsFeaturesByKey: where the schema describes its sparse columns, an entry is that of the column with its
// key, the columns of a row ascend whatever the order of its keys, and an entry of another key counts among those
// outside, by its square.
func TestRunFindsFeaturesByKey(t *testing.T) {
	run := NewRun(&credence.Schema{Sparse: 2, SparseNames: credence.SparseNames{Features: []credence.SparseFeature{{Key: 70}, {Key: 5}}}})
	rows := &Rows{Count: 2, Start: []int{0, 3, 4}, Keys: []uint64{5, 1, 70, 0}, Value: []float64{2, 3, 4, 5}}
	must.Succeed(t, run.Set(rows))
	for _, c := range []struct {
		ones bool
		want string
	}{{false, "[0 1] [4 2] [9 25] 2"}, {true, "[0 1] [1 1] [1 1] 2"}} {
		rows.Ones = c.ones
		var chunk credence.Chunk
		must.Succeed(t, run.Read(&chunk, 0, 2))
		columns, values := chunk.Sparse.Row(0)
		if got := fmt.Sprint(columns, values, chunk.Unseen, run.Outside()); got != c.want {
			t.Errorf("ones %t: entries %s, want %s", c.ones, got, c.want)
		}
		must.Succeed(t, run.Read(&chunk, 1, 1))
		if columns, _ := chunk.Sparse.Row(0); len(columns) != 0 || run.Outside() != 1 {
			t.Errorf("the other row has %v, and %d outside", columns, run.Outside())
		}
	}
}
