package frame

import (
	"fmt"

	"github.com/credence-ml/credence"
)

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
