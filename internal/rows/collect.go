package rows

import (
	"context"

	"github.com/credence-ml/credence"
)

// Transform stores Φ of all rows in dst and calls each, if there is one, with every block and
// its first row. phi is scratch memory.
func (r *Rows) Transform(ctx context.Context, ws *credence.Workspace, dst, phi *credence.Design, features credence.Features, each func(first int, b *credence.Batch)) error {
	for k := range r.Blocks() {
		b, err := r.Block(ctx, k)
		if err != nil {
			return err
		}
		features.Transform(ws, phi, b)
		if k == 0 {
			dst.Dense.Reshape(r.count, phi.Dense.Cols)
			dst.Sparse.Reset(phi.Sparse.Cols)
		}
		first := k * credence.BlockRows
		for i := range b.Rows() {
			copy(dst.Dense.Row(first+i), phi.Dense.Row(i))
			if phi.Sparse.Cols > 0 {
				dst.Sparse.AppendRow(phi.Sparse.Row(i))
			}
		}
		if each != nil {
			each(first, b)
		}
	}
	return nil
}

// Collected are all rows of a fit at once. Offset, Weight and Trials are nil where the data have
// none.
type Collected struct {
	Phi                            credence.Design
	Target, Offset, Weight, Trials []float64
}

// Collect reads all rows, with their features.
func (r *Rows) Collect(ctx context.Context, ws *credence.Workspace, features credence.Features) (*Collected, error) {
	c := new(Collected)
	err := r.Transform(ctx, ws, &c.Phi, new(credence.Design), features, func(_ int, b *credence.Batch) {
		c.Target = append(c.Target, b.Target...)
		c.Offset = append(c.Offset, b.Offset...)
		c.Weight = append(c.Weight, b.Weight...)
		c.Trials = append(c.Trials, b.Trials...)
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}
