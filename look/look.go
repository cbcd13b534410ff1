// Package look says what is in a table before anyone fits it: types, ranges, missing values and levels of its columns,
// what is odd about them, and which family its likely targets look like.
//
//	table, err := dataset.Open(ctx, paths, dataset.Options{})
//	result, err := look.At(ctx, table, look.Options{})
//	for _, f := range result.Findings { fmt.Println(f.Column, f.Text, f.Remedy) }
//
// Ranges, missing values, levels and repeated rows are those of all rows; columns are compared in 10,000 evenly spread
// ones. Nothing is left out or changed. For n rows and p columns it takes n·p operations and the memory of the table,
// or of its cache.
package look

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/dataset"
	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/order"
	"github.com/credence-ml/credence/metric"
	"github.com/credence-ml/credence/table"
)

// Options say what is looked for.
type Options struct {
	Target string `json:"target,omitempty"` // the column that is to be predicted; "" is one that is likely to be
}

// Result is what is in a table.
type Result struct {
	Rows     int       `json:"rows"`             // of all files
	Compared int       `json:"compared"`         // evenly spread rows in which columns were compared
	Columns  []Column  `json:"columns"`          // in the order of the file
	Sparse   int       `json:"sparse,omitempty"` // numbered columns beside them, which are not looked at
	Repeated int       `json:"repeated"`         // rows that are equal to an earlier one
	Findings []Finding `json:"findings"`         // what is odd, the columns in their order
	Targets  []Target  `json:"targets"`          // columns that may be to be predicted

	schema credence.Schema
}

// Column is what a column holds.
type Column struct {
	Name     string       `json:"name"`               // as a formula writes it
	Kind     string       `json:"kind"`               // number, boolean or category
	Missing  int          `json:"missing"`            // rows without a value
	Low      metric.Score `json:"low,omitzero"`       // the least number
	High     metric.Score `json:"high,omitzero"`      // the largest number
	Mean     metric.Score `json:"mean,omitzero"`      // of the numbers; of a boolean the share that is true
	Whole    bool         `json:"whole,omitempty"`    // all are whole numbers
	Levels   int          `json:"levels,omitempty"`   // of a category
	Common   []Level      `json:"common,omitempty"`   // its most frequent levels
	Notation string       `json:"notation,omitempty"` // how its numbers are written, where they are not plain
	Date     bool         `json:"date,omitempty"`     // the number is one of days since 1970
}

// Level is a level of a category.
type Level struct {
	Name string `json:"name"` // as the data write it
	Rows int    `json:"rows"` // that have it
}

// The kinds of findings.
const (
	Constant = "constant" // one value in all rows, or none
	ID       = "id"       // a name of each row
	Copy     = "copy"     // the same as another column
	NearCopy = "nearcopy" // tells the target as good as exactly
	Repeated = "repeated" // rows that are equal to others
	Reading  = "reading"  // may be meant otherwise than it is read
)

// Finding is something odd.
type Finding struct {
	Column string `json:"column,omitempty"` // "" of the table as a whole
	What   string `json:"what"`             // constant, id, copy, nearcopy, repeated or reading
	Text   string `json:"text"`             // what is odd
	Remedy string `json:"remedy,omitempty"` // what to do if it is meant
}

// Target is a column that may be to be predicted.
type Target struct {
	Column string `json:"column"` // its name
	credence.Look
}

const (
	compared   = 10_000
	mostCommon = 5
	// mostHashed is the number of rows up to which all are compared with each other.
	mostHashed = 4_000_000
)

// At looks at a table.
func At(ctx context.Context, files *dataset.Table, options Options) (*Result, error) {
	if files == nil {
		return nil, errors.New("there is no table: open one by dataset.Open")
	}
	r := &Result{Findings: []Finding{}, Targets: []Target{}}
	source, err := r.load(ctx, files)
	if err != nil {
		return nil, err
	}
	if options.Target != "" && source.Schema().Index(options.Target) < 0 {
		return nil, fmt.Errorf("there is no column %q to be the target: name one of the file", options.Target)
	}
	for _, note := range files.Notes() {
		dated := source.Schema().Reading.Notations[note.Column].Date != "" // which the column says
		if note.Text != "" && !dated && (note.Doubt || note.Column == "") {
			r.Findings = append(r.Findings, Finding{Column: note.Column, What: Reading, Text: note.Text})
		}
	}
	r.schema, r.Rows, r.Sparse = *source.Schema(), source.Rows(), source.Schema().Sparse
	l := &looking{Result: r, files: files, ends: make([][2]float64, len(r.schema.Columns))}
	if err := l.pass(ctx, source); err != nil {
		return nil, err
	}
	if err := l.read(ctx, table.SpreadOf(source, compared)); err != nil {
		return nil, err
	}
	l.judge(options.Target)
	order := func(f Finding) int { return l.schema.Index(f.Column) }
	slices.SortStableFunc(r.Findings, func(a, b Finding) int { return order(a) - order(b) })
	return r, nil
}

// load reads all columns that can be read; others are findings.
func (r *Result) load(ctx context.Context, files *dataset.Table) (credence.Source, error) {
	names := files.Schema().Names()
	for {
		var readable []string
		for _, name := range names {
			if err := files.Check([]string{name}); err != nil {
				r.unread(err)
				continue
			}
			readable = append(readable, name)
		}
		names = readable
		if len(names) == 0 {
			return nil, errors.New("no column of the table can be read as it is: --types says what columns are")
		}
		source, err := files.Load(ctx, names)
		var fault *text.Error
		if err == nil || !errors.As(err, &fault) || !slices.Contains(names, fault.Column) || len(names) == 1 {
			return source, err
		}
		r.unread(err)
		names = slices.DeleteFunc(names, func(name string) bool { return name == fault.Column })
	}
}

// unread notes a column that cannot be read, and why.
func (r *Result) unread(err error) {
	f := Finding{What: Reading, Text: "cannot be read: " + err.Error()}
	var fault *text.Error
	if errors.As(err, &fault) {
		f.Column, f.Text = fault.Column, "cannot be read: "+fault.What
	}
	r.Findings = append(r.Findings, f)
}

// looking is a look at a table.
type looking struct {
	*Result
	files  *dataset.Table
	ends   [][2]float64
	values [][]float64 // of each column in the rows compared
	sorted [][]float64 // those that are not missing, ascending
}

// pass adds up all rows.
func (l *looking) pass(ctx context.Context, source credence.Source) error {
	n := len(l.schema.Columns)
	sums, counts := make([]float64, n), make([][]int, n)
	for j, c := range l.schema.Columns {
		counts[j], l.ends[j] = make([]int, len(c.Levels)+1), [2]float64{math.Inf(1), math.Inf(-1)}
		l.Columns = append(l.Columns, Column{Name: c.Name, Kind: c.Kind.String(), Levels: len(c.Levels), Whole: c.Kind == credence.Numeric, Date: l.schema.Reading.Notations[c.Name].Date != "", Notation: l.schema.Reading.Notations[c.Name].String()})
	}
	seen := map[uint64]bool{}
	hashing := l.Rows <= mostHashed && l.Sparse == 0
	for chunk, err := range credence.Chunks(ctx, source) {
		if err != nil {
			return err
		}
		for i := range chunk.Rows() {
			row := chunk.Values.Row(i)
			for j, v := range row {
				switch {
				case v != v:
					l.Columns[j].Missing++
				case l.schema.Columns[j].Kind == credence.Category && v < 0: // rows read by levels of other data
					counts[j][len(counts[j])-1]++
				case l.schema.Columns[j].Kind == credence.Category:
					counts[j][int(v)]++
				default:
					sums[j] += v / room
					l.Columns[j].Whole = l.Columns[j].Whole && v == math.Trunc(v)
					l.ends[j] = [2]float64{min(l.ends[j][0], v), max(l.ends[j][1], v)}
				}
			}
			if hashing {
				key := hash(row)
				if seen[key] {
					l.Repeated++
				}
				seen[key] = true
			}
		}
	}
	none := metric.Score(math.NaN())
	for j := range l.Columns {
		c := &l.Columns[j]
		c.Low, c.High, c.Mean = none, none, none
		if l.schema.Columns[j].Kind != credence.Category {
			if c.Mean = metric.Score(sums[j] / float64(l.Rows-c.Missing) * room); c.Mean.Defined() {
				c.Low, c.High = metric.Score(l.ends[j][0]), metric.Score(l.ends[j][1])
			}
			continue
		}
		names := l.schema.Columns[j].Levels
		if counts[j][len(names)] > 0 {
			names = append(slices.Clip(names), unseen)
			c.Levels++
		}
		common := order.By(len(names), func(a, b int) int { return counts[j][b] - counts[j][a] })
		for _, k := range common[:min(len(common), mostCommon)] {
			c.Common = append(c.Common, Level{names[k], counts[j][k]})
		}
	}
	return nil
}

// room is a power of two by which sums are smaller, so that those of the largest numbers are numbers.
const room = 1 << 30

// unseen stands for all levels that the data by which a table is read did not have.
const unseen = "(not in training)"

// hash mixes the values of a row: rows of the same values have the same, and of 4 million others two in 10⁶ tables by
// chance.
func hash(row []float64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, v := range row {
		h = (h ^ math.Float64bits(v)) * 0xbf58476d1ce4e5b9 // all missing values have the bits of math.NaN
		h ^= h >> 29
	}
	return h
}

// read keeps the values of the rows that are compared.
func (l *looking) read(ctx context.Context, part *table.Spread) error {
	l.Compared = part.Rows()
	l.values = make([][]float64, len(l.Columns))
	for chunk, err := range credence.Chunks(ctx, part) {
		if err != nil {
			return err
		}
		for i := range chunk.Rows() {
			for j, v := range chunk.Values.Row(i) {
				l.values[j] = append(l.values[j], v)
			}
		}
	}
	for _, values := range l.values {
		values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
		slices.Sort(values)
		l.sorted = append(l.sorted, values)
	}
	return nil
}

// Schema returns how the table was read, for [dataset.WriteSchema]: another table is read so by
// [dataset.Options].Stated.
func (r *Result) Schema() *credence.Schema { return &r.schema }
