package synthetic

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/credence-ml/credence"
)

// digits is how many significant digits text files have.
const digits = 6

// formats are what WriteFile writes: csv with a header x1…, y; libsvm with every
// input stored; parquet with Snappy-compressed doubles.
var formats = map[string]func(Data, io.Writer) error{"csv": Data.writeCSV, "libsvm": Data.writeLibSVM, "parquet": Data.writeParquet}

// Formats lists what WriteFile writes.
func Formats() []string { return []string{"csv", "libsvm", "parquet"} }

// WriteFile writes the rows to a file.
func (d Data) WriteFile(path, format string) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(file, 1<<20)
	err = formats[format](d, buffered)
	return errors.Join(err, buffered.Flush(), file.Close())
}

// each calls visit with every row.
func (d Data) each(visit func(x []float64, y float64) error) error {
	var batch credence.Batch
	for first := 0; first < d.Count; first += credence.BlockRows {
		if err := d.Read(&batch, first, min(credence.BlockRows, d.Count-first)); err != nil {
			return err
		}
		for i, y := range batch.Target {
			if err := visit(batch.X.Row(i), y); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d Data) writeCSV(w io.Writer) error {
	var line []byte
	for j := range d.Inputs {
		line = fmt.Appendf(line, "x%d,", j+1)
	}
	if _, err := w.Write(append(line, "y\n"...)); err != nil {
		return err
	}
	return d.each(func(x []float64, y float64) error {
		line = line[:0]
		for _, v := range x {
			line = append(strconv.AppendFloat(line, v, 'g', digits, 64), ',')
		}
		_, err := w.Write(append(strconv.AppendFloat(line, y, 'g', digits, 64), '\n'))
		return err
	})
}

func (d Data) writeLibSVM(w io.Writer) error {
	var line []byte
	return d.each(func(x []float64, y float64) error {
		line = strconv.AppendFloat(line[:0], y, 'g', digits, 64)
		for j, v := range x {
			line = append(strconv.AppendInt(append(line, ' '), int64(j+1), 10), ':')
			line = strconv.AppendFloat(line, v, 'g', digits, 64)
		}
		_, err := w.Write(append(line, '\n'))
		return err
	})
}

func (d Data) writeParquet(w io.Writer) error {
	name := func(j int) string {
		if j == d.Inputs {
			return "y"
		}
		return fmt.Sprintf("x%d", j+1)
	}
	group := parquet.Group{}
	for j := range d.Inputs + 1 {
		group[name(j)] = parquet.Compressed(parquet.Leaf(parquet.DoubleType), &parquet.Snappy)
	}
	schema := parquet.NewSchema("rows", group)
	leaf := make([]int, d.Inputs+1)
	for j := range leaf {
		column, _ := schema.Lookup(name(j)) // the schema has the names of the group
		leaf[j] = column.ColumnIndex
	}
	writer := parquet.NewWriter(w, schema)
	row := make(parquet.Row, d.Inputs+1)
	err := d.each(func(x []float64, y float64) error {
		for j, v := range x {
			row[leaf[j]] = parquet.DoubleValue(v).Level(0, 0, leaf[j])
		}
		last := leaf[d.Inputs]
		row[last] = parquet.DoubleValue(y).Level(0, 0, last)
		_, err := writer.WriteRows([]parquet.Row{row})
		return err
	})
	return errors.Join(err, writer.Close())
}
