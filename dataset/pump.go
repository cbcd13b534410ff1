package dataset

import (
	"context"
	"io"
	"time"

	"github.com/credence-ml/credence/dataset/text"
	"github.com/credence-ml/credence/internal/task"
)

const (
	// pumpBytes are read at a time, pumpBuffers such pieces are in flight.
	pumpBytes   = 64 << 10
	pumpBuffers = 4
	// idleTime after something was read the rows that have come are passed on, even if
	// they are few.
	idleTime = 50 * time.Millisecond
)

// pump reads something that may keep its reader waiting on a goroutine of its own,
// so that whoever wants its content can stop waiting. It can be read once.
type pump struct {
	full    chan piece
	free    chan []byte
	ctx     context.Context // of the consumer
	rest    []byte          // of the present piece
	buffer  []byte          // that holds it
	err     error           // behind the present piece
	pending bool            // something was read since the last text.ErrIdle
	idle    *time.Timer     // nil where nobody is told of idleness
}

type piece struct {
	data []byte
	err  error
}

// newPump begins to read what open returns, which is closed at its end. A pump that
// is given up stays with its goroutine until something more can be read.
func newPump(ctx context.Context, open func() (io.Reader, func(), error)) *pump {
	p := &pump{full: make(chan piece, pumpBuffers+1), free: make(chan []byte, pumpBuffers), ctx: ctx}
	for range pumpBuffers {
		p.free <- make([]byte, pumpBytes)
	}
	task.Go(func() error {
		if err := task.Do(func() error { return p.fill(ctx, open) }); err != nil {
			// never blocks: it is the last, behind at most as many pieces as there are buffers
			p.full <- piece{nil, err}
		}
		return nil
	})
	return p
}

// fill reads pieces to the end of what open returns, whose error it returns, io.EOF, too; nil where the context of the
// pump ends.
func (p *pump) fill(ctx context.Context, open func() (io.Reader, func(), error)) error {
	reader, closer, err := open()
	if err != nil {
		return err
	}
	defer closer()
	for {
		var buffer []byte
		select {
		case buffer = <-p.free:
		case <-ctx.Done():
			return nil
		}
		n, err := reader.Read(buffer)
		select {
		case p.full <- piece{buffer[:n], nil}: // never blocks while there are as many buffers
		case <-ctx.Done():
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// Read returns what has come, waiting if there is nothing; where an idle time is
// set it returns text.ErrIdle once so long after something came.
func (p *pump) Read(dst []byte) (int, error) {
	for len(p.rest) == 0 {
		if p.err != nil {
			return 0, p.err
		}
		if p.buffer != nil {
			p.free <- p.buffer[:pumpBytes]
			p.buffer = nil
		}
		var waited <-chan time.Time
		if p.idle != nil && p.pending {
			waited = p.idle.C
		}
		select {
		case next := <-p.full:
			p.rest, p.buffer, p.err = next.data, next.data[:0:cap(next.data)], next.err
			if next.data == nil {
				p.buffer = nil
			}
		case <-waited:
			p.pending = false
			return 0, text.ErrIdle
		case <-p.ctx.Done():
			return 0, p.ctx.Err()
		}
	}
	n := copy(dst, p.rest)
	p.rest = p.rest[n:]
	if p.idle != nil && !p.pending {
		p.pending = true
		p.idle.Reset(idleTime)
	}
	return n, nil
}

// tellIdle makes Read tell when nothing more comes, also behind what was read before.
func (p *pump) tellIdle() { p.idle, p.pending = time.NewTimer(idleTime), true }

// following is a reader that waits at the end for more.
type following struct {
	ctx  context.Context
	from io.Reader
}

func (f following) Read(dst []byte) (int, error) {
	for {
		n, err := f.from.Read(dst)
		if n > 0 || err != nil && err != io.EOF {
			return n, err
		}
		select {
		case <-f.ctx.Done():
			return 0, f.ctx.Err()
		case <-time.After(idleTime / 2):
		}
	}
}
