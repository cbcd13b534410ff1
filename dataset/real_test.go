package dataset

import (
	"path/filepath"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/published"
	"github.com/credence-ml/credence/internal/study"
)

// TestRealFiles reads public data sets whose sizes are known, without a word
// about their format or types.
func TestRealFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("reads ten published sets")
	}
	for _, c := range []struct {
		file          string
		large         bool
		rows, columns int // columns of delimited text, or of the sparse segment
		entries       int // of the sparse segment, 0 if there is none
		categories    int
		check         func(t *testing.T, s credence.Source)
	}{
		{file: "boston/boston.csv.gz", rows: 506, columns: 14},
		{file: "bemtpl97/bemtpl97.csv.gz", large: true, rows: 163_212, columns: 14, categories: 4},
		{file: "fremtpl2_age/fremtpl2_age.csv.gz", large: true, rows: 678_013, columns: 2, check: func(t *testing.T, s credence.Source) {
			requireSum(t, s, "claims", 26_467)
		}},
		{file: "golub_leukemia/golub_leukemia.csv.gz", rows: 72, columns: 7130, categories: 1},
		{file: "alon_colon/alon_colon.csv.gz", rows: 62, columns: 2001, categories: 1},
		{file: "criteo_sample/criteo_sample.csv.gz", rows: 8000, columns: 40, categories: 26, check: func(t *testing.T, s credence.Source) {
			requireSum(t, s, "label", 1728)
		}},
		{file: "talkingdata_sample/talkingdata_sample.csv.gz", large: true, rows: 100_000, columns: 7, categories: 0},
		{file: "a9a/a9a.gz", rows: 32_561, columns: 123, entries: 451_592, check: func(t *testing.T, s credence.Source) {
			requireSum(t, s, "label", 7841-(32_561-7841))
		}},
		{file: "mushrooms/mushrooms.gz", rows: 6513, columns: 126, entries: 143_286},
		{file: "mnist/mnist.gz", large: true, rows: 60_000, columns: 780, entries: 8_994_156},
		{file: "cluto_la12/la12.gz", rows: 6279, columns: 31_472, entries: 939_407},
		{file: "reuters/reuters.gz", rows: 7770, columns: 8315, entries: 339_837},
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			if c.large {
				study.Only(t)
			}
			source, _, err := load(t, Options{}, nil, published.Path(t, c.file))
			if err != nil {
				t.Fatal(err)
			}
			schema := source.Schema()
			columns, categories := len(schema.Columns), 0
			for _, column := range schema.Columns {
				if column.Kind == credence.Category {
					categories++
				}
			}
			if c.entries > 0 {
				columns = schema.Sparse
			}
			if source.Rows() != c.rows || columns != c.columns || categories != c.categories {
				t.Errorf("%d rows, %d columns, %d categories; want %d, %d, %d", source.Rows(), columns, categories, c.rows, c.columns, c.categories)
			}
			entries := 0
			var chunk credence.Chunk
			for first := 0; first < source.Rows(); first += credence.BlockRows {
				if err := source.Read(&chunk, first, min(credence.BlockRows, source.Rows()-first)); err != nil {
					t.Fatal(err)
				}
				entries += chunk.Sparse.Entries()
			}
			if entries != c.entries {
				t.Errorf("%d entries, want %d", entries, c.entries)
			}
			if c.check != nil {
				c.check(t, source)
			}
		})
	}
}

// requireSum adds up a column.
func requireSum(t *testing.T, source credence.Source, name string, want float64) {
	t.Helper()
	j := source.Schema().Index(name)
	sum := 0.0
	for _, row := range rowsOf(t, source, 10_000) {
		sum += row[j]
	}
	if sum != want {
		t.Errorf("%s adds up to %g, want %g", name, sum, want)
	}
}
