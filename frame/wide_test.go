package frame

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// Named columns of a sparse segment are made dense, whatever their numbers and their order.
func TestNamedSparseColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	v := newView(&credence.Schema{Sparse: 2_000_000_000}, nil)
	var numbers []int
	for range 40 {
		column := rng.IntN(60)
		if rng.IntN(2) == 0 {
			column = 1_999_999_999 - rng.IntN(60)
		}
		numbers = append(numbers, column)
		e := Column("x" + strconv.Itoa(column+1))
		must.Succeed(t, v.add(0, &e))
	}
	var chunk credence.Chunk
	chunk.Reset(v.schema, 0)
	var rows []map[int]float64
	for range 200 {
		row := map[int]float64{}
		for range rng.IntN(80) {
			row[rng.IntN(60)], row[1_999_999_999-rng.IntN(60)] = rng.NormFloat64(), 1
		}
		var columns []int32
		var values []float64
		for _, j := range slices.Sorted(maps.Keys(row)) {
			columns, values = append(columns, int32(j)), append(values, row[j])
		}
		chunk.Sparse.AppendRow(columns, append([]float64{}, values...))
		chunk.Values.Rows++
		rows = append(rows, row)
	}
	v.show(&chunk)
	column := make([]float64, len(rows))
	for _, j := range numbers {
		v.gather(column, &v.slots[v.names["x"+strconv.Itoa(j+1)]])
		for i, row := range rows {
			if column[i] != row[j] {
				t.Fatalf("column %d of row %d is %v, want %v", j, i, column[i], row[j])
			}
		}
	}
}

// Levels are found in a time that grows as their number, in training's order and in any other.
func TestManyLevels(t *testing.T) {
	const n = 300_000
	source := &memory{rows: make([][]float64, n)}
	levels := make([]string, n)
	for i := range n {
		levels[i], source.rows[i] = strconv.Itoa(i), []float64{float64(i)}
	}
	source.schema.Columns = []credence.Column{{Name: "id", Kind: credence.Category, Levels: levels}}
	f := must.Value(Fit(t.Context(), &Plan{Inputs: []Expr{Column("id")}}, source, Options{}))(t)
	reversed := slices.Clone(levels)
	slices.Reverse(reversed)
	for _, order := range [][]string{levels, reversed} {
		source.schema.Columns[0].Levels = order
		bound := must.Value(f.Bind(source, IgnoreTargets))(t)
		batch := must.Value(readAll(bound))(t)
		for i := range n {
			if got := f.Inputs[0].Levels[int(batch.X.Data[i])]; got != order[i] {
				t.Fatalf("row %d has level %s, want %s", i, got, order[i])
			}
		}
	}
}
