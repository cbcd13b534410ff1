package formula

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence/internal/cell"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/internal/special"
	"github.com/credence-ml/credence/spec"
)

// readFrequencies reads frequencies=@file.csv: a row for each frequency, a
// column for each of the function's columns, in their order or, if the header
// names them all, in that of the header.
func (c *compiler) readFrequencies(f *function, node spec.Argument, path string) ([]float64, error) {
	content, err := c.options.ReadFile(path)
	if err != nil {
		return nil, c.formula.Errorf(node, "the frequencies cannot be read: %v", err).WithRemedy("check the path")
	}
	names := make([]string, 0, f.dimension(c.schema.Sparse))
	for _, i := range f.inputs {
		names = append(names, c.plan.Frame.Inputs[i].String())
	}
	for k := range c.schema.Sparse {
		if !f.segment {
			break
		}
		if !slices.Contains(f.without, int32(k)) {
			names = append(names, c.schema.SparseName(k))
		}
	}
	values, line, err := parseFrequencies(content, names)
	if err != nil {
		place := path
		if line > 0 {
			place = fmt.Sprintf("%s:%d", path, line)
		}
		wrong := c.formula.Errorf(node, "%s: %v", place, err)
		if len(names) == 1 {
			return nil, wrong.WithRemedy("write one number in a line, with or without a header")
		}
		return nil, wrong.WithRemedy("write one frequency in a line, %d numbers separated by commas, with or without a header", len(names))
	}
	return values, nil
}

// parseFrequencies returns the frequencies in the order of names, or the line
// that is wrong.
func parseFrequencies(content []byte, names []string) (values []float64, line int, err error) {
	reader := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(content, []byte("\ufeff"))))
	reader.FieldsPerRecord = -1
	reader.TrimLeadingSpace = true
	reader.ReuseRecord = true
	places := order.Places(len(names)) // of the file's columns in names
	for first := true; ; first = false {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			var wrong *csv.ParseError
			if errors.As(err, &wrong) {
				return nil, wrong.Line, wrong.Err
			}
			return nil, 0, err
		}
		line, _ := reader.FieldPos(0)
		if len(record) != len(names) {
			return nil, line, fmt.Errorf("%d %s where %d %s needed", len(record), cell.Plural(len(record), "number", "numbers"), len(names), cell.Plural(len(names), "is", "are"))
		}
		row := make([]float64, len(names))
		for j, field := range record {
			v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
			if first && err != nil && !errors.Is(err, strconv.ErrRange) {
				places, row = header(record, names, places), nil
				break
			}
			if err != nil || !special.Finite(v) {
				return nil, line, fmt.Errorf("%q is not a finite number", field)
			}
			row[places[j]] = v
		}
		values = append(values, row...)
	}
	if len(values) == 0 {
		return nil, 0, errors.New("the file holds no frequency")
	}
	return values, 0, nil
}

// header returns where in names each column of the file belongs, if the header
// consists of just these names, and otherwise the order as it is.
func header(record, names []string, order []int) []int {
	found := make([]int, len(names))
	for j, field := range record {
		found[j] = slices.Index(names, strings.TrimSpace(field))
		if found[j] < 0 || slices.Contains(found[:j], found[j]) {
			return order
		}
	}
	return found
}
