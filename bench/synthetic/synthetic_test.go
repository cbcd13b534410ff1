package synthetic

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
)

// Rows are the same in whatever batches of whole blocks they are read.
func TestRowsDependOnTheirIndexAlone(t *testing.T) {
	d := Data{Count: 1300, Inputs: 4, Seed: 7}
	var all, part credence.Batch
	if err := d.Read(&all, 0, d.Count); err != nil {
		t.Fatal(err)
	}
	for first := 0; first < d.Count; first += credence.BlockRows {
		if err := d.Read(&part, first, min(credence.BlockRows, d.Count-first)); err != nil {
			t.Fatal(err)
		}
		for i, y := range part.Target {
			if y != all.Target[first+i] || part.X.Row(i)[3] != all.X.Row(first + i)[3] {
				t.Fatalf("row %d differs", first+i)
			}
		}
	}
	mean, square := 0.0, 0.0
	for i := range d.Count {
		v := all.X.Row(i)[2]
		mean += v / float64(d.Count)
		square += v * v / float64(d.Count)
	}
	// Five standard errors of 1,300 values: √(1/1300) and √(4/5/1300).
	if !(math.Abs(mean) <= 0.14) || !(math.Abs(square-1) <= 0.13) {
		t.Errorf("input of mean %v and mean square %v", mean, square)
	}
}

// Every format reads back as what was written.
func TestFiles(t *testing.T) {
	d := Data{Count: 700, Inputs: 4, Seed: 1}
	var want credence.Batch
	if err := d.Read(&want, 0, d.Count); err != nil {
		t.Fatal(err)
	}
	for _, format := range Formats() {
		path := filepath.Join(t.TempDir(), "rows."+format)
		if err := d.WriteFile(path, format); err != nil {
			t.Fatal(err)
		}
		table, err := dataset.Open(t.Context(), []string{path}, dataset.Options{})
		if err != nil {
			t.Fatal(err)
		}
		source, err := table.Load(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var got credence.Chunk
		if err := source.Read(&got, 0, source.Rows()); err != nil {
			t.Fatal(err)
		}
		if got.Rows() != d.Count {
			t.Fatalf("%s: %d rows", format, got.Rows())
		}
		schema := source.Schema()
		for i := range d.Count {
			var x, y float64
			if format == "libsvm" {
				_, values := got.Sparse.Row(i)
				x, y = values[2], got.Values.Row(i)[0]
			} else {
				x, y = got.Values.Row(i)[schema.Index("x3")], got.Values.Row(i)[schema.Index("y")]
			}
			// Text keeps six digits.
			if !(math.Abs(x-want.X.Row(i)[2]) <= 1e-5) || !(math.Abs(y-want.Target[i]) <= 1e-5) {
				t.Fatalf("%s: row %d is %v, %v, want %v, %v", format, i, x, y, want.X.Row(i)[2], want.Target[i])
			}
		}
		table.Close()
	}
}
