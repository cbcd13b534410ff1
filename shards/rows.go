package shards

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/linop"
)

// some is a source of the rows that a part or a job has, of columns without a sparse segment.
type some struct {
	schema *credence.Schema
	values []float64 // row by row
}

func (s *some) Schema() *credence.Schema { return s.schema }

func (s *some) Rows() int {
	if len(s.schema.Columns) == 0 {
		return 0
	}
	return len(s.values) / len(s.schema.Columns)
}

func (s *some) Read(dst *credence.Chunk, first, count int) error {
	width := len(s.schema.Columns)
	if first < 0 || count < 0 || (first+count)*width > len(s.values) {
		return fmt.Errorf("shards: rows [%d, %d) of %d that were carried", first, first+count, s.Rows())
	}
	dst.First, dst.Unseen = first, nil
	dst.Values.Reshape(count, width)
	copy(dst.Values.Data, s.values[first*width:(first+count)*width])
	dst.Sparse = linop.CSR{Rows: count, Start: make([]int, count+1)}
	return nil
}

// carried are the rows of a model of which only some can be read, by their places among all.
type carried struct {
	problem.Memory
	rows   int
	places []int // ascending
	source []int // rows of the table that they are
}

// add adds rows of a source under a frame, behind those that are there.
func (c *carried) add(fr *frame.Frame, from *some, places, source []int) error {
	bound, err := fr.Bind(from, frame.RequireTargets)
	if err != nil {
		return err
	}
	if bound.Rows() != len(places) || len(source) != len(places) {
		return fmt.Errorf("%d rows were carried for %d places", bound.Rows(), len(places))
	}
	for batch, err := range credence.Batches(context.Background(), bound) {
		if err != nil {
			return err
		}
		c.All.Append(batch, 0, batch.Rows())
	}
	c.places, c.source = append(c.places, places...), append(c.source, source...)
	return nil
}

// Rows returns the number of all rows.
func (c *carried) Rows() int { return c.rows }

// Read reads rows that are there.
func (c *carried) Read(dst *credence.Batch, first, count int) error {
	at, found := slices.BinarySearch(c.places, first)
	if last := at + count - 1; !found || count > 0 && (last >= len(c.places) || c.places[last] != first+count-1) {
		return fmt.Errorf("shards: rows %d to %d of the table were not carried: fit on one machine", first+1, first+count)
	}
	err := c.Memory.Read(dst, at, count)
	dst.First = first
	return err
}

// SourceRow returns the row of the table that row i of the model is, which is there.
func (c *carried) SourceRow(i int) int {
	at, _ := slices.BinarySearch(c.places, i)
	return c.source[min(at, len(c.source)-1)]
}

// Lacking says that no row is there.
func (c *carried) Lacking() bool { return len(c.places) == 0 }

// beside is a table of columns outside the formula, of which only some rows are known: others are missing.
type beside struct {
	some
	rows   int
	source []int // ascending
}

func (b *beside) Rows() int { return b.rows }

func (b *beside) Read(dst *credence.Chunk, first, count int) error {
	width := len(b.schema.Columns)
	dst.First, dst.Unseen = first, nil
	dst.Values.Reshape(count, width)
	dst.Sparse = linop.CSR{Rows: count, Start: make([]int, count+1)}
	at, _ := slices.BinarySearch(b.source, first)
	for i := range count {
		row := dst.Values.Row(i)
		if at < len(b.source) && b.source[at] == first+i {
			copy(row, b.values[at*width:(at+1)*width])
			at++
			continue
		}
		for j := range row {
			row[j] = math.NaN()
		}
	}
	return nil
}

// add adds so many rows with levels of their own, whose codes become those of all.
func (s *some) add(from *some, rows int) error {
	if len(from.schema.Columns) != len(s.schema.Columns) || from.Rows() != rows {
		return fmt.Errorf("the columns outside the formula are others in another part")
	}
	width, values := len(s.schema.Columns), slices.Clone(from.values)
	for j := range s.schema.Columns {
		levels := map[string]float64{}
		for k, level := range s.schema.Columns[j].Levels {
			levels[level] = float64(k)
		}
		own := from.schema.Columns[j].Levels
		for i := j; i < len(values) && own != nil; i += width {
			if code := values[i]; code >= 0 && int(code) < len(own) {
				values[i] = levels[own[int(code)]]
			}
		}
	}
	s.values = append(s.values, values...)
	return nil
}

// unite makes one list of the levels of each column, in the order in which one machine has them.
func unite(all []*credence.Schema) *credence.Schema {
	united := &credence.Schema{}
	for _, schema := range all {
		if len(united.Columns) == 0 {
			united.Columns = slices.Clone(schema.Columns)
			for j := range united.Columns {
				united.Columns[j].Levels = nil
			}
		}
		for j := range min(len(united.Columns), len(schema.Columns)) {
			united.Columns[j].Levels = append(united.Columns[j].Levels, schema.Columns[j].Levels...)
		}
	}
	for j := range united.Columns {
		levels := united.Columns[j].Levels
		slices.Sort(levels)
		levels = slices.Compact(levels)
		cell.SortLevels(levels)
		united.Columns[j].Levels = levels
	}
	return united
}

// ints are whole numbers as vectors hold them.
func ints(values []float64) []int {
	out := make([]int, len(values))
	for i, v := range values {
		out[i] = int(v)
	}
	return out
}

func floats(values []int) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}
