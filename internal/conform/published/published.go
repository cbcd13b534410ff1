// Package published finds published data sets for tests: files NAME/FILE below ../shared/data beside the module.
// Without them tests are skipped, and make test counts these.
package published

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of a file, and skips the test where there is none.
func Path(t testing.TB, parts ...string) string {
	t.Helper()
	folder, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(folder, "go.mod")); missing == nil {
			break
		}
		folder = filepath.Dir(folder)
	}
	path := filepath.Join(append([]string{folder, "..", "shared", "data"}, parts...)...)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no published data: %v", err)
	}
	return path
}

// Open returns the text of a compressed file.
func Open(t testing.TB, parts ...string) *gzip.Reader {
	t.Helper()
	file, err := os.Open(Path(t, parts...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
