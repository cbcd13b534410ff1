package plot

import (
	"context"
	"fmt"
	"math"

	"github.com/credence-ml/credence/score"
)

// mostCopies is the number of rows above which weights are made smaller, all alike.
const mostCopies = 50_000

// copier counts rows as often as their weights say: one of weight 3 is three rows. Of weights that are no whole
// numbers as many rows are copied as the sum of those so far says, evenly spread over the rows. Where the weights add
// up to less than a row each, or to more than a picture needs, all are changed in proportion.
type copier struct {
	weight, scale float64 // of all rows, and of one of them
	sum           float64 // so far
	done, rows    int
}

// newCopier counts rows of some weight in all.
func newCopier(weight float64, rows int) *copier {
	c := &copier{weight: weight, rows: rows, scale: 1}
	if most := float64(max(rows, mostCopies)); weight > most {
		c.scale = most / weight
	} else if weight < float64(rows) {
		c.scale = float64(rows) / weight
	}
	return c
}

// total is the number of copies of all rows.
func (c *copier) total() int { return int(c.weight*c.scale + .5) }

// of is the number of copies of the next row.
func (c *copier) of(weight float64) int {
	c.sum += weight * c.scale
	before := c.done
	c.done = int(math.Floor(c.sum + .5))
	return c.done - before
}

// told says that rows count by their weights.
func (c *copier) told() string {
	if c.weight == float64(c.rows) {
		return ""
	}
	return fmt.Sprintf("; their weights are %s in all", number(c.weight))
}

// counted binds the rows that are looked at, and counts them by their weights.
func (p *picture) counted(ctx context.Context) (*score.Table, *copier, error) {
	table, err := p.Scorer.Table(p.rows(), score.RequireTargets)
	if err != nil {
		return nil, nil, err
	}
	total, rows := 0.0, 0
	err = table.EachWeight(ctx, func(w float64) {
		if w > 0 {
			total, rows = total+w, rows+1
		}
	})
	if err == nil && rows == 0 {
		err = errNoTarget
	}
	return table, newCopier(total, rows), err
}
