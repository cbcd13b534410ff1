//go:build linux || darwin || freebsd || netbsd || openbsd

package atomicfile

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// What a crash left beside a file goes with the next writing; what a living process
// holds, what is young, and what belongs to other files stays.
func TestLitterIsSwept(t *testing.T) {
	folder := t.TempDir()
	old := time.Now().Add(-time.Hour)
	child := exec.Command(os.Args[0], "-test.run=^$")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	young := map[string]bool{fmt.Sprintf(".model.tmp-%d-7", child.Process.Pid): false, fmt.Sprintf(".model.tmp-%d-7", os.Getpid()): true, ".model.tmp-x-0": true}
	for name := range young {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".model.tmp-1-0", ".model.tmp-2-0", ".model2.tmp-1-0", "model.tmp-1-0"} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		os.Chtimes(path, old, old)
	}
	held, err := os.Open(filepath.Join(folder, ".model.tmp-2-0"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	lock(held)
	err = Write(filepath.Join(folder, "model"), func(w io.Writer) error {
		_, err := io.WriteString(w, "whole")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range young {
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
	for name, want := range map[string]bool{
		"model": true, ".model.tmp-1-0": false, ".model.tmp-2-0": true, ".model2.tmp-1-0": true, "model.tmp-1-0": true,
	} {
		if _, err := os.Stat(filepath.Join(folder, name)); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
}
