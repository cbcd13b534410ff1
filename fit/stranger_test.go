package fit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/credence-ml/credence/internal/conform/must"
)

// The examples build in a module of a stranger, which has this one's go.sum and nothing else of it: every import is
// found and allowed there. Whether they compile is seen where they stand.
func TestExamplesBuildElsewhere(t *testing.T) {
	root := must.Value(filepath.Abs(".."))(t)
	stranger := t.TempDir()
	write := func(path string, content []byte, err error) {
		t.Helper()
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(stranger, path)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(stranger, path), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", []byte("module stranger\n\ngo 1.26\n\nrequire github.com/credence-ml/credence v0.0.0\n\nreplace github.com/credence-ml/credence => "+root+"\n"), nil)
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	write("go.sum", sums, err)
	for _, path := range []string{"fit/example_test.go", "score/example_test.go", "table/example_test.go", "feature/example_test.go", "infer/problem/example_test.go", "learn/example_test.go", "learn/own_example_test.go", "likelihood/example_test.go"} {
		content, err := os.ReadFile(filepath.Join(root, path))
		write(path, content, err)
	}
	cmd := exec.Command("go", "list", "-mod=mod", "-test", "-deps", "./...")
	cmd.Dir, cmd.Env = stranger, append(os.Environ(), "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	after := must.Value(os.ReadFile(filepath.Join(stranger, "go.sum")))(t)
	for line := range strings.Lines(string(after)) {
		if !strings.Contains(string(sums), line) {
			t.Errorf("go.sum lacks %s", line)
		}
	}
}
