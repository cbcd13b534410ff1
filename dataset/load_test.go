package dataset

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// write stores a file in a fresh folder and returns its path.
func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Succeed(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// load opens and loads, with everything temporary in the test's folder.
func load(t testing.TB, options Options, columns []string, paths ...string) (credence.Source, *Table, error) {
	t.Helper()
	if options.CacheDir == "" {
		options.CacheDir = t.TempDir()
	}
	table, err := Open(context.Background(), paths, options)
	if err != nil {
		return nil, nil, err
	}
	t.Cleanup(func() { table.Close() })
	source, err := table.Load(context.Background(), columns)
	return source, table, err
}

// rowsOf reads a whole source in steps of the given size.
func rowsOf(t testing.TB, source credence.Source, step int) [][]float64 {
	t.Helper()
	var rows [][]float64
	var chunk credence.Chunk
	for first := 0; first < source.Rows(); first += step {
		n := min(step, source.Rows()-first)
		must.Succeed(t, source.Read(&chunk, first, n))
		if chunk.First != first || chunk.Rows() != n || chunk.Sparse.Rows != n {
			t.Fatalf("asked for %d rows from %d, got %d from %d, sparse %d", n, first, chunk.Rows(), chunk.First, chunk.Sparse.Rows)
		}
		for i := range n {
			rows = append(rows, append([]float64(nil), chunk.Values.Row(i)...))
		}
	}
	return rows
}

// sameRows compares bit for bit, but for the payload of NaN.
func sameRows(a, b [][]float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return false
		}
		for j := range a[i] {
			if math.Float64bits(a[i][j]) != math.Float64bits(b[i][j]) && !(math.IsNaN(a[i][j]) && math.IsNaN(b[i][j])) {
				return false
			}
		}
	}
	return true
}

var nan = math.NaN()

func TestLoadCSV(t *testing.T) {
	path := write(t, "train.csv", "age,city,smoker,zip\r\n"+
		"31, Rome ,yes,00120\r\n"+
		"NA,\"San \"\"Juan\"\"\",no,94110\r\n"+
		"\r\n"+
		"-4.5e1,,No,\"00120\"")
	source, table, err := load(t, Options{Types: map[string]credence.Kind{"zip": credence.Category}}, nil, path)
	if err != nil {
		t.Fatal(err)
	}
	want := []credence.Column{
		{Name: "age"},
		{Name: "city", Kind: credence.Category, Levels: []string{"Rome", `San "Juan"`}},
		{Name: "smoker", Kind: credence.Boolean},
		{Name: "zip", Kind: credence.Category, Levels: []string{"00120", "94110"}},
	}
	if got := source.Schema().Columns; !reflect.DeepEqual(got, want) {
		t.Errorf("columns are %v, want %v", got, want)
	}
	if got := rowsOf(t, source, 2); !sameRows(got, [][]float64{{31, 0, 1, 0}, {nan, 1, 0, 1}, {-45, nan, 0, 0}}) {
		t.Errorf("rows are %v", got)
	}
	if notes := table.Notes(); len(notes) != 0 {
		t.Errorf("notes are %v", notes)
	}
	// A choice of columns comes in the order asked for.
	part := must.Value(table.Load(context.Background(), []string{"zip", "age"}))(t)
	if got := rowsOf(t, part, 10); !sameRows(got, [][]float64{{0, 31}, {1, nan}, {0, -45}}) {
		t.Errorf("chosen columns are %v", got)
	}
}

func TestLoadLibSVM(t *testing.T) {
	path := write(t, "train", "# a comment\n+1 1:1 3:0.5\n-1 qid:7 2:1 # more\n\n-1\n")
	source, _, err := load(t, Options{}, nil, path)
	if err != nil {
		t.Fatal(err)
	}
	schema := source.Schema()
	if !schema.Label || schema.Sparse != 3 || schema.Columns[0].Name != "label" {
		t.Fatalf("schema is %+v", schema)
	}
	var chunk credence.Chunk
	must.Succeed(t, source.Read(&chunk, 0, 3))
	if !reflect.DeepEqual(chunk.Values.Data, []float64{1, -1, -1}) ||
		!reflect.DeepEqual(chunk.Sparse.Start, []int{0, 2, 3, 3}) ||
		!reflect.DeepEqual(chunk.Sparse.Index, []int32{0, 2, 1}) ||
		!reflect.DeepEqual(chunk.Sparse.Value, []float64{1, 0.5, 1}) {
		t.Errorf("rows are %+v", chunk)
	}
	source, _, err = load(t, Options{}, nil, write(t, "ones.svm", "1 1:1 2:1\n0 5:1\n"))
	if err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, source.Read(&chunk, 1, 1))
	if chunk.Sparse.Value != nil || chunk.Sparse.Index[0] != 4 {
		t.Errorf("rows of ones are %+v", chunk.Sparse)
	}
}
