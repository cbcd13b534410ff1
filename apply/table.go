package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/score"
)

// tableRows are rows by the columns of a model of fit.
type tableRows struct {
	*score.Table
	file     *File
	texts    *dataset.Texts // nil without columns to keep
	progress func(before, all int)
}

// bindTable reads the columns of the model and binds it to them.
func (f *File) bindTable(ctx context.Context, options Options) error {
	if err := f.table.CheckTexts(options.Keep); err != nil {
		return err
	}
	columns, err := f.scorer.Columns(f.table.Schema(), options.Targets)
	if err != nil {
		return fmt.Errorf("%s: %w", f.files(), err)
	}
	source, err := f.table.Load(ctx, columns)
	if err != nil {
		return err
	}
	if err := f.refuseUnseen(); err != nil {
		return err
	}
	bound, err := f.scorer.Table(source, options.Targets)
	if err != nil {
		return err
	}
	if options.Targets == score.RequireTargets && bound.Rows() == 0 {
		return fmt.Errorf("%s: each of the %d rows lacks the target or another value that the model needs: there is nothing to score", f.files(), source.Rows())
	}
	rows := &tableRows{Table: bound, file: f, progress: options.Progress}
	if len(options.Keep) > 0 {
		if rows.texts, err = f.table.Texts(ctx, options.Keep); err != nil {
			return err
		}
	}
	f.rows = rows
	return nil
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
		err = f.refuseUnseen()
	}
	return f.table, source, err
}

// refuseUnseen says which categories training did not see, unless they may stay.
func (f *File) refuseUnseen() error {
	strict := map[string]bool{} // columns that may not have other levels
	for i := range f.scorer.Frame().Inputs {
		e := &f.scorer.Frame().Inputs[i].Expr
		strict[e.Column] = strict[e.Column] || !f.scorer.Frame().Lenient(e)
	}
	found := slices.DeleteFunc(f.table.Unseen(), func(u dataset.Unseen) bool { return !strict[u.Column] })
	if len(found) == 0 {
		return nil
	}
	first := found[0]
	var examples []string
	for _, e := range first.Examples {
		examples = append(examples, fmt.Sprintf("%q at %s:%d", e.Value, e.File, e.Line))
	}
	count := "1 row"
	if first.Rows != 1 {
		count = fmt.Sprintf("%d rows", first.Rows)
	}
	column, _ := credence.CutText(first.Column)
	return fmt.Errorf("column %q: categories of %s were not seen in training (%s): correct them, or let --unseen prior score them by the variance of the levels",
		column, count, strings.Join(examples, ", "))
}

func (t *tableRows) each(ctx context.Context, visit func(*score.Rows) error) error {
	if t.progress == nil {
		return t.Each(ctx, visit)
	}
	defer t.progress(t.Rows(), t.Rows())
	return t.Each(ctx, func(rows *score.Rows) error {
		t.progress(rows.First(), t.Rows())
		return visit(rows)
	})
}

// Counts adds the sparse features that the reading left out.
func (t *tableRows) Counts() frame.Counts {
	counts := t.Table.Counts()
	if t.file.scorer.Frame().Sparse > 0 {
		counts.UnseenFeatures += t.file.table.Dropped()
	} else {
		counts.UnseenFeatures = 0
	}
	return counts
}

func (t *tableRows) kept(dst [][]byte, rows *score.Rows, i int) ([][]byte, error) {
	if t.texts == nil {
		return dst, nil
	}
	return t.texts.Row(dst, rows.SourceRow(i))
}

func (t *tableRows) close() {
	if t.texts != nil {
		t.texts.Close()
	}
}
