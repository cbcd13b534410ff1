package cell

import (
	"cmp"
	"slices"
	"strings"
)

// SortLevels sorts the levels of a category: by value where all are numbers, else by bytes.
func SortLevels(levels []string) {
	values := make(map[string]float64, len(levels))
	for _, level := range levels {
		value, _, ok := ParseNumber([]byte(level))
		if !ok {
			slices.Sort(levels)
			return
		}
		values[level] = value
	}
	slices.SortFunc(levels, func(a, b string) int {
		return cmp.Or(cmp.Compare(values[a], values[b]), strings.Compare(a, b))
	})
}
