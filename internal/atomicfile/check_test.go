package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A check leaves nothing behind, and a link may lead to a file that is not there yet.
func TestCheckLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	if err := Check(filepath.Join(folder, "m.safetensors")); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("the check left %v, %v", left, err)
	}
	link := filepath.Join(folder, "link")
	if err := os.Symlink(filepath.Join(t.TempDir(), "m"), link); err == nil && Check(link) != nil {
		t.Error("a link to a file that is not there yet is refused")
	}
}

// TestCheckRefuses: where Write could not write is refused before the work, by the path that was given, with what
// stands in the way, and nothing is made.
func TestCheckRefuses(t *testing.T) {
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	if err := os.WriteFile(at("file"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]string{
		folder:                            "it is a folder: name a file",
		at("none/m"):                      "there is no folder " + at("none") + ": create it first",
		at("file/m"):                      "name another file",
		at(strings.Repeat("n", 300)):      "name another file",
		filepath.Join(at("file"), "a/b/"): "name another file",
	}
	for from, to := range map[string]string{"circle": at("circle"), "nowhere": at("none/m"), "relative": "none/m", "twice": at("nowhere")} {
		if os.Symlink(to, at(from)) == nil {
			cases[at(from)] = "there is no folder " + at("none") + ": create it first"
		}
	}
	if _, linked := cases[at("circle")]; linked {
		cases[at("circle")] = "name another file"
	}
	before, _ := os.ReadDir(folder)
	for path, want := range cases {
		if err := Check(path); err == nil || !strings.HasPrefix(err.Error(), "cannot write "+path+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		if Write(path, content("new")) == nil {
			t.Errorf("%s is written", path)
		}
	}
	if err := Check(at("file")); err != nil {
		t.Error(err)
	}
	after, _ := os.ReadDir(folder)
	if fmt.Sprint(before) != fmt.Sprint(after) {
		t.Errorf("the folder has %v, had %v", after, before)
	}
	requireOld, err := os.ReadFile(at("file"))
	if err != nil || string(requireOld) != "old" {
		t.Errorf("the file holds %q, %v", requireOld, err)
	}
}

// TestTake: what a process has is refused by its name and with a way out, is free once it is given back, and is not
// made where none can be.
func TestTake(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	for range 2 {
		giveBack, err := Take(path)
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%s: process %d on ", path, os.Getpid())
		if again, err := Take(path); again != nil || err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "remove the file if the process is gone") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
		giveBack()
		if _, err := os.Stat(path); err == nil {
			t.Error("a lock that was given back is there")
		}
	}
	below := filepath.Join(path, "none", "lock")
	if _, err := Take(below); err == nil || !strings.HasPrefix(err.Error(), below+": cannot be written: ") {
		t.Errorf("in no folder: %v", err)
	}
}
