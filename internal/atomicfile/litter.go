package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// young is the age below which a file is left alone, locked or not: its owner may
// be about to lock it.
const young = time.Minute

// Hold marks a temporary file as in use as long as it is open, so that Sweep leaves
// it alone.
func Hold(file *os.File) { lock(file) }

// Sweep removes the temporary files of a folder whose names begin with prefix, in
// which .tmp- stands, and which no living process holds: those that a crash left.
func Sweep(folder, prefix string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, prefix) || !strings.Contains(name, ".tmp-") || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil || time.Since(info.ModTime()) < young {
			continue
		}
		path := filepath.Join(folder, e.Name())
		if file, err := os.Open(path); err == nil {
			if lock(file) {
				os.Remove(path)
			}
			file.Close()
		}
	}
}
