package problem

import (
	"cmp"
	"context"

	"github.com/credence-ml/credence"
	base "github.com/credence-ml/credence/infer/problem"
	"github.com/credence-ml/credence/linop"
)

// keepBytes is how much of Φ and of the rows stays in memory where they are read again.
const keepBytes = 128 << 20

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
	*base.Rows
	problem  *Problem
	features credence.Features
	// retain keeps the inputs too, for features that will change; moving keeps nothing, for features
	// that change between passes over more rows than fit.
	retain, moving bool
	kept           []Block
	packed         *Packed
	planned        bool
	room           Room
	weights        []float64 // in the place of those of the data; nil otherwise
	of             *Rows     // the rows whose weights they replace
}

// RunOf is the number of rows of a run of a sample of about limit: short runs spread better over sorted data than whole
// blocks.
func RunOf(limit int) int {
	if limit < 64*credence.BlockRows {
		return 64
	}
	return credence.BlockRows
}

// Rows prepares the reading of all rows, or of about limit evenly spread ones if that is less than
// half of them and limit is not 0.
func (p *Problem) Rows(limit int) *Rows {
	run := RunOf(limit)
	if p.Data.Total() < 2*max(limit, credence.BlockRows) {
		limit = 0
	}
	return &Rows{Rows: p.Data.Sample(limit, run), problem: p, features: p.Features, room: Room{Workspace: p.Workspace}}
}

// Weighing returns the rows with other weights, one for each. What is kept in memory is the same.
func (t *Rows) Weighing(weights []float64) *Rows {
	return &Rows{Rows: t.Rows, problem: t.problem, weights: weights, of: t}
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

// Room is the memory of blocks that one thread reads.
type Room struct {
	*credence.Workspace
	block  Block
	x      linop.Dense // inputs of blocks that are kept without
	sparse linop.CSR
}

// Block returns block k, which is valid until the next call.
func (t *Rows) Block(ctx context.Context, k int) (*Block, error) {
	if t.of != nil {
		return t.Read(ctx, k, &t.of.room)
	}
	return t.Read(ctx, k, &t.room)
}

// Read returns block k, which is valid until the next one is read into the same room. Once one block has been read,
// several threads may read different ones, each into its own room.
func (t *Rows) Read(ctx context.Context, k int, room *Room) (*Block, error) {
	if t.of != nil {
		b, err := t.of.Read(ctx, k, room)
		if err != nil {
			return nil, err
		}
		batch := *b.Batch
		batch.Weight = t.weights[k*credence.BlockRows:][:b.Rows()]
		return &Block{Batch: &batch, Phi: b.Phi}, nil
	}
	if k < len(t.kept) && t.kept[k].Phi != nil {
		return &t.kept[k], ctx.Err()
	}
	b := &room.block
	if b.Phi == nil || t.kept != nil {
		*b = Block{Batch: &credence.Batch{X: room.x, Sparse: room.sparse}, Phi: new(credence.Design)}
		room.x, room.sparse = linop.Dense{}, linop.CSR{}
	}
	if err := t.Rows.Read(ctx, b.Batch, k); err != nil {
		return nil, err
	}
	t.features.Transform(room.Workspace, b.Phi, b.Batch)
	if !t.planned {
		t.planned = true
		bytes := b.Phi.Bytes() + 8*3*b.Rows()
		if t.retain || !t.moving && bytes*t.Blocks() <= keepBytes {
			t.kept = make([]Block, t.Blocks())
		}
	}
	if t.kept == nil {
		return b, nil
	}
	if !t.retain {
		room.x, room.sparse, b.X, b.Sparse = b.X, b.Sparse, linop.Dense{}, linop.CSR{}
	}
	t.kept[k], room.block = *b, Block{}
	return &t.kept[k], nil
}

// load reads the blocks that stay in memory, on all threads.
func (t *Rows) load(ctx context.Context) error {
	if t.of != nil {
		return t.of.load(ctx)
	}
	if _, err := t.Block(ctx, 0); err != nil || t.kept == nil || t.kept[len(t.kept)-1].Phi != nil {
		return err
	}
	pool, errs := t.problem.Workspace.Pool(), make([]error, len(t.kept))
	rooms := make([]Room, pool.Threads())
	for k := range rooms {
		rooms[k].Workspace = credence.NewWorkspace(1)
	}
	pool.Run(len(t.kept), func(k, thread int) { _, errs[k] = t.Read(ctx, k, &rooms[thread]) })
	return cmp.Or(errs...)
}

// Each calls do for every block in turn.
func (t *Rows) Each(ctx context.Context, do func(b *Block)) error {
	if err := t.load(ctx); err != nil {
		return err
	}
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
