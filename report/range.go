package report

import (
	"math"
	"slices"
	"strconv"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
)

// columnRange is what the data have of a number: the 1st and 99th percentile, the middle, and the ends.
type columnRange struct{ low, from, middle, to, high float64 }

func (r *columnRange) text() string {
	digits := 3 - math.Ceil(math.Log10(max(r.to-r.from, 1e-300)))
	if unit := math.Pow(10, -digits); digits <= 0 {
		return strconv.FormatFloat(math.Round(r.middle/unit)*unit, 'f', 0, 64)
	}
	return strconv.FormatFloat(r.middle, 'f', int(min(digits, 300)), 64)
}

// rangesOf returns those of the numbers of a table: the ends of all rows, and percentiles of some.
func rangesOf(some, rows credence.Source) (map[string]*columnRange, error) {
	columns := rows.Schema().Columns
	values, ends := make([][]float64, len(columns)), make([][2]float64, len(columns))
	err := eachRow(some, func(row []float64) {
		for j, v := range row {
			if columns[j].Kind == credence.Numeric && v == v {
				values[j] = append(values[j], v)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	ranges := map[string]*columnRange{}
	for j, list := range values {
		if slices.Sort(list); len(list) > 0 {
			ranges[columns[j].Name], ends[j] = &columnRange{from: special.Quantile(list, 0.01), middle: special.Quantile(list, 0.5), to: special.Quantile(list, 0.99)}, [2]float64{list[0], list[0]}
		}
	}
	err = eachRow(rows, func(row []float64) {
		for j, v := range row {
			if v == v && len(values[j]) > 0 {
				ends[j] = [2]float64{min(ends[j][0], v), max(ends[j][1], v)}
			}
		}
	})
	for j, c := range columns {
		if r := ranges[c.Name]; r != nil {
			r.low, r.high = ends[j][0], ends[j][1]
		}
	}
	return ranges, err
}

// eachRow visits the values of every row of a table.
func eachRow(rows credence.Source, visit func(row []float64)) error {
	var chunk credence.Chunk
	for first, count := range credence.Blocks(rows.Rows()) {
		if err := rows.Read(&chunk, first, count); err != nil {
			return err
		}
		for i := range count {
			visit(chunk.Values.Row(i))
		}
	}
	return nil
}
