package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/parquet-go/parquet-go/format"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/parquet"
)

// leaf is a column of a Parquet file.
type leaf struct {
	name     string // members of a structure are joined by points
	index    int
	physical format.Type
	unsigned bool
	kind     credence.Kind // what it is unless the options say otherwise
	date     bool          // numbers are of days since 1970-01-01 UTC
	timed    bool          // they may have a time of day
	unit     float64       // that stored integers are divided by, 0 for 1
	scale    int           // digits of stored integers behind the point
	refusal  string
}

// parquetFile is an open Parquet file.
type parquetFile struct {
	*parquet.File
	close  func() error
	in     *input
	leaves []leaf
}

// openParquet opens a file and lists its columns.
func (in *input) openParquet() (file *parquetFile, err error) {
	file = &parquetFile{close: func() error { return nil }, in: in}
	defer func() {
		if err != nil {
			file.close()
		}
	}()
	var content io.ReaderAt
	size := in.size
	if in.content != nil {
		content, size = in.content, in.content.size
	} else {
		handle, err := os.Open(in.path)
		if err != nil {
			return nil, fmt.Errorf("%s: cannot be read: %w", in.name, err)
		}
		content, file.close = handle, handle.Close
		if err := in.unchanged(); err != nil {
			return file, err
		}
	}
	if file.File, err = parquet.Open(content, size); err != nil {
		return file, damagedParquet(in.name, err)
	}
	for i, c := range file.Columns {
		l := leaf{name: c.Name, index: i, physical: c.Type}
		if c.Repetition > 0 {
			l.refusal = "is a list: only one value a row is read; leave the column out"
		} else {
			l.describe(c.Logical)
		}
		file.leaves = append(file.leaves, l)
	}
	return file, nil
}

func damagedParquet(name string, cause any) error {
	if err, is := cause.(error); is && errors.Is(err, parquet.ErrUnread) {
		return &text.Error{File: name, What: fmt.Sprintf("the Parquet file is not read: %v", err)}
	}
	return &text.Error{File: name, What: fmt.Sprintf("the Parquet file is damaged or cut off: %.200v: write or fetch it again", cause)}
}

// describe decides what the values of the column are.
func (l *leaf) describe(logical format.LogicalTypeValue) {
	switch t := logical.(type) {
	case *format.DateType:
		l.date, l.unit = true, 1
	case *format.TimestampType:
		if l.date, l.timed = true, true; t.Unit.Value != nil {
			l.unit = float64(24 * time.Hour / t.Unit.Value.Duration())
		}
	case *format.TimeType:
		l.refusal = "is a time of day, which is not read: leave the column out, or write it as a number"
		return
	case *format.DecimalType:
		if l.physical != format.Int32 && l.physical != format.Int64 {
			l.refusal = "is a decimal of many digits, which is not read: leave the column out, or write it as a float or an integer"
			return
		}
		if t.Scale < 0 || t.Scale > 308 {
			l.refusal = fmt.Sprintf("is a decimal of %d digits behind the point, where a number holds 308: leave the column out, or write it as a float", t.Scale)
			return
		}
		if l.scale = int(t.Scale); l.scale > 0 { // else they are integers, all of whose digits count
			l.unit = math.Pow10(l.scale)
		}
	case *format.IntType:
		l.unsigned = !t.IsSigned
	case nil, *format.StringType, *format.EnumType, *format.JsonType, *format.NullType:
	default:
		l.refusal = fmt.Sprintf("is of type %s, which is not read: leave the column out", logical)
		return
	}
	switch l.physical {
	case format.Boolean:
		l.kind = credence.Boolean
	case format.Int32, format.Int64, format.Float, format.Double:
		l.kind = credence.Numeric
	case format.ByteArray:
		l.kind = credence.Category
	case format.Int96: // timestamps of old programs
		l.kind, l.date, l.timed, l.unit = credence.Numeric, true, true, 1
	default:
		l.refusal = fmt.Sprintf("is of type %s, which is not read: leave the column out", l.physical)
	}
}

// sampleParquet learns the columns from the files' own schemas.
func (t *Table) sampleParquet(ctx context.Context) error {
	rows := int64(0)
	for position, in := range t.inputs {
		if err := ctx.Err(); err != nil {
			return err
		}
		file, err := in.openParquet()
		if err != nil {
			return err
		}
		in.groups, in.ends = file.Groups(), file.Ends()
		rows += file.Rows
		leaves := file.leaves
		file.close()
		if position == 0 {
			err = t.describeLeaves(in, leaves)
		} else {
			err = t.compareLeaves(in, leaves)
		}
		if err != nil {
			return err
		}
	}
	if rows == 0 {
		return t.noRows()
	}
	return nil
}

// describeLeaves makes the schema of the first file that of the table.
func (t *Table) describeLeaves(in *input, leaves []leaf) error {
	if len(leaves) == 0 {
		return &text.Error{File: in.name, What: "the Parquet file has no columns: was it written completely?"}
	}
	t.columns = make([]column, len(leaves))
	t.index = make(map[string]int, len(leaves))
	for i, l := range leaves {
		if _, twice := t.index[l.name]; twice {
			return &text.Error{File: in.name, Column: l.name, What: "two columns have this name: rename one"}
		}
		described := credence.Column{Name: l.name, Kind: l.kind}
		if kind, declared := t.typeOf(l.name); declared {
			described.Kind = kind
		}
		if known, is := t.trained[l.name]; is {
			described = t.options.Schema.Columns[known]
			t.columns[i].trained = true
		}
		t.index[l.name] = i
		known := &t.columns[i]
		known.refusal, known.plain = t.refusal(&l, described.Kind), l.kind == credence.Numeric && described.Kind == l.kind
		known.note = known.refusal
		switch {
		case described.Kind != credence.Numeric:
		case l.physical == format.ByteArray:
			set := t.setting(l.name)
			set.Declared = cell.Numeric
			verdict := new(cell.Census).Decide(set)
			known.notation, known.doubt = verdict.Notation, verdict.Doubt
		case l.date:
			known.notation, known.doubt = cell.DateNotation, cell.DateDoubt(l.name, l.timed)
		}
		if known.trained {
			known.doubt = ""
		}
		t.schema.Columns = append(t.schema.Columns, described)
	}
	return nil
}

// refusal says why a leaf is not read as a column of that kind, "" where it is.
func (t *Table) refusal(l *leaf, kind credence.Kind) string {
	dates := t.options.Reading.Notations[l.name].Date != ""
	if dates && l.refusal == "" && kind == credence.Numeric && l.physical != format.ByteArray && !l.date {
		return "holds numbers, and is one of dates in training or in the schema: write it as dates"
	}
	return l.refusal
}

// compareLeaves refuses a further file whose columns differ from the first's.
func (t *Table) compareLeaves(in *input, leaves []leaf) error {
	names := make([]string, len(leaves))
	for i, l := range leaves {
		names[i] = l.name
	}
	order, err := t.columnOrder(in, names)
	if err != nil {
		return err
	}
	for i, l := range leaves {
		known, kind := &t.columns[order[i]], t.schema.Columns[order[i]].Kind
		dates := kind != credence.Numeric || l.physical == format.ByteArray || l.date == (known.notation.Date != "")
		if (known.refusal == "") != (t.refusal(&l, kind) == "") || !dates {
			return &text.Error{File: in.name, Column: l.name, What: "the column is of another type in " + t.inputs[0].name + ": write both files alike"}
		}
	}
	return nil
}
