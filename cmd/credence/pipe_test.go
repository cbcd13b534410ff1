//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe is no model: it is refused, not waited for.
func TestPipeIsNoModel(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	data := file(t, "t.csv", houses(10))
	for _, args := range [][]string{{"inspect", pipe}, {"predict", pipe, data}, {"evaluate", pipe, data}, {"compare", pipe, pipe, data}} {
		if o := invoke(t, "", args...); o.code != exitFailed || !strings.Contains(o.err, "not a model file but a folder, a pipe or a device: copy the model to a file first") {
			t.Errorf("%v: exit %d: %s", args, o.code, o.err)
		}
	}
}

// A second signal ends a program at once that the first has not ended: one that waits in a system call.
func TestSecondSignal(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	cmd, _ := process(t, "stream", pipe, "--target", "y") // nobody writes: open(2) waits
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	time.Sleep(500 * time.Millisecond)
	for range 2 {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-done:
			return
		case <-time.After(2 * time.Second):
		}
	}
	cmd.Process.Kill()
	t.Error("two signals did not end the program")
}
