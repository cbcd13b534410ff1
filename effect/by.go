package effect

import (
	"fmt"

	"github.com/credence-ml/credence/metric"
)

// Group is what rows have in common, Value a column with one of its values.
type (
	Group = metric.Group
	Value = metric.Value
)

// byColumn is a column by whose values rows are averaged.
type byColumn struct {
	name  string
	place int
}

// byColumns finds the columns in a table.
func byColumns(table *altered, names []string) (list []*byColumn, err error) {
	for _, name := range names {
		place := table.schema.Index(name)
		if place < 0 {
			return nil, fmt.Errorf("there is no column %q in the data to average by", name)
		}
		list = append(list, &byColumn{name, place})
	}
	return list, nil
}

// groupOf returns the group of row i of the run, and a key that tells it from others.
func groupOf(table *altered, by []*byColumn, i int) (key string, name Group) {
	for _, b := range by {
		value := "missing"
		if v := table.run.Values.Row(i)[b.place]; v == v {
			value = table.text(b.place, v)
		}
		key += value + "\x00"
		name = append(name, Value{Column: b.name, Value: value})
	}
	return key, name
}
