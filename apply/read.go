package apply

import (
	"context"
	"errors"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/score"
	"github.com/credence-ml/credence/table"
)

// keyRows are rows of a model that was learned online, which are scored as they are read.
type keyRows struct {
	*score.Keys
	file    *File
	columns []string
	targets bool
	run     *dataset.Run
}

// bindKeys finds the columns of the model and those to copy.
func (f *File) bindKeys(_ context.Context, options Options) error {
	k := f.rows.(*keyRows)
	k.file = f
	schema := f.table.Schema()
	if schema.Label != k.Sparse() {
		return f.named(errors.New("this and the data that the model was learned from are of different formats, one with named columns and one with numbered features: give data of the same format"))
	}
	k.targets = options.Targets != score.IgnoreTargets && !f.lacks(options.Targets, k.Target())
	var err error
	if k.columns, err = k.Columns(schema); err != nil {
		return f.named(err)
	}
	if len(options.Keep) > 0 && schema.Label && !f.table.Tagged() {
		return errors.New("--keep copies columns of a table, and this text has none: leave it out, rows keep their order")
	}
	if err := f.table.CheckTexts(options.Keep); err != nil {
		return err
	}
	for _, name := range options.Keep {
		k.columns = append(k.columns, credence.TextOf(name))
	}
	return nil
}

func (k *keyRows) each(ctx context.Context, visit func(*score.Rows) error) error {
	return k.file.table.Rows(ctx, k.columns, credence.Position{}, func(run *dataset.Run) error {
		k.run = run
		return k.Score(run.Rows, visit)
	})
}

func (k *keyRows) HasTargets() bool { return k.targets }
func (k *keyRows) close()           {}

func (k *keyRows) kept(dst [][]byte, _ *score.Rows, i int) ([][]byte, error) {
	row := k.run.Row(k.RunRow(i))
	for _, name := range k.file.options.Keep {
		column := slices.IndexFunc(k.run.Columns, func(c table.Column) bool { return c.Name == credence.TextOf(name) })
		var text []byte
		if code := row[column]; code == code {
			text = k.run.TextOf(column, code)
		}
		dst = append(dst, text)
	}
	return dst, nil
}

// liveRows are rows of a pipe by the columns of a model of fit, which are scored as they come.
type liveRows struct {
	*score.Live
	file    *File
	columns []string
}

// bindLive finds the columns of the model.
func (f *File) bindLive(_ context.Context, options Options) error {
	columns, err := f.scorer.Columns(f.table.Schema(), options.Targets)
	if err != nil {
		return f.named(err)
	}
	if len(columns) == 0 { // of none, the table reads all
		for _, c := range f.table.Schema().Columns {
			columns = append(columns, c.Name)
		}
	}
	if f.lacks(options.Targets, f.scorer.Target()) {
		options.Targets = score.IgnoreTargets
	}
	live, err := f.scorer.Live(columns, options.Targets)
	f.rows = &liveRows{live, f, columns}
	return err
}

func (l *liveRows) each(ctx context.Context, visit func(*score.Rows) error) error {
	return l.file.table.Rows(ctx, l.columns, credence.Position{}, func(run *dataset.Run) error {
		return l.Score(run.Rows, visit)
	})
}

func (l *liveRows) close() {}

func (l *liveRows) kept(dst [][]byte, _ *score.Rows, _ int) ([][]byte, error) { return dst, nil }
