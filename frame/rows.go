package frame

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/ability"
	"github.com/credence-ml/credence/internal/order"
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

// Texter is implemented by sources whose levels are those of training, and that know the text of a cell that has
// another; messages name it.
type Texter interface {
	Text(row int, column string) (text string, ok bool)
}

// keptRows reads a source, leaving dropped rows out: its row numbers are those of the model.
type keptRows struct {
	*view
	source  credence.Source
	dropped []int          // rows of the source that are left out, ascending
	chunk   credence.Chunk // as the source filled it
	kept    credence.Chunk // without the dropped rows; unused when none are dropped
}

func newKeptRows(source credence.Source) *keptRows {
	t := &keptRows{source: source}
	t.view = newView(source.Schema(), func(i int) string { return place(source, t.sourceRow(i)) })
	return t
}

// place says where a row of a source stands.
func place(source credence.Source, row int) string {
	if placer, ok := source.(Placer); ok {
		return placer.Place(row)
	}
	return "row " + strconv.Itoa(row+1)
}

// text is the text of a category in row i of the model, as a source knows it.
func (t *keptRows) text(i int, e *Expr) (text string, ok bool) {
	if texter, knows := t.source.(Texter); knows {
		return texter.Text(t.sourceRow(i), e.Column)
	}
	return "", false
}

// rows returns the number of rows that are not dropped.
func (t *keptRows) rows() int { return t.source.Rows() - len(t.dropped) }

// Files returns the rows of the model with which the files of its table begin.
func (b *Bound) Files() []int {
	files := ability.Files(b.rows.source)
	begins := make([]int, len(files)-1)
	for k, begin := range files[:len(begins)] {
		before, _ := slices.BinarySearch(b.rows.dropped, begin)
		begins[k] = begin - before
	}
	return begins
}

// sourceRow returns the row of the source that is row i of the model.
func (t *keptRows) sourceRow(i int) int {
	// The k-th dropped row stands before row i if dropped[k]-k ≤ i.
	return i + sort.Search(len(t.dropped), func(k int) bool { return t.dropped[k]-k > i })
}

// read makes rows [first, first+count) the current ones.
func (t *keptRows) read(first, count int) error {
	if first < 0 || count < 0 || first+count > t.rows() {
		panic(fmt.Sprintf("frame: rows [%d, %d) of %d", first, first+count, t.rows()))
	}
	if len(t.dropped) == 0 {
		if err := t.source.Read(&t.chunk, first, count); err != nil {
			return err
		}
		t.show(&t.chunk)
		return nil
	}
	if err := t.readKept(first, count); err != nil {
		return err
	}
	t.show(&t.kept)
	return nil
}

// readKept reads the source in runs and copies the rows that are not dropped.
func (t *keptRows) readKept(first, count int) error {
	t.kept.Reset(t.schema, first)
	if count == 0 {
		return nil
	}
	row, end := t.sourceRow(first), t.sourceRow(first+count-1)+1
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
			t.kept.Append(&t.chunk, i, 1)
		}
		row += run
	}
	return nil
}

// drop finds the rows in which one of the table's columns is missing that drops names.
func (t *keptRows) drop(drops func(column string) bool) error {
	var column []float64
	var marks []bool
	for first, count := range credence.Blocks(t.source.Rows()) {
		if err := t.source.Read(&t.chunk, first, count); err != nil {
			return err
		}
		t.show(&t.chunk)
		column, marks = order.Resized(column, count), order.Resized(marks, count)
		if t.lacking(marks, column, drops) == 0 {
			continue
		}
		for i, lacks := range marks {
			if lacks {
				t.dropped = append(t.dropped, first+i)
			}
		}
	}
	return nil
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
