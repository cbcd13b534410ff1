package synthetic

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"github.com/credence-ml/credence"
)

// digits is how many significant digits text files have.
const digits = 6

// Formats lists what WriteFile writes.
func Formats() []string { return []string{"csv", "libsvm", "parquet"} }

// WriteFile writes the rows to a file: csv with a header x1…, y; libsvm with every
// input stored; parquet with Snappy-compressed doubles.
func (d Data) WriteFile(path, format string) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(file, 1<<20)
	switch format {
	case "csv":
		err = d.writeCSV(buffered)
	case "libsvm":
		err = d.writeLibSVM(buffered)
	case "parquet":
		err = d.writeParquet(buffered)
	default:
		err = fmt.Errorf("synthetic: there is no format %q", format)
	}
	if err == nil {
		err = buffered.Flush()
	}
	if closing := file.Close(); err == nil {
		err = closing
	}
	return err
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
	group := parquet.Group{"y": parquet.Compressed(parquet.Leaf(parquet.DoubleType), &parquet.Snappy)}
	for j := range d.Inputs {
		group[fmt.Sprintf("x%d", j+1)] = parquet.Compressed(parquet.Leaf(parquet.DoubleType), &parquet.Snappy)
	}
	schema := parquet.NewSchema("rows", group)
	writer := parquet.NewWriter(w, schema)
	leaf := make([]int, d.Inputs+1) // of every input, and of the target
	for j := range leaf {
		name := fmt.Sprintf("x%d", j+1)
		if j == d.Inputs {
			name = "y"
		}
		column, ok := schema.Lookup(name)
		if !ok {
			return fmt.Errorf("synthetic: the parquet schema lost its column %s", name)
		}
		leaf[j] = column.ColumnIndex
	}
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
	if err != nil {
		return err
	}
	return writer.Close()
}
