package sep

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/likelihood"
	"github.com/credence-ml/credence/linop"
)

// converter turns blocks of data into rows over slots: every weight but the
// intercept's is a slot, and zeros are left out.
type converter struct {
	features  credence.Features
	ws        *credence.Workspace
	data      credence.Data
	intercept int // weight of the intercept, or -1
	slots     []int32
	// Σw of the rows, and of those of class 1.
	total, positive float64

	rows  credence.Batch
	phi   credence.Design
	order []int // row of rows that each row of batch is
	batch credence.Batch
}

func (c *converter) number() {
	d := c.features.Weights()
	c.intercept, c.slots = -1, make([]int32, d)
	for _, block := range c.features.Blocks() {
		if block.Intercept {
			c.intercept = block.First
		}
	}
	next := int32(0)
	for j := range d {
		if j != c.intercept {
			c.slots[j] = next
			next++
		}
	}
}

func (c *converter) blocks() int {
	return (c.data.Rows() + credence.BlockRows - 1) / credence.BlockRows
}

// read makes block the batch, its rows in an order drawn from rng, or as they
// stand without one.
func (c *converter) read(block int, rng *rand.Rand) error {
	first := block * credence.BlockRows
	n := min(credence.BlockRows, c.data.Rows()-first)
	if err := c.data.Read(&c.rows, first, n); err != nil {
		return err
	}
	if err := c.verify(first); err != nil {
		return err
	}
	c.features.Transform(c.ws, &c.phi, &c.rows)
	b := &c.batch
	b.X = linop.Dense{Rows: n}
	b.Sparse.Reset(len(c.slots))
	b.Target, b.Weight, b.Offset = b.Target[:0], b.Weight[:0], b.Offset[:0]
	c.order = c.order[:0]
	for i := range n {
		c.order = append(c.order, i)
	}
	order := c.order
	if rng != nil {
		rng.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	dense := c.phi.Dense.Cols
	s := &b.Sparse
	for _, i := range order {
		if dense > 0 {
			for j, v := range c.phi.Dense.Row(i) {
				if v != 0 && j != c.intercept {
					s.Index, s.Value = append(s.Index, c.slots[j]), append(s.Value, v)
				}
			}
		}
		if c.phi.Sparse.Cols > 0 {
			columns, values := c.phi.Sparse.Row(i)
			for k, j := range columns {
				v := 1.0
				if values != nil {
					v = values[k]
				}
				if v != 0 && dense+int(j) != c.intercept {
					s.Index, s.Value = append(s.Index, c.slots[dense+int(j)]), append(s.Value, v)
				}
			}
		}
		s.Start = append(s.Start, len(s.Index))
		s.Rows++
		b.Target = append(b.Target, c.rows.Target[i])
		if c.rows.Weight != nil {
			b.Weight = append(b.Weight, c.rows.Weight[i])
		}
		if c.rows.Offset != nil {
			b.Offset = append(b.Offset, c.rows.Offset[i])
		}
	}
	if c.rows.Weight == nil {
		b.Weight = nil
	}
	if c.rows.Offset == nil {
		b.Offset = nil
	}
	return nil
}

// weights appends the posteriors of all weights, the intercept's among them.
func (c *converter) weights(dst []credence.Marginal, l *Learner) []credence.Marginal {
	for j, slot := range c.slots {
		if j == c.intercept {
			dst = append(dst, l.Weight(credence.InterceptSlot))
		} else {
			dst = append(dst, l.Weight(int(slot)))
		}
	}
	return dst
}

// verify refuses rows, the first of which has the given number, that the model cannot have.
func (c *converter) verify(first int) error {
	b := &c.rows
	if len(b.Target) != b.Rows() {
		return fmt.Errorf("sep: rows from %d on have no target: fit needs one in every row", first+1)
	}
	for i, y := range b.Target {
		err := likelihood.Bernoulli{}.CheckTarget(y)
		switch {
		case err != nil:
		case b.Offset != nil && (math.IsNaN(b.Offset[i]) || math.IsInf(b.Offset[i], 0)):
			err = fmt.Errorf("offset %v is not a finite number: correct it or drop the row", b.Offset[i])
		case b.Weight != nil && !(b.Weight[i] >= 0 && !math.IsInf(b.Weight[i], 1)):
			err = fmt.Errorf("weight %v is not a number from 0 up", b.Weight[i])
		}
		if err != nil {
			return fmt.Errorf("sep: row %d: %w", first+i+1, err)
		}
	}
	return nil
}

// addTargets counts the rows of the batch by their class.
func (c *converter) addTargets() {
	for i, y := range c.batch.Target {
		w := 1.0
		if c.batch.Weight != nil {
			w = c.batch.Weight[i]
		}
		c.total += w
		c.positive += w * y
	}
}

// count counts the appearances of every feature before the first row is learned.
func (c *converter) count(l *Learner) error {
	for block := range c.blocks() {
		if err := c.read(block, nil); err != nil {
			return err
		}
		l.reserve(c.batch.Sparse.Cols)
		for i := range c.batch.Sparse.Rows {
			columns, _ := c.batch.Sparse.Row(i)
			label, weight := l.classWeight(&c.batch, i)
			l.count(columns, label, weight)
		}
	}
	l.again = true
	return nil
}
