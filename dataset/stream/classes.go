package stream

import (
	"cmp"
	"strings"
)

// classes finds the two classes of a target from its first labels.
type classes struct {
	first, second string
	positive      bool // the first is positive as it stands
	settled       bool // more labels would change nothing
}

// add takes a label into account.
func (c *classes) add(label []byte) {
	if c.settled || isMissing(label) {
		return
	}
	value, standard := standardLabel(label)
	switch {
	case standard && value == 0:
		*c = classes{settled: true}
	case c.first == "":
		c.first, c.positive = string(label), standard
	case !sameLabel(label, c.first) && !(standard && c.positive):
		c.second, c.settled = string(label), true
	}
}

// names returns the classes, "" where the standard labels will do or too few were met.
func (c *classes) names() (negative, positive string) {
	if c.second == "" {
		return "", ""
	}
	x, isNumber := number([]byte(c.first))
	y, both := number([]byte(c.second))
	order := cmp.Compare(x, y)
	if !isNumber || !both {
		order = cmp.Or(strings.Compare(strings.ToLower(c.first), strings.ToLower(c.second)), strings.Compare(c.first, c.second))
	}
	if order > 0 {
		return c.second, c.first
	}
	return c.first, c.second
}
