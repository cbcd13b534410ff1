package effect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
)

// Group is what rows have in common: the values of some columns, in JSON an object in their order.
type Group []Value

// Value is a column with one of its values.
type Value struct{ Column, Value string }

// MarshalJSON writes {"column": "value", …}.
func (g Group) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, v := range g {
		if i > 0 {
			text = append(text, ',')
		}
		name, err := json.Marshal(v.Column)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(v.Value)
		if err != nil {
			return nil, err
		}
		text = append(append(append(text, name...), ':'), value...)
	}
	return append(text, '}'), nil
}

// String writes the values for people.
func (g Group) String() string {
	var texts []string
	for _, v := range g {
		texts = append(texts, v.Column+" "+v.Value)
	}
	return strings.Join(texts, ", ")
}

// compare orders groups of the same columns by their values, numbers by size.
func (g Group) compare(other Group) int {
	for k, v := range g {
		a, aErr := strconv.ParseFloat(v.Value, 64)
		b, bErr := strconv.ParseFloat(other[k].Value, 64)
		order := strings.Compare(v.Value, other[k].Value)
		if aErr == nil && bErr == nil {
			order = cmp.Compare(a, b)
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

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
			column := &table.schema.Columns[b.place]
			switch {
			case column.Kind == credence.Category && int(v) < len(column.Levels):
				value = column.Levels[int(v)]
			case column.Kind == credence.Boolean:
				value = fmt.Sprint(v != 0)
			default:
				value = number(v)
			}
		}
		key += value + "\x00"
		name = append(name, Value{b.name, value})
	}
	return key, name
}
