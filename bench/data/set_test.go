package data

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
)

// NumPy 1.x: RandomState(0).permutation(10) and RandomState(42).permutation(10).
func TestFoldsAreThoseOfScikitLearn(t *testing.T) {
	for seed, want := range map[uint32][]int{
		0:  {2, 8, 4, 9, 1, 6, 7, 3, 0, 5},
		42: {8, 1, 5, 0, 7, 2, 9, 4, 3, 6},
	} {
		var got []int
		for _, fold := range Folds(10, 5, seed) {
			got = append(got, fold...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: folds go through %v, want %v", seed, got, want)
		}
	}
	folds := Folds(7, 3, 1)
	if len(folds[0]) != 3 || len(folds[1]) != 2 || len(folds[2]) != 2 {
		t.Errorf("7 rows in 3 folds: %v", folds)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	packed := gzip.NewWriter(file)
	fmt.Fprint(packed, text)
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func firstColumn(t *testing.T, source credence.Source) []float64 {
	t.Helper()
	var chunk credence.Chunk
	if err := source.Read(&chunk, 1, source.Rows()-1); err != nil {
		t.Fatal(err)
	}
	var out []float64
	for i := range chunk.Rows() {
		out = append(out, chunk.Values.Row(i)[0])
	}
	return out
}

func TestSplits(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "boston", "boston.csv.gz"), "x,y\n10,0\n11,1\n12,2\n13,3\n14,4.5\n15,5\n")
	write(t, filepath.Join(folder, "boston", "test_splits.txt.gz"), "0 3\n5 1 2\n")
	set, err := LoadSet(t.Context(), folder, "boston")
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Splits) != 2 {
		t.Fatalf("%d splits, want 2", len(set.Splits))
	}
	train, test := set.Split(1)
	// Without the first row of each.
	if got := firstColumn(t, train); !slices.Equal(got, []float64{13, 14}) {
		t.Errorf("training rows %v", got)
	}
	if got := firstColumn(t, test); !slices.Equal(got, []float64{12, 15}) {
		t.Errorf("test rows %v", got)
	}

	write(t, filepath.Join(folder, "pol", "pol.csv.gz"), "x,y\n10,0\n11,1\n12,2\n13,3\n14,4.5\n15,5\n")
	if set, err = LoadSet(t.Context(), folder, "pol"); err != nil {
		t.Fatal(err)
	}
	if len(set.Splits) != 1 || !slices.Equal(set.Splits[0], []int{4}) {
		t.Errorf("without a file of splits: %v, want row 4", set.Splits)
	}

	for _, bad := range []string{"6\n", "1 1\n", "-1\n", "x\n"} {
		write(t, filepath.Join(folder, "boston", "test_splits.txt.gz"), "0\n"+bad)
		if _, err := LoadSet(t.Context(), folder, "boston"); err == nil || !strings.Contains(err.Error(), "test_splits.txt.gz:2") {
			t.Errorf("split %q: error %v does not name line 2", bad, err)
		}
	}
	if _, err := LoadSet(t.Context(), folder, "iris"); err == nil {
		t.Error("an unknown set was loaded")
	}
	if !Missing(folder, "energy") || Missing(folder, "boston") {
		t.Error("Missing does not tell which sets there are")
	}
}

func TestValidationNeverReadsTestRows(t *testing.T) {
	folder := t.TempDir()
	table := "x,y\n"
	for i := range 41 {
		table += fmt.Sprintf("%d,%d\n", i, i%7)
	}
	write(t, filepath.Join(folder, "boston", "boston.csv.gz"), table)
	write(t, filepath.Join(folder, "boston", "test_splits.txt.gz"), "0 3 8\n5 1 2 40\n")
	set, err := LoadSet(t.Context(), folder, "boston")
	if err != nil {
		t.Fatal(err)
	}
	for k, test := range set.Splits {
		train, held := set.Validation(k)
		if train.Rows()+held.Rows() != 41-len(test) || held.Rows() != 4 {
			t.Fatalf("split %d: %d rows and %d held out of %d", k, train.Rows(), held.Rows(), 41-len(test))
		}
		seen := map[int]bool{}
		for _, row := range append(train.rows, held.rows...) {
			if seen[row] || slices.Contains(test, row) {
				t.Errorf("split %d: row %d is read twice or a test row", k, row)
			}
			seen[row] = true
		}
	}
}
