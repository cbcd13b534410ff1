// Package task owns goroutines: whoever starts one gets what it returns, and what it panics with, as an error.
//
// A panic in a goroutine that nobody recovers ends the whole process, that of a service which embeds this library,
// too. So no other package starts goroutines; the workers of internal/kernel alone, whose panics are passed on to
// the caller of their pool, stand apart.
package task

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Task is work that runs on a goroutine of its own.
type Task struct {
	done chan struct{}
	err  error
}

// Go starts work on a goroutine of its own.
func Go(work func() error) *Task {
	t := &Task{done: make(chan struct{})}
	go func() {
		defer close(t.done)
		t.err = Do(work)
	}()
	return t
}

// Wait waits until the work has ended and returns its error, a [*Panic] if it panicked. Several goroutines may wait,
// and one may wait again.
func (t *Task) Wait() error {
	<-t.done
	return t.err
}

// Done is closed when the work has ended.
func (t *Task) Done() <-chan struct{} { return t.done }

// Do calls work on this goroutine and returns its error, a [*Panic] if it panics.
func Do(work func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &Panic{Value: value, Place: place(), Stack: debug.Stack()}
		}
	}()
	return work()
}

// Panic is the error of work that panicked: a fault of the program.
type Panic struct {
	Value any
	Place string // file:line that panicked
	Stack []byte // of the goroutine
}

// Error names the place in the code and not the stack, which tells nothing to those who meet it.
func (p *Panic) Error() string {
	return fmt.Sprintf("a fault of the program, at %s: %v: please report it with the command, and with the data where you may", p.Place, p.Value)
}

// Unwrap returns what the work panicked with, where that is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// place returns the line that panicked, called while its panic is being recovered.
func place() string {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers[:])])
	for behind := false; ; {
		frame, more := frames.Next()
		switch {
		case strings.HasPrefix(frame.Function, "runtime."):
			behind = behind || strings.Contains(frame.Function, "panic")
		case behind:
			return fmt.Sprintf("%s:%d", frame.File[strings.LastIndexByte(frame.File, '/')+1:], frame.Line)
		}
		if !more {
			return "an unknown place"
		}
	}
}
