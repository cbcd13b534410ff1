package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/frame"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/score"
)

// Options say how files are read and scored. The zero value predicts.
type Options struct {
	// Read says how the files are read. The model says the rest: Schema, Reading, Once, Keyed and KindsKnown are not
	// read.
	Read dataset.Options
	// Targets says whether rows need a target.
	Targets score.Targets
	// Keep names columns whose texts [File.Kept] copies.
	Keep []string
	// Live answers each row before the next is waited for, of a pipe. Models of learn always do, and with columns to
	// keep nothing does.
	Live bool
	// Progress is called before some rows of a table are scored, with the number of those before them and of all, and
	// when scoring ends, however it does, with that of all twice.
	Progress func(before, all int)
}

// File is a model applied to the rows of files.
type File struct {
	scorer  *score.Scorer
	options Options
	table   *dataset.Table
	rows    rows
}

// rows are scored in one of three ways: by the columns of a table, by keys, or live.
type rows interface {
	Counts() frame.Counts
	HasTargets() bool
	Rows() int
	each(ctx context.Context, visit func(*score.Rows) error) error
	kept(dst [][]byte, rows *score.Rows, i int) ([][]byte, error)
	close()
}

// Open binds a model to files: it finds the columns of the model in them, and reads those of a table. The file must be
// closed.
func Open(ctx context.Context, scorer *score.Scorer, paths []string, options Options) (_ *File, err error) {
	if scorer == nil {
		return nil, errors.New("there is no scorer: make one by score.New")
	}
	f := &File{scorer: scorer, options: options}
	bind := f.bindTable
	switch {
	case scorer.Keyed():
		bind = f.bindKeys
		keys, err := scorer.Keys(options.Targets)
		if err != nil {
			return nil, err
		}
		options.Read.Reading = keys.Reading()
		options.Read.Once, options.Read.Keyed, options.Read.KindsKnown = true, true, true
		f.rows = &keyRows{Keys: keys}
	case options.Live && len(options.Keep) == 0:
		bind = f.bindLive
		options.Read.Schema, options.Read.Once = scorer.Schema(), true
	default:
		options.Read.Schema = scorer.Schema()
	}
	if f.table, err = dataset.Open(ctx, paths, options.Read); err != nil {
		return nil, err
	}
	if err := bind(ctx, options); err != nil {
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
func (f *File) HasTargets() bool { return f.rows.HasTargets() }

// Lasting says whether the rows can be read again, as those of a table can.
func (f *File) Lasting() bool {
	_, is := f.rows.(*tableRows)
	return is
}

// Each scores all rows, in order.
func (f *File) Each(ctx context.Context, visit func(*score.Rows) error) error {
	return f.rows.each(ctx, visit)
}

// Kept appends the texts of the columns to keep in row i of the rows that are being visited, from the first row on.
func (f *File) Kept(dst [][]byte, rows *score.Rows, i int) ([][]byte, error) {
	return f.rows.kept(dst, rows, i)
}

// Counts tells what was done to the rows that were scored, and how many there were.
func (f *File) Counts() (counts frame.Counts, rows int) { return f.rows.Counts(), f.rows.Rows() }

// Measures say what an evaluation has beside the metrics of the family.
type Measures struct {
	LeaveOneOut bool // the rows are those of training: the density of each given all the others
	Reliability bool // reliability tables
	Groups      bool // the metrics of each group of rows that have the same texts in the columns of [Options].Keep
}

// Evaluate compares the predictions with the targets, and says where they do not fit each other.
func (f *File) Evaluate(ctx context.Context, measures Measures) (*metric.Evaluation, error) {
	e := score.NewEvaluation(f.scorer.Fitted())
	e.Expect(f.rows.Rows())
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
	if t, is := f.rows.(*tableRows); is {
		return t.Criticise(ctx, e)
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
	if t, is := f.rows.(*tableRows); is {
		return t.Table.Placed(text)
	}
	return text
}

// Close gives back what the reading holds outside memory.
func (f *File) Close() {
	if f.rows != nil {
		f.rows.close()
	}
	f.table.Close()
}

// files names the files, for errors.
func (f *File) files() string { return strings.Join(f.table.Files(), ", ") }

// lacks says that targets which may be there are not.
func (f *File) lacks(targets score.Targets, target string) bool {
	return targets == score.UseTargets && f.table.Schema().Index(target) < 0
}

// named is an error of the files.
func (f *File) named(err error) error { return fmt.Errorf("%s: %w", f.table.Files()[0], err) }
