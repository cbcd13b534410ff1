package sep

import (
	"context"
	"math/rand/v2"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/linop"
)

// converter turns blocks of data into rows over slots: every weight but the
// intercept's is a slot, and zeros are left out.
type converter struct {
	features  credence.Features
	ws        *credence.Workspace
	rows      *problem.Rows
	intercept int // weight of the intercept, or -1
	slots     []int32
	// Σw of the rows, and of those of class 1.
	total, positive float64

	phi   credence.Design
	order []int // row of the block that each row of batch is
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

// read makes block the batch, its rows in an order drawn from rng, or as they
// stand without one.
func (c *converter) read(ctx context.Context, block int, rng *rand.Rand) error {
	in, err := c.rows.Block(ctx, block)
	if err != nil {
		return err
	}
	c.features.Transform(c.ws, &c.phi, in)
	b, n := &c.batch, in.Rows()
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
	s := &b.Sparse
	for _, i := range order {
		c.phi.Each(i, func(j int, v float64) {
			if v != 0 && j != c.intercept {
				s.Index, s.Value = append(s.Index, c.slots[j]), append(s.Value, v)
			}
		})
		s.Start = append(s.Start, len(s.Index))
		s.Rows++
		b.Target = append(b.Target, in.Target[i])
		b.Weight, b.Offset = append(b.Weight, in.WeightOf(i)), append(b.Offset, in.OffsetOf(i))
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

// addTargets counts the rows of the batch by their class.
func (c *converter) addTargets() {
	for i, y := range c.batch.Target {
		c.total += c.batch.Weight[i]
		c.positive += c.batch.Weight[i] * y
	}
}

// count counts the appearances of every feature before the first row is learned.
func (c *converter) count(ctx context.Context, l *Learner) error {
	for block := range c.rows.Blocks() {
		if err := c.read(ctx, block, nil); err != nil {
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
