package refit

import (
	"context"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/selection"
)

// Null fits the model to permuted targets, and calls features as the selection does.
func (b *Base) Null(ctx context.Context, how selection.Options) (*selection.Null, error) {
	out := &selection.Null{Permutations: how.NullCheck}
	data := &permuted{Data: b.Data}
	if err := data.load(ctx); err != nil {
		return nil, err
	}
	for k := range how.NullCheck {
		data.order = credence.Rand(b.Seed, credence.NullCheck, uint64(k)).Perm(data.Rows())
		found, err := b.called(ctx, b.Engine, data, how)
		if err != nil {
			return nil, err
		}
		out.Called = append(out.Called, found.Selected)
		count, _ := found.Candidates()
		out.Share += float64(found.Selected) / float64(max(1, count)) / float64(how.NullCheck)
	}
	return out, nil
}

// called fits other data, and calls features as the selection does.
func (b *Base) called(ctx context.Context, engine credence.Engine, data credence.Data, how selection.Options) (*selection.Result, error) {
	fitted, err := engine.Fit(ctx, data)
	if err != nil {
		return nil, err
	}
	fitted.Frame = b.Frame
	found, err := Features(fitted, how)
	if err == nil {
		found.Call(how)
	}
	return found, err
}

// permuted is data whose targets, offsets and weights have changed places together: their rows have no
// part in them.
type permuted struct {
	credence.Data
	order   []int
	targets credence.Batch // target, offset, weight and trials of all rows
}

func (d *permuted) load(ctx context.Context) error {
	for b, err := range credence.Batches(ctx, d.Data) {
		if err != nil {
			return err
		}
		for to, from := range d.roles(b) {
			*to = append(*to, *from...)
		}
	}
	return nil
}

func (d *permuted) roles(b *credence.Batch) map[*[]float64]*[]float64 {
	return map[*[]float64]*[]float64{
		&d.targets.Target: &b.Target, &d.targets.Offset: &b.Offset, &d.targets.Weight: &b.Weight, &d.targets.Trials: &b.Trials,
		&d.targets.Precision: &b.Precision,
	}
}

// Read implements [credence.Data].
func (d *permuted) Read(dst *credence.Batch, first, count int) error {
	if err := d.Data.Read(dst, first, count); err != nil {
		return err
	}
	for from, to := range d.roles(dst) {
		if len(*from) == 0 {
			continue
		}
		list := make([]float64, count) // what a reader keeps in memory stays as it is
		for i := range list {
			list[i] = (*from)[d.order[first+i]]
		}
		*to = list
	}
	return nil
}
