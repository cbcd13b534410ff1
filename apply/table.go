package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/score"
)

// bindTable reads the columns of the model, binds it to them and keeps them.
func (f *File) bindTable(ctx context.Context) error {
	if err := f.table.CheckTexts(f.options.Keep); err != nil {
		return err
	}
	columns, err := f.scorer.Columns(f.table.Schema(), f.options.Targets)
	if err != nil {
		return fmt.Errorf("%s: %w", f.files(), err)
	}
	source, err := f.table.Load(ctx, columns)
	if err != nil {
		return err
	}
	if err := f.refuseUnseen(f.table.Unseen(), false); err != nil {
		return err
	}
	if f.kept, err = f.scorer.Table(source, f.options.Targets); err != nil {
		return err
	}
	if f.options.Targets == score.RequireTargets && f.kept.Rows() == 0 {
		return fmt.Errorf("%s: each of the %d rows lacks the target or another value that the model needs: there is nothing to score", f.files(), source.Rows())
	}
	if f.binding = f.kept; len(f.options.Keep) > 0 {
		f.texts, err = f.table.Texts(ctx, f.options.Keep)
	}
	return err
}

// Load reads files for a model, which says how: the columns that the model needs, the target as targets say, its
// weights where the files have them, and others. The table must be closed.
func Load(ctx context.Context, scorer *score.Scorer, paths []string, read dataset.Options, targets score.Targets, others []string) (_ *dataset.Table, _ credence.Source, err error) {
	if scorer == nil {
		return nil, nil, errors.New("there is no scorer: make one by score.New")
	}
	needs, weight := scorer.Columns, (*frame.Expr)(nil)
	var keys *score.Keys // of a model of stream
	if scorer.Keyed() {
		if keys, err = scorer.Keys(targets); err != nil {
			return nil, nil, err
		}
		needs = func(schema *credence.Schema, _ score.Targets) ([]string, error) { return keys.Columns(schema) }
		read.Reading, read.KindsKnown = keys.Reading(), true
	} else {
		read.Schema, weight = scorer.Schema(), scorer.Frame().Weight
	}
	f := &File{scorer: scorer}
	if f.table, err = dataset.Open(ctx, paths, read); err != nil {
		return nil, nil, err
	}
	if keys != nil {
		if types, other := keys.Types(f.table.Schema(), read.Types); other { // than the files tell
			f.table.Close()
			read.Types = types
			if f.table, err = dataset.Open(ctx, paths, read); err != nil {
				return nil, nil, err
			}
		}
	}
	defer func() {
		if err != nil {
			f.table.Close()
		}
	}()
	if keys != nil && f.table.Schema().Label {
		return nil, nil, f.named(errors.New("rows of numbered features have no columns to change: inspect shows the weights"))
	}
	columns, err := needs(f.table.Schema(), targets)
	if err != nil {
		return nil, nil, f.named(err)
	}
	if weight != nil && f.table.Schema().Index(weight.Column) >= 0 {
		others = append([]string{weight.Column}, others...)
	}
	for _, name := range others {
		if f.table.Schema().Index(name) < 0 {
			return nil, nil, f.named(fmt.Errorf("there is no column %q: name one of the file", name))
		}
		if !slices.Contains(columns, name) {
			columns = append(columns, name)
		}
	}
	source, err := f.table.Load(ctx, columns)
	if err == nil && keys == nil {
		err = f.refuseUnseen(f.table.Unseen(), false)
	}
	return f.table, source, err
}
