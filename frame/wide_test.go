package frame

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/credence-ml/credence"
)

// The map equals one of the language, whatever the numbers of the columns.
func TestColumnMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	var m columnMap
	want := map[int32]int32{}
	for place := range 200 {
		column := rng.IntN(50)
		if place%2 == 0 {
			column = 2_000_000_000 - rng.IntN(50)
		} else if place%5 == 0 {
			column = lowColumns - 3 + rng.IntN(6)
		}
		m.set(column, place)
		want[int32(column)] = int32(place)
		for _, c := range []int32{int32(rng.IntN(60)), int32(2_000_000_000 - rng.IntN(60)), lowColumns - int32(rng.IntN(4))} {
			expected, known := want[c]
			if !known {
				expected = -1
			}
			if got := m.of(c); got != expected || known && int(c) >= m.end {
				t.Fatalf("column %d has place %d, want %d; end %d", c, got, expected, m.end)
			}
		}
	}
	if len(m.low) > lowColumns {
		t.Errorf("the table takes %d columns", len(m.low))
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
	f, err := Fit(t.Context(), &Plan{Inputs: []Expr{Column("id")}}, source, Options{})
	if err != nil {
		t.Fatal(err)
	}
	reversed := slices.Clone(levels)
	slices.Reverse(reversed)
	for _, order := range [][]string{levels, reversed} {
		source.schema.Columns[0].Levels = order
		bound, err := f.Bind(source, IgnoreTargets)
		if err != nil {
			t.Fatal(err)
		}
		batch, err := readAll(bound)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if got := f.Inputs[0].Levels[int(batch.X.Data[i])]; got != order[i] {
				t.Fatalf("row %d has level %s, want %s", i, got, order[i])
			}
		}
	}
}
