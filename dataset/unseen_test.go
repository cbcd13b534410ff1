package dataset

import (
	"reflect"
	"strings"
	"testing"

	"github.com/credence-ml/credence"
)

// Entries beyond the columns of training leave the sum of their squares behind, the
// same in memory and through the cache.
func TestUnseenFeaturesLeaveTheirSquares(t *testing.T) {
	var content strings.Builder
	var want []float64
	for range 3000 { // two chunks through the cache
		content.WriteString("1 2:0.5\n-1 1:3 4:2 2000000000:3\n0.5\n2 4:1\n")
		want = append(want, 0, 13, 0, 1)
	}
	path := write(t, "t.libsvm", content.String())
	schema := &credence.Schema{Columns: []credence.Column{{Name: "label"}}, Sparse: 3, Label: true}
	cache := t.TempDir()
	for name, options := range map[string]Options{
		"memory": {Schema: schema}, "cache": {Schema: schema, MemoryLimit: -1, CacheDir: cache},
		"cache again": {Schema: schema, MemoryLimit: -1, CacheDir: cache},
	} {
		for _, columns := range [][]string{nil, {}} {
			source, table, err := load(t, options, columns, path)
			if err != nil {
				t.Fatal(err)
			}
			var got, labels []float64
			var chunk credence.Chunk
			for first := 0; first < source.Rows(); first += 1000 {
				if err := source.Read(&chunk, first, 1000); err != nil {
					t.Fatal(err)
				}
				got = append(got, chunk.Unseen...)
				for i := range chunk.Rows() {
					labels = append(labels, chunk.Values.Row(i)...)
				}
			}
			if !reflect.DeepEqual(got, want) || table.Dropped() != 9000 {
				t.Fatalf("%s: squares %v …, %d entries dropped", name, got[:min(len(got), 8)], table.Dropped())
			}
			if columns == nil && !reflect.DeepEqual(labels[:4], []float64{1, -1, 0.5, 2}) {
				t.Errorf("%s: labels %v", name, labels[:4])
			}
			if err := source.Read(&chunk, 2, 1); err != nil || chunk.Unseen != nil {
				t.Errorf("%s: a row without such entries has %v, %v", name, chunk.Unseen, err)
			}
		}
	}
}
