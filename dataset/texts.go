package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/cell"
)

// Texts reads columns as they are written, row by row, for those who copy them beside what is told of the
// rows. It holds the texts of a block.
type Texts struct {
	width   int
	next    func() (*Fields, error, bool)
	close   func()
	current *Fields
	memory  []byte // of the texts of some rows
}

// errEnough ends a reading that nobody goes on with.
var errEnough = errors.New("enough")

// Texts begins to read the texts of columns; it refuses names that are no column. It must be closed.
func (t *Table) Texts(ctx context.Context, columns []string) (*Texts, error) {
	if err := t.CheckTexts(columns); err != nil {
		return nil, err
	}
	k := &Texts{width: len(columns), current: &Fields{}}
	k.next, k.close = iter.Pull2(func(yield func(*Fields, error) bool) {
		err := t.Fields(ctx, columns, func(f *Fields) error {
			if !yield(f, nil) {
				return errEnough
			}
			return nil
		})
		if err == nil {
			err = fmt.Errorf("%s: there are fewer rows than before: has it changed?", t.Files()[0])
		}
		if err != errEnough {
			yield(nil, err)
		}
	})
	return k, nil
}

// Row appends the texts of row i of the table, from 0, one a column. Rows are asked for in ascending order. The
// texts stay as they are.
func (k *Texts) Row(dst [][]byte, i int) ([][]byte, error) {
	for i >= k.current.First+k.current.Rows {
		next, err, more := k.next()
		if !more {
			err = context.Canceled
		}
		if err != nil {
			return dst, err
		}
		k.current = next
	}
	for j := range k.width {
		text := k.current.Text(i-k.current.First, j)
		if len(k.memory)+len(text) > cap(k.memory) { // what holds earlier texts stays theirs
			k.memory = make([]byte, 0, len(text)+64<<10)
		}
		first := len(k.memory)
		k.memory = append(k.memory, text...)
		dst = append(dst, k.memory[first:len(k.memory):len(k.memory)])
	}
	return dst, nil
}

// NumberOf returns what reads a text of a column as a number, NaN of one that means missing; nil where the sample has
// more than plain numbers. A later text that no number holds is an error.
func (t *Table) NumberOf(column string) func(text []byte) (float64, error) {
	if i, known := t.index[column]; !known || !t.columns[i].plain || t.columns[i].notation != (credence.Notation{}) {
		return nil
	}
	rules := t.cells()
	return func(text []byte) (float64, error) {
		text = bytes.TrimSpace(text)
		v, fault := rules.Number(text, &cell.Notation{})
		if fault == "" && math.Abs(v) >= 1<<53 && !cell.Exact(text) {
			fault = cell.Quote(text) + " has more digits than a number holds"
		}
		if fault != "" {
			fault, _ = cell.WithoutRemedy(fault)
			return 0, fmt.Errorf("column %q: %s, as those before it were: write a .csv file, which has texts as they are", column, fault)
		}
		return v, nil
	}
}

// Close ends the reading.
func (k *Texts) Close() { k.close() }

// TagColumn is the name by which the tags of Vowpal Wabbit rows are asked for.
const TagColumn = "tag"

// CheckTexts refuses columns whose texts the table does not have.
func (t *Table) CheckTexts(columns []string) error {
	schema := t.Schema()
	for _, name := range columns {
		if schema.Index(name) >= 0 || name == TagColumn && t.Tagged() {
			continue
		}
		return fmt.Errorf("%s has no column %q: %s", strings.Join(t.Files(), ", "), name, t.columnList())
	}
	return nil
}
