package dataset

import (
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/table"
)

// kinds gives columns that had no value in the sample their kind, by their first
// value in row order. Until then, and within the parsers for ever, they are read as
// texts.
type kinds struct {
	rules   cell.Rules
	columns []table.Column  // shared by runs; replaced when a kind becomes known
	open    []*cell.Setting // of those that the parsers read as texts, nil of others
	any     bool            // some are open
	faults  []table.Fault
}

// newKinds returns the kinds of the columns of a selection.
func newKinds(chosen *selection, rules cell.Rules) *kinds {
	k := &kinds{rules: rules, columns: chosen.rowColumns(), open: chosen.unknown}
	for i := range k.columns {
		k.any = k.any || k.open[i] != nil
	}
	return k
}

// firstValue returns the first row, from a row on, that has a value in column j, or
// the number of rows.
func firstValue(rows *table.Rows, j, from int) int {
	for i := from; i < rows.Count; i++ {
		if v := rows.Row(i)[j]; v == v {
			return i
		}
	}
	return rows.Count
}

// settle decides the kinds that the rows tell and turns texts of number and boolean
// columns into numbers. Rows with other texts there become faults.
func (k *kinds) settle(rows *table.Rows) {
	rows.Columns = k.columns
	if !k.any {
		return
	}
	k.faults = k.faults[:0]
	for j := range k.columns {
		if k.open[j] == nil {
			continue
		}
		if k.columns[j].Unknown {
			first := firstValue(rows, j, 0)
			if first == rows.Count {
				continue
			}
			k.columns = slices.Clone(k.columns)
			settle(&k.columns[j], rows.TextOf(j, rows.Row(first)[j]), k.open[j])
			rows.Columns = k.columns
		}
		if k.columns[j].Kind != credence.Category {
			k.convert(rows, j)
		}
	}
	if len(k.faults) > 0 {
		dropFaulty(rows, k.faults)
	}
}

// settle sets the kind and the notation that the first value of a column tells, with what is known beside it.
func settle(c *table.Column, first []byte, set *cell.Setting) {
	var census cell.Census
	census.Add(first, &cell.Rules{})
	v := census.Decide(*set)
	if v.Refusal != "" {
		v = cell.Verdict{Kind: cell.Category}
	}
	c.Kind, c.Unknown, c.Notation = kindOf(v.Kind), v.Kind == cell.Unknown, v.Notation
}

// convert replaces the texts in column j by the numbers they spell.
func (k *kinds) convert(rows *table.Rows, j int) {
	read := k.rules.Boolean
	if k.columns[j].Kind == credence.Numeric {
		read = func(text []byte) (float64, string) { return k.rules.Number(text, &k.columns[j].Notation) }
	}
	for i := range rows.Count {
		row := rows.Row(i)
		if row[j] != row[j] {
			continue
		}
		bare := rows.TextOf(j, row[j])
		var fault string
		if row[j], fault = read(bare); fault != "" {
			row[j] = math.NaN()
			k.faults = append(k.faults, table.Fault{Row: i, End: rows.Ends[i],
				Err: &text.Error{File: rows.File, Line: rows.Line(i), Column: k.columns[j].Name, Text: string(bare), What: fault}})
		}
	}
}

// kindOf returns the kind of a column that the census takes it for; a column
// without any value is a number that is always missing.
func kindOf(kind cell.Kind) credence.Kind {
	switch kind {
	case cell.Boolean:
		return credence.Boolean
	case cell.Category:
		return credence.Category
	}
	return credence.Numeric
}

// dropFaulty makes rows into faults, which are given by their row, one row perhaps
// more than once.
func dropFaulty(rows *table.Rows, faults []table.Fault) {
	slices.SortStableFunc(faults, func(a, b table.Fault) int { return a.Row - b.Row })
	faults = slices.CompactFunc(faults, func(a, b table.Fault) bool { return a.Row == b.Row })
	var merged []table.Fault
	var places []table.Place
	kept, next, entries := 0, 0, 0
	width, sparse := len(rows.Columns), len(rows.Start) > 0
	earlier := rows.Faults
	for i := 0; i <= rows.Count; i++ {
		for len(earlier) > 0 && earlier[0].Row == i {
			merged = append(merged, table.Fault{Row: kept, End: earlier[0].End, Err: earlier[0].Err})
			earlier = earlier[1:]
		}
		if i == rows.Count {
			break
		}
		if next < len(faults) && faults[next].Row == i {
			merged = append(merged, table.Fault{Row: kept, End: faults[next].End, Err: faults[next].Err})
			next++
			continue
		}
		places = append(places, table.Place{Row: kept, Line: rows.Line(i)})
		copy(rows.Values[kept*width:], rows.Row(i))
		rows.Ends[kept] = rows.Ends[i]
		if sparse {
			from, to := rows.Start[i], rows.Start[i+1]
			rows.Start[kept] = entries
			entries += copy(rows.Keys[entries:], rows.Keys[from:to])
			copy(rows.Value[min(rows.Start[kept], len(rows.Value)):], rows.Value[min(from, len(rows.Value)):min(to, len(rows.Value))])
			copy(rows.Space[min(rows.Start[kept], len(rows.Space)):], rows.Space[min(from, len(rows.Space)):min(to, len(rows.Space))])
			copy(rows.Tokens[min(rows.Start[kept], len(rows.Tokens)):], rows.Tokens[min(from, len(rows.Tokens)):min(to, len(rows.Tokens))])
		}
		kept++
	}
	if sparse {
		rows.Start[kept] = entries
		rows.Start, rows.Keys = rows.Start[:kept+1], rows.Keys[:entries]
	}
	rows.Count, rows.Values, rows.Ends = kept, rows.Values[:kept*width], rows.Ends[:kept]
	rows.Places, rows.Faults = places, merged
}
