package shards

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/linop"
)

// some is a source of rows that a part or a job has, of columns without a sparse segment. Where source says which rows
// of a table they are, it is that table, in which others are missing.
type some struct {
	schema *credence.Schema
	values []float64 // row by row
	rows   int       // of the table
	source []int     // ascending; nil for all rows
}

func (s *some) Schema() *credence.Schema { return s.schema }

func (s *some) Rows() int {
	if s.source != nil || len(s.schema.Columns) == 0 {
		return s.rows
	}
	return len(s.values) / len(s.schema.Columns)
}

func (s *some) Read(dst *credence.Chunk, first, count int) error {
	width, at := len(s.schema.Columns), first
	if first < 0 || count < 0 || first+count > s.Rows() {
		return fmt.Errorf("shards: rows [%d, %d) of %d that were carried", first, first+count, s.Rows())
	}
	dst.First, dst.Unseen = first, nil
	dst.Values.Reshape(count, width)
	dst.Sparse = linop.CSR{Rows: count, Start: make([]int, count+1)}
	if s.source != nil {
		at, _ = slices.BinarySearch(s.source, first)
	}
	for i := range count {
		row := dst.Values.Row(i)
		if s.source == nil || at < len(s.source) && s.source[at] == first+i {
			copy(row, s.values[at*width:(at+1)*width])
			at++
			continue
		}
		for j := range row {
			row[j] = math.NaN()
		}
	}
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

// unite makes one table of rows whose categories have levels of their own, and codes in the order in which one machine
// has the levels; without a schema where there are no rows.
func unite(parts []some) (all some, err error) {
	for p := range parts {
		columns := parts[p].schema.Columns
		if all.schema == nil {
			all.schema = &credence.Schema{Columns: slices.Clone(columns)}
		}
		if len(columns) == 0 || len(columns) != len(all.schema.Columns) || len(parts[p].values)%len(columns) != 0 {
			return all, errors.New("rows that parts carry have other columns in another part: run credence partial again")
		}
		for j := range columns {
			to := &all.schema.Columns[j]
			to.Levels = append(slices.Clip(to.Levels), columns[j].Levels...)
		}
	}
	if all.schema == nil {
		return all, nil
	}
	codes := make([]map[string]float64, len(all.schema.Columns))
	for j := range codes {
		levels := slices.Clone(all.schema.Columns[j].Levels)
		slices.Sort(levels)
		levels = slices.Compact(levels)
		cell.SortLevels(levels)
		all.schema.Columns[j].Levels, codes[j] = levels, map[string]float64{}
		for k, level := range levels {
			codes[j][level] = float64(k)
		}
	}
	for _, part := range parts {
		for i, code := range part.values {
			j := i % len(codes)
			if own := part.schema.Columns[j].Levels; code >= 0 && code < float64(len(own)) {
				code = codes[j][own[int(code)]]
			}
			all.values = append(all.values, code)
		}
	}
	return all, nil
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
