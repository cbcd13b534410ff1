package formula

import (
	"strconv"
	"testing"

	"github.com/credence-ml/credence"
)

// BenchmarkCompile compiles "." of a table of 20,000 columns.
func BenchmarkCompile(b *testing.B) {
	schema := &credence.Schema{Columns: []credence.Column{{Name: "y"}}}
	for j := range 20_000 {
		schema.Columns = append(schema.Columns, credence.Column{Name: "gene" + strconv.Itoa(j)})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("y ~ . - gene7", schema, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
