package frame

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/linop"
)

// Placer is implemented by sources that can tell people where a row stands, for
// example "train.csv:17". Row counts from 0; without it messages say "row 18".
type Placer interface {
	Place(row int) string
}

// Worder is implemented by sources that know the words of a boolean column, that for
// false first; messages use them.
type Worder interface {
	Words(column string) []string
}

// table reads the raw columns that a plan names from a source, leaving dropped
// rows out: its row numbers are those of the model.
type table struct {
	segment credence.SparseNames // by which expressions name sparse columns
	source  credence.Source
	schema  *credence.Schema
	slots   []slot
	names   map[string]int // column → slot
	index   map[string]int // column → its place in the schema
	dropped []int          // rows of the source that are left out, ascending
	chunk   credence.Chunk // as the source filled it
	kept    credence.Chunk // without the dropped rows; unused when none are dropped
	current *credence.Chunk
	target  columnMap // from sparse columns to those of spread
	spread  linop.Dense
}

// columnMap takes columns of a sparse segment to places, by a table for the first
// of them and a map for the others: columns may have numbers far beyond memory.
type columnMap struct {
	low  []int32 // place of each column, or -1
	high map[int32]int32
	end  int // behind the last column that has a place
}

// lowColumns is how many columns the table takes at most.
const lowColumns = 1 << 16

func (m *columnMap) set(column, place int) {
	m.end = max(m.end, column+1)
	if column >= lowColumns {
		if m.high == nil {
			m.high = map[int32]int32{}
		}
		m.high[int32(column)] = int32(place)
		return
	}
	for len(m.low) <= column {
		m.low = append(m.low, -1)
	}
	m.low[column] = int32(place)
}

// of returns the place of a column, or -1.
func (m *columnMap) of(column int32) int32 {
	if int(column) < len(m.low) {
		return m.low[column]
	}
	return m.ofHigh(column)
}

// ofHigh is of for columns beyond the table; apart, so that of is inlined.
func (m *columnMap) ofHigh(column int32) int32 {
	if place, ok := m.high[column]; ok {
		return place
	}
	return -1
}

// slot is where a raw column comes from.
type slot struct {
	name   string
	column int // of the dense columns, or -1
	sparse int // of the sparse segment, or -1
	wide   int // column of spread, for sparse ones
}

func newTable(source credence.Source) *table {
	t := &table{source: source, schema: source.Schema(), segment: source.Schema().SparseNames, names: map[string]int{}, index: map[string]int{}}
	for j := len(t.schema.Columns) - 1; j >= 0; j-- { // of equal names the first counts
		t.index[t.schema.Columns[j].Name] = j
	}
	return t
}

// add gives the expressions' columns slots. wide is the width that a sparse
// segment had in training: a column within it that the present one lacks is zero.
func (t *table) add(wide int, expressions ...*Expr) error {
	var lacking []string
	for _, e := range expressions {
		if e == nil || e.Column == "" {
			continue
		}
		if _, ok := t.names[e.Column]; ok {
			continue
		}
		s := slot{name: e.Column, column: -1, sparse: -1}
		if column, known := t.index[e.Column]; known {
			s.column = column
		} else {
			s.sparse = t.segment.SparseIndex(max(wide, t.schema.Sparse), e.Column)
			if s.sparse < 0 {
				lacking = append(lacking, e.Column)
				continue
			}
			t.addSparse(&s)
		}
		t.names[e.Column] = len(t.slots)
		t.slots = append(t.slots, s)
	}
	if len(lacking) > 0 {
		return fmt.Errorf("frame: the table lacks %s, which the model uses: add the %s, under the same name as in training",
			list(lacking), plural(len(lacking), "column", "columns"))
	}
	return nil
}

func (t *table) addSparse(s *slot) {
	s.wide = t.spread.Cols
	t.target.set(s.sparse, s.wide)
	t.spread.Cols++
}

// kind returns what the raw column of an expression holds.
func (t *table) kind(e *Expr) credence.Kind {
	if e.Column == "" {
		return credence.Numeric
	}
	s := t.slots[t.names[e.Column]]
	if s.column < 0 {
		return credence.Numeric
	}
	return t.schema.Columns[s.column].Kind
}

// levels returns the levels of an expression's raw column.
func (t *table) levels(e *Expr) []string {
	return t.schema.Columns[t.slots[t.names[e.Column]].column].Levels
}

// rows returns the number of rows that are not dropped.
func (t *table) rows() int { return t.source.Rows() - len(t.dropped) }

// sourceRow returns the row of the source that is row i of the model.
func (t *table) sourceRow(i int) int {
	// The k-th dropped row stands before row i if dropped[k]-k ≤ i.
	low, high := 0, len(t.dropped)
	for low < high {
		middle := (low + high) / 2
		if t.dropped[middle]-middle <= i {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return i + low
}

// place says where row i of the model stands.
func (t *table) place(i int) string { return t.placeInSource(t.sourceRow(i)) }

func (t *table) placeInSource(row int) string {
	if placer, ok := t.source.(Placer); ok {
		return placer.Place(row)
	}
	return "row " + strconv.Itoa(row+1)
}

// read makes rows [first, first+count) the current ones.
func (t *table) read(first, count int) error {
	if first < 0 || count < 0 || first+count > t.rows() {
		panic(fmt.Sprintf("frame: rows [%d, %d) of %d", first, first+count, t.rows()))
	}
	if len(t.dropped) == 0 {
		if err := t.source.Read(&t.chunk, first, count); err != nil {
			return err
		}
		t.current = &t.chunk
	} else if err := t.readKept(first, count); err != nil {
		return err
	}
	t.scatter()
	return nil
}

// readKept reads the source in runs and copies the rows that are not dropped.
func (t *table) readKept(first, count int) error {
	t.current = &t.kept
	t.kept.First = first
	t.kept.Values.Reshape(count, len(t.schema.Columns))
	t.kept.Sparse.Reset(t.schema.Sparse)
	t.kept.Unseen = nil
	if count == 0 {
		return nil
	}
	done, row, end := 0, t.sourceRow(first), t.sourceRow(first+count-1)+1
	next, _ := slices.BinarySearch(t.dropped, row)
	for row < end {
		run := min(credence.BlockRows, end-row)
		if err := t.source.Read(&t.chunk, row, run); err != nil {
			return err
		}
		for i := range run {
			if next < len(t.dropped) && t.dropped[next] == row+i {
				next++
				continue
			}
			copy(t.kept.Values.Row(done), t.chunk.Values.Row(i))
			if t.chunk.Unseen != nil {
				if t.kept.Unseen == nil {
					t.kept.Unseen = make([]float64, count)
				}
				t.kept.Unseen[done] = t.chunk.Unseen[i]
			}
			if t.schema.Sparse > 0 {
				t.kept.Sparse.AppendRow(t.chunk.Sparse.Row(i))
			}
			done++
		}
		row += run
	}
	return nil
}

// scatter makes the named columns of the sparse segment dense.
func (t *table) scatter() {
	if t.spread.Cols == 0 {
		return
	}
	sparse := &t.current.Sparse
	t.spread.Reshape(t.current.Rows(), t.spread.Cols)
	clear(t.spread.Data)
	for i := range t.spread.Rows {
		if t.schema.Sparse == 0 {
			break
		}
		row := t.spread.Row(i)
		columns, values := sparse.Row(i)
		for k, j := range columns {
			if int(j) >= t.target.end {
				break
			}
			if to := t.target.of(j); to >= 0 {
				row[to] = 1
				if values != nil {
					row[to] = values[k]
				}
			}
		}
	}
}

// gather stores the slot's column of the current rows in dst.
func (t *table) gather(dst []float64, s *slot) {
	from, at := &t.current.Values, s.column
	if s.column < 0 {
		from, at = &t.spread, s.wide
	}
	for i := range dst {
		dst[i] = from.Data[i*from.Stride+at]
	}
}

// evaluate stores the expression after its first steps steps in dst, which has
// the length of the current rows. first is the model's row of dst[0].
func (t *table) evaluate(dst []float64, e *Expr, steps, first int) error {
	if e.Column == "" {
		for i := range dst {
			dst[i] = e.Value
		}
	} else {
		t.gather(dst, &t.slots[t.names[e.Column]])
	}
	if bad := e.apply(dst, steps); bad != nil {
		return t.fail(first+bad.row, bad)
	}
	return nil
}

// fail is an error about row i of the model.
func (t *table) fail(i int, err error) error {
	return fmt.Errorf("frame: %s: %w", t.place(i), err)
}

// list joins names for a message, at most ten of them.
func list(names []string) string {
	const most = 10
	if extra := len(names) - most; extra > 1 {
		return strings.Join(names[:most], ", ") + " and " + strconv.Itoa(extra) + " others"
	}
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
