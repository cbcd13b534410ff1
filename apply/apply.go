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
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
)

// Options say how files are read and scored. The zero value predicts.
type Options struct {
	// Read says how the files are read. The model says the rest: Schema, Reading, Kinds, Once, Keyed and KindsKnown are
	// not read.
	Read dataset.Options
	// Targets says whether rows need a target.
	Targets score.Targets
	// Keep names columns whose texts [File.Kept] copies.
	Keep []string
	// Live answers each row before the next is waited for, of a pipe, and a row that cannot be read at once. Otherwise
	// what is wrong behind it is told with it.
	Live bool
	// Again keeps the rows, in memory or the row cache, so that they can be scored again: rows that need targets
	// are always kept, those of models of learn never.
	Again bool
	// Progress is called before some rows that are kept are scored, with the number of those before them and of all,
	// and when scoring ends, however it does, with that of all twice.
	Progress func(before, all int)
}

// File is a model applied to the rows of files.
type File struct {
	scorer  *score.Scorer
	options Options
	table   *dataset.Table
	binding score.Binding
	kept    *score.Table   // the binding, of rows that are kept
	texts   *dataset.Texts // of the columns to copy beside them; nil without
	columns []string       // of other rows, those that are read
	run     *dataset.Run   // the rows being visited

	impossible int // rows written without a log density, which is −∞
}

// Open binds a model to files: it finds the columns of the model in them. The file must be closed.
func Open(ctx context.Context, scorer *score.Scorer, paths []string, options Options) (_ *File, err error) {
	if scorer == nil {
		return nil, errors.New("there is no scorer: make one by score.New")
	}
	f := &File{scorer: scorer, options: options}
	var bind func(context.Context) error
	once := scorer.Keyed()
	if once {
		keys, err := scorer.Keys(options.Targets)
		if err != nil {
			return nil, err
		}
		options.Read.Reading, options.Read.Kinds = keys.Reading(), keys.Kinds()
		options.Read.Keyed, options.Read.KindsKnown = true, true
		bind = func(context.Context) error { return f.bindKeys(keys) }
	} else {
		options.Read.Schema = scorer.Schema()
		if bind = f.bindTable; options.Targets != score.RequireTargets && !options.Again {
			bind, once = f.bindColumns, true
		}
	}
	options.Read.Once, options.Read.SkipMalformed = once, once // malformed rows are told of where they stand
	if f.table, err = dataset.Open(ctx, paths, options.Read); err != nil {
		return nil, err
	}
	if err = bind(ctx); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Scorer returns the model, bound to no rows.
func (f *File) Scorer() *score.Scorer { return f.scorer }

// Data returns the table of the files.
func (f *File) Data() *dataset.Table { return f.table }

// HasTargets says whether rows have targets, which they may lack where they are only used.
func (f *File) HasTargets() bool { return f.binding.HasTargets() }

// Lasting says whether the rows are kept, so that they can be read again.
func (f *File) Lasting() bool { return f.kept != nil }

// Each scores all rows, in order. Rows that are not kept are read as they are scored, and one that cannot be read or
// scored is an error, after the rows before it.
func (f *File) Each(ctx context.Context, visit func(*score.Rows) error) error {
	if f.kept == nil {
		return f.scoreRuns(ctx, visit)
	}
	if f.options.Progress == nil {
		return f.kept.Each(ctx, visit)
	}
	all := f.kept.Rows()
	defer f.options.Progress(all, all)
	return f.kept.Each(ctx, func(rows *score.Rows) error {
		f.options.Progress(rows.First(), all)
		return visit(rows)
	})
}

// Kept appends the texts of the columns to keep in row i of the rows that are being visited, from the first row on.
func (f *File) Kept(dst [][]byte, rows *score.Rows, i int) ([][]byte, error) {
	if f.texts != nil {
		return f.texts.Row(dst, rows.SourceRow(i))
	}
	for _, name := range f.options.Keep {
		column := slices.Index(f.columns, dataset.Written(name))
		var text []byte
		if code := f.run.Row(rows.RunRow(i))[column]; code == code {
			text = f.run.TextOf(column, code)
		}
		dst = append(dst, text)
	}
	return dst, nil
}

// Counts tells what was done to the rows that were scored, and how many there were.
func (f *File) Counts() (counts frame.Counts, rows int) {
	counts = f.binding.Counts()
	counts.Impossible = f.impossible
	if f.kept != nil && f.scorer.Frame().Sparse > 0 { // features that the reading left out
		counts.UnseenFeatures += f.table.Dropped()
	}
	return counts, f.binding.Rows()
}

// Measures say what an evaluation has beside the metrics of the family.
type Measures struct {
	LeaveOneOut bool // the rows are those of training: the density of each given all the others
	Reliability bool // reliability tables
	Groups      bool // the metrics of each group of rows that have the same texts in the columns of [Options].Keep
}

// Evaluate compares the predictions with the targets, and says where they do not fit each other.
func (f *File) Evaluate(ctx context.Context, measures Measures) (*metric.Evaluation, error) {
	e := score.NewEvaluation(f.scorer.Fitted())
	e.Expect(f.binding.Rows())
	if measures.LeaveOneOut {
		e.LeaveOneOut(f.scorer.Fitted())
	}
	if measures.Reliability {
		e.Reliability()
	}
	if measures.Groups && len(f.options.Keep) > 0 {
		var texts [][]byte
		e.By(f.options.Keep, func(rows *score.Rows, i int) (names []string, err error) {
			if texts, err = f.Kept(texts[:0], rows, i); err != nil {
				return nil, err
			}
			for _, text := range texts {
				names = append(names, string(text))
			}
			return names, nil
		})
	}
	if err := f.Each(ctx, e.Add); err != nil {
		return nil, err
	}
	if f.kept != nil {
		return f.kept.Criticise(ctx, e)
	}
	return e.Result()
}

// Calibrate returns the model calibrated by the rows, of a scorer of [score.Options].Calibrating, see
// [score.Calibrate].
func (f *File) Calibrate(ctx context.Context) (*credence.Fitted, error) {
	c, err := score.NewCalibration(f.scorer)
	if err != nil {
		return nil, err
	}
	if err := f.Each(ctx, c.Add); err != nil {
		return nil, err
	}
	return c.Fitted()
}

// Placed adds to a warning of an evaluation where the rows that it names stand: "rows 16, 40 at test.csv:17, 41".
func (f *File) Placed(text string) string {
	if f.kept != nil {
		return f.kept.Placed(text)
	}
	return text
}

// Close gives back what the reading holds outside memory.
func (f *File) Close() {
	if f.texts != nil {
		f.texts.Close()
	}
	f.table.Close()
}

// files names the files, for errors.
func (f *File) files() string { return strings.Join(f.table.Files(), ", ") }

// named is an error of the files.
func (f *File) named(err error) error { return fmt.Errorf("%s: %w", f.table.Files()[0], err) }
