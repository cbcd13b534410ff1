//go:build unix

package dataset

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/credence-ml/credence"
	"github.com/credence-ml/credence/internal/conform/must"
)

// A named pipe is read once, as standard input is, whoever reads it and how often.
func TestNamedPipes(t *testing.T) {
	t.Parallel()
	for name, content := range rowTexts(11_000) {
		if testing.Short() && name != "t.csv" {
			continue
		}
		if name == "t.csv" {
			content = strings.ReplaceAll(content, "seven", "7")
		}
		path := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip(err)
		}
		format := strings.TrimPrefix(strings.ReplaceAll(name, "svm", "libsvm"), "t.")
		want, _, err := tell(t, Options{}, credence.Position{}, nil, write(t, name, content))
		if err != nil {
			t.Fatal(err)
		}
		for _, once := range []bool{true, false} {
			go os.WriteFile(path, []byte(content), 0o600)
			got, _, err := tell(t, Options{Once: once, Format: format}, credence.Position{}, nil, path)
			if err != nil || len(got) != len(want) {
				t.Errorf("%s, once %v: %d rows, want %d, %v", name, once, len(got), len(want), err)
			}
		}
		go os.WriteFile(path, []byte(content), 0o600)
		options := Options{Once: true, SkipMalformed: true}
		table := must.Value(Open(t.Context(), []string{path}, options))(t)
		defer table.Close()
		read := func() error {
			return table.Rows(t.Context(), nil, credence.Position{}, func(*Run) error { return nil })
		}
		if err := read(); err != nil {
			t.Error(err)
		}
		if err := read(); err == nil || !strings.Contains(err.Error(), "pipe: was read already and is not kept") {
			t.Errorf("read again: %v", err)
		}
	}
}
