package dataset

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
)

// Each reads the rows once, without keeping them, and calls visit with one chunk
// after the other, in the order of the files. Columns are named as for Load. A
// chunk is valid until visit returns; how rows are divided into chunks depends on
// the rows alone. The values of a sparse chunk are nil where all in it are 1.
//
// Levels of a category that are not those of training are numbered in the order
// in which they first occur, since nobody can sort what is yet to come; Levels
// gives those met so far.
func (t *Table) Each(ctx context.Context, columns []string, visit func(*credence.Chunk) error) error {
	chosen, err := t.choose(columns)
	if err != nil {
		return err
	}
	build := newBuilder(chosen, func(c *credence.Chunk) (*credence.Chunk, error) {
		if chosen.sparse {
			c.Sparse.Cols = t.outcome.sparse
			if t.options.Schema != nil {
				c.Sparse.Cols = t.options.Schema.Sparse
			}
		}
		if chosen.unseen {
			c.Values.Cols--
			c.Unseen = c.Unseen[:0]
			for i := range c.Values.Rows {
				c.Unseen = append(c.Unseen, c.Values.Data[i*c.Values.Stride+c.Values.Cols])
			}
			c.Unseen = nilIfZero(c.Unseen)
		}
		return c, visit(c)
	})
	if err := t.pass(ctx, chosen, &t.outcome, func(b *text.Block) error { return build.add(b) }); err != nil {
		return err
	}
	return build.flush()
}

// Levels returns the levels of a category column by code, as far as the present
// or last Each has met them; it may be called from its visit.
func (t *Table) Levels(column string) []string {
	for _, d := range t.outcome.dictionaries {
		if d != nil && d.column == column {
			return d.levels
		}
	}
	return nil
}

// Unseen tells of category values in the last Load or Each that training did not
// have, by column.
func (t *Table) Unseen() []Unseen {
	if t.outcome.unseen != nil {
		return t.outcome.unseen
	}
	var unseen []Unseen
	for _, d := range t.outcome.dictionaries {
		if d != nil && d.unseen.Rows > 0 {
			unseen = append(unseen, d.unseen)
		}
	}
	return unseen
}

// Dropped returns how many entries of sparse rows lay beyond the columns of
// training in the last Load or Each.
func (t *Table) Dropped() int { return t.outcome.dropped }
