package atomicfile

import (
	"os"
	"path/filepath"
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
