package frame

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/special"
)

// tally is what a run of rows adds up to. Runs merge in the order of their rows.
type tally struct {
	Rows      int            `json:"rows,omitempty"`
	Dropped   int            `json:"dropped,omitempty"`
	Weight    float64        `json:"weight,omitempty"`
	Fractions int            `json:"fractions,omitempty"` // rows whose weight is no whole number
	Steps     []moments      `json:"steps,omitempty"`     // of the operands of center and scale that this round learns
	Inputs    []inputTally   `json:"inputs,omitempty"`    // in the last round
	Missing   map[string]int `json:"missing,omitempty"`
	Target    *targetTally   `json:"target,omitempty"`
}

// inputTally is what the rows of one input add up to: for a category the rows of each level, in the
// order of the census, in place of moments.
type inputTally struct {
	moments
	Counts  []int     `json:"counts,omitempty"`
	Weights []float64 `json:"weights,omitempty"` // Σw of each level, where rows have weights
}

// merge adds the rows behind.
func (t *tally) merge(later *tally) {
	t.Rows += later.Rows
	t.Dropped += later.Dropped
	t.Weight += later.Weight
	t.Fractions += later.Fractions
	for i := range t.Steps {
		t.Steps[i].merge(&later.Steps[i])
	}
	for i := range t.Inputs {
		to, from := &t.Inputs[i], &later.Inputs[i]
		to.merge(&from.moments)
		to.Counts, to.Weights = addTo(to.Counts, from.Counts), addTo(to.Weights, from.Weights)
	}
	for column, count := range later.Missing {
		t.Missing[column] += count
	}
	if t.Target != nil {
		t.Target.merge(later.Target)
	}
}

// Plus returns the tally with the rows behind added.
func (t *tally) Plus(later *tally) *tally {
	sum := t.clone()
	sum.merge(later)
	return sum
}

// clone returns a copy that shares nothing.
func (t *tally) clone() *tally {
	c := new(*t)
	c.Steps, c.Inputs, c.Missing = slices.Clone(t.Steps), slices.Clone(t.Inputs), maps.Clone(t.Missing)
	for i := range c.Inputs {
		c.Inputs[i].Counts, c.Inputs[i].Weights = slices.Clone(c.Inputs[i].Counts), slices.Clone(c.Inputs[i].Weights)
	}
	if t.Target != nil {
		c.Target = &targetTally{moments: t.Target.moments, Values: slices.Clone(t.Target.Values), Weights: slices.Clone(t.Target.Weights), Many: t.Target.Many,
			Slope: t.Target.Slope, Steep: t.Target.Steep}
	}
	return c
}

// addTo adds one list to another, which becomes as long.
func addTo[T int | float64](dst, src []T) []T {
	dst = lengthen(dst, len(src))
	for k, v := range src {
		dst[k] += v
	}
	return dst
}

// lengthen appends zeros up to a length.
func lengthen[T int | float64](s []T, length int) []T {
	if len(s) >= length {
		return s
	}
	return append(s, make([]T, length-len(s))...)
}

// add counts the codes of a category; hashes are those of its levels.
func (t *inputTally) add(codes, weight []float64, hashes []uint64) {
	t.Counts = lengthen(t.Counts, len(hashes))
	if weight != nil {
		t.Weights = lengthen(t.Weights, len(hashes))
	}
	for i, v := range codes {
		hash := hashed(math.Float64bits(math.NaN()))
		if v == v {
			k := int(v)
			hash = hashed(hashes[k])
			t.Count++
			t.Counts[k]++
			if weight != nil {
				t.Weights[k] += weight[i]
			}
		} else {
			t.Missing++
		}
		t.Hash = t.Hash*hashBase + hash
	}
}

// weightOf returns Σw of a level.
func (t *inputTally) weightOf(level int) float64 {
	if t.Weights != nil {
		return t.Weights[level]
	}
	return float64(t.Counts[level])
}

func moved[T int | float64](values []T, places []float64, length int) []T {
	if values == nil {
		return nil
	}
	result := make([]T, length)
	for k, v := range values {
		result[int(places[k])] = v
	}
	return result
}

// targetTally is what the rows of the raw target add up to.
type targetTally struct {
	moments
	Values  []float64 `json:"values,omitempty"`  // the different values, in order of appearance: numbers or codes
	Weights []float64 `json:"weights,omitempty"` // Σw of each
	Many    bool      `json:"many,omitempty"`    // there are more than mostLevels, and counting stopped
	index   map[float64]int
	// Slope is Σw of the log slopes of an invertible transform, Steep how many rows of weight have none.
	Slope float64 `json:"slope,omitempty"`
	Steep int     `json:"steep,omitempty"`
}

// addSlopes adds the log slopes of the expression, where it has these values.
func (t *targetTally) addSlopes(e *Expr, values, weight []float64) {
	for i, y := range values {
		w := 1.0
		if weight != nil {
			w = weight[i]
		}
		if y != y || w == 0 {
			continue
		}
		if slope := e.LogSlope(y); special.Finite(slope) {
			t.Slope += w * slope
		} else {
			t.Steep++
		}
	}
}

func (t *targetTally) add(values, weight []float64) {
	t.moments.add(values, weight)
	last, k := math.NaN(), 0
	for i, v := range values {
		if t.Many || v != v {
			continue
		}
		if v != last {
			if k = t.place(v); k < 0 {
				continue
			}
			last = v
		}
		if weight != nil {
			t.Weights[k] += weight[i]
		} else {
			t.Weights[k]++
		}
	}
}

// place returns the place of a value among the different ones, -1 if it is one too many.
func (t *targetTally) place(v float64) int {
	if t.index == nil {
		t.index = make(map[float64]int, len(t.Values))
		for k, known := range t.Values {
			t.index[known] = k
		}
	}
	k, known := t.index[v]
	if known {
		return k
	}
	if len(t.Values) == mostLevels {
		t.Many = true
		return -1
	}
	k = len(t.Values)
	t.index[v] = k
	t.Values, t.Weights = append(t.Values, v), append(t.Weights, 0)
	return k
}

func (t *targetTally) merge(later *targetTally) {
	t.moments.merge(&later.moments)
	t.Slope += later.Slope
	t.Steep += later.Steep
	t.Many = t.Many || later.Many
	for i, v := range later.Values {
		if t.Many {
			return
		}
		if k := t.place(v); k >= 0 {
			t.Weights[k] += later.Weights[i]
		}
	}
}

// only reports whether the values are exactly a and b.
func (t *targetTally) only(a, b float64) bool {
	return !t.Many && len(t.Values) == 2 && slices.Contains(t.Values, a) && slices.Contains(t.Values, b)
}

// Total is what the rows of a table add up to in a number, or in a category.
type Total struct {
	Mean, Squares, Min, Max float64  // of a number; Squares is Σ(x−Mean)²
	Levels                  []string // of a category
	Rows                    []int    // of each level
}

// Asked returns the inputs and the target of which the last round asks totals.
func (c *Census) Asked() (inputs []Input, target *Target) { return c.frame.Inputs, c.frame.Target }

// AddTotals adds the rows of a file by what they add up to in each input that Asked returns and, the last, in the
// target, where nobody has the rows: a database, say. None may lack a value. It is for a census without center and
// scale.
func (c *Census) AddTotals(rows int, totals []Total) error {
	want := len(c.frame.Inputs) + 1
	if len(c.pending) > 0 || c.frame.Target == nil || len(totals) != want || rows < 1 {
		return fmt.Errorf("frame: %d totals of %d rows for %d inputs and a target, without center and scale", len(totals), rows, want-1)
	}
	t := c.newTally()
	t.Rows, t.Weight = rows, float64(rows)
	number := func(m *moments, total *Total, place int) {
		// the place is no hash of the values, and says that no two inputs are known to be equal
		*m = moments{Count: rows, Weight: t.Weight, Mean: total.Mean, Squares: total.Squares, Min: total.Min, Max: total.Max, Low: total.Min, High: total.Max, Hash: uint64(place + 1)}
	}
	for i := range c.frame.Inputs {
		in, total := &c.frame.Inputs[i], &totals[i]
		if in.Kind != credence.Category {
			number(&t.Inputs[i].moments, total, i)
			continue
		}
		t.Inputs[i].Count, t.Inputs[i].Hash, t.Inputs[i].Counts = rows, uint64(i+1), total.Rows
		c.levels[in.Expr.root()] = &levelList{Levels: total.Levels, Sort: true}
	}
	target := &c.frame.Target.Expr
	number(&t.Target.moments, &totals[want-1], want)
	t.Target.Many = true // values, which nobody counted
	switch {
	case len(target.Steps) == 1 && target.Steps[0].Function == Log: // log dy/dx = −y
		t.Target.Slope = -t.Weight * totals[want-1].Mean
	case len(target.Steps) > 0:
		return fmt.Errorf("frame: the slopes of target %s are not among totals: take its logarithm, or none", target)
	}
	c.nodes = append(c.nodes, node{Position: c.file, Sum: t})
	c.file++
	return nil
}
