package effect

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/score"
)

// mostMade is the largest number of rows of a grid.
const mostMade = 100_000

// made returns a table of one row: numbers at their means, over the rows of data or else in training, and categories at
// their bases. A balanced one has every combination of levels instead. Notes say what is taken for granted.
func made(scorer *score.Scorer, data credence.Source, options *Options) (_ credence.Source, notes []string, err error) {
	schema := *scorer.Frame().Schema()
	if data != nil {
		schema = *data.Schema()
	}
	schema.Columns = slices.Clone(schema.Columns)
	from := newAltered(&grid{schema: &schema, rows: [][]float64{make([]float64, len(schema.Columns))}})
	row := from.source.(*grid).rows[0]
	for j := range row {
		row[j] = math.NaN() // a target, which nobody reads
	}
	rows := [][]float64{row}
	columns, err := columnsOf(scorer, from, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range columns {
		value := c.mean
		if data != nil && !c.category() && c.sparse < 0 {
			given := newAltered(data)
			if err := given.weigh(scorer.Frame().Weight, scorer.Frame().Missing); err != nil {
				return nil, nil, err
			}
			numbers, err := given.numbers(c)
			if err != nil {
				return nil, nil, err
			}
			if value = 0; len(numbers.values) > 0 {
				value = stat.Mean(numbers.values, numbers.weights)
			}
		}
		if !c.input && data == nil {
			if value = c.free; c.offset && !slices.ContainsFunc(options.At, func(pair string) bool { return strings.HasPrefix(pair, c.name+"=") }) {
				notes = append(notes, fmt.Sprintf("the row is of %s %s, where the offset is 0; --at %s takes another", c.name, number(value), cell.Shell(c.name+"=VALUE")))
			}
		}
		if !c.category() && c.sparse < 0 && math.IsNaN(value) {
			return nil, nil, fmt.Errorf("the model does not hold the training mean of column %s: give data, or --at %s", c.name, cell.Shell(c.name+"=VALUE"))
		}
		levels := []string{c.base}
		if options.Balanced && c.category() {
			levels = c.levels
		}
		if len(rows)*len(levels) > mostMade {
			return nil, nil, fmt.Errorf("the levels of all categories have more than %d combinations: leave --grid out, and average over data", mostMade)
		}
		var more [][]float64
		for _, old := range rows {
			for _, level := range levels {
				r := slices.Clone(old)
				for _, place := range c.places {
					if r[place] = value; c.category() {
						r[place] = from.code(place, level)
					}
				}
				more = append(more, r)
			}
		}
		rows = more
	}
	schema.Columns = from.schema.Columns
	return &grid{schema: &schema, rows: rows}, notes, nil
}

// grid is a table in memory without sparse entries.
type grid struct {
	schema *credence.Schema
	rows   [][]float64
}

func (g *grid) Schema() *credence.Schema { return g.schema }

func (g *grid) Rows() int { return len(g.rows) }

func (g *grid) Read(dst *credence.Chunk, first, count int) error {
	dst.First, dst.Unseen = first, nil
	dst.Values.Reshape(count, len(g.schema.Columns))
	dst.Sparse.Reset(g.schema.Sparse)
	for i := range count {
		copy(dst.Values.Row(i), g.rows[first+i])
		if g.schema.Sparse > 0 {
			dst.Sparse.AppendRow(nil, nil)
		}
	}
	return nil
}
