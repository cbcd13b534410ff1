package main

import (
	"context"
	"fmt"

	"github.com/credence-ml/credence/dataset"
)

// keptAhead is how many blocks of texts are read ahead of the predictions.
const keptAhead = 2

// keeper reads the columns to be copied, in step with the predictions beside which
// they are written.
type keeper struct {
	width   int
	blocks  chan keptBlock
	current keptBlock
	cancel  context.CancelFunc
	done    chan struct{}
}

// keptBlock holds the texts of some rows, row-major.
type keptBlock struct {
	first int
	texts [][]byte
	err   error
}

// newKeeper begins to read the columns. It must be closed.
func newKeeper(ctx context.Context, table *dataset.Table, columns []string) *keeper {
	ctx, cancel := context.WithCancel(ctx)
	k := &keeper{width: len(columns), blocks: make(chan keptBlock, keptAhead), cancel: cancel, done: make(chan struct{})}
	send := func(b keptBlock) error {
		select {
		case k.blocks <- b:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	go func() {
		defer close(k.done)
		defer close(k.blocks)
		err := table.Fields(ctx, columns, func(f *dataset.Fields) error { return send(copyFields(f, len(columns))) })
		if err == nil {
			err = fmt.Errorf("%s: there are fewer rows than before: has it changed?", table.Files()[0])
		}
		send(keptBlock{err: err})
	}()
	return k
}

// copyFields takes texts out of memory that is used again.
func copyFields(f *dataset.Fields, width int) keptBlock {
	size := 0
	for i := range f.Rows {
		for j := range width {
			size += len(f.Text(i, j))
		}
	}
	b := keptBlock{first: f.First, texts: make([][]byte, 0, f.Rows*width)}
	memory := make([]byte, 0, size)
	for i := range f.Rows {
		for j := range width {
			first := len(memory)
			memory = append(memory, f.Text(i, j)...)
			b.texts = append(b.texts, memory[first:len(memory):len(memory)])
		}
	}
	return b
}

// row returns the texts of a row of the table. Rows are asked for in ascending
// order.
func (k *keeper) row(i int) ([][]byte, error) {
	for i-k.current.first >= len(k.current.texts)/k.width {
		if k.current.err != nil {
			return nil, k.current.err
		}
		var more bool
		if k.current, more = <-k.blocks; !more {
			return nil, context.Canceled // nobody reads on
		}
	}
	at := (i - k.current.first) * k.width
	return k.current.texts[at : at+k.width], nil
}

// close ends the reading.
func (k *keeper) close() {
	k.cancel()
	<-k.done
}
