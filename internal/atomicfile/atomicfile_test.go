package atomicfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

func content(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// requireContent fails unless path holds want and the folder holds exactly the
// named entries: no temporary file may be left.
func requireContent(t *testing.T, path, want string, entries ...string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s holds %q, want %q", path, got, want)
	}
	requireEntries(t, filepath.Dir(path), entries...)
}

func requireEntries(t *testing.T, folder string, want ...string) {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range list {
		got = append(got, entry.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("folder holds %q, want %q", got, want)
	}
}

func TestWriteCreatesAndReplaces(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	for _, text := range []string{"first", "second, longer", "3", ""} {
		if err := Write(path, content(text)); err != nil {
			t.Fatal(err)
		}
		requireContent(t, path, text, "model")
	}
}

func TestWriteLargerThanItsBuffer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	want := bytes.Repeat([]byte("0123456789abcdef"), 50_000)
	err := Write(path, func(w io.Writer) error {
		for chunk := want; len(chunk) > 0; {
			n := min(7777, len(chunk))
			if _, err := w.Write(chunk[:n]); err != nil {
				return err
			}
			chunk = chunk[n:]
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	requireContent(t, path, string(want), "model")
}

func TestWriteInWorkingFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := Write("model", content("x")); err != nil {
		t.Fatal(err)
	}
	requireContent(t, "model", "x", "model")
}

// While the new content is being written the old file is whole and readable.
func TestOldFileVisibleDuringWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	if err := Write(path, content("old")); err != nil {
		t.Fatal(err)
	}
	err := Write(path, func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 1<<20)); err != nil {
			return err
		}
		got, err := os.ReadFile(path)
		if string(got) != "old" {
			t.Errorf("during the write the file holds %d bytes, %v", len(got), err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFullDiskIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	full := fmt.Errorf("tensor \"mean\": write %s.tmp: %w", path, syscall.ENOSPC)
	err := Write(path, func(io.Writer) error { return full })
	if !errors.Is(err, syscall.ENOSPC) || !strings.HasPrefix(err.Error(), "atomicfile: cannot write "+path+": the disk is full; nothing was changed") || !strings.Contains(err.Error(), "free some of it") {
		t.Errorf("error is %v", err)
	}
}

func TestFailureLeavesOldFile(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cause := errors.New("disk on fire")
	cases := map[string]struct {
		err   error
		write func(io.Writer) error
	}{
		"at once":   {cause, func(io.Writer) error { return cause }},
		"half way":  {cause, func(w io.Writer) error { w.Write(make([]byte, 1<<20)); return cause }},
		"cancelled": {context.Canceled, func(w io.Writer) error { w.Write([]byte("new")); return ctx.Err() }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "model")
			if err := Write(path, c.write); !errors.Is(err, c.err) {
				t.Errorf("error is %v, want it to wrap %v", err, c.err)
			}
			requireEntries(t, filepath.Dir(path)) // nothing was there, nothing is

			if err := Write(path, content("old")); err != nil {
				t.Fatal(err)
			}
			err := Write(path, c.write)
			if err != c.err { // which names its own file and line, and is no failure of writing
				t.Errorf("error is %v, want %v itself", err, c.err)
			}
			requireContent(t, path, "old", "model")
		})
	}
}

func TestPanicLeavesOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	if err := Write(path, content("old")); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if recover() != "boom" {
				t.Error("the panic did not pass through")
			}
		}()
		Write(path, func(w io.Writer) error { w.Write(make([]byte, 1<<20)); panic("boom") })
	}()
	requireContent(t, path, "old", "model")

	done := make(chan struct{})
	go func() {
		defer close(done)
		Write(path, func(io.Writer) error { runtime.Goexit(); return nil })
	}()
	<-done
	requireContent(t, path, "old", "model")
}

// A folder that appears under the target's name while the content is written
// makes the rename itself fail.
func TestRenameFailureCleansUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	err := Write(path, func(io.Writer) error { return os.MkdirAll(filepath.Join(path, "inside"), 0o755) })
	if err == nil || !strings.Contains(err.Error(), "nothing was changed") {
		t.Errorf("error is %v", err)
	}
	requireEntries(t, filepath.Dir(path), "model")
}

func TestRefusesFolders(t *testing.T) {
	folder := t.TempDir()
	err := Write(folder, content("x"))
	if err == nil || !strings.Contains(err.Error(), "is not a regular file (d") {
		t.Errorf("error is %v", err)
	}
	missing := filepath.Join(folder, "missing", "model")
	called := false
	err = Write(missing, func(io.Writer) error { called = true; return nil })
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "cannot write "+missing) {
		t.Errorf("error is %v", err)
	}
	if called {
		t.Error("content was produced although it had nowhere to go")
	}
}

func TestOldTemporaryFilesAreNotInTheWay(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "model")
	first, err := createBeside(path, newFileMode)
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	if err := Write(path, content("x")); err != nil {
		t.Fatal(err)
	}
	requireContent(t, path, "x", filepath.Base(first.Name()), "model")
}

func TestLongNames(t *testing.T) {
	name := strings.Repeat("n", 255) // the longest name common file systems allow
	path := filepath.Join(t.TempDir(), name)
	if err := Write(path, content("x")); err != nil {
		t.Fatal(err)
	}
	requireContent(t, path, "x", name)
}

func TestConcurrentWritersDoNotMix(t *testing.T) {
	path := filepath.Join(t.TempDir(), "model")
	const writers, size = 8, 200_000
	errs := make(chan error)
	for i := range writers {
		go func() {
			errs <- Write(path, func(w io.Writer) error {
				_, err := w.Write(bytes.Repeat([]byte{byte('a' + i)}, size))
				return err
			})
		}()
	}
	for range writers {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != size || bytes.Count(got, got[:1]) != size {
		t.Errorf("file is a mixture of writers (%d bytes, %d equal to the first)", len(got), bytes.Count(got, got[:1]))
	}
	requireEntries(t, filepath.Dir(path), "model")
}

// The beginning can be replaced at the end, whatever was flushed before, and the rest stays.
func TestRewrite(t *testing.T) {
	path, rest := filepath.Join(t.TempDir(), "f"), strings.Repeat("x", 1<<17)
	err := Write(path, func(w io.Writer) error {
		io.WriteString(w, "????"+rest)
		if err := w.(interface{ Rewrite([]byte) error }).Rewrite([]byte("head")); err != nil {
			return err
		}
		_, err := io.WriteString(w, "tail")
		return err
	})
	if text, _ := os.ReadFile(path); err != nil || string(text) != "head"+rest+"tail" {
		t.Errorf("%.20q…, %v", text, err)
	}
}

// What cannot be read for the content is told by its own name, in a folder of any name; only that of the temporary file
// is left out.
func TestErrorsOfSourcesAreTheirOwn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	source := &fs.PathError{Op: "read", Path: "/tmp/source.csv", Err: syscall.EIO}
	err := Write(path, func(io.Writer) error { return source })
	if !errors.Is(err, source) || !strings.Contains(err.Error(), "/tmp/source.csv") {
		t.Errorf("the error of a source reads %v", err)
	}
	if err := unchanged(path, &fs.PathError{Op: "write", Path: path + ".tmp-1", Err: syscall.EIO}); strings.Contains(err.Error(), ".tmp-") || !errors.Is(err, syscall.EIO) {
		t.Errorf("the error of the temporary file reads %v", err)
	}
}
