package problem

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/rows"
	"github.com/credence-ml/credence/linop"
)

// keepBytes is how much of Φ and of the rows stays in memory where they are read again.
const keepBytes = 64 << 20

// Block is a run of rows with their features, as a pass works on them.
type Block struct {
	// Batch holds the rows; it has no inputs where the features are kept and never change.
	*credence.Batch
	Phi *credence.Design
	// Lead holds the number of first entries that each row has in common with the row before, where rows are
	// packed by their entries, else nil.
	Lead []int32
}

// Rows returns the number of rows.
func (b *Block) Rows() int { return b.Phi.Dense.Rows }

// Means stores f = Φw + offset in dst.
func (b *Block) Means(ws *credence.Workspace, dst, w []float64) {
	b.Phi.Mul(ws, dst, w)
	for i, o := range b.Offset {
		dst[i] += o
	}
}

// Rows are the rows of a problem, or an evenly spread part of them, with their features.
type Rows struct {
	*rows.Rows
	problem  *Problem
	features credence.Features
	// retain keeps the inputs too, for features that will change; moving keeps nothing, for features
	// that change between passes over more rows than fit.
	retain, moving bool
	kept           []Block
	packed         *Packed
	planned        bool
	phi            credence.Design
}

// Rows prepares the reading of all rows, or of about limit evenly spread ones if that is less than
// half of them and limit is not 0.
func (p *Problem) Rows(limit int) *Rows {
	run := credence.BlockRows
	if limit < 64*credence.BlockRows {
		run = 64 // short runs spread better over sorted data than whole blocks
	}
	if p.Data.Rows() < 2*max(limit, credence.BlockRows) {
		limit = 0
	}
	return &Rows{Rows: rows.Sample(p.Engine, p.Likelihood, p.Data, limit, run), problem: p, features: p.Features}
}

// Retained prepares rows whose inputs stay in memory, for [Rows.Retransform]; limit must be modest.
func (p *Problem) Retained(limit int) *Rows {
	t := p.Rows(limit)
	t.retain = true
	return t
}

// Scale makes a sum over these rows an unbiased estimate of the sum over all rows (revrand report,
// eq. 6).
func (t *Rows) Scale() float64 { return Scale(t.Total(), t.Count()) }

// Scale is the factor N/M of a sum over M of N rows.
func Scale(total, count int) float64 { return float64(total) / float64(count) }

// Block returns block k, which is valid until the next call.
func (t *Rows) Block(ctx context.Context, k int) (*Block, error) {
	if k < len(t.kept) && t.kept[k].Phi != nil {
		return &t.kept[k], ctx.Err()
	}
	if k < len(t.kept) {
		return t.keep(ctx, k)
	}
	batch, err := t.Rows.Block(ctx, k)
	if err != nil {
		return nil, err
	}
	t.features.Transform(t.problem.Workspace, &t.phi, batch)
	if !t.planned {
		t.planned = true
		bytes := t.phi.Bytes() + 8*3*batch.Rows()
		if t.retain || !t.moving && bytes*t.Blocks() <= keepBytes {
			t.kept = make([]Block, t.Blocks())
			return t.keep(ctx, k)
		}
	}
	return &Block{Batch: batch, Phi: &t.phi}, nil
}

// keep reads block k into memory of its own.
func (t *Rows) keep(ctx context.Context, k int) (*Block, error) {
	batch, phi := new(credence.Batch), new(credence.Design)
	if err := t.Read(ctx, batch, k); err != nil {
		return nil, err
	}
	t.features.Transform(t.problem.Workspace, phi, batch)
	if !t.retain {
		batch.X, batch.Sparse = linop.Dense{}, linop.CSR{}
	}
	t.kept[k] = Block{Batch: batch, Phi: phi}
	return &t.kept[k], nil
}

// Each calls do for every block in turn.
func (t *Rows) Each(ctx context.Context, do func(b *Block)) error {
	for k := range t.Blocks() {
		b, err := t.Block(ctx, k)
		if err != nil {
			return err
		}
		do(b)
	}
	return nil
}

// Retransform gives retained rows other features.
func (t *Rows) Retransform(features credence.Features) {
	t.features = features
	for _, b := range t.kept {
		if b.Phi != nil {
			features.Transform(t.problem.Workspace, b.Phi, b.Batch)
		}
	}
}

// Move gives rows that are read again at every pass other features.
func (t *Rows) Move(features credence.Features) {
	t.features, t.moving, t.kept = features, true, nil
}
