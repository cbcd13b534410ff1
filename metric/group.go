package metric

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
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

// Compare orders groups of the same columns by their values: numbers by size, and texts behind them by their bytes, as
// are texts of one number, such as 1 and 1.0.
func (g Group) Compare(other Group) int {
	for k, v := range g {
		a, aErr := strconv.ParseFloat(v.Value, 64)
		b, bErr := strconv.ParseFloat(other[k].Value, 64)
		order := 0
		switch { // by bytes alone, 9 < 10 < 1a < 9 would be no order
		case aErr == nil && bErr == nil:
			order = cmp.Compare(a, b)
		case aErr == nil:
			order = -1
		case bErr == nil:
			order = 1
		}
		if order = cmp.Or(order, strings.Compare(v.Value, other[k].Value)); order != 0 {
			return order
		}
	}
	return 0
}
