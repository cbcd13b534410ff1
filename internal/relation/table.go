package relation

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset/output"
	"github.com/credence-ml/credence/table"
)

// Table is a table by columns: of numbers, where NaN is missing, and of texts, where "" is.
type Table struct {
	Names   []string // in the order of a file
	Numbers map[string][]float64
	Texts   map[string][]string
	// Keys name the rows in places of answers, whatever rows stand before them; nil counts from 0.
	Keys []int
}

// Rows is the number of rows.
func (t Table) Rows() int {
	for _, values := range t.Numbers {
		return len(values)
	}
	for _, values := range t.Texts {
		return len(values)
	}
	return 0
}

// Key is the name of row i.
func (t Table) Key(i int) int {
	if t.Keys == nil {
		return i
	}
	return t.Keys[i]
}

// Pick is the table of the given rows, in their order, which keep their keys.
func (t Table) Pick(rows []int) Table {
	p := Table{Names: t.Names, Numbers: map[string][]float64{}, Texts: map[string][]string{}, Keys: make([]int, len(rows))}
	for to, from := range rows {
		p.Keys[to] = t.Key(from)
	}
	for name, values := range t.Numbers {
		p.Numbers[name] = picked(values, rows)
	}
	for name, values := range t.Texts {
		p.Texts[name] = picked(values, rows)
	}
	return p
}

func picked[T any](values []T, rows []int) []T {
	out := make([]T, len(rows))
	for to, from := range rows {
		out[to] = values[from]
	}
	return out
}

// With is the table with a column of numbers more, or in the place of the one of that name.
func (t Table) With(name string, values []float64) Table {
	w := Table{Names: t.Names, Numbers: maps.Clone(t.Numbers), Texts: t.Texts, Keys: t.Keys}
	if w.Numbers == nil {
		w.Numbers = map[string][]float64{}
	}
	w.Numbers[name] = values
	if !slices.Contains(t.Names, name) {
		w.Names = append(slices.Clone(t.Names), name)
	}
	return w
}

// Map is the table with a column of numbers through a function; without the column it is the table itself.
func (t Table) Map(name string, f func(float64) float64) Table {
	values, known := t.Numbers[name]
	if !known {
		return t
	}
	values = slices.Clone(values)
	for i, v := range values {
		values[i] = f(v)
	}
	return t.With(name, values)
}

// Without is the table without some columns.
func (t Table) Without(names ...string) Table {
	w := t
	w.Names = slices.DeleteFunc(slices.Clone(t.Names), func(name string) bool { return slices.Contains(names, name) })
	return w
}

// CSV writes the table as text that reads back to the bit.
func (t Table) CSV(w io.Writer) error { return t.write(w, "table.csv") }

// Parquet writes the table as a Parquet file.
func (t Table) Parquet(w io.Writer) error { return t.write(w, "table.parquet") }

// write writes the table in the format of a path.
func (t Table) write(w io.Writer, path string) error {
	var columns []output.Column
	for _, name := range t.Names {
		_, text := t.Texts[name]
		columns = append(columns, output.Column{Name: name, Text: text})
	}
	out, err := output.New(w, path, columns)
	if err != nil {
		return err
	}
	var cells []float64
	var texts [][]byte
	for i := range t.Rows() {
		for _, c := range columns {
			if c.Text {
				texts = append(texts, []byte(t.Texts[c.Name][i]))
			} else {
				cells = append(cells, t.Numbers[c.Name][i])
			}
		}
	}
	if err := out.Write(nil, cells, texts...); err != nil {
		return err
	}
	return out.Close()
}

// Write writes the table to a file of a folder, as Parquet where from says so and as CSV otherwise, and returns its
// path.
func (t Table) Write(folder, name, from string) (path string, err error) {
	path = filepath.Join(folder, name+".csv")
	if from == Parquet {
		path = filepath.Join(folder, name+".parquet")
	}
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	return path, t.write(file, path)
}

// Source is the table in memory. Texts that are all true or false are booleans, as in files.
func (t Table) Source() (credence.Source, error) {
	b := table.New()
	for _, name := range t.Names {
		texts, isText := t.Texts[name]
		switch {
		case !isText && t.Numbers[name] == nil:
			return nil, fmt.Errorf("relation: the table has no column %s", name)
		case !isText:
			b.Numbers(name, t.Numbers[name])
		case slices.ContainsFunc(texts, func(text string) bool { return text != "true" && text != "false" }):
			b.Categories(name, texts)
		default:
			values := make([]bool, len(texts))
			for i, text := range texts {
				values[i] = text == "true"
			}
			b.Booleans(name, values)
		}
	}
	return b.Source()
}
