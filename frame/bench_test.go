package frame

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// flat is a table of numbers in one array, as fast as a source can be.
type flat struct {
	schema credence.Schema
	values linop.Dense
}

func (f *flat) Schema() *credence.Schema { return &f.schema }
func (f *flat) Rows() int                { return f.values.Rows }

func (f *flat) Read(dst *credence.Chunk, first, count int) error {
	dst.First = first
	dst.Values.Reshape(count, f.values.Cols)
	copy(dst.Values.Data, f.values.Data[first*f.values.Cols:])
	return nil
}

func newFlat(rows, columns int) (*flat, *Plan) {
	rng := rand.New(rand.NewPCG(1, 1))
	f, plan := &flat{values: linop.NewDense(rows, columns)}, &Plan{}
	for i := range f.values.Data {
		f.values.Data[i] = rng.NormFloat64()
	}
	for j := range columns {
		name := "c" + strconv.Itoa(j)
		f.schema.Columns = append(f.schema.Columns, credence.Column{Name: name})
		if j > 0 {
			plan.Inputs = append(plan.Inputs, Column(name))
		}
	}
	plan.Target = &Expr{Column: "c0"}
	return f, plan
}

// BenchmarkRead reads 100,000 rows of 20 inputs in blocks; "copy" is the source alone.
func BenchmarkRead(b *testing.B) {
	const rows = 100_000
	source, plan := newFlat(rows, 21)
	f, err := Fit(b.Context(), plan, source, Options{})
	if err != nil {
		b.Fatal(err)
	}
	data, err := f.Bind(source, RequireTargets)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("copy", func(b *testing.B) {
		var chunk credence.Chunk
		b.ReportAllocs()
		for b.Loop() {
			for first := 0; first < rows; first += credence.BlockRows {
				if err := source.Read(&chunk, first, min(credence.BlockRows, rows-first)); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
	})
	b.Run("frame", func(b *testing.B) {
		var batch credence.Batch
		b.ReportAllocs()
		for b.Loop() {
			for first := 0; first < rows; first += credence.BlockRows {
				if err := data.Read(&batch, first, min(credence.BlockRows, rows-first)); err != nil {
					b.Fatal(err)
				}
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
	})
}

func BenchmarkFit(b *testing.B) {
	const rows = 100_000
	source, plan := newFlat(rows, 21)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Fit(b.Context(), plan, source, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

// BenchmarkWide fits and binds a table of 100 rows and 20,000 columns.
func BenchmarkWide(b *testing.B) {
	source, plan := newFlat(100, 20_001)
	b.ReportAllocs()
	for b.Loop() {
		f, err := Fit(b.Context(), plan, source, Options{})
		if err != nil {
			b.Fatal(err)
		}
		data, err := f.Bind(source, RequireTargets)
		if err != nil {
			b.Fatal(err)
		}
		var batch credence.Batch
		if err := data.Read(&batch, 0, data.Rows()); err != nil {
			b.Fatal(err)
		}
		if len(f.Needs(true)) != 20_001 || len(f.Columns()) != 20_001 {
			b.Fatal("columns are lost")
		}
	}
}
