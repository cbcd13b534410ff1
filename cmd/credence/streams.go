package main

import (
	"context"
	"io"
)

// output is standard output. It remembers what went wrong, since few who print a
// line look: a full disk must not pass for success.
type output struct {
	to  io.Writer
	err error
}

// Write implements [io.Writer].
func (o *output) Write(text []byte) (int, error) {
	n, err := o.to.Write(text)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

// input is standard input, whose reader does not wait on a pipe or a keyboard
// once the run is interrupted.
type input struct {
	ctx     context.Context
	from    io.Reader
	blocks  chan block // read ahead by a goroutine of its own; nil before the first Read
	current block
}

// block is what one read gave.
type block struct {
	text []byte
	err  error
}

// inputBlock is the size of a read. Two are in flight.
const inputBlock = 256 << 10

// Read implements [io.Reader].
func (in *input) Read(dst []byte) (int, error) {
	if in.blocks == nil {
		in.blocks = make(chan block)
		go in.pump()
	}
	for len(in.current.text) == 0 {
		if in.current.err != nil {
			return 0, in.current.err
		}
		select {
		case in.current = <-in.blocks:
		case <-in.ctx.Done():
			return 0, in.ctx.Err()
		}
	}
	n := copy(dst, in.current.text)
	in.current.text = in.current.text[n:]
	return n, nil
}

// pump reads until the end or an interruption. One that waits for input then is
// left behind, and ends with the process.
func (in *input) pump() {
	for {
		text := make([]byte, inputBlock)
		n, err := in.from.Read(text)
		select {
		case in.blocks <- block{text[:n], err}:
		case <-in.ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}
