package main

import "io"

// stdout is standard output. It remembers what went wrong, since few who print a
// line look: a full disk must not pass for success.
type stdout struct {
	to  io.Writer
	err error
}

// Write implements [io.Writer].
func (o *stdout) Write(text []byte) (int, error) {
	n, err := o.to.Write(text)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}
