package score

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/credence-ml/credence/metric"
)

// mostGroups is how many groups an evaluation has at most.
const mostGroups = 1000

// group gathers the metrics of the rows of a group.
type group struct {
	measures
	name metric.Group
	key  string
}

// By asks for the same metrics of each group of rows, besides those of all: rows of a group have the same texts of the
// columns, which of returns; an empty one says that the row lacks a value. Rows are asked for once each, in order. More
// than 1,000 groups are an error of [Evaluation.Add].
func (e *Evaluation) By(columns []string, of func(rows *Rows, i int) ([]string, error)) {
	e.by, e.groupOf, e.groups = columns, of, map[string]*group{}
}

// group returns the group of row i.
func (e *Evaluation) group(rows *Rows, i int) (*group, error) {
	texts, err := e.groupOf(rows, i)
	if err != nil {
		return nil, err
	}
	key := strings.Join(texts, "\x00")
	if g, known := e.groups[key]; known {
		return g, nil
	}
	columns := strings.Join(e.by, ", ")
	if len(e.groups) == mostGroups {
		return nil, fmt.Errorf("%s: there are more than %d groups by %s: name columns with fewer values, or write a column of ranges into the data", rows.Place(i), mostGroups, columns)
	}
	if len(texts) != len(e.by) {
		return nil, fmt.Errorf("%s: there are %d texts of the columns %s: give one for each", rows.Place(i), len(texts), columns)
	}
	g := &group{measures: e.none, key: key}
	g.places = e.draws()
	if e.classification != nil {
		g.classification = &metric.Classification{}
	}
	if e.deviance != nil {
		g.deviance = &metric.Deviance{}
	}
	for k, text := range texts {
		g.name = append(g.name, metric.Value{Column: e.by[k], Value: cmp.Or(text, "missing")})
	}
	e.groups[key] = g
	return g, nil
}
