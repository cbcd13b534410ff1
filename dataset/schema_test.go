package dataset

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

var training = &credence.Schema{Columns: []credence.Column{
	{Name: "age"},
	{Name: "city", Kind: credence.Category, Levels: []string{"Rome", "Bern", "NA"}},
	{Name: "smoker", Kind: credence.Boolean},
	{Name: "cost"},
}}

// TestReadAsInTraining finds columns by name, whatever their order, kinds and
// neighbours in the new file.
func TestReadAsInTraining(t *testing.T) {
	path := write(t, "new.csv", "id,smoker,city,age\n"+
		"a1,1,Bern,30\n"+
		"a2,no,Oslo,31\n"+
		"a3,,Rome,NA\n"+
		"a4,0,Oslo,32\n"+
		"a5,0,Paris,33\n"+
		"a6,0,,34\n")
	for _, limit := range []int64{0, -1, -1} { // the third time from the cache
		options := Options{Schema: training, MemoryLimit: limit, CacheDir: t.TempDir()}
		for range 2 {
			source, table, err := load(t, options, []string{"age", "city", "smoker"}, path)
			if err != nil {
				t.Fatal(err)
			}
			if got := source.Schema().Columns; !reflect.DeepEqual(got, training.Columns[:3]) {
				t.Errorf("columns are %v", got)
			}
			if got := rowsOf(t, source, 4); !sameRows(got, [][]float64{{30, 1, 1}, {31, -1, 0}, {nan, 0, nan}, {32, -1, 0}, {33, -1, 0}, {34, nan, 0}}) {
				t.Errorf("rows are %v", got)
			}
			want := []Unseen{{Column: "city", Rows: 3, Examples: []Example{{"Oslo", path, 3}, {"Paris", path, 6}}}}
			if got := table.Unseen(); !reflect.DeepEqual(got, want) {
				t.Errorf("unseen are %+v", got)
			}
		}
	}
	// A column to be kept beside those of the model has its own levels.
	source, _, err := load(t, Options{Schema: training}, []string{"id", "age"}, path)
	if err != nil {
		t.Fatal(err)
	}
	if levels := source.Schema().Columns[0].Levels; !reflect.DeepEqual(levels, []string{"a1", "a2", "a3", "a4", "a5", "a6"}) {
		t.Errorf("levels are %q", levels)
	}
	_, _, err = load(t, Options{Schema: training}, nil, path)
	if err == nil || !strings.Contains(err.Error(), `dataset: the model needs the column "cost", which `) {
		t.Errorf("error is %v", err)
	}
	// A number column of training stays one, whatever the new file looks like.
	_, _, err = load(t, Options{Schema: training}, []string{"age"}, write(t, "new.csv", "age\nold\nyoung\n"))
	if err == nil || !strings.Contains(err.Error(), `new.csv:2: column "age": "old" is not a number`) {
		t.Errorf("error is %v", err)
	}
}

func TestSparseColumnsBeyondTraining(t *testing.T) {
	trained := &credence.Schema{Columns: []credence.Column{{Name: "label"}}, Sparse: 3}
	path := write(t, "new.svm", "1 1:1 3:1 4:1\n0 7:1 9:1\n1 2:0.5\n")
	for _, limit := range []int64{0, -1} {
		source, table, err := load(t, Options{Schema: trained, MemoryLimit: limit}, nil, path)
		if err != nil {
			t.Fatal(err)
		}
		if table.Dropped() != 3 || source.Schema().Sparse != 3 {
			t.Errorf("%d entries dropped, %d columns", table.Dropped(), source.Schema().Sparse)
		}
		var chunk credence.Chunk
		must.Succeed(t, source.Read(&chunk, 0, 3))
		if !reflect.DeepEqual(chunk.Sparse.Start, []int{0, 2, 2, 3}) || !reflect.DeepEqual(chunk.Sparse.Index, []int32{0, 2, 1}) ||
			!reflect.DeepEqual(chunk.Sparse.Value, []float64{1, 1, 0.5}) || chunk.Sparse.Cols != 3 {
			t.Errorf("rows are %+v", chunk.Sparse)
		}
	}
	_, _, err := load(t, Options{Schema: trained}, nil, write(t, "new.csv", "label,x\n1,2\n"))
	if err == nil || !strings.Contains(err.Error(), "new.csv: the model was trained on the numbered columns of a libsvm file") {
		t.Errorf("error is %v", err)
	}
}

// TestParquetAsInTraining reads numbers, texts and booleans by the kinds of
// training.
func TestParquetAsInTraining(t *testing.T) {
	type row struct {
		City   string  `parquet:"city,dict"`
		Age    string  `parquet:"age"`
		Smoker int32   `parquet:"smoker"`
		Cost   float64 `parquet:"cost"`
		Code   float64 `parquet:"code"`
		Flag   bool    `parquet:"flag"`
	}
	path := writeParquet(t, []row{{"Bern", "30", 1, 2, 94110, true}, {"Oslo", "n/a", 0, 3, 0.5, false}, {"NA", "", 0, 4, 94110, true}})
	options := Options{Schema: training, MissingTokens: []string{"n/a"},
		Types: map[string]credence.Kind{"code": credence.Category, "flag": credence.Category}}
	source, table, err := load(t, options, []string{"age", "city", "smoker", "cost", "code", "flag"}, path)
	if err != nil {
		t.Fatal(err)
	}
	// Parquet says itself what is missing: "NA" is a level.
	if got := rowsOf(t, source, 5); !sameRows(got, [][]float64{{30, 1, 1, 2, 1, 1}, {nan, -1, 0, 3, 0, 0}, {nan, 2, 0, 4, 1, 1}}) {
		t.Errorf("rows are %v", got)
	}
	if levels := source.Schema().Columns[4].Levels; !reflect.DeepEqual(levels, []string{"0.5", "94110"}) {
		t.Errorf("levels are %q", levels)
	}
	if unseen := table.Unseen(); len(unseen) != 1 || unseen[0].Rows != 1 || unseen[0].Examples[0].Value != "Oslo" {
		t.Errorf("unseen are %+v", unseen)
	}
	_, _, err = load(t, Options{Types: map[string]credence.Kind{"age": credence.Numeric}}, []string{"age"}, path)
	if err == nil || !strings.Contains(err.Error(), `rows.parquet: row 2: column "age": "n/a" is not a number; declare it with --missing n/a`) {
		t.Errorf("error is %v", err)
	}
}

// TestNothingIsKept counts rows without columns.
func TestNothingIsKept(t *testing.T) {
	for _, path := range []string{write(t, "t.csv", "a,b\n1,2\n3,\"x\ny\"\n"), write(t, "t.svm", "1 1:1\n0 2:1\n")} {
		table := must.Value(Open(context.Background(), []string{path}, Options{CacheDir: t.TempDir()}))(t)
		source, err := table.Load(context.Background(), []string{})
		if err != nil || source.Rows() != 2 || len(source.Schema().Columns) != 0 {
			t.Errorf("%s: %v, %v", path, source, err)
		}
	}
}
