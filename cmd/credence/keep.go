package main

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/credence-ml/credence/dataset"
)

// keeper reads the columns to be copied, in step with the predictions beside which
// they are written.
type keeper struct {
	width   int
	next    func() (*dataset.Fields, error, bool)
	close   func()
	current *dataset.Fields
	memory  []byte // of the texts of some rows
}

// errEnough ends a reading that nobody goes on with.
var errEnough = errors.New("enough")

// newKeeper begins to read the columns. It must be closed.
func newKeeper(ctx context.Context, table *dataset.Table, columns []string) *keeper {
	k := &keeper{width: len(columns), current: &dataset.Fields{}}
	k.next, k.close = iter.Pull2(func(yield func(*dataset.Fields, error) bool) {
		err := table.Fields(ctx, columns, func(f *dataset.Fields) error {
			if !yield(f, nil) {
				return errEnough
			}
			return nil
		})
		if err == nil {
			err = fmt.Errorf("%s: there are fewer rows than before: has it changed?", table.Files()[0])
		}
		if err != errEnough {
			yield(nil, err)
		}
	})
	return k
}

// row appends the texts of a row of the table. Rows are asked for in ascending order.
func (k *keeper) row(dst [][]byte, i int) ([][]byte, error) {
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
