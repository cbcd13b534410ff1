package atomicfile

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// young is the age below which a file is left alone, locked or not, unless the process whose number
// it has is gone: its owner may be about to lock it, here or on another machine.
const young = time.Minute

// Hold marks a temporary file as in use as long as it is open, so that Sweep leaves
// it alone.
func Hold(file *os.File) { lock(file) }

// Sweep removes the temporary files of a folder whose names begin with prefix, in
// which .tmp- stands, and which no living process holds: those that a crash left. It returns their bytes.
func Sweep(folder, prefix string) (freed int64) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, prefix) || !strings.Contains(name, ".tmp-") || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < young && !gone(owner(e.Name())) {
			continue
		}
		path := filepath.Join(folder, e.Name())
		if file, err := os.Open(path); err == nil {
			if lock(file) && os.Remove(path) == nil {
				freed += info.Size()
			}
			file.Close()
		}
	}
	return freed
}

// owner is the process number in the name of a temporary file, 0 if there is none.
func owner(name string) int {
	_, numbers, _ := strings.Cut(name, ".tmp-")
	text, _, _ := strings.Cut(numbers, "-")
	pid, err := strconv.Atoi(text)
	if err != nil || pid <= 0 {
		return 0
	}
	return pid
}
