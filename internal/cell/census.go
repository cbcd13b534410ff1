package cell

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	// censusLevels of a column are remembered while types are inferred.
	censusLevels = 1000
	// A column counts as a number one with some texts in it, rather than as a
	// category, if at least numberShare of its values are numbers, or half of them
	// and the rest is always the same
	numberShare = 0.8
)

// Kind is what a column is taken for.
type Kind uint8

// The kinds. A column without any value is of unknown kind.
const (
	Unknown Kind = iota
	Numeric
	Boolean
	Category
)

// Census counts what the values of a column look like. The zero value is empty.
type Census struct {
	// KeepLevels says that the column is declared a category: number texts are levels as well.
	KeepLevels      bool
	values, numbers int
	booleans        [3]int          // by pair: true/false, yes/no, t/f
	truths          [3]int          // how many of them are true
	spelled         spellings       // of numbers and dates, plain ones among them
	others          map[string]int  // texts that are none, at most censusLevels
	levels          map[string]bool // texts met since it looked like a category, at most censusLevels
	first           []float64       // the first three distinct numbers
	whole           wholes
	inexact         bool // a number is beyond 2⁵³, or infinite
}

// pairs are the texts of booleans that inference recognises, true first.
var pairs = [...][2]string{{"true", "false"}, {"yes", "no"}, {"t", "f"}}

// Add counts one cell, trimmed; a missing one counts for nothing.
func (c *Census) Add(text []byte, rules *Rules) {
	if rules.IsMissing(text) {
		return
	}
	c.values++
	v, finite, number := ParseNumber(text)
	if number && len(c.first) < 3 && !slices.Contains(c.first, v) {
		c.first = append(c.first, v)
	}
	// Levels are kept once the column is known to be no plain number one: a wide
	// table of numbers would otherwise be held as texts.
	if (c.numbers < c.values-1 || !number || c.KeepLevels) && len(c.levels) < censusLevels && len(text) <= MaxLevel && !c.levels[string(text)] {
		if c.levels == nil {
			c.levels = make(map[string]bool)
		}
		c.levels[string(text)] = true
	}
	known := c.spelled.add(text, number, finite)
	if number {
		c.whole.add(v)
		c.inexact = c.inexact || !finite || math.Abs(v) >= 1<<53
		c.numbers++
		return
	}
	for i, pair := range pairs {
		for value, word := range pair {
			if len(text) == len(word) && strings.EqualFold(string(text), word) {
				c.booleans[i]++
				if value == 0 {
					c.truths[i]++
				}
			}
		}
	}
	if c.others == nil {
		c.others = make(map[string]int)
	}
	if !known && len(c.others) < censusLevels {
		c.others[Quote(text)]++
	}
}

// Empty says whether there was no value.
func (c *Census) Empty() bool { return c.values == 0 }

// Plain says whether every value is a number without a notation of its own, all of whose digits a float64 holds.
func (c *Census) Plain() bool { return c.values > 0 && c.numbers == c.values && !c.inexact }

// Words are the texts of the booleans, that for 0 first; nil if they are mixed.
func (c *Census) Words() []string {
	for i, count := range c.booleans {
		if count == c.values {
			return []string{pairs[i][1], pairs[i][0]}
		}
	}
	return nil
}

// Classes returns the values of a column that has just two, numbers or levels in their order, or the words of a
// boolean; nil for others.
func (c *Census) Classes() []string {
	switch kind, _ := c.Kind(); {
	case kind == Boolean:
		return c.Words()
	case kind == Numeric && c.numbers == c.values && len(c.first) == 2:
		low, high := min(c.first[0], c.first[1]), max(c.first[0], c.first[1])
		return []string{strconv.FormatFloat(low, 'g', -1, 64), strconv.FormatFloat(high, 'g', -1, 64)}
	case kind == Category && len(c.levels) == 2:
		levels := c.Levels()
		slices.SortFunc(levels, func(a, b string) int {
			return cmp.Or(strings.Compare(strings.ToLower(a), strings.ToLower(b)), strings.Compare(a, b))
		})
		return levels
	}
	return nil
}

// Levels returns the distinct values met since the column looked like a category,
// in no order; at most 1,000.
func (c *Census) Levels() []string { return slices.Collect(maps.Keys(c.levels)) }

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
