package formula

import (
	"math/rand/v2"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
)

// memory is a table in memory.
type memory struct {
	schema credence.Schema
	rows   [][]float64
	sparse [][]float64
}

func (m *memory) Schema() *credence.Schema { return &m.schema }
func (m *memory) Rows() int                { return len(m.rows) }

func (m *memory) Read(dst *credence.Chunk, first, count int) error {
	dst.First = first
	dst.Values.Reshape(count, len(m.schema.Columns))
	dst.Sparse.Reset(m.schema.Sparse)
	for i := range count {
		copy(dst.Values.Row(i), m.rows[first+i])
		if m.schema.Sparse == 0 {
			continue
		}
		columns, values := []int32{}, []float64{}
		for j, v := range m.sparse[first+i] {
			if v != 0 {
				columns, values = append(columns, int32(j)), append(values, v)
			}
		}
		dst.Sparse.AppendRow(columns, values)
	}
	return nil
}

// houses has a column of every kind: price, lat, lon and rooms are numbers, new is a boolean,
// zip and type are categories.
func houses(rows int) *memory {
	m := &memory{schema: credence.Schema{Columns: []credence.Column{
		{Name: "price"}, {Name: "lat"}, {Name: "lon"}, {Name: "rooms"},
		{Name: "new", Kind: credence.Boolean},
		{Name: "zip", Kind: credence.Category, Levels: []string{"94110", "94117", "94122"}},
		{Name: "type", Kind: credence.Category, Levels: []string{"flat", "house"}},
	}}}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		m.rows = append(m.rows, []float64{rng.ExpFloat64(), rng.NormFloat64(), rng.NormFloat64(), 1 + float64(i%7),
			float64(i % 2), float64(i % 3), float64(i % 2)})
	}
	return m
}

// libsvm has a label and a segment of 5 sparse columns.
func libsvm(rows int) *memory {
	m := &memory{schema: credence.Schema{Columns: []credence.Column{{Name: "label"}}, Sparse: 5, Label: true}}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range rows {
		m.rows = append(m.rows, []float64{float64(i%2)*2 - 1})
		row := make([]float64, 5)
		for j := range row {
			if rng.IntN(2) == 0 {
				row[j] = rng.NormFloat64()
			}
		}
		m.sparse = append(m.sparse, row)
	}
	return m
}

// fit compiles a formula and fits its frame.
func fit(t *testing.T, text string, source *memory, options frame.Options) (*Plan, *frame.Frame, credence.Data) {
	t.Helper()
	plan, err := Parse(text, source.Schema(), Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	fr, err := frame.Fit(t.Context(), &plan.Frame, source, options)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	data, err := fr.Bind(source, frame.RequireTargets)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return plan, fr, data
}
