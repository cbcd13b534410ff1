package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// young is the age below which a file is left alone, locked or not, unless the process whose number
// it has is gone: its owner may be about to lock it, here or on another machine.
const young = time.Minute

// OpenRegular opens a file for reading that is no link, no pipe and no device.
func OpenRegular(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|alone, 0)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("it is no regular file")}
	}
	return file, nil
}

// Begins reports whether a file begins with these bytes, or holds no more than their begin.
func Begins(file *os.File, magic string) bool {
	head := make([]byte, len(magic))
	n, err := file.ReadAt(head, 0)
	return (err == nil || errors.Is(err, io.EOF)) && strings.HasPrefix(magic, string(head[:n]))
}

// Sweep removes the temporary files of a folder whose names begin with prefix, in which .tmp- stands, which begin with
// magic, and which no living process holds: those that a crash left. It returns their bytes.
func Sweep(folder, prefix, magic string) (freed int64) {
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
		if file, err := OpenRegular(path); err == nil {
			if Begins(file, magic) && lock(file) && os.Remove(path) == nil {
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
