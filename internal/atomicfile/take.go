package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Take makes the file at path, which says what process has it, until that gives it back. A process that has it already
// is an error that names it; one that ended without giving it back has it no more, where the system tells.
func Take(path string) (giveBack func(), err error) {
	flags := os.O_RDWR | os.O_CREATE
	if !locks {
		flags |= os.O_EXCL
	}
	for {
		file, err := os.OpenFile(path, flags, 0o644)
		if errors.Is(err, os.ErrExist) {
			holder, _ := os.ReadFile(path)
			return nil, taken(path, holder)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: cannot be written: %w", path, err)
		}
		if locks && !lock(file) {
			holder, _ := io.ReadAll(file)
			file.Close()
			return nil, taken(path, holder)
		}
		own, err := file.Stat()
		if now, gone := os.Stat(path); locks && (err != nil || gone != nil || !os.SameFile(own, now)) {
			file.Close() // who had it has removed it meanwhile
			continue
		}
		host, _ := os.Hostname()
		if err = file.Truncate(0); err == nil {
			_, err = fmt.Fprintf(file, "%d on %s\n", os.Getpid(), host)
		}
		if err != nil {
			os.Remove(path)
			file.Close()
			return nil, fmt.Errorf("%s: cannot be written: %w", path, err)
		}
		return func() { os.Remove(path); file.Close() }, nil
	}
}

func taken(path string, holder []byte) error {
	return fmt.Errorf("%s: process %s has it: wait for that, or remove the file if the process is gone", path, strings.TrimSpace(string(holder)))
}
