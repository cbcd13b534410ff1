package dataset

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/table"
)

// Fields are the texts of some columns in consecutive rows, as they stand in the
// file.
type Fields struct {
	First int // index of the first row in its table
	Rows  int
	rows  *table.Rows
}

// Text returns the text of a row, counted from First, in the column-th of the
// columns asked for; nil where the file says that there is no value. It is valid
// until the visit it was given to returns.
func (f *Fields) Text(row, column int) []byte {
	code := f.rows.Row(row)[column]
	if code != code {
		return nil
	}
	return f.rows.TextOf(column, code)
}

// Fields reads the named columns once more as texts, whatever their kinds, and
// calls visit with some rows after the other, in the order of the files. Its
// rows are those of Load and Each. Fields of CSV and TSV are as written, without
// the quotes around them; the label of libsvm rows is as written; integers and
// strings of Parquet are exact, its booleans true or false, and its nulls nil.
//
// Memory is that of a few blocks, however many different texts there are. Fields
// may run beside the reading of a source that the table has loaded.
func (t *Table) Fields(ctx context.Context, columns []string, visit func(*Fields) error) error {
	names := make([]string, 0, len(columns))
	for _, name := range columns {
		if _, known := t.index[name]; !known {
			return fmt.Errorf("dataset: the column %q is not in %s: %s", name, t.inputs[0].name, t.columnList())
		}
		if slices.Contains(names, Written(name)) {
			return fmt.Errorf("dataset: the column %q is named twice: name it once", name)
		}
		names = append(names, Written(name))
	}
	chosen, err := t.choose(names)
	if err != nil {
		return err
	}
	chosen.inPlace, chosen.sparse = true, false
	rows := 0
	consume := func(b *text.Block) error {
		if b.Err != nil {
			return b.Err
		}
		if len(b.Faults) > 0 {
			return b.Faults[0].Err
		}
		first := rows
		rows += b.Count
		return visit(&Fields{First: first, Rows: b.Count, rows: &b.Rows})
	}
	return t.passFrom(ctx, chosen, 0, credence.Position{}, consume)
}

// WriteCSV writes columns of all rows as CSV, with the cells as the table has them.
func (t *Table) WriteCSV(ctx context.Context, w io.Writer, columns []string) error {
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	record := make([]string, len(columns))
	err := t.Fields(ctx, columns, func(f *Fields) error {
		for i := range f.Rows {
			for j := range columns {
				record[j] = string(f.Text(i, j))
			}
			if err := out.Write(record); err != nil {
				return err
			}
		}
		return nil
	})
	out.Flush()
	return cmp.Or(err, out.Error())
}
