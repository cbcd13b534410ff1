package modelfile

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// A file that is not there is said to be so once, and known to errors.Is.
func TestLoadOfAMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gone")
	_, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		t.Errorf("the error is %v", err)
	}
	if want := path + ": there is no such file: check the path"; err == nil || err.Error() != want || strings.Count(err.Error(), "exist") > 0 {
		t.Errorf("the message is %v, want %s", err, want)
	}
}
