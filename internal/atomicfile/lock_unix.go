//go:build linux || darwin || freebsd || netbsd || openbsd

package atomicfile

import (
	"os"
	"syscall"
)

// lock marks a file as that of a living process, until the file is closed; it
// reports whether no other process had it.
func lock(file *os.File) bool {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
