package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hostile is a column name with an escape sequence, a C1 control and a right-to-left override.
const hostile = "a\x1b]0;pwned\x07\u009bb\u202ec"

// What a terminal obeys is escaped, whatever prints it.
func TestNamesDoNotReachTheTerminal(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("y," + hostile + ",k\n")
	for i := range 40 {
		rows.WriteString([]string{"1.5,2,u\n", "2.5,3,v\n", "4,5,u\n"}[i%3])
	}
	data := file(t, "t.csv", rows.String())
	model := filepath.Join(t.TempDir(), "m.safetensors")
	stream := filepath.Join(t.TempDir(), "s.safetensors")
	for _, args := range [][]string{
		{"fit", data, "--target", "y", "-o", model},
		{"fit", data, "--target", "y", "--json"},
		{"inspect", model}, {"inspect", model, "--json"},
		{"evaluate", model, data}, {"compare", model, model, data},
		{"stream", data, "--target", "k", "-o", stream}, {"inspect", stream},
	} {
		o := invoke(t, "", args...)
		if o.code != exitDone {
			t.Fatalf("%v: exit %d: %s", args, o.code, o.err)
		}
		if text := o.out + o.err; strings.ContainsAny(text, "\x1b\x07\u009b\u202e") {
			t.Errorf("%v prints %q", args, text)
		}
		if args[0] == "inspect" && !strings.Contains(o.out, `a\u001b]0;pwned\u0007\u009bb\u202ec`) {
			t.Errorf("%v does not show the name: %s", args, o.out)
		}
	}
	fit := decode(t, must(t, "inspect", model, "--json"))
	found := false
	for _, term := range fit["terms"].([]any) {
		found = found || term.(map[string]any)["name"] == hostile
	}
	if !found {
		t.Error("JSON does not give the name back")
	}
}

// A pipe is no model: it is refused, not waited for.
func TestPipeIsNoModel(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	data := file(t, "t.csv", houses(10))
	for _, args := range [][]string{{"inspect", pipe}, {"predict", pipe, data}, {"evaluate", pipe, data}, {"compare", pipe, pipe, data}} {
		if o := invoke(t, "", args...); o.code != exitFailed || !strings.Contains(o.err, "not a regular file: copy the model to a file first") {
			t.Errorf("%v: exit %d: %s", args, o.code, o.err)
		}
	}
}

// A second signal ends a program at once that the first has not ended: one that waits in a system call.
func TestSecondSignal(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program")
	}
	folder := t.TempDir()
	binary, pipe := filepath.Join(folder, "credence"), filepath.Join(folder, "pipe.csv")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(binary, "stream", pipe, "--target", "y") // nobody writes: open(2) waits
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
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
